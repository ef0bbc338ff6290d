"""Initialisers: designators, elided braces, zero filling, and the bytes of program-scope objects.

Source: ISO/IEC 9899:1999, section 6.7.8.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from clmap_lsp.dataclass import dataclass
from clmap_lsp.source.constants import integer_value
from clmap_lsp.source.conversions import binary, convert, offset
from clmap_lsp.source.ir import (
    Assign,
    BinaryOp,
    Compare,
    CompareOp,
    Constant,
    Convert,
    CopyObject,
    Expression,
    FieldAddress,
    Initializer,
    Loop,
    ObjectAddress,
    PointerCast,
    PointerOffset,
    Read,
    Store,
    Variable,
    VariableKind,
    VectorLiteral,
)
from clmap_lsp.source.lowering import Lowering, Memory, ObjectValue, pointer_to
from clmap_lsp.source.span import Span
from clmap_lsp.source.strings import string_bytes
from clmap_lsp.source.types import (
    INT,
    LONG,
    UCHAR,
    UINT,
    ULONG,
    USHORT,
    AddressSpace,
    ArrayType,
    Field,
    PointerType,
    ScalarType,
    StructType,
    Type,
    VectorType,
)

if TYPE_CHECKING:
    from tree_sitter import Node

Path = tuple["int | Field", ...]
_MANY = 16
"""Stores that are written one by one; more zeros become a loop, more constants a copy."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """One initialised part: the way to it from the object, its type, and its value's node."""

    path: Path
    type: Type
    node: Node


@dataclass(slots=True)
class _Stream:
    """The items of one pair of braces, taken up one by one."""

    items: Sequence[Node]
    at: int = 0
    is_braced: bool = True

    @property
    def node(self) -> Node | None:
        return self.items[self.at] if self.at < len(self.items) else None


@dataclass(slots=True)
class Plan:
    """What an initialiser list sets; `length` is that of the outermost array."""

    leaves: list[Leaf] = field(default_factory=list)
    length: int = 0


def plan(low: Lowering, type_: Type, node: Node) -> Plan:
    """Return the parts of an object of `type_` that the initialiser `node` sets, in order."""
    found = Plan()
    _fill(low, type_, _Stream([node]), (), found)
    return found


def _fill(low: Lowering, type_: Type, stream: _Stream, path: Path, found: Plan) -> None:
    node = stream.node
    if node is None:
        return
    is_aggregate = isinstance(type_, ArrayType | StructType)
    if node.type == "initializer_list" and not isinstance(type_, VectorType):
        stream.at += 1
        items = node.named_children
        if is_aggregate:
            inner = _Stream(items)
            _aggregate(low, type_, inner, path, found, is_braced=True)
        elif items:
            found.leaves.append(Leaf(path, type_, items[0]))
    elif is_aggregate and not _is_whole(low, type_, node):
        _aggregate(low, type_, stream, path, found, is_braced=False)
    else:
        stream.at += 1
        found.leaves.append(Leaf(path, type_, node))
        if not path and isinstance(type_, ArrayType):
            found.length = len(string_bytes(low.text(node)))


def _is_whole(low: Lowering, type_: Type, node: Node) -> bool:
    """True if one expression gives the whole of an aggregate."""
    if isinstance(type_, ArrayType):
        return node.type in ("string_literal", "concatenated_string") and type_.element.size == 1
    if node.type in ("number_literal", "binary_expression", "unary_expression", "char_literal"):
        return False
    return static_type(low, node) == type_


def _aggregate(
    low: Lowering, type_: Type, stream: _Stream, path: Path, found: Plan, *, is_braced: bool
) -> None:
    position = 0
    while (node := stream.node) is not None:
        if node.type == "initializer_pair":
            if not is_braced:
                return
            stream.at += 1
            position = _designated(low, type_, node, path, found)
        else:
            part = _part(type_, position)
            if part is None:
                if is_braced:
                    return
                break
            step, inner = part
            before = stream.at
            _fill(low, inner, stream, (*path, step), found)
            if stream.at == before:  # an empty struct takes nothing; do not wait for it
                stream.at += 1
        position += 1
        if not path:
            found.length = max(found.length, position)
        if not is_braced and _part(type_, position) is None:
            return


