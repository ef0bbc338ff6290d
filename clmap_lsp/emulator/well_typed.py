"""Whether a kernel's IR holds to its types, as `clmap_lsp.source.ir` states them.

The reader makes something of any text. What no compiler would take (`v = &a;`, `dot(image, 1)`, a variable of
type `void`) may leave it with nodes whose types do not fit, and code made of those would do anything: read
beside a buffer, or not compile. The generator of code relies on what is checked here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

from clmap_lsp.emulator.types import llvm_type
from clmap_lsp.source import ir
from clmap_lsp.source.ir import BinaryOp, Expression, Kernel, Statement, UnaryOp, VariableKind
from clmap_lsp.source.span import Span
from clmap_lsp.source.types import (
    OpaqueType,
    PointerType,
    ScalarKind,
    ScalarType,
    StructType,
    Type,
    UnknownType,
    VectorType,
    element_of,
    lanes_of,
)


def first_misfit(kernel: Kernel) -> Span | None:
    """Return the place of the first node whose types do not fit, `None` if all do."""
    for parameter in kernel.parameters:
        if not (is_value(parameter.type) or isinstance(parameter.type, StructType)):
            return parameter.span
    for variable in kernel.variables:
        if variable.kind is VariableKind.REGISTER and not is_value(variable.type):
            return variable.span
    names = [it.name for it in kernel.parameters if it.name]
    if len(set(names)) < len(names):
        return kernel.name_span
    known = {None, *kernel.parameters, *kernel.variables, *kernel.constants}
    for statement in ir.walk(kernel.body):
        check = _STATEMENTS.get(type(statement))
        if getattr(statement, "variable", None) not in known or (check is not None and not check(statement)):
            return statement.span
        for expression in _expressions_of(statement):
            if getattr(expression, "variable", None) not in known:
                return expression.span
            if not _EXPRESSIONS[type(expression)](expression):
                return expression.span
    return None


def _expressions_of(statement: Statement) -> Iterator[Expression]:
    if isinstance(statement, ir.Call | ir.OpaqueCall):
        return  # What such a call is given is never worked out.
    for expression in ir.expressions(statement):
        yield from ir.nodes(expression)


# ------------------------------------------------------------------------------------------------- types


@cache
def is_value(kind: Type) -> bool:
    """True for what a register can hold."""
    if isinstance(kind, ScalarType):
        return kind.kind is not ScalarKind.VOID
    if isinstance(kind, VectorType):
        return is_number(kind.element)  # `vstore2` through a `void *` makes vectors of nothing.
    return isinstance(kind, PointerType | OpaqueType | UnknownType)


def is_number(kind: Type) -> bool:
    """True for what arithmetic takes; an unknown type is taken for an integer of its size."""
    return is_value(kind) and isinstance(kind, ScalarType | VectorType | UnknownType)


def is_float(kind: Type) -> bool:
    """True for half, float, double and their vectors."""
    element = element_of(kind)
    return isinstance(element, ScalarType) and element.is_float


def is_integer(kind: Type) -> bool:
    """True for other numbers."""
    return is_number(kind) and not is_float(kind)


def _is_index(kind: Type) -> bool:
    return is_integer(kind) and not isinstance(kind, VectorType)


def _is_truth(kind: Type) -> bool:
    return is_value(kind) and not isinstance(kind, OpaqueType)


def alike(*kinds: Type) -> bool:
    """True for numbers of one representation."""
    return all(is_number(it) for it in kinds) and _same(*kinds)


def _same(first: Type, *others: Type) -> bool:
    """True for values of one representation."""
    if not is_value(first):
        return False
    return all(
        it == first
        or (
            is_value(it)
            and isinstance(it, PointerType) == isinstance(first, PointerType)
            and llvm_type(it) == llvm_type(first)
        )
        for it in others
    )


def _bytes(kind: Type) -> int:
    """Return the bytes that a value of a type has in a register: a vector of three has three."""
    return element_of(kind).size * lanes_of(kind) if isinstance(kind, VectorType) else kind.size


# ------------------------------------------------------------------------------------------- expressions


def _constant(it: ir.Constant) -> bool:
    return is_value(it.type) and not isinstance(it.type, VectorType)


def _read(it: ir.Read) -> bool:
    return is_value(it.type) and not it.variable.is_object


def _object(it: ir.ObjectAddress) -> bool:
    return it.variable.is_object or it.variable.kind is VariableKind.PARAMETER


def _work_item(it: ir.WorkItem) -> bool:
    return _is_index(it.type) and (it.dimension is None or _is_index(it.dimension.type))


def _unary(it: ir.Unary) -> bool:
    if it.op is UnaryOp.LOGICAL_NOT and not isinstance(it.type, VectorType):
        return _is_index(it.type) and _is_truth(it.operand.type)
    if it.op is UnaryOp.LOGICAL_NOT:
        return is_integer(it.type) and lanes_of(it.operand.type) == lanes_of(it.type)
    return alike(it.type, it.operand.type) and not (it.op is UnaryOp.BIT_NOT and is_float(it.type))


_OF_INTEGERS = frozenset({BinaryOp.REM, BinaryOp.SHL, BinaryOp.SHR, BinaryOp.AND, BinaryOp.OR, BinaryOp.XOR})
_SHIFTS = frozenset({BinaryOp.SHL, BinaryOp.SHR})


def _binary(it: ir.Binary) -> bool:
    left, right = it.left.type, it.right.type
    if it.op in _OF_INTEGERS and is_float(it.type):
        return False
    if it.op in _SHIFTS:
        return alike(it.type, left) and is_integer(right) and lanes_of(right) == lanes_of(left)
    return alike(it.type, left, right)


def _compare(it: ir.Compare) -> bool:
    left, right = it.left.type, it.right.type
    if isinstance(left, PointerType) or isinstance(right, PointerType):
        return all(isinstance(kind, PointerType) or _is_index(kind) for kind in (left, right))
    return _same(left, right) and is_integer(it.type) and lanes_of(it.type) == lanes_of(left)


def _logical(it: ir.Logical) -> bool:
    if isinstance(it.type, VectorType):
        lanes = {lanes_of(kind) for kind in (it.type, it.left.type, it.right.type)}
        return len(lanes) == 1 and is_number(it.left.type) and is_number(it.right.type)
    return _is_index(it.type) and _is_truth(it.left.type) and _is_truth(it.right.type)


def _select(it: ir.Select) -> bool:
    if not _same(it.type, it.if_true.type, it.if_false.type):
        return False
    condition = it.condition.type
    if isinstance(condition, VectorType):
        return is_integer(condition) and lanes_of(condition) == lanes_of(it.type)
    return _is_truth(condition)


def _convert(it: ir.Convert) -> bool:
    source = it.operand.type
    if isinstance(it.type, OpaqueType):
        return not it.type.is_image and _is_index(source)  # a sampler is made of a number
    lanes = lanes_of(source)
    return is_number(source) and is_number(it.type) and lanes in (1, lanes_of(it.type))


def _reinterpret(it: ir.Reinterpret) -> bool:
    return is_number(it.type) and is_number(it.operand.type) and it.type.size == it.operand.type.size


def _pointer_cast(it: ir.PointerCast) -> bool:
    kinds = (it.type, it.operand.type)
    return all(isinstance(kind, PointerType | OpaqueType) or _is_index(kind) for kind in kinds)


def _vector(it: ir.VectorLiteral) -> bool:
    element = element_of(it.type)
    return (
        isinstance(it.type, VectorType)
        and sum(lanes_of(part.type) for part in it.parts) == it.type.lanes
        and all(alike(element, element_of(part.type)) for part in it.parts)
    )


def _swizzle(it: ir.Swizzle) -> bool:
    whole = it.operand.type
    return (
        alike(element_of(it.type), element_of(whole))
        and len(it.lanes) == lanes_of(it.type)
        and (not isinstance(whole, VectorType) or all(lane < whole.lanes for lane in it.lanes))
    )


def _insert(it: ir.InsertLanes) -> bool:
    whole = it.vector.type
    return (
        isinstance(whole, VectorType)
        and _same(it.type, whole)
        and alike(whole.element, element_of(it.value.type))
        and lanes_of(it.value.type) in (1, len(it.lanes))
        and all(lane < whole.lanes for lane in it.lanes)
    )


def _offset(it: ir.PointerOffset) -> bool:
    return _is_pointer(it.type) and _is_pointer(it.pointer.type) and _is_index(it.index.type)


def _field(it: ir.FieldAddress) -> bool:
    return _is_pointer(it.type) and _is_pointer(it.pointer.type)


def _is_pointer(kind: Type) -> bool:
    return isinstance(kind, PointerType)


def _builtin(it: ir.Builtin) -> bool:
    """What a function takes is looked at where it is called: one of unknown types has an unknown result."""
    return is_value(it.type) and all(is_value(argument.type) for argument in it.arguments)


def _undefined(it: ir.Undefined) -> bool:
    return is_value(it.type)


_EXPRESSIONS: dict[type, Callable[..., bool]] = {
    ir.Constant: _constant,
    ir.Read: _read,
    ir.ObjectAddress: _object,
    ir.WorkItem: _work_item,
    ir.Unary: _unary,
    ir.Binary: _binary,
    ir.Compare: _compare,
    ir.Logical: _logical,
    ir.Select: _select,
    ir.Convert: _convert,
    ir.Reinterpret: _reinterpret,
    ir.PointerCast: _pointer_cast,
    ir.VectorLiteral: _vector,
    ir.Swizzle: _swizzle,
    ir.InsertLanes: _insert,
    ir.PointerOffset: _offset,
    ir.FieldAddress: _field,
    ir.Builtin: _builtin,
    ir.Undefined: _undefined,
}

# -------------------------------------------------------------------------------------------- statements


def _declare(it: ir.Declare) -> bool:
    return it.variable.is_object or is_value(it.variable.type)


def _assign(it: ir.Assign) -> bool:
    return not it.variable.is_object and _same(it.variable.type, it.value.type)


def _load(it: ir.Load) -> bool:
    kind = it.variable.type
    return _is_pointer(it.pointer.type) and _moves(kind, it.size)


def _store(it: ir.Store) -> bool:
    return _is_pointer(it.pointer.type) and _moves(it.value.type, it.size)


def _moves(kind: Type, size: int) -> bool:
    """True if an access of so many bytes moves such a value. One of none would pass every check of bounds."""
    return size > 0 and is_value(kind) and size in (_bytes(kind), kind.size)


def _copy(it: ir.CopyObject) -> bool:
    return _is_pointer(it.source.type) and _is_pointer(it.destination.type)


def _atomic(it: ir.Atomic) -> bool:
    kinds = [it.type, *(operand.type for operand in it.operands)]
    if it.variable is not None:
        kinds.append(it.variable.type)
    return _is_pointer(it.pointer.type) and alike(*kinds)


def _async(it: ir.AsyncCopy) -> bool:
    return (
        _is_pointer(it.source.type)
        and _is_pointer(it.destination.type)
        and _is_index(it.count.type)
        and (it.stride is None or _is_index(it.stride.type))
        and all(_is_index(side.type) for side in it.box)
        and (it.joins is None or isinstance(it.joins.type, OpaqueType))
    )


def _barrier(it: ir.Barrier) -> bool:
    return it.flags is None or _is_index(it.flags.type)


def _wait(it: ir.WaitEvents) -> bool:
    return (it.count is None or _is_index(it.count.type)) and (
        it.events is None or _is_pointer(it.events.type)
    )


def _image_read(it: ir.ImageRead) -> bool:
    sampler = it.sampler
    return (
        _is_image(it.image)
        and _is_texel(it.variable.type)
        and is_number(it.coordinate.type)
        and (sampler is None or isinstance(sampler.type, OpaqueType) or _is_index(sampler.type))
    )


def _image_write(it: ir.ImageWrite) -> bool:
    return _is_image(it.image) and is_number(it.coordinate.type) and _is_texel(it.value.type)


def _is_texel(kind: Type) -> bool:
    """True for four channels of at most 32 bits, or one of them."""
    return is_number(kind) and lanes_of(kind) in (1, 4) and element_of(kind).size <= 4


def _is_image(it: Expression) -> bool:
    return isinstance(it.type, OpaqueType) and it.type.is_image


def _arguments(it: ir.Collective | ir.Print) -> bool:
    return all(is_value(argument.type) for argument in it.arguments)


def _condition(it: ir.If | ir.Loop) -> bool:
    return it.condition is None or _is_truth(it.condition.type)


def _switch(it: ir.Switch) -> bool:
    return _is_index(it.value.type)


_STATEMENTS: dict[type, Callable[..., bool]] = {
    ir.Declare: _declare,
    ir.Assign: _assign,
    ir.Load: _load,
    ir.Store: _store,
    ir.CopyObject: _copy,
    ir.Atomic: _atomic,
    ir.AsyncCopy: _async,
    ir.Barrier: _barrier,
    ir.WaitEvents: _wait,
    ir.ImageRead: _image_read,
    ir.ImageWrite: _image_write,
    ir.Collective: _arguments,
    ir.Print: _arguments,
    ir.If: _condition,
    ir.Loop: _condition,
    ir.Switch: _switch,
}
