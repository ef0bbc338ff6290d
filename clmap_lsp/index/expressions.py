"""Expressions: their types, what they name, read and write, and what is wrong with them."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import lru_cache

from clmap_lsp.index import builtins
from clmap_lsp.index.compatible import Value, binary_type, conversion_fault
from clmap_lsp.index.constants import constants
from clmap_lsp.index.cursor import (
    KEYWORDS,
    MAX_DEPTH,
    OPENING,
    SPECIFIER_WORDS,
    Cursor,
    SyntaxFaultError,
)
from clmap_lsp.index.model import (
    CALLABLE,
    Call,
    Edit,
    Expected,
    Fix,
    Kind,
    MemberAccess,
    Role,
    Symbol,
    Use,
)
from clmap_lsp.index.names import nearest
from clmap_lsp.index.narrowing import is_distance, is_size, most_of, narrowed
from clmap_lsp.index.types import (
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    LONG,
    SIZE_T,
    STRING,
    TYPE_NAMES,
    UINT,
    ULONG,
    UNKNOWN,
    Array,
    Function,
    Pointer,
    Qualified,
    Record,
    Unknown,
    base_of,
    canonical,
    decayed,
    is_arithmetic,
    is_const,
    is_integer,
    layout,
    space_of,
    spelled,
    unqualified,
    with_lanes,
)
from clmap_lsp.source.ir import Severity
from clmap_lsp.source.lexer import is_name
from clmap_lsp.source.places import lane_numbers
from clmap_lsp.source.types import AddressSpace, ScalarKind, ScalarType, VectorType

PRECEDENCE = {
    "||": 1,
    "&&": 2,
    "|": 3,
    "^": 4,
    "&": 5,
    **dict.fromkeys(("==", "!="), 6),
    **dict.fromkeys(("<", ">", "<=", ">="), 7),
    **dict.fromkeys(("<<", ">>"), 8),
    **dict.fromkeys(("+", "-"), 9),
    **dict.fromkeys(("*", "/", "%"), 10),
}
ASSIGNMENTS = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="})
_UNARY = frozenset({"+", "-", "!", "~", "*", "&", "++", "--"})
_POSTFIX = frozenset({"[", "(", ".", "->", "++", "--"})
_MEASURES = frozenset({"sizeof", "_Alignof", "__alignof__", "__alignof", "vec_step"})
_AFTER_OPERAND = (
    frozenset(PRECEDENCE) | ASSIGNMENTS | _POSTFIX | {")", "]", "}", ",", ";", ":", "?", "", "{"}
) - {"{"}
_ATOMICS_OF_64_BITS = frozenset({"cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics"})
_NUMBER = re.compile(r"\.?\d")
_SUFFIXES = re.compile(r"(?i)(?<=[\da-f.])(u?l{0,2}u?)\Z")


class ExpressionParser(Cursor, ABC):
    """Reads expressions; who reads declarations and statements says how what they hold is read."""

    @abstractmethod
    def type_name(self) -> Qualified:
        """Read a type's name, as in a cast. Raises: SyntaxFaultError."""

    @abstractmethod
    def initializer_list(self, type_: Qualified) -> int:
        """Read `{ ... }` for an object of a type; return its elements. Raises: SyntaxFaultError."""

    @abstractmethod
    def compound(self) -> None:
        """Read a block of statements. Raises: SyntaxFaultError."""

    # ------------------------------------------------------------------------------------- the grammar

    def expression(self) -> Value:
        """Read an expression, commas included. Raises: SyntaxFaultError."""
        value = self.assignment()
        while self.accept(","):
            value = self.assignment()
        return value

    def constant_expression(self) -> Value:
        """Read an expression without assignments. Raises: SyntaxFaultError."""
        return self.conditional()

    def assignment(self) -> Value:
        """Read one expression of a list. Raises: SyntaxFaultError."""
        if self.depth > MAX_DEPTH:
            raise SyntaxFaultError
        self.depth += 1
        try:
            mark = len(self.reads)
            left = self.conditional()
            if self.texts[self.at] in ASSIGNMENTS:
                return self._assign(left, mark)
            return left
        finally:
            self.depth -= 1

    def _assign(self, left: Value, mark: int) -> Value:
        at = self.at
        operator = self.texts[at]
        self.at += 1
        self.unit.expected.append(Expected(self.at, left.type))
        right = self.assignment()
        self._wrote(left, operator != "=")
        if left.root is not None and not left.is_pointed:
            self.unit.flow.append((left.root, (*self.reads[mark:], *self.controls)))
        self._check_writable(left, at)
        if operator == "=":
            self.check_conversion(left.type, right, "assigning to", at)
        elif not isinstance(base_of(left.type), Pointer):
            result = self._binary_result(operator[:-1], at, left, right)
            if operator not in ("<<=", ">>="):
                result.start = right.start
                self._check_fraction(left.type, result, right)
        return Value(unqualified(left.type), left.start)

    def _wrote(self, value: Value, also_reads: bool) -> None:
        if value.use is not None:
            use = self.unit.uses[value.use]
            role = Role.WRITES | Role.READS if also_reads else Role.WRITES
            self.unit.uses[value.use] = Use(use.token, use.symbol, role)

    def _check_writable(self, value: Value, at: int) -> None:
        base = base_of(value.type)
        if isinstance(base, Unknown):
            return
        if isinstance(base, ScalarType) and base.kind is ScalarKind.VOID:
            self.issue(
                "not-assignable", f"incomplete type '{spelled(value.type)}' is not assignable", token=at
            )
        elif not value.is_lvalue or isinstance(base, Array | Function):
            kind = "array type " if isinstance(base, Array) else ""
            said = (
                f"{kind}'{spelled(value.type)}' is not assignable" if kind else "expression is not assignable"
            )
            self.issue("not-assignable", said, token=at)
        elif is_const(value.type):
            root = value.root
            if root is not None and not value.is_pointed and value.is_whole:
                said = f"cannot assign to variable '{root.name}' with const-qualified type "
                said += f"'{spelled(value.type)}'"
            else:
                said = "read-only variable is not assignable"
            self.issue("not-assignable", said, token=at)

    def _check_fraction(self, target: Qualified, result: Value, right: Value) -> None:
        """Report `i *= 0.5f`; that integers may not fit any more is in the nature of `+=`."""
        if not is_integer(base_of(result.type)):
            lost = narrowed(target, result)
            if lost is not None:
                fix = self._single_precision(target, result)
                self.issue("narrowing", lost, Severity.HINT, token=right.start, fix=fix)

    def conditional(self) -> Value:
        """Read `a ? b : c` and what binds tighter. Raises: SyntaxFaultError."""
        condition = self.binary(1)
        if self.texts[self.at] != "?":
            return condition
        opened = self.at
        self.at += 1
        if self.texts[self.at] == ":":
            self.at += 1
            self.conditional()
            return Value(UNKNOWN, condition.start)
        left = self.expression()
        if not self.accept(":"):
            fix = Fix("Insert ':'", (Edit(self.at, self.at, ":"),))
            notes = ((opened, "to match this '?'"),)
            self.issue("syntax-error", "expected ':'", fix=fix, notes=notes)
            raise SyntaxFaultError
        right = self.conditional()
        constant = None
        if condition.constant is not None:
            constant = left.constant if condition.constant else right.constant
        return Value(
            _chosen_type(condition, left, right),
            condition.start,
            constant=constant,
            is_size=is_size(left) and is_size(right),
            most=most_of("?", left, right, INT),
        )

    def binary(self, floor: int) -> Value:
        """Read operators of two operands from a precedence on. Raises: SyntaxFaultError."""
        left = self.unary()
        while True:
            operator = self.texts[self.at]
            precedence = PRECEDENCE.get(operator)
            if precedence is None or precedence < floor:
                return left
            at = self.at
            self.at += 1
            right = self.unary()
            following = PRECEDENCE.get(self.texts[self.at])
            while following is not None and following > precedence:
                right = self._climb(right, precedence + 1)
                following = PRECEDENCE.get(self.texts[self.at])
            left = self._binary_result(operator, at, left, right)

    def _climb(self, left: Value, floor: int) -> Value:
        while True:
            operator = self.texts[self.at]
            precedence = PRECEDENCE.get(operator)
            if precedence is None or precedence < floor:
                return left
            at = self.at
            self.at += 1
            right = self.unary()
            following = PRECEDENCE.get(self.texts[self.at])
            while following is not None and following > precedence:
                right = self._climb(right, precedence + 1)
                following = PRECEDENCE.get(self.texts[self.at])
            left = self._binary_result(operator, at, left, right)

    def _binary_result(self, operator: str, at: int, left: Value, right: Value) -> Value:
        type_, fault = binary_type(operator, left, right)
        if fault is not None:
            self.issue("invalid-operands", fault, token=at)
        constant = None
        if left.constant is not None and right.constant is not None:
            constant = _folded(operator, left.constant, right.constant, base_of(type_))
        return Value(
            type_,
            left.start,
            constant=constant,
            is_size=(is_size(left) and is_size(right)) or is_distance(operator, left, right),
            most=most_of(operator, left, right, type_),
        )

    def unary(self) -> Value:
        """Read an operand with what stands before it. Raises: SyntaxFaultError."""
        text = self.texts[self.at]
        if text in _UNARY:
            return self._prefixed(text)
        if text == "(" and self.starts_type(self.at + 1):
            return self._cast()
        if text in _MEASURES:
            return self._measure(text)
        if text == "__extension__":
            self.at += 1
            return self.unary()
        return self.postfix(self.primary())

    def starts_type(self, at: int) -> bool:
        """Tell whether a type's name starts at a token."""
        text = self.texts[at]
        if text in SPECIFIER_WORDS:
            return True
        if self.named_type(at) is not None:
            return True
        # `(REAL)x`, `(REAL*)x`: a name that nothing defines can only be a type here.
        return (
            self.texts[at - 1] == "("
            and is_name(text)
            and text not in KEYWORDS
            and self.texts[at + 1] in (")", "*")
            and self._is_cast_of_unknown(at)
        )

    def _is_cast_of_unknown(self, at: int) -> bool:
        text = self.texts[at]
        if self.lookup(text) is not None or builtins.find(text) is not None or text in constants():
            return False
        stars = at + 1
        while self.texts[stars] == "*":
            stars += 1
        behind = self.texts[stars + 1]
        if self.texts[stars] != ")" or (self.texts[at - 2] in OPENING.values() or self.is_name(at - 2)):
            return False
        if stars > at + 1:
            return True
        return bool(behind) and (behind == "(" or behind[0].isalnum() or behind[0] in "_\"'.")

    def _prefixed(self, operator: str) -> Value:
        at = self.at
        self.at += 1
        if self.depth > MAX_DEPTH:
            raise SyntaxFaultError
        self.depth += 1
        try:
            operand = self.unary()
        finally:
            self.depth -= 1
        match operator:
            case "*":
                return self._dereferenced(operand, at)
            case "&":
                return self._address(operand, at)
            case "++" | "--":
                self._stepped(operand, at)
                return Value(unqualified(operand.type), at)
            case "!":
                lanes = base_of(operand.type)
                type_ = _truth(lanes) if isinstance(lanes, VectorType) else INT
                constant = None if operand.constant is None else int(not operand.constant)
                return Value(type_, at, constant=constant)
            case _:
                return self._signed(operator, operand, at)

    def _signed(self, operator: str, operand: Value, at: int) -> Value:
        base = base_of(decayed(operand.type))
        if isinstance(base, Unknown | VectorType):
            return Value(unqualified(operand.type), at)
        wanted = is_integer(base) if operator == "~" else is_arithmetic(base)
        if not wanted:
            said = f"invalid argument type '{spelled(operand.type)}' to unary expression"
            self.issue("invalid-operands", said, token=at)
            return Value(UNKNOWN, at)
        type_, _ = binary_type("+", operand, Value(INT, at))
        constant = operand.constant
        if constant is not None:
            match operator:
                case "-":
                    constant = -constant
                case "~":
                    constant = ~int(constant)
            constant = _wrapped(constant, base_of(type_))
        return Value(type_, at, constant=constant)

    def _dereferenced(self, operand: Value, at: int) -> Value:
        base = base_of(decayed(operand.type))
        if isinstance(base, Pointer):
            self._check_half(base.pointee, isinstance(base_of(operand.type), Array), at)
            return Value(
                base.pointee,
                at,
                is_lvalue=True,
                root=operand.root,
                use=operand.use,
                is_pointed=operand.is_pointed or not isinstance(base_of(operand.type), Array),
            )
        if not isinstance(base, Unknown):
            said = f"indirection requires pointer operand ('{spelled(operand.type)}' invalid)"
            self.issue("not-a-pointer", said, token=at)
        return Value(UNKNOWN, at, is_lvalue=True)

    def _check_half(self, pointee: Qualified, is_array: bool, at: int) -> None:
        """Note a load or store of a half; where the array of halves is declared, that was noted."""
        if not is_array and base_of(pointee) == base_of(HALF):
            self.need("cl_khr_fp16", "a half that is read or written without vload_half or vstore_half", at)

    def _address(self, operand: Value, at: int) -> Value:
        if operand.use is not None and not operand.is_pointed:
            # What has its address taken may be written through it.
            use = self.unit.uses[operand.use]
            self.unit.uses[operand.use] = Use(use.token, use.symbol, Role.READS | Role.WRITES)
            if operand.root is not None:
                self.unit.flow.append((operand.root, (None,)))
        type_ = operand.type
        if isinstance(type_.base, Unknown):
            return Value(UNKNOWN, at)
        if space_of(type_) is None:
            type_ = Qualified(
                type_.base, type_.is_const, type_.is_volatile, type_.is_restrict, AddressSpace.PRIVATE
            )
        return Value(Qualified(Pointer(type_)), at, root=operand.root, use=operand.use)

    def _stepped(self, operand: Value, at: int) -> None:
        self._wrote(operand, True)
        self._check_writable(operand, at)
        if operand.root is not None and not operand.is_pointed:
            self.unit.flow.append((operand.root, (operand.root, *self.controls)))

    def _measure(self, word: str) -> Value:
        start = self.at
        self.at += 1
        if word == "vec_step":
            self.use_builtin(start)
        type_: Qualified
        if self.text == "(" and self.starts_type(self.at + 1):
            opened = self.at
            self.at += 1
            type_ = self.type_name()
            self.expect(")", opened)
            if self.text == "{":
                self.initializer_list(type_)
        else:
            mark = len(self.reads)
            type_ = self.unary().type
            del self.reads[mark:]
        if word == "vec_step":
            base = base_of(type_)
            lanes = base.lanes if isinstance(base, VectorType) else 1
            return Value(INT, start, constant=4 if lanes == 3 else lanes)
        self.note_members(type_)
        measured = layout(type_)
        constant = None
        if measured is not None:
            constant = measured.size if word == "sizeof" else measured.alignment
        return Value(SIZE_T, start, constant=constant, is_size=True)

    def _cast(self) -> Value:
        start = self.at
        self.at += 1
        type_ = self.type_name()
        self.expect(")", start)
        if self.text == "{":
            self.initializer_list(type_)
            return self.postfix(Value(type_, start, is_lvalue=True))
        base = base_of(type_)
        self.depth += 1
        try:
            if isinstance(base, VectorType) and self.text == "(" and not self.starts_type(self.at + 1):
                self._vector_literal(base)
                return Value(unqualified(type_), start)
            operand = self.unary()
        finally:
            self.depth -= 1
        constant = operand.constant
        if constant is not None:
            constant = _wrapped(constant, base) if isinstance(base, ScalarType) else None
        self._check_cast(type_, operand, start)
        return Value(unqualified(type_), start, constant=constant, root=operand.root, use=operand.use)

    def _vector_literal(self, base: VectorType) -> None:
        """Read what stands behind `(float4)`: parts in brackets, and what is applied to them."""
        opened = self.at
        self.at += 1
        parts = [self.assignment()]
        while self.accept(","):
            parts.append(self.assignment())
        self.expect(")", opened)
        counts = [_lane_count(it.type) for it in parts]
        if self.texts[self.at] in _POSTFIX:
            self.postfix(Value(parts[-1].type, opened))
        elif len(parts) > 1 and None not in counts:
            total = sum(it or 0 for it in counts)
            if total < base.lanes:
                said = "too few elements in vector initialization "
                said += f"(expected {base.lanes} elements, have {total})"
                self.issue("wrong-vector", said, token=opened)
            elif total > base.lanes:
                self.issue("wrong-vector", "excess elements in vector initializer", token=parts[-1].start)

    def _check_cast(self, type_: Qualified, operand: Value, at: int) -> None:
        target, given = base_of(type_), base_of(decayed(operand.type))
        if isinstance(target, Pointer) and isinstance(given, Pointer):
            wanted, present = space_of(target.pointee), space_of(given.pointee)
            pair = {wanted, present}
            if wanted is not present and None not in pair and _may_not_meet(wanted, present):
                said = f"casting '{spelled(decayed(operand.type))}' to type '{spelled(type_)}' "
                said += "changes address space of pointer"
                self.issue("address-space", said, token=at, fix=None)
        elif isinstance(target, VectorType) and isinstance(given, VectorType) and target != given:
            if target.size != given.size or target.element.name == given.element.name:
                said = f"invalid conversion between ext-vector type '{spelled(type_)}' and "
                said += f"'{spelled(unqualified(operand.type))}'"
                self.issue("wrong-vector", said, token=at)
        elif isinstance(given, Record) and (
            isinstance(target, VectorType | Pointer)
            or (isinstance(target, ScalarType) and target.kind is not ScalarKind.VOID)
        ):
            said = f"operand of type '{spelled(operand.type)}' where arithmetic or pointer type is required"
            self.issue("invalid-operands", said, token=operand.start)

    # ------------------------------------------------------------------------------------ postfix forms

    def postfix(self, value: Value) -> Value:
        """Read what follows an operand: subscripts, calls, members, steps. Raises: SyntaxFaultError."""
        while True:
            text = self.texts[self.at]
            if text not in _POSTFIX:
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
        self.unit.members.append(MemberAccess(at, type_, is_arrow))
        self.at += 1
        if is_arrow and isinstance(base, Pointer):
            type_ = base.pointee
            base = base_of(type_)
            is_pointed = True
        elif is_arrow and not isinstance(base, Unknown):
            said = f"member reference type '{spelled(value.type)}' is not a pointer"
            if isinstance(base, Record):
                said += "; did you mean to use '.'?"
            self.issue("wrong-member", said, token=at, fix=_replaced(at, "."))
        elif not is_arrow and isinstance(base, Pointer):
            said = f"member reference type '{spelled(value.type)}' is a pointer; did you mean to use '->'?"
            self.issue("wrong-member", said, token=at, fix=_replaced(at, "->"))
            base = base_of(base.pointee)
            is_pointed = True
        if not is_name(self.text) or (self.text in KEYWORDS and not isinstance(base, VectorType)):
            raise self.fail("expected identifier")
        name_at, name = self.at, self.text
        self.at += 1
        found = self._selected(base, name, name_at, type_)
        return Value(
            found,
            value.start,
            is_lvalue=value.is_lvalue or is_pointed,
            root=value.root,
            use=value.use,
            is_pointed=is_pointed,
            is_whole=False,
        )

    def _selected(self, base: object, name: str, at: int, type_: Qualified) -> Qualified:
        self.note_members(type_)
        match base:
            case Record(members=members) if members is not None:
                symbol = _find_member(members, name)
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
                self.issue("wrong-member", said, token=at - 1)
            case VectorType(element=element, lanes=lanes):
                chosen = lane_numbers(name, lanes)
                if chosen:
                    self.use_builtin(at, type_=with_lanes(element, len(chosen)))
                    outer = canonical(type_)
                    return Qualified(with_lanes(element, len(chosen)).base, outer.is_const, space=outer.space)
                self._bad_swizzle(name, at, type_)
            case ScalarType(bits=bits) if bits:
                said = f"member reference base type '{spelled(type_)}' is not a structure or union"
                self.issue("wrong-member", said, token=at - 1)
            case _:
                pass
        return UNKNOWN

    def _no_member(self, base: Record, members: list[Symbol], name: str, at: int) -> None:
        said = f"no member named '{name}' in '{spelled(Qualified(base))}'"
        close = nearest(name, (it.name for it in members))
        if close is not None:
            self.issue("wrong-member", f"{said}; did you mean '{close}'?", token=at, fix=_replaced(at, close))
        else:
            self.issue("wrong-member", said, token=at)

    def _bad_swizzle(self, name: str, at: int, type_: Qualified) -> None:
        bad = next((it for it in name if it not in "xyzwrgba"), None)
        if bad is None or lane_numbers(name, 16):
            said = f"vector component access exceeds type '{spelled(type_)}'"
        else:
            said = f"illegal vector component name '{bad}'"
        self.issue("wrong-member", said, token=at)

    # ------------------------------------------------------------------------------------------- calls

    def _call(self, value: Value) -> Value:
        opened = self.at
        self.at += 1
        callee = value.callee
        call = Call(value.start, opened, [], self.n_tokens, callee, function=self.function)
        self.unit.calls.append(call)
        arguments: list[Value] = []
        marks: list[int] = [len(self.reads)]
        if self.text != ")":
            while True:
                self._expect_parameter(callee, len(arguments))
                arguments.append(self._argument())
                call.arguments.append(arguments[-1].type)
                marks.append(len(self.reads))
                if self.text != ",":
                    break
                call.commas.append(self.at)
                self.at += 1
        closing = self.at
        self.expect(")", opened)
        call.end = self.at
        call.varying = []
        return self._called(value, call, arguments, closing, marks)

    def _argument(self) -> Value:
        if self.starts_type(self.at) and self.text not in ("__extension__",):
            # Only macros take types: this is the use of one that nothing defines, or a misplaced declaration.
            if self.text in SPECIFIER_WORDS and not self.is_doubtful:
                self.issue("syntax-error", "expected expression")
            self.is_doubtful = True
            start = self.at
            self.skip_to(",", ";")
            return Value(UNKNOWN, start)
        return self.assignment()

    def _expect_parameter(self, callee: Symbol | str | None, index: int) -> None:
        if isinstance(callee, Symbol) and index < len(callee.parameters):
            wanted = callee.parameters[index].type
            if wanted is not None:
                self.unit.expected.append(Expected(self.at, wanted))

    def _called(
        self, value: Value, call: Call, arguments: list[Value], closing: int, marks: list[int]
    ) -> Value:
        callee = value.callee
        if isinstance(callee, str):
            return self._builtin_call(callee, value, arguments, closing)
        if isinstance(callee, Symbol) and callee.kind in CALLABLE:
            callee = self._overload(callee, arguments)
            if callee is not value.callee and value.use is not None:
                use = self.unit.uses[value.use]
                self.unit.uses[value.use] = Use(use.token, callee, use.role)
            call.callee = callee
            for at, parameter in enumerate(callee.parameters[: len(arguments)]):
                self.unit.flow.append((parameter, tuple(self.reads[marks[at] : marks[at + 1]])))
            self.reads.append(callee)
            self._check_arguments(callee, value, arguments, closing)
            function = callee.type.base if callee.type is not None else None
            if isinstance(function, Function):
                return Value(function.result, value.start)
            return Value(UNKNOWN, value.start)
        base = base_of(decayed(value.type))
        if isinstance(base, Pointer) and isinstance(inner := base_of(base.pointee), Function):
            return Value(inner.result, value.start)
        if not isinstance(base, Unknown) and not (isinstance(base, Pointer) and base.is_block):
            said = f"called object type '{spelled(value.type)}' is not a function or function pointer"
            self.issue("not-a-function", said, token=value.start)
        return Value(UNKNOWN, value.start)

    def _overload(self, callee: Symbol, arguments: list[Value]) -> Symbol:
        """Return which of the functions of one name (`overloadable`) a call is of."""
        best, best_score = callee, -1.0
        candidate: Symbol | None = callee
        while candidate is not None:
            score = -1.0
            if len(candidate.parameters) == len(arguments):
                pairs = zip(candidate.parameters, arguments, strict=True)
                score = sum(_alike(a.type, b.type) for a, b in pairs)
            if score > best_score:
                best, best_score = candidate, score
            candidate = candidate.overloads
        return best

    def _check_arguments(self, callee: Symbol, value: Value, arguments: list[Value], closing: int) -> None:
        function = callee.type.base if callee.type is not None else None
        if not isinstance(function, Function) or callee.overloads is not None or not function.has_prototype:
            return
        wanted, given = len(function.parameters), len(arguments)
        only = callee.parameters[0].name if wanted == 1 and callee.parameters else ""
        notes = ((-1, f"'{callee.name}' declared here"),) if callee.unit is not self.unit else ()
        if given < wanted:
            said = f"expected {'at least ' if function.is_variadic else ''}{wanted}, have {given}"
            if only:
                said = f"single argument '{only}' was not specified"
            self.issue(
                "wrong-arguments", f"too few arguments to function call, {said}", token=closing, notes=notes
            )
        elif given > wanted and not function.is_variadic:
            said = f"expected {wanted}, have {given}"
            if only:
                said = f"expected single argument '{only}', have {given} arguments"
            first = arguments[wanted].start
            self.issue(
                "wrong-arguments", f"too many arguments to function call, {said}", token=first, notes=notes
            )
        for type_, argument in zip(function.parameters, arguments, strict=False):
            self.check_conversion(type_, argument, "passing", argument.start)

    def _builtin_call(self, name: str, value: Value, arguments: list[Value], closing: int) -> Value:
        builtin = builtins.find(name)
        if builtin is None:
            return Value(UNKNOWN, value.start)
        if builtin.is_varying:
            self.reads.append(None)
        types = [it.type for it in arguments]
        found = builtins.resolve(builtin, types, has_generic=self.version >= 200)
        text = builtins.shown(builtin, found) if found is not None else None
        self.use_builtin(value.start, text, is_varying=builtin.is_varying)
        if found is not None:
            self._written_through(found, arguments)
            self._needs_of(name, builtin, found, value.start)
            return Value(found.result, value.start, is_size=found.result == SIZE_T)
        least, most = builtins.arity(builtin)
        known = not any(isinstance(base_of(it.type), Unknown) for it in arguments)
        if known or len(arguments) < least or (most is not None and len(arguments) > most):
            self.issue("wrong-arguments", f"no matching function for call to '{name}'", token=value.start)
        return Value(UNKNOWN, value.start)

    def _needs_of(self, name: str, builtin: builtins.Builtin, found: builtins.Resolved, at: int) -> None:
        """Note the extension that a built-in function needs, of those that need a pragma."""
        first = base_of(found.parameters[0]) if found.parameters else None
        if builtin.extension in _ATOMICS_OF_64_BITS and isinstance(first, Pointer):
            element = base_of(first.pointee)
            if isinstance(element, ScalarType) and element.bits == 64:
                self.need(builtin.extension, f"'{name}' of 64 bits", at, Severity.HINT)
        elif builtin.extension == "cl_khr_subgroups":
            self.need(builtin.extension, f"'{name}'", at, Severity.HINT)
        elif (
            name.startswith("write_image")
            and self.version < 200
            and getattr(first, "name", "") == "image3d_t"
        ):
            self.need("cl_khr_3d_image_writes", "writing to an image of three dimensions", at)

    def _written_through(self, found: builtins.Resolved, arguments: list[Value]) -> None:
        """Note what `vstore4(v, 0, p)` and its like write."""
        for parameter, argument in zip(found.overload.parameters, arguments, strict=False):
            writes = parameter.is_pointer and not parameter.is_const
            if writes and argument.use is not None and isinstance(base_of(decayed(argument.type)), Pointer):
                reads = found.overload.result.word != "void" and parameter.is_volatile
                self._wrote(argument, reads)

    # ---------------------------------------------------------------------------------------- operands

    def primary(self) -> Value:
        """Read an operand. Raises: SyntaxFaultError."""
        at = self.at
        text = self.texts[at]
        if is_name(text) and text not in KEYWORDS:
            self.at += 1
            return self._named(text, at)
        if _NUMBER.match(text):
            self.at += 1
            type_, number = literal(text)
            return Value(type_, at, constant=number)
        if text == "(":
            return self._parenthesised(at)
        if text[:1] == '"':
            while self.text[:1] == '"':
                self.at += 1
            return Value(STRING, at)
        if text[:1] == "'" and len(text) > 2:
            self.at += 1
            return Value(INT, at, constant=ord(text[1]) if len(text) == 3 else None)
        if text == "^":
            return self._block_literal(at)
        raise self.fail("expected expression")

    def _parenthesised(self, at: int) -> Value:
        self.at += 1
        if self.text == "{":
            self.compound()
            self.expect(")", at)
            return Value(UNKNOWN, at)
        value = self.expression()
        self.expect(")", at)
        value.start = at
        return value

    def _block_literal(self, at: int) -> Value:
        """Read a block of OpenCL 2.0, `^(int x) { ... }`."""
        self.at += 1
        while self.text and self.text != "{":
            if self.text == "(":
                self.skip_brackets()
            elif self.text in (";", ")"):
                raise self.fail("expected '{'")
            else:
                self.at += 1
        self.is_doubtful = True
        self.skip_brackets()
        return Value(Qualified(Pointer(UNKNOWN, is_block=True)), at)

    def _named(self, name: str, at: int) -> Value:
        symbol = self.lookup(name)
        if symbol is None:
            return self._not_declared_here(name, at)
        if symbol.kind is Kind.TYPEDEF:
            self.use(at, symbol, Role.NAMES)
            self.at = at
            self.issue("syntax-error", f"unexpected type name '{name}': expected expression", token=at)
            raise SyntaxFaultError
        calls = symbol.kind in CALLABLE
        self.use(at, symbol, Role.CALLS if calls and self.text == "(" else Role.READS)
        if calls:
            return Value(symbol.type or UNKNOWN, at, callee=symbol, use=len(self.unit.uses) - 1)
        self.reads.append(symbol)
        constant = symbol.value
        if symbol.kind is not Kind.ENUMERATOR and not (symbol.type is not None and is_const(symbol.type)):
            constant = None
        return Value(
            symbol.type or UNKNOWN,
            at,
            is_lvalue=symbol.kind is not Kind.ENUMERATOR,
            constant=constant,
            root=symbol,
            use=len(self.unit.uses) - 1,
        )

    def _not_declared_here(self, name: str, at: int) -> Value:
        if name in ("__builtin_astype", "__builtin_convertvector", "__builtin_offsetof", "offsetof"):
            return self._typed_builtin(name, at)
        builtin = builtins.find(name)
        if builtin is not None and (builtin.since <= 1.2 or builtin.extension or self.version >= 200):
            if self.text == "(":
                return Value(UNKNOWN, at, callee=name)
            self.use_builtin(at)
            return Value(UNKNOWN, at)
        constant = constants().get(name)
        if constant is not None:
            self.use_builtin(at, type_=constant.type)
            return Value(constant.type, at, constant=constant.value)
        if name == "NULL":
            self.use_builtin(at)
            return Value(Qualified(Pointer(TYPE_NAMES["void"])), at, constant=0)
        if name.startswith("__") or name in ("ATOMIC_VAR_INIT", "ATOMIC_FLAG_INIT"):
            if name in ("__func__", "__FUNCTION__", "__PRETTY_FUNCTION__"):
                return Value(STRING, at)
            return Value(UNKNOWN, at)
        self._undeclared(name, at, builtin)
        return Value(UNKNOWN, at)

    def _typed_builtin(self, name: str, at: int) -> Value:
        """Read `__builtin_astype(x, T)` and its like, which take a type's name."""
        opened = self.at
        self.expect("(")
        if name.endswith("offsetof"):
            type_ = self.type_name()
            base = base_of(type_)
            if self.accept(",") and isinstance(base, Record) and base.members is not None:
                member = _find_member(base.members, self.text)
                if member is not None:
                    self.use(self.at, member, Role.NAMES)
            self.at = max(self.at, self.closing(opened))
            result = SIZE_T
        else:
            self.assignment()
            if not self.accept(","):
                raise self.fail("expected ','")
            result = self.type_name()
        self.expect(")", opened)
        return Value(result, at)

    # -------------------------------------------------------------------------------- undeclared names

    def _undeclared(self, name: str, at: int, builtin: builtins.Builtin | None) -> None:
        """Report a name that nothing declares.

        It may come from `-D`, so only what is one letter from a name in sight, or of a newer version, is
        certainly wrong.
        """
        is_call = self.text == "("
        if builtin is not None:
            said = f"'{name}' is of OpenCL C {builtin.since:.1f}; this is built as {self.version / 100:.1f}"
            self.issue("version", said, token=at, name=name)
            return
        close = nearest(name, self._local_names()) or self.near(name)
        if close is None and is_call:
            close = builtins.near(name)
        what = f"use of undeclared identifier '{name}'"
        if is_call:
            what = f"implicit declaration of function '{name}' is invalid in OpenCL"
        is_capitals = name.upper() == name
        if close is not None and len(name) > 1 and not is_capitals:
            said = f"{what}; did you mean '{close}'?"
            self.issue("undeclared", said, token=at, fix=_replaced(at, close), name=name)
            return
        if self.texts[self.at] not in _AFTER_OPERAND:
            self.is_doubtful = True
        severity = Severity.INFORMATION if is_call or is_capitals else Severity.WARNING
        said = f"{what}; if the host defines it, set -D {name}=VALUE in clmap.toml"
        if close is not None:
            said = (
                f"{what}; did you mean '{close}'? If the host defines it, set -D {name}=VALUE in clmap.toml"
            )
        fix = None if close is None else _replaced(at, close)
        self.issue("undefined-name", said, severity, token=at, fix=fix, name=name)

    def _local_names(self) -> Iterator[str]:
        return (name for ordinary, _, _ in reversed(self.scopes) for name in ordinary)

    # -------------------------------------------------------------------------------------- conversions

    def check_conversion(self, target: Qualified, value: Value, action: str, at: int) -> None:
        """Report where a value does not fit what it is assigned or passed to."""
        fault = conversion_fault(target, value, action)
        if fault is not None:
            code, said = fault
            self.issue(code, said, token=at)
            return
        lost = narrowed(target, value)
        if lost is not None:
            fix = self._single_precision(target, value)
            self.issue("narrowing", lost, Severity.HINT, token=value.start, fix=fix)

    def _single_precision(self, target: Qualified, value: Value) -> Fix | None:
        """Return what makes the constants of an expression float, where a float is wanted of a double."""
        if base_of(value.type) != base_of(DOUBLE) or base_of(target) != base_of(FLOAT):
            return None
        found = [
            at
            for at in range(value.start, self.at)
            if _NUMBER.match(self.texts[at])
            and literal(self.texts[at])[0] is DOUBLE
            and self.texts[at][-1] not in "lL"
        ]
        if not found:
            return None
        edits = tuple(Edit(at, at + 1, f"{self.texts[at]}f") for at in found)
        return Fix(f"Write {', '.join(it.text for it in edits[:3])}", edits)


