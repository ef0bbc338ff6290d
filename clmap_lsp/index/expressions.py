"""Expressions: operators and their operands, casts, and what is assigned."""

from __future__ import annotations

from abc import ABC

from clmap_lsp.index.compatible import (
    Value,
    binary_type,
    choice_fault,
    is_plain_void_pointer,
    rank_fault,
    truth_of,
)
from clmap_lsp.index.cursor import (
    MAX_DEPTH,
    SyntaxFaultError,
)
from clmap_lsp.index.declared import is_image_or_sampler
from clmap_lsp.index.model import (
    CALLABLE,
    Edit,
    Expected,
    Fix,
    Role,
    Use,
)
from clmap_lsp.index.narrowing import is_distance, is_size, most_of
from clmap_lsp.index.operators import ASSIGNMENTS, MEASURES, PRECEDENCE, UNARY, folded, wrapped
from clmap_lsp.index.postfix import PostfixParser
from clmap_lsp.index.types import (
    DOUBLE,
    FLOAT,
    INT,
    SIZE_T,
    STRING,
    UNKNOWN,
    Array,
    Function,
    Pointer,
    Qualified,
    Record,
    Unknown,
    base_of,
    decayed,
    is_arithmetic,
    is_integer,
    layout,
    space_of,
    spelled,
    unqualified,
    with_lanes,
)
from clmap_lsp.source.ir import Severity
from clmap_lsp.source.types import AddressSpace, ScalarType, VectorType


