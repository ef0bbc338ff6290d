"""Implicit and explicit conversions, and the operators on typed operands.

Source: OpenCL C Specification 3.0, sections 6.4 (conversions and type casting) and 6.5 (operators).
"""

from __future__ import annotations

from clmap_lsp.source.constants import cast_number, fold_binary, fold_compare, fold_unary
from clmap_lsp.source.ir import (
    Binary,
    BinaryOp,
    Compare,
    CompareOp,
    Constant,
    Convert,
    Expression,
    PointerCast,
    PointerOffset,
    Select,
    Unary,
    UnaryOp,
    Undefined,
)
from clmap_lsp.source.span import Span
from clmap_lsp.source.typenames import signed_of
from clmap_lsp.source.types import (
    BOOL,
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    LONG,
    PTRDIFF_T,
    UINT,
    ULONG,
    ArrayType,
    PointerType,
    ScalarKind,
    ScalarType,
    Type,
    UnknownType,
    VectorType,
)

_FLOATS = (DOUBLE, FLOAT, HALF)
_SHIFTS = (BinaryOp.SHL, BinaryOp.SHR)


def promote(value: Type) -> Type:
    """Return the type after integer promotion: everything narrower than int becomes int."""
    if isinstance(value, ScalarType) and value.is_integer and value.bits < INT.bits:
        return INT
    return value


def common_type(left: Type, right: Type) -> Type:
    """Return the type that the usual arithmetic conversions give two operands."""
    match left, right:
        case VectorType(), _:
            return left
        case _, VectorType():
            return right
        case UnknownType(), _:
            return left
        case _, UnknownType():
            return right
        case ScalarType(), ScalarType():
            return _common_scalar(left, right)
        case PointerType(), _:
            return left
        case _, PointerType():
            return right
        case _:
            return INT


def _common_scalar(left: ScalarType, right: ScalarType) -> Type:
    if left is right and left.bits >= INT.bits:
        return left
    if left.is_float or right.is_float:
        return next((it for it in _FLOATS if it in (left, right)), FLOAT)
    a, b = promote(left), promote(right)
    if ULONG in (a, b):
        return ULONG
    if LONG in (a, b):
        return LONG
    return UINT if UINT in (a, b) else INT


def convert(value: Expression, target: Type, span: Span | None = None) -> Expression:
    """Return `value` as a `target`; nothing is added where the types agree.

    Where the language knows no such conversion (`int i = v4;`), the value is undefined.
    """
    source = value.type
    if source is target or source == target:
        return value
    where = span or value.span
    if not _is_conversion(source, target):
        return Undefined(f"{source} as {target}", target, where)
    match target, source:
        case PointerType(), PointerType():
            if source.pointee == target.pointee and source.space is target.space:
                return value
            return PointerCast(value, target, where)
        case (PointerType(), _) | (ScalarType(kind=ScalarKind.SIGNED | ScalarKind.UNSIGNED), PointerType()):
            return PointerCast(value, target, where)
        case ScalarType(kind=ScalarKind.BOOL), PointerType():
            return Convert(not_null(value), target, where)
        case VectorType(element=element), ScalarType() | UnknownType():
            return Convert(convert(value, element, where), target, where)
        case ScalarType(), ScalarType() if isinstance(value, Constant):
            number = cast_number(value.value, target)
            return Convert(value, target, where) if number is None else Constant(number, target, where)
        case _:
            return Convert(value, target, where)


def _is_conversion(source: Type, target: Type) -> bool:
    """Tell whether the language converts one type to the other (OpenCL C 3.0, sections 6.4.1 and 6.4.2)."""
    if isinstance(source, VectorType):
        return isinstance(target, UnknownType) or (
            isinstance(target, VectorType) and target.lanes == source.lanes
        )
    if isinstance(target, PointerType):
        return not (isinstance(source, ScalarType) and source.is_float)
    return not (isinstance(target, VectorType) and isinstance(source, PointerType))


def binary(op: BinaryOp, left: Expression, right: Expression, span: Span) -> Expression:
    """Return `left op right` with the conversions that C adds."""
    if isinstance(left.type, PointerType) or isinstance(right.type, PointerType):
        return _pointer_arithmetic(op, left, right, span)
    if op in _SHIFTS and not isinstance(left.type, VectorType):
        target = right.type if isinstance(right.type, VectorType) else promote(left.type)
    else:
        target = common_type(left.type, right.type)
    return typed_binary(op, convert(left, target), convert(right, target), target, span)


def typed_binary(op: BinaryOp, left: Expression, right: Expression, target: Type, span: Span) -> Expression:
    """Return an operation on operands that already have its type, folded where both are constants."""
    value = fold_binary(op, left, right, target)
    return Binary(op, left, right, target, span) if value is None else Constant(value, target, span)


