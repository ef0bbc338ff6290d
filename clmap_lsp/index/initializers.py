"""Initialisers: values, lists in braces, and elements and members that they name."""

from __future__ import annotations

from abc import ABC

from clmap_lsp.index.checks import replaced
from clmap_lsp.index.compatible import Value
from clmap_lsp.index.expressions import ExpressionParser, lane_count
from clmap_lsp.index.model import Expected, MemberAccess, Role
from clmap_lsp.index.names import nearest
from clmap_lsp.index.operands import find_member
from clmap_lsp.index.types import (
    UNKNOWN,
    Array,
    Enumeration,
    Pointer,
    Qualified,
    Record,
    Unknown,
    base_of,
    spelled,
)
from clmap_lsp.source.lexer import is_name
from clmap_lsp.source.types import ScalarType, VectorType


class InitializerParser(ExpressionParser, ABC):
    """Reads initialisers."""

    def initializer(self, type_: Qualified, at: int) -> Value | int | None:
        """Read what stands behind `=`; return the value, or the number of elements of a list."""
        self.piece.expected.append(Expected(self.at, type_))
        if self.text == "{":
            return self.initializer_list(type_)
        value = self.assignment()
        base = base_of(type_)
        if isinstance(base, Array):
            self._check_whole_array(base, value, at)
        self.check_conversion(type_, value, "initializing", at)
        return value

    def _check_whole_array(self, array: Array, value: Value, at: int) -> None:
        """Report what an array is made of that is no list."""
        if isinstance(base_of(value.type), Unknown) or self.is_cpp:
            return
        is_text = self.texts[value.start][:1] == '"'
        element = base_of(array.element)
        if is_text and isinstance(element, ScalarType) and element.bits > 8:
            said = "initializing wide char array with non-wide string literal"
            self.issue("wrong-type", said, token=at)
        elif not is_text and (value.root is not None or not isinstance(base_of(value.type), Array)):
            kinds = " or string literal" if is_character(array.element) else ""
            self.issue("wrong-type", f"array initializer must be an initializer list{kinds}", token=at)

    def initializer_list(self, type_: Qualified) -> int:
        """Read `{ ... }` for an object of a type; return how many elements it gives an array."""
        opened = self.at
        self.at += 1
        base = base_of(type_)
        at = most = 0
        lanes: int | None = 0
        while self.text and self.text != "}":
            element = _element_of(base, at)
            if self.text in ("[", "."):
                element, at = self._designated(type_, at)
            if self.text == "{":
                self.initializer_list(element or UNKNOWN)
                lanes = None
            else:
                if self.texts[self.at] in (",", ")"):
                    raise self.fail("expected expression")
                if element is not None:
                    self.piece.expected.append(Expected(self.at, element))
                value = self.assignment()
                if element is not None and _takes_each(base) and not self._is_text_of(base, value):
                    self.check_conversion(element, value, "initializing", value.start)
                if isinstance(base, VectorType):
                    self.check_part(base, value)
                    given = lane_count(value.type)
                    lanes = None if lanes is None or given is None else lanes + given
            if isinstance(base, VectorType) and at == base.lanes and not self.is_cpp:
                self.issue("wrong-vector", "excess elements in vector initializer", token=self.at - 1)
            at += 1
            most = max(most, at)
            if not self.accept(","):
                break
        self.expect("}", opened, in_list=True)
        if isinstance(base, VectorType) and lanes is not None and at <= base.lanes:
            self._check_lanes(base, lanes, opened)
        return most

    def _is_text_of(self, base: object, value: Value) -> bool:
        """Tell whether an array of bytes is given a literal between braces, `{"abc"}`, as C allows."""
        is_text = self.texts[value.start][:1] == '"'
        return is_text and isinstance(base, Array) and is_character(base.element)

    def _check_lanes(self, vector: VectorType, given: int, at: int) -> None:
        if given != vector.lanes and not self.is_cpp:
            which = "few" if given < vector.lanes else "many"
            said = f"too {which} elements in vector initialization "
            self.issue("wrong-vector", f"{said}(expected {vector.lanes} elements, have {given})", token=at)

    def _designated(self, type_: Qualified, at: int) -> tuple[Qualified | None, int]:
        """Read `.member[2].inner =`; return the type of what is named, and its place in the outermost."""
        found: Qualified | None = type_
        place: int | None = None
        while self.text in (".", "["):
            outer = UNKNOWN if found is None else found
            found, step = self._field(outer) if self.text == "." else self._element(outer)
            place = step if place is None else place
        self.accept("=")
        return found, at if place is None else place

    def _element(self, outer: Qualified) -> tuple[Qualified | None, int | None]:
        """Read `[2]`, or GCC's `[0 ... 2]`, which ends at its last element."""
        opened = self.at
        self.at += 1
        index = self.constant_expression().constant
        if self.accept("..."):
            index = self.constant_expression().constant
        self.expect("]", opened)
        place = int(index) if index is not None else None
        array = base_of(outer)
        length = array.length if isinstance(array, Array) else None
        if length is not None and place is not None and not 0 <= place < length:
            said = f"array designator index ({place}) exceeds array bounds ({length})"
            self.issue("wrong-number", said, token=opened + 1)
        return _element_of(base_of(outer), place or 0), place

    def _field(self, outer: Qualified) -> tuple[Qualified | None, int | None]:
        base = base_of(outer)
        self.piece.members.append(MemberAccess(self.at, Qualified(base), is_arrow=False))
        self.at += 1
        name = self.text
        if not is_name(name):
            raise self.fail("expected a field designator, such as '.field = 4'")
        self.at += 1
        if not isinstance(base, Record) or base.members is None:
            return None, None
        self.note_members(outer)
        for place, member in enumerate(base.members):
            found = find_member([member], name)
            if found is not None:
                self.use(self.at - 1, found, Role.WRITES)
                return found.type, place
        said = f"field designator '{name}' does not refer to any field in type '{spelled(Qualified(base))}'"
        close = nearest(name, (it.name for it in base.members))
        fix = None
        if close is not None:
            said += f"; did you mean '{close}'?"
            fix = replaced(self.at - 1, close)
        self.issue("wrong-member", said, token=self.at - 1, fix=fix)
        return None, None


def _element_of(base: object, at: int) -> Qualified | None:
    match base:
        case Array(element=element):
            return element
        case Record(members=members) if members is not None and at < len(members):
            return members[at].type
        case VectorType(element=element):
            return Qualified(element)
        case _:
            return None


def _takes_each(base: object) -> bool:
    """Tell whether each value of a list goes to one element: no list, or vector, is left without braces."""
    if isinstance(base, Array):
        return isinstance(base_of(base.element), ScalarType | Pointer | Enumeration)
    if isinstance(base, Record) and not base.is_union:
        types = [base_of(it.type) for it in base.members or () if it.type is not None]
        return all(isinstance(it, ScalarType | Pointer | Enumeration) for it in types)
    return False


def is_character(type_: Qualified) -> bool:
    """Tell whether a type is a byte: an array of it may be made of a string literal."""
    base = base_of(type_)
    return isinstance(base, ScalarType) and base.size == 1