# ------------------------------------------------------------------------------------------------ helpers


def _replaced(at: int, text: str) -> Fix:
    return Fix(f"Change to '{text}'", (Edit(at, at + 1, text),))


def _find_member(members: list[Symbol], name: str) -> Symbol | None:
    for member in members:
        if member.name == name:
            return member
        if not member.name and member.type is not None:
            inner = base_of(member.type)
            if isinstance(inner, Record) and inner.members is not None:
                found = _find_member(inner.members, name)
                if found is not None:
                    return found
    return None


def _lane_count(type_: Qualified) -> int | None:
    base = base_of(type_)
    if isinstance(base, VectorType):
        return base.lanes
    return 1 if is_arithmetic(base) else None


def _alike(wanted: Qualified | None, given: Qualified) -> float:
    if wanted is None:
        return 0.0
    a, b = base_of(wanted), base_of(decayed(given))
    if isinstance(a, Pointer) and isinstance(b, Pointer):
        same = base_of(a.pointee) == base_of(b.pointee)
        return 2.0 * same + (space_of(a.pointee) is space_of(b.pointee))
    if a == b:
        return 3.0
    if isinstance(a, ScalarType) and isinstance(b, ScalarType):
        return 1.0 + 0.5 * (a.is_float == b.is_float) + 0.1 * (a.bits == b.bits)
    return -4.0