def _part(type_: Type, position: int) -> tuple[int | Field, Type] | None:
    match type_:
        case ArrayType(element=element, length=length):
            return (position, element) if length is None or position < length else None
        case StructType(fields=fields, is_union=is_union):
            if position < (min(1, len(fields)) if is_union else len(fields)):
                return fields[position], fields[position].type
            return None
        case _:
            return None


def _designated(low: Lowering, type_: Type, node: Node, path: Path, found: Plan) -> int:
    """Take up `[3].x = value`; return the position that the first designator names."""
    position = -1
    value = node.children[-1]
    for designator in node.children:
        if designator.type == "subscript_designator" and isinstance(type_, ArrayType):
            index = integer_value(low.scalar(designator.children[1])) or 0
            path, type_ = (*path, index), type_.element
            position = index if position < 0 else position
        elif designator.type == "field_designator" and isinstance(type_, StructType):
            name = low.text(designator.children[-1])
            member = type_.field(name)
            if member is None:
                continue
            if position < 0:
                position = next((at for at, it in enumerate(type_.fields) if it.name == name), 0)
            path, type_ = (*path, member), member.type
    _fill(low, type_, _Stream([value]), path, found)
    return position


def static_type(low: Lowering, node: Node) -> Type:
    """Return the type of an expression without evaluating it (arrays do not decay)."""
    n_sites, n_variables, writes = low.n_sites, len(low.variables), low.writes
    with low.nested():
        type_ = low.place(node).type
    low.n_sites, low.writes = n_sites, writes
    del low.variables[n_variables:]
    return type_


# ---------------------------------------------------------------------------------- objects in a function


def initialize(low: Lowering, variable: Variable, found: Plan, span: Span) -> None:
    """Emit the stores that initialise a private object."""
    base = ObjectAddress(variable, PointerType(variable.type, AddressSpace.PRIVATE), span)
    values = [(leaf, _leaf_value(low, leaf)) for leaf in found.leaves]
    if len(values) > _MANY:
        data = _bytes_of(low, variable.type, [(leaf, value) for leaf, value in values])
        if data is not None:
            _copy_constant(low, base, variable, data, span)
            return
    if sum(leaf.type.size for leaf in found.leaves) < variable.type.size:
        zero_fill(low, base, variable.type, span)
        values = [it for it in values if not _is_zero(it[1])]
    for leaf, value in values:
        pointer = address(base, leaf.path, span)
        if isinstance(value, ObjectValue):
            copy_object(low, pointer, value.pointer, value.type, value.span)
        else:
            low.store(Memory(pointer, leaf.type, value.span), value)


def _leaf_value(low: Lowering, leaf: Leaf) -> Expression | ObjectValue:
    if isinstance(leaf.type, StructType):
        return low.value(leaf.node)
    if leaf.node.type == "initializer_list":
        return vector_from_list(low, leaf.type, leaf.node)
    return convert(low.scalar(leaf.node), leaf.type)


def vector_from_list(low: Lowering, type_: Type, node: Node) -> Expression:
    """Return `{a, b, c, d}` as a vector (or its only item as a scalar)."""
    items = node.named_children
    span = low.span(node)
    if not isinstance(type_, VectorType):
        return convert(low.scalar(items[0]), type_) if items else Constant(0, INT, span)
    parts: list[Expression] = []
    lanes = 0
    for item in items:
        part = low.scalar(item)
        if isinstance(part.type, VectorType):
            lanes += part.type.lanes
        else:
            part, lanes = convert(part, type_.element), lanes + 1
        parts.append(part)
    zero = convert(Constant(0, INT, span), type_.element)
    parts += [zero] * (type_.lanes - lanes)
    return VectorLiteral(tuple(parts), type_, span)


