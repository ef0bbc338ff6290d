"""What follows an operand: subscripts, members, swizzles, steps."""

from __future__ import annotations

from abc import ABC

from clmap_lsp.index.calls import CallParser
from clmap_lsp.index.checks import replaced
from clmap_lsp.index.compatible import Value
from clmap_lsp.index.cursor import (
    KEYWORDS,
)
from clmap_lsp.index.model import (
    MemberAccess,
    Role,
    Symbol,
)
from clmap_lsp.index.names import nearest
from clmap_lsp.index.operands import find_member
from clmap_lsp.index.operators import POSTFIX
from clmap_lsp.index.types import (
    UNKNOWN,
    Array,
    Enumeration,
    Pointer,
    Qualified,
    Record,
    Unknown,
    base_of,
    canonical,
    decayed,
    is_const,
    is_integer,
    spelled,
    unqualified,
    with_lanes,
)
from clmap_lsp.source.lexer import is_name
from clmap_lsp.source.places import lane_numbers
from clmap_lsp.source.types import OpaqueType, ScalarType, VectorType

_HALVES = frozenset({"lo", "hi", "even", "odd"})


class PostfixParser(CallParser, ABC):
    """Reads operands with what follows them."""

    def postfix(self, value: Value) -> Value:
        """Read what follows an operand: subscripts, calls, members, steps. Raises: SyntaxFaultError."""
        while True:
            text = self.texts[self.at]
            if text not in POSTFIX:
                return value
            if text == "[":
                value = self._subscript(value)
            elif text == "(":
                value = self._call(value)
            elif text in (".", "->"):
                value = self._member(value, text == "->")
            else:
                self._stepped(value, self.at)
                self.at += 1
                value = Value(unqualified(value.type), value.start)

    def _subscript(self, value: Value) -> Value:
        opened = self.at
        self.at += 1
        index = self.expression()
        self.expect("]", opened)
        base, other = base_of(decayed(value.type)), base_of(decayed(index.type))
        if isinstance(base, Unknown) or (
            isinstance(other, Unknown) and not isinstance(base, Pointer | VectorType)
        ):
            return Value(UNKNOWN, value.start, is_lvalue=True, root=value.root, use=value.use)
        if isinstance(base, VectorType):
            element = Qualified(base.element, is_const(value.type))
            return Value(
                element,
                value.start,
                is_lvalue=value.is_lvalue,
                root=value.root,
                use=value.use,
                is_whole=False,
                is_lane=True,
            )
        if isinstance(other, Pointer) and not isinstance(base, Pointer):
            value, base, other = index, other, base
        if not isinstance(base, Pointer):
            said = "subscripted value is not an array, pointer, or vector"
            self.issue("not-a-pointer", said, token=value.start)
            return Value(UNKNOWN, value.start, is_lvalue=True)
        if not is_integer(other) and not isinstance(other, Unknown):
            self.issue("invalid-operands", "array subscript is not an integer", token=index.start)
        is_array = isinstance(base_of(value.type), Array)
        self._check_half(base.pointee, is_array, opened)
        return Value(
            base.pointee,
            value.start,
            is_lvalue=True,
            root=value.root,
            use=value.use,
            is_pointed=value.is_pointed or not is_array,
            is_whole=False,
        )

    def _member(self, value: Value, is_arrow: bool) -> Value:
        at = self.at
        type_ = decayed(value.type) if is_arrow else value.type
        base = base_of(type_)
        is_pointed = value.is_pointed
        self.piece.members.append(MemberAccess(at, type_, is_arrow))
        self.at += 1
        if is_arrow and isinstance(base, Pointer):
            type_ = base.pointee
            base = base_of(type_)
            is_pointed = True
        elif is_arrow and not isinstance(base, Unknown):
            said = f"member reference type '{spelled(value.type)}' is not a pointer"
            if isinstance(base, Record):
                said += "; did you mean to use '.'?"
            self.issue("wrong-member", said, token=at, fix=replaced(at, "."))
        elif not is_arrow and isinstance(base, Pointer):
            said = f"member reference type '{spelled(value.type)}' is a pointer; did you mean to use '->'?"
            self.issue("wrong-member", said, token=at, fix=replaced(at, "->"))
            base = base_of(base.pointee)
            is_pointed = True
        if not is_name(self.text) or (self.text in KEYWORDS and not isinstance(base, VectorType)):
            raise self.fail("expected identifier")
        name_at, name = self.at, self.text
        self.at += 1
        found = self._selected(base, name, name_at, type_)
        repeats = isinstance(base, VectorType) and name not in _HALVES and len(set(name)) < len(name)
        return Value(
            found,
            value.start,
            is_lvalue=(value.is_lvalue or is_pointed) and not repeats,
            root=value.root,
            use=value.use,
            is_pointed=is_pointed,
            is_whole=False,
            is_lane=isinstance(base, VectorType),
        )

    def _selected(self, base: object, name: str, at: int, type_: Qualified) -> Qualified:
        self.note_members(type_)
        match base:
            case Record(members=members) if members is not None:
                symbol = find_member(members, name)
                if symbol is None or symbol.type is None:
                    self._no_member(base, members, name, at)
                    return UNKNOWN
                self.use(at, symbol, Role.READS)
                member = symbol.type
                outer = canonical(type_)
                if outer.is_const or (outer.space is not None and member.space is None):
                    return Qualified(
                        member.base,
                        member.is_const or outer.is_const,
                        member.is_volatile or outer.is_volatile,
                        member.is_restrict,
                        member.space or outer.space,
                    )
                return member
            case Record():
                said = f"incomplete definition of type '{spelled(Qualified(base))}'"
                self.issue("incomplete-type", said, token=at - 1)
            case VectorType(element=element, lanes=lanes):
                chosen = lane_numbers(name, lanes)
                if len(chosen) in (5, 6, 7) or len(chosen) > 16:
                    said = f"vector component access has invalid length {len(chosen)}."
                    self.issue("wrong-member", f"{said}  Supported: 1,2,3,4,8,16.", token=at)
                    return UNKNOWN
                if chosen:
                    self.use_builtin(at, type_=with_lanes(element, len(chosen)))
                    outer = canonical(type_)
                    return Qualified(with_lanes(element, len(chosen)).base, outer.is_const, space=outer.space)
                self._bad_swizzle(name, at, type_)
            case ScalarType(bits=1 | 8 | 16 | 32 | 64 | 128) | Array() | Enumeration() | OpaqueType():
                said = f"member reference base type '{spelled(type_)}' is not a structure or union"
                self.issue("incomplete-type", said, token=at - 1)
            case _:
                pass
        return UNKNOWN

    def _no_member(self, base: Record, members: list[Symbol], name: str, at: int) -> None:
        said = f"no member named '{name}' in '{spelled(Qualified(base))}'"
        close = nearest(name, (it.name for it in members))
        if close is not None:
            self.issue("wrong-member", f"{said}; did you mean '{close}'?", token=at, fix=replaced(at, close))
        else:
            self.issue("wrong-member", said, token=at)

    def _bad_swizzle(self, name: str, at: int, type_: Qualified) -> None:
        bad = next((it for it in name if it not in "xyzwrgba"), None)
        if bad is None or lane_numbers(name, 16):
            said = f"vector component access exceeds type '{spelled(type_)}'"
        else:
            said = f"illegal vector component name '{bad}'"
        self.issue("wrong-member", said, token=at)