def _may_not_meet(a: AddressSpace | None, b: AddressSpace | None) -> bool:
    pair = {a, b}
    if AddressSpace.GENERIC in pair:
        return AddressSpace.CONSTANT in pair
    return True


def _truth(base: VectorType) -> Qualified:
    names = {8: "char", 16: "short", 32: "int", 64: "long"}
    return TYPE_NAMES[f"{names[base.element.bits]}{base.lanes}"]


def _chosen_type(condition: Value, left: Value, right: Value) -> Qualified:
    """Return the type of `c ? a : b`."""
    first, second = decayed(left.type), decayed(right.type)
    a, b = base_of(first), base_of(second)
    if isinstance(a, Unknown) or isinstance(b, Unknown):
        return UNKNOWN
    if isinstance(a, Pointer):
        return second if left.constant == 0 and isinstance(b, Pointer) else first
    if isinstance(b, Pointer):
        return second
    if isinstance(a, Record):
        return first
    type_, fault = binary_type("+", left, right)
    if fault is not None:
        return UNKNOWN
    lanes = base_of(condition.type)
    result = base_of(type_)
    if isinstance(lanes, VectorType) and isinstance(result, ScalarType):
        return with_lanes(result, lanes.lanes)
    return type_


def _wrapped(value: int | float, base: object) -> int | float | None:
    if not isinstance(base, ScalarType):
        return None
    if base.is_float:
        return float(value)
    try:
        number = int(value)
    except (OverflowError, ValueError):
        return None
    if base.name == "bool":
        return int(bool(value))
    number &= (1 << base.bits) - 1
    return number - (1 << base.bits) if base.is_signed and number >> (base.bits - 1) else number