def _is_zero(value: Expression | ObjectValue) -> bool:
    return isinstance(value, Constant) and value.value == 0


def address(base: Expression, path: Path, span: Span) -> Expression:
    """Return the address of a part of the object at `base`."""
    pointer = base
    for step in path:
        match pointer.type:
            case PointerType(pointee=ArrayType(element=element)) if isinstance(step, int):
                element_pointer = pointer_to(element, pointer)
                pointer = offset_to(pointer, Constant(step, INT, span), element_pointer, span)
            case PointerType() if isinstance(step, Field):
                pointer = FieldAddress(pointer, step, pointer_to(step.type, pointer), span)
            case _:
                return pointer
    return pointer


def offset_to(pointer: Expression, index: Expression, target: PointerType, span: Span) -> Expression:
    """Return the address of element `index` of the array that `pointer` points to."""
    return PointerOffset(pointer, index, max(target.pointee.size, 1), target, span)


def zero_fill(low: Lowering, base: Expression, type_: Type, span: Span) -> None:
    """Set an object to zero: a few stores, or a loop of stores."""
    parts = list(_scalars(type_, (), limit=_MANY + 1))
    if len(parts) <= _MANY:
        for path, part in parts:
            low.store(Memory(address(base, path, span), part, span), zero_of(part, span))
        return
    unit: Type = UCHAR
    for candidate in (ULONG, UINT, USHORT):
        if type_.size % candidate.size == 0 and type_.alignment >= candidate.size:
            unit = candidate
            break
    pointer = PointerCast(base, pointer_to(unit, base), span)
    turns = type_.size // unit.size
    counting = INT if turns < 1 << 31 else LONG
    counter = low.temporary(counting, span)
    low.emit(Assign(counter, Constant(0, counting, span), span))
    index = Read(counter, span)
    body = Store(
        low.site(), offset(pointer, index, span), zero_of(unit, span), unit.size, unit.alignment, span
    )
    step = Assign(counter, binary(BinaryOp.ADD, index, Constant(1, counting, span), span), span)
    test = Compare(CompareOp.LT, index, Constant(turns, counting, span), INT, span)
    low.emit(Loop((), test, (body,), (step,), True, span))


def zero_of(type_: Type, span: Span) -> Expression:
    """Return the zero of a scalar, vector or pointer type."""
    return convert(Constant(0, INT, span), type_)


def _scalars(type_: Type, path: Path, limit: int) -> list[tuple[Path, Type]]:
    match type_:
        case ArrayType(element=element, length=length):
            found: list[tuple[Path, Type]] = []
            for index in range(min(length or 0, limit)):
                found += _scalars(element, (*path, index), limit)
                if len(found) > limit:
                    break
            return found
        case StructType(fields=fields, is_union=is_union):
            if is_union and fields:
                fields = (max(fields, key=lambda it: it.type.size),)
            return [it for member in fields for it in _scalars(member.type, (*path, member), limit)]
        case _:
            return [(path, type_)]


def _copy_constant(low: Lowering, base: Expression, variable: Variable, data: bytes, span: Span) -> None:
    source = Variable(f"{variable.name}.init", variable.type, VariableKind.CONSTANT_OBJECT, span, True)
    low.initializers[source] = Initializer(source, data)
    low.used_objects[source] = None
    pointer = ObjectAddress(source, PointerType(variable.type, AddressSpace.CONSTANT), span)
    copy_object(low, base, pointer, variable.type, span)


def copy_object(low: Lowering, destination: Expression, source: Expression, type_: Type, span: Span) -> None:
    """Emit a copy of a struct or array."""
    load, store = low.site(), low.site()
    low.emit(CopyObject(load, store, destination, source, type_, span))


# ------------------------------------------------------------------------------------- program-scope data