class ExpressionParser(PostfixParser, ABC):
    """Reads expressions."""

    def expression(self) -> Value:
        """Read an expression, commas included. Raises: SyntaxFaultError."""
        value = self.assignment()
        while self.accept(","):
            value = self.behind_comma()
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
        self.piece.expected.append(Expected(self.at, left.type))
        right = self.assignment()
        self.wrote(left, operator != "=")
        if left.root is not None and not left.is_pointed:
            self.piece.flow.append((left.root, (*self.reads[mark:], *self.controls)))
        self._check_writable(left, at)
        if operator == "=" and is_image_or_sampler(base_of(left.type)) and not self.is_cpp:
            names = f"('{spelled(left.type)}' and '{spelled(right.type)}')"
            self.issue("invalid-operands", f"invalid operands to binary expression {names}", token=at)
        elif operator == "=":
            self.check_conversion(left.type, right, "assigning to", at)
        elif isinstance(base_of(left.type), Pointer):
            self._check_moved(operator[:-1], at, left, right)
        else:
            result = self._binary_result(operator[:-1], at, left, right)
            if operator not in ("<<=", ">>="):
                result.start = right.start
                self._check_fraction(left.type, result, right)
        return Value(unqualified(left.type), left.start)

    def _check_moved(self, operator: str, at: int, pointer: Value, by: Value) -> None:
        """Report what a pointer cannot be moved by."""
        type_, fault = binary_type(operator, pointer, by)
        if fault is None and isinstance(base_of(decayed(by.type)), Pointer):
            given = f"assigning to '{spelled(pointer.type)}' from '{spelled(type_)}'"
            fault = f"incompatible integer to pointer conversion {given}"
        if fault is not None:
            self.issue("invalid-operands", fault, token=at)

    def conditional(self) -> Value:
        """Read `a ? b : c` and what binds tighter. Raises: SyntaxFaultError."""
        condition = self.binary(1)
        if self.texts[self.at] != "?":
            return condition
        opened = self.at
        lanes = base_of(condition.type)
        if isinstance(lanes, VectorType) and lanes.element.is_float:
            said = (
                f"used type '{spelled(unqualified(condition.type))}' where floating point type is not allowed"
            )
            self.issue("invalid-operands", said, token=condition.start)
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
        if (fault := choice_fault(left, right)) is not None:
            self.issue("invalid-operands", fault, token=opened)
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
        elif isinstance(type_.base, VectorType) and operator not in ("<<", ">>"):
            self._check_rank(left, right, at)
        constant = None
        if left.constant is not None and right.constant is not None:
            constant = folded(operator, left.constant, right.constant, base_of(type_))
        return Value(
            type_,
            left.start,
            constant=constant,
            is_size=(is_size(left) and is_size(right)) or is_distance(operator, left, right),
            most=most_of(operator, left, right, type_),
        )

    def _check_rank(self, left: Value, right: Value, at: int) -> None:
        """Report `uchars + 1` and `floats * 2.0`; where no doubles are, a constant is a float."""
        said = rank_fault(left, right)
        if said is None:
            return
        number = right if isinstance(base_of(left.type), VectorType) else left
        if base_of(number.type) == base_of(DOUBLE) and number.constant is not None:
            fix = self._single_precision(FLOAT, number)
            self.issue("wrong-vector", said, Severity.WARNING, token=at, fix=fix)
        else:
            self.issue("wrong-vector", said, token=at)

    def unary(self) -> Value:
        """Read an operand with what stands before it. Raises: SyntaxFaultError."""
        text = self.texts[self.at]
        if text in UNARY:
            return self._prefixed(text)
        if text == "(" and self.starts_type(self.at + 1):
            return self._cast()
        if text in MEASURES:
            return self._measure(text)
        if text == "__extension__":
            self.at += 1
            return self.unary()
        return self.postfix(self._no_designator(self.primary()))

    def _no_designator(self, value: Value) -> Value:
        """Report a function that is named and not called: OpenCL C has no pointers to functions."""
        callee = value.callee
        is_function = isinstance(callee, str) or (callee is not None and callee.kind in CALLABLE)
        if is_function and self.text != "(" and not self.is_cpp:
            said = "taking address of function is not allowed"
            self.issue("wrong-type", said, token=value.start, fix=self.opening_for(")"))
            return Value(UNKNOWN, value.start)
        return value

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
                if isinstance(lanes, Record):
                    said = f"invalid argument type '{spelled(operand.type)}' to unary expression"
                    self.issue("invalid-operands", said, token=at)
                type_ = truth_of(lanes) if isinstance(lanes, VectorType) else INT
                constant = None if operand.constant is None else int(not operand.constant)
                return Value(type_, at, constant=constant)
            case _:
                return self._signed(operator, operand, at)

    def _signed(self, operator: str, operand: Value, at: int) -> Value:
        base = base_of(decayed(operand.type))
        if isinstance(base, VectorType) and base.element.is_float and operator == "~":
            said = f"invalid argument type '{spelled(unqualified(operand.type))}' to unary expression"
            self.issue("invalid-operands", said, token=at)
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
            constant = wrapped(constant, base_of(type_))
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

    def _address(self, operand: Value, at: int) -> Value:
        if operand.use is not None and not operand.is_pointed:
            # What has its address taken may be written through it.
            use = self.piece.uses[operand.use]
            self.piece.uses[operand.use] = Use(use.token, use.symbol, Role.READS | Role.WRITES)
            if operand.root is not None:
                self.piece.flow.append((operand.root, (None,)))
        type_ = operand.type
        self._check_address(operand, at)
        if isinstance(type_.base, Unknown):
            return Value(UNKNOWN, at)
        if space_of(type_) is None:
            type_ = Qualified(
                type_.base, type_.is_const, type_.is_volatile, type_.is_restrict, AddressSpace.PRIVATE
            )
        return Value(Qualified(Pointer(type_)), at, root=operand.root, use=operand.use)

    def _check_address(self, operand: Value, at: int) -> None:
        if isinstance(base_of(operand.type), Unknown | Function) or operand.callee is not None:
            return
        if is_image_or_sampler(base_of(operand.type)):
            said = f"invalid argument type '{spelled(operand.type)}' to unary expression"
            self.issue("invalid-operands", said, token=at)
        elif operand.is_lane:
            self.issue("not-assignable", "address of vector element requested", token=at)
        elif not operand.is_lvalue and operand.type is not STRING:
            said = f"cannot take the address of an rvalue of type '{spelled(operand.type)}'"
            self.issue("not-assignable", said, token=at)

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
        if word == "sizeof" and isinstance(base := base_of(type_), Record) and base.members is None:
            said = f"invalid application of 'sizeof' to an incomplete type '{spelled(type_)}'"
            self.issue("wrong-type", said, token=start)
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
                self._vector_literal(base, start)
                return self.postfix(Value(unqualified(type_), start))
            operand = self.unary()
        finally:
            self.depth -= 1
        constant = operand.constant
        if constant is not None and not (constant == 0 and is_plain_void_pointer(type_, self.version)):
            constant = wrapped(constant, base) if isinstance(base, ScalarType) else None
        self._check_cast(type_, operand, start)
        return Value(unqualified(type_), start, constant=constant, root=operand.root, use=operand.use)

    def _vector_literal(self, base: VectorType, start: int) -> None:
        """Read the parts in brackets behind `(float4)`; what follows is applied to the vector."""
        opened = self.at
        self.at += 1
        parts = [self.assignment()]
        while self.accept(","):
            parts.append(self.assignment())
        self.expect(")", opened, in_list=True)
        if len(parts) == 1 and isinstance(base_of(parts[0].type), VectorType):
            self._check_cast(Qualified(base), parts[0], start)
        if len(parts) > 1:
            for it in parts:
                self.check_part(base, it)
        counts = [lane_count(it.type) for it in parts]
        if len(parts) > 1 and None not in counts:
            total = sum(it or 0 for it in counts)
            if total < base.lanes:
                said = "too few elements in vector initialization "
                said += f"(expected {base.lanes} elements, have {total})"
                self.issue("wrong-vector", said, token=opened)
            elif total > base.lanes:
                self.issue("wrong-vector", "excess elements in vector initializer", token=parts[-1].start)


def lane_count(type_: Qualified) -> int | None:
    """Return how many lanes a value gives a vector; `None` where that is not known."""
    base = base_of(type_)
    if isinstance(base, VectorType):
        return base.lanes
    return 1 if is_arithmetic(base) else None


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