def _pointer_arithmetic(op: BinaryOp, left: Expression, right: Expression, span: Span) -> Expression:
    if isinstance(left.type, PointerType) and isinstance(right.type, PointerType):
        stride = Constant(max(left.type.pointee.size, 1), PTRDIFF_T, span)
        difference = Binary(
            BinaryOp.SUB, convert(left, PTRDIFF_T), convert(right, PTRDIFF_T), PTRDIFF_T, span
        )
        return Binary(BinaryOp.DIV, difference, stride, PTRDIFF_T, span)
    pointer, index = (left, right) if isinstance(left.type, PointerType) else (right, left)
    if op is BinaryOp.ADD:
        return offset(pointer, index, span)
    if op is BinaryOp.SUB:
        wide = convert(index, LONG) if index.type == UINT else index
        return offset(pointer, negate(wide, span), span)
    # Other operators have no meaning for pointers; people use them on addresses taken as integers.
    return binary(op, _as_integer(left), _as_integer(right), span)


def _as_integer(value: Expression) -> Expression:
    return convert(value, ULONG) if isinstance(value.type, PointerType) else value


def offset(pointer: Expression, index: Expression, span: Span) -> Expression:
    """Return `pointer + index`, counted in elements of what the pointer points to."""
    target = pointer.type
    assert isinstance(target, PointerType)
    if not isinstance(index.type, ScalarType) or not index.type.is_integer:
        index = convert(index, LONG)
    elif index.type.bits < INT.bits:
        index = convert(index, INT)
    return PointerOffset(pointer, index, max(target.pointee.size, 1), target, span)


def negate(value: Expression, span: Span) -> Expression:
    """Return `-value`."""
    return unary(UnaryOp.NEGATE, value, span)


def unary(op: UnaryOp, operand: Expression, span: Span) -> Expression:
    """Return `op operand` with its promotion."""
    if op is UnaryOp.LOGICAL_NOT:
        if isinstance(operand.type, PointerType):
            return Compare(CompareOp.EQ, operand, null_pointer(operand.type, span), INT, span)
        target = signed_of(operand.type) if isinstance(operand.type, VectorType) else INT
    else:
        target = promote(operand.type)
        operand = convert(operand, target)
    value = fold_unary(op, operand, target)
    return Unary(op, operand, target, span) if value is None else Constant(value, target, span)


def compare(op: CompareOp, left: Expression, right: Expression, span: Span) -> Expression:
    """Return a comparison after the usual conversions of its operands."""
    target = common_type(left.type, right.type)
    left, right = convert(left, target), convert(right, target)
    value = fold_compare(op, left, right)
    if value is not None:
        return Constant(value, INT, span)
    result = signed_of(target) if isinstance(target, VectorType) else INT
    return Compare(op, left, right, result, span)


def select(condition: Expression, if_true: Expression, if_false: Expression, span: Span) -> Expression:
    """Return `condition ? if_true : if_false` on pure operands."""
    target = choice_type(condition.type, if_true.type, if_false.type)
    if isinstance(condition, Constant):
        return convert(if_true if condition.value else if_false, target)
    return Select(condition, convert(if_true, target), convert(if_false, target), target, span)


def choice_type(condition: Type, if_true: Type, if_false: Type) -> Type:
    """Return the type of a `?:`."""
    if isinstance(if_true, PointerType) and isinstance(if_false, PointerType):
        return if_true if if_true.pointee.size else if_false
    target = common_type(if_true, if_false)
    if isinstance(condition, VectorType) and isinstance(target, ScalarType):
        return VectorType(target, condition.lanes)
    return target


def condition(value: Expression) -> Expression:
    """Return a scalar that is non-zero where `value` is true."""
    if isinstance(value.type, PointerType):
        return not_null(value)
    return value


def not_null(value: Expression) -> Expression:
    """Return whether a pointer is not null."""
    assert isinstance(value.type, PointerType)
    return Compare(CompareOp.NE, value, null_pointer(value.type, value.span), INT, value.span)


def null_pointer(target: PointerType, span: Span) -> Expression:
    """Return the null pointer of a type."""
    return PointerCast(Constant(0, ULONG, span), target, span)


def as_bool(value: Expression) -> Expression:
    """Return 1 where a scalar is true and 0 elsewhere, as int."""
    match value:
        case Constant():
            return Constant(int(bool(value.value)), INT, value.span)
        case Compare(type=result) if result == INT:
            return value
        case _ if isinstance(value.type, PointerType):
            return not_null(value)
        case _ if value.type == BOOL:
            return convert(value, INT)
        case _:
            return compare(CompareOp.NE, value, Constant(0, INT, value.span), value.span)


def decayed(value: Type, like: PointerType) -> PointerType:
    """Return the pointer to its first element that an array becomes."""
    assert isinstance(value, ArrayType)
    return PointerType(value.element, like.space, like.is_const, like.is_volatile)


def cast_for_argument(value: Expression, target: Type) -> Expression:
    """Return an argument as its parameter's type.

    A pointer keeps its address space if the parameter names none: OpenCL 2.0 would make it generic, and
    in 1.x sources of that kind come from authors whose compilers infer it.
    """
    source = value.type
    if isinstance(source, PointerType) and isinstance(target, PointerType):
        if source.pointee == target.pointee or target.pointee.size == 0:
            return value
        target = PointerType(target.pointee, source.space, target.is_const, target.is_volatile)
    elif isinstance(target, PointerType) != isinstance(source, PointerType) and not isinstance(
        source, ScalarType
    ):
        return value
    return convert(value, target)