Addresses = list[tuple[int, Variable, int]]
"""As in `Initializer.addresses`."""


def constant_bytes(
    low: Lowering, type_: Type, found: Plan, addresses: Addresses | None = None
) -> bytes | None:
    """Return the little-endian bytes of an initialised object, `None` if a part is no constant.

    Addresses of program-scope objects are no constants, unless there is a list to note them in.
    """
    return _bytes_of(low, type_, [(leaf, _constant_leaf(low, leaf)) for leaf in found.leaves], addresses)


def _constant_leaf(low: Lowering, leaf: Leaf) -> Expression | ObjectValue | bytes:
    if isinstance(leaf.type, ArrayType):
        return string_bytes(low.text(leaf.node))
    return _leaf_value(low, leaf)


def _bytes_of(
    low: Lowering,
    type_: Type,
    leaves: Sequence[tuple[Leaf, Expression | ObjectValue | bytes]],
    addresses: Addresses | None = None,
) -> bytes | None:
    """Return an object's bytes, `None` if a part is no constant or the unit has no room for it."""
    if not low.unit.has_room(type_.size):
        return None
    data = bytearray(type_.size)
    for leaf, value in leaves:
        at = _byte_offset(type_, leaf.path)
        part = value if isinstance(value, bytes) else encode(value, leaf.type)
        if part is None and addresses is not None and (target := _object_and_offset(value)) is not None:
            addresses.append((at, *target))
            part = bytes(leaf.type.size)
        if part is None:
            return None
        data[at : at + len(part)] = part[: max(0, len(data) - at)]
    return bytes(data)


def _object_and_offset(value: Expression | ObjectValue | bytes) -> tuple[Variable, int] | None:
    """Return the program-scope object that a constant address points into, and how many bytes into it."""
    match value:
        case ObjectAddress(variable=variable) if variable.kind is VariableKind.CONSTANT_OBJECT:
            return variable, 0
        case PointerOffset(pointer=base, index=Constant(value=index), stride=stride):
            step = int(index) * stride
        case FieldAddress(pointer=base, field=member):
            step = member.offset
        case PointerCast(operand=base, type=PointerType()):
            step = 0
        case _:
            return None
    target = _object_and_offset(base)
    return None if target is None else (target[0], target[1] + step)


def _byte_offset(type_: Type, path: Path) -> int:
    at = 0
    for step in path:
        if isinstance(step, Field):
            at, type_ = at + step.offset, step.type
        elif isinstance(type_, ArrayType):
            at, type_ = at + step * type_.element.size, type_.element
    return at


def encode(value: Expression | ObjectValue, type_: Type) -> bytes | None:
    """Return the bytes of a constant scalar or vector, `None` for anything else."""
    match value:
        case Constant(value=number) if isinstance(type_, ScalarType):
            return encode_scalar(number, type_)
        case Constant(value=number) if type_.size in (4, 8):
            return int(number).to_bytes(type_.size, "little", signed=number < 0)
        case PointerCast(operand=Constant(value=0)):
            return bytes(type_.size)
        case Convert(operand=Constant() as operand) if isinstance(type_, VectorType):
            lane = encode(operand, type_.element)
            return None if lane is None else (lane * type_.lanes).ljust(type_.size, b"\0")
        case VectorLiteral(parts=parts) if isinstance(type_, VectorType):
            lanes = [encode(part, part.type) for part in parts]
            joined = b"".join(it for it in lanes if it is not None)
            return None if None in lanes else joined.ljust(type_.size, b"\0")
        case _:
            return None


def encode_scalar(number: int | float, type_: ScalarType) -> bytes | None:
    """Return the bytes of one number, little-endian."""
    if type_.is_float:
        code = {16: "<e", 32: "<f", 64: "<d"}[type_.bits]
        return struct.pack(code, float(number))
    if isinstance(number, float):
        return None
    return (number & ((1 << type_.bits) - 1)).to_bytes(max(type_.size, 1), "little")