def _folded(operator: str, a: int | float, b: int | float, base: object) -> int | float | None:
    try:
        match operator:
            case "+":
                found: int | float = a + b
            case "-":
                found = a - b
            case "*":
                found = a * b
            case "/" if isinstance(a, int) and isinstance(b, int):
                found = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            case "/":
                found = a / b
            case "%" if isinstance(a, int) and isinstance(b, int):
                found = abs(a) % abs(b) * (-1 if a < 0 else 1)
            case "<<":
                found = int(a) << (int(b) & 63)
            case ">>":
                found = int(a) >> (int(b) & 63)
            case "&":
                found = int(a) & int(b)
            case "|":
                found = int(a) | int(b)
            case "^":
                found = int(a) ^ int(b)
            case "&&":
                found = int(bool(a and b))
            case "||":
                found = int(bool(a or b))
            case "==":
                found = int(a == b)
            case "!=":
                found = int(a != b)
            case "<":
                found = int(a < b)
            case ">":
                found = int(a > b)
            case "<=":
                found = int(a <= b)
            case ">=":
                found = int(a >= b)
            case _:
                return None
    except (ZeroDivisionError, OverflowError, TypeError, ValueError):
        return None
    return _wrapped(found, base)


@lru_cache(maxsize=4096)
def literal(text: str) -> tuple[Qualified, int | float | None]:
    """Return the type and value of a number as written."""
    lower = text.lower()
    is_hexadecimal = lower.startswith("0x")
    is_float = "p" in lower if is_hexadecimal else ("." in lower or "e" in lower)
    if is_float or (not is_hexadecimal and lower[-1] in "fh"):
        type_ = FLOAT if lower[-1] == "f" else HALF if lower[-1] == "h" else DOUBLE
        digits = lower.rstrip("fhl")
        try:
            return type_, float.fromhex(digits) if is_hexadecimal else float(digits)
        except (ValueError, OverflowError):
            return type_, None
    match = _SUFFIXES.search(lower)
    suffix = match[1] if match is not None else ""
    digits = lower[: len(lower) - len(suffix)]
    try:
        value = int(digits, 8) if digits.startswith("0") and digits.isdigit() else int(digits, 0)
    except ValueError:
        return UNKNOWN, None
    if value >> 64:
        return ULONG, None  # No type holds it.
    return _integer_type(value, suffix, is_decimal=not digits.startswith("0")), value


def _integer_type(value: int, suffix: str, *, is_decimal: bool) -> Qualified:
    if "u" in suffix:
        return ULONG if "l" in suffix or value >> 32 else UINT
    if "l" not in suffix:
        if value < 1 << 31:
            return INT
        if value < 1 << 32 and not is_decimal:
            return UINT
    return LONG if value < 1 << 63 else ULONG
