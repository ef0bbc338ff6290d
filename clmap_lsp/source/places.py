"""Lvalues: which variable, or which bytes, an expression names; how they are read and written."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from clmap_lsp.source.constants import integer_value
from clmap_lsp.source.conversions import binary, compare, convert, decayed, offset, typed_binary
from clmap_lsp.source.initializers import copy_object, offset_to
from clmap_lsp.source.ir import (
    BinaryOp,
    Builtin,
    CompareOp,
    Component,
    Constant,
    Expression,
    FieldAddress,
    Initializer,
    InsertLanes,
    ObjectAddress,
    PointerCast,
    PointerOffset,
    Read,
    Select,
    Severity,
    Store,
    Swizzle,
    Undefined,
    Unsupported,
    Variable,
    VariableKind,
)
from clmap_lsp.source.lowering import (
    PLACES,
    Lanes,
    Lowering,
    Memory,
    Object,
    ObjectValue,
    Place,
    Register,
    Temporary,
    Value,
    handles,
    pointer_to,
)
from clmap_lsp.source.span import Span
from clmap_lsp.source.strings import string_bytes
from clmap_lsp.source.types import (
    CHAR,
    INT,
    AddressSpace,
    ArrayType,
    Field,
    PointerType,
    ScalarType,
    StructType,
    Type,
    UnknownType,
    VectorType,
)

if TYPE_CHECKING:
    from tree_sitter import Node

UNKNOWN_NAME = "write to a place that depends on an unknown name"
"""Reason of the one `Unsupported` that is no gap of ours."""

# ------------------------------------------------------------------------------------------------ naming


@handles(PLACES, "identifier")
def _identifier(low: Lowering, node: Node) -> Place:
    symbol = low.lookup(low.text(node))
    if isinstance(symbol, Object):
        return object_place(low, symbol, low.span(node))
    value = low.value(node)
    return Temporary(value, value.type) if not isinstance(value, ObjectValue) else object_memory(value)


def object_memory(value: ObjectValue) -> Memory:
    """Return the place that a struct value stands at."""
    return Memory(value.pointer, value.type, value.span)


def object_place(low: Lowering, symbol: Object, span: Span) -> Register | Memory:
    """Return the place of a variable."""
    variable = symbol.variable
    is_object = variable.is_object or isinstance(variable.type, StructType)
    if not is_object:
        return Register(variable, variable.type)
    if variable.kind is VariableKind.CONSTANT_OBJECT:
        low.used_objects[variable] = None
    pointer_type = PointerType(variable.type, symbol.space, symbol.is_const, symbol.is_volatile)
    pointer = ObjectAddress(variable, pointer_type, span)
    return Memory(pointer, variable.type, span, symbol.is_volatile)


@handles(PLACES, "parenthesized_expression")
def _parenthesized(low: Lowering, node: Node) -> Place:
    inner = node.named_children
    return low.place(inner[0]) if inner else Temporary(low.unsupported(node, "empty"), INT)


@handles(PLACES, "subscript_expression")
def _subscript(low: Lowering, node: Node) -> Place:
    parts = node.named_children
    span = low.span(node)
    if len(parts) != 2:
        return Temporary(low.unsupported(node, "subscript without index"), INT)
    base = low.place(parts[0])
    if isinstance(base.type, VectorType):
        return _vector_element(low, base, low.scalar(parts[1]), span)
    pointer = _as_scalar(low, read(low, base), parts[0])
    writes, mark = low.writes, len(low.out)
    index = _as_scalar(low, low.value(parts[1]), parts[1])
    if low.writes != writes:
        pointer = low.pin_before(pointer, mark)
    if isinstance(index.type, PointerType) and not isinstance(pointer.type, PointerType):
        pointer, index = index, pointer
    if not isinstance(pointer.type, PointerType):
        return _unknown_place(low, pointer, node, "subscript of something that is no pointer")
    element = low.pointed(offset(pointer, index, span), span)
    is_packed = isinstance(base, Memory) and base.is_packed and isinstance(base.type, ArrayType)
    return replace(element, is_packed=True) if is_packed else element


def _as_scalar(low: Lowering, value: Value, node: Node) -> Expression:
    if isinstance(value, ObjectValue):
        return low.unsupported(node, "a struct is used where a number or pointer is needed")
    return value


def _unknown_place(low: Lowering, base: Expression, node: Node, reason: str) -> Place:
    """Return an undefined value: quietly where it is so for an undefined name, else with a report."""
    if low.is_unknown(base):
        value: Expression = Undefined(low.text(node)[:80], low.expected or INT, low.span(node))
    else:
        value = low.unsupported(node, reason)
    return Temporary(value, value.type)


def memory_at(pointer: Expression, span: Span) -> Memory:
    """Return the place that a pointer points to."""
    target = pointer.type
    assert isinstance(target, PointerType)
    return Memory(pointer, target.pointee, span, target.is_volatile)


def _vector_element(low: Lowering, base: Place, index: Expression, span: Span) -> Place:
    vector = base.type
    assert isinstance(vector, VectorType)
    lane = integer_value(index)
    if isinstance(base, Memory):
        pointer = retype(base.pointer, pointer_to(vector.element, base.pointer))
        return replace(memory_at(offset(pointer, index, span), span), is_packed=base.is_packed)
    if lane is not None and lane < vector.lanes and not isinstance(base, Lanes):
        return lanes_place(base, (lane,), span)
    value = read(low, base)
    assert not isinstance(value, ObjectValue)
    return Temporary(Builtin("vector_element", (value, index), vector.element, span), vector.element)


@handles(PLACES, "pointer_expression")
def _dereference(low: Lowering, node: Node) -> Place:
    operator, operand = node.children[0], node.children[-1]
    if operator.type != "*":
        value = low.scalar(node)
        return Temporary(value, value.type)
    pointer = low.scalar(operand)
    if not isinstance(pointer.type, PointerType):
        return _unknown_place(low, pointer, node, "dereference of something that is no pointer")
    return low.pointed(pointer, low.span(node))


@handles(PLACES, "field_expression")
def _field(low: Lowering, node: Node) -> Place:
    children = node.children
    if len(children) < 3:
        return Temporary(low.unsupported(node, "member without name"), INT)
    name = low.text(children[-1])
    span = low.span(node)
    if children[1].type == "->":
        pointer = low.scalar(children[0])
        if not isinstance(pointer.type, PointerType):
            return _unknown_place(low, pointer, node, "`->` on something that is no pointer")
        base: Place = low.pointed(pointer, span)
    else:
        base = low.place(children[0])
    match base.type:
        case StructType() as structure:
            return _member(low, base, structure, name, node)
        case VectorType(lanes=lanes):
            chosen = lane_numbers(name, lanes)
            if chosen:
                return lanes_place(base, chosen, span)
        case ScalarType() as scalar if scalar.bits and lane_numbers(name, 1):
            return base  # Its type was guessed, or it comes from a template for vectors.
        case _:
            pass
    if isinstance(base, Temporary) or not isinstance(base.type, VectorType | StructType):
        return _unknown_member(low, base, node)
    return Temporary(low.unsupported(node, f"no member `{name}`"), INT)


def _unknown_member(low: Lowering, base: Place, node: Node) -> Place:
    if (
        isinstance(base.type, UnknownType)
        or low.has_guessed_types
        or (isinstance(base, Temporary) and low.is_unknown(base.value))
    ):
        type_ = low.expected or INT
        return Temporary(Undefined(low.text(node)[:80], type_, low.span(node)), type_)
    return Temporary(low.unsupported(node, "member of something that has none"), INT)


def _member(low: Lowering, base: Place, structure: StructType, name: str, node: Node) -> Place:
    member = structure.field(name)
    span = low.span(node)
    if member is None or not isinstance(base, Memory):
        return Temporary(low.unsupported(node, f"`{structure.name}` has no member `{name}`"), INT)
    pointer = FieldAddress(base.pointer, member, pointer_to(member.type, base.pointer), span)
    bits = member if member.bits is not None else None
    is_packed = base.is_packed or structure.alignment < member.type.alignment
    return Memory(pointer, member.type, span, base.is_volatile, bits, is_packed)


# --------------------------------------------------------------------------------------------- swizzles

_LETTERS = {letter: at for letters in ("xyzw", "rgba") for at, letter in enumerate(letters)}


@lru_cache(maxsize=1024)
def lane_numbers(name: str, lanes: int) -> tuple[int, ...]:
    """Return the lanes that a swizzle names; empty if it is none.

    `hi` and `odd` of a vector of 3 reach past it; the value of that lane is undefined, and the last lane
    stands in for it.
    """
    half = (lanes + 1) // 2
    match name:
        case "lo":
            chosen = tuple(range(half))
        case "hi":
            chosen = tuple(range(half, 2 * half))
        case "even":
            chosen = tuple(range(0, lanes, 2))
        case "odd":
            chosen = tuple(range(1, 2 * half, 2))
        case _:
            return _listed_lanes(name, lanes)
    return tuple(min(it, lanes - 1) for it in chosen)


def _listed_lanes(name: str, lanes: int) -> tuple[int, ...]:
    if not name:  # a member name that is still missing
        return ()
    if name[0] in "sS" and len(name) > 1 and name[1:].isalnum():
        chosen = tuple(int(it, 36) for it in name[1:])  # beyond f: vectors of 32
    elif all(it in _LETTERS for it in name):
        chosen = tuple(_LETTERS[it] for it in name)
    else:
        return ()
    return chosen if max(chosen) < lanes else ()


def lanes_place(base: Place, chosen: tuple[int, ...], span: Span) -> Place:
    """Return the place of some lanes of the vector at `base`."""
    vector = base.type
    assert isinstance(vector, VectorType)
    type_: Type = vector.element if len(chosen) == 1 else VectorType(vector.element, len(chosen))
    match base:
        case Lanes(vector=inner, lanes=outer):
            return Lanes(inner, tuple(outer[it] for it in chosen), type_)
        case Temporary(value=value):
            return Temporary(Swizzle(value, chosen, type_, span), type_)
        case _:
            return Lanes(base, chosen, type_)


# --------------------------------------------------------------------------------------- reading, writing


def read(low: Lowering, place: Place, span: Span | None = None) -> Value:
    """Return the value at a place: memory is loaded, an array becomes a pointer to its first element."""
    match place:
        case Register(variable=variable):
            return Read(variable, span or variable.span)
        case Memory():
            return _read_memory(low, place)
        case Temporary(value=value):
            return value
        case Lanes(vector=vector, lanes=lanes, type=type_):
            whole = read(low, vector, span)
            assert not isinstance(whole, ObjectValue)
            return Swizzle(whole, lanes, type_, span or whole.span)


def _read_memory(low: Lowering, place: Memory) -> Value:
    pointer, type_ = place.pointer, place.type
    if isinstance(type_, ArrayType):
        assert isinstance(pointer.type, PointerType)
        return retype(pointer, decayed(type_, pointer.type))
    if isinstance(type_, StructType):
        return ObjectValue(pointer, type_, place.span)
    return low.load(place) if place.bits is None else _read_bits(low, place, place.bits)


def write(low: Lowering, place: Place, value: Expression, span: Span) -> None:
    """Write a value of the place's type to it."""
    match place:
        case Register(variable=variable):
            low.assign(variable, value, span)
        case Lanes(vector=Register() as register, lanes=lanes):
            whole = Read(register.variable, span)
            low.assign(register.variable, InsertLanes(whole, lanes, value, register.type, span), span)
        case Lanes(vector=Memory() as memory, lanes=lanes):
            _store_lanes(low, memory, lanes, value, span)
        case Memory(bits=Field() as bits):
            _write_bits(low, place, bits, value)
        case Memory():
            low.store(place, value)
        case Temporary(value=target):
            _write_temporary(low, target, value, span)


def _write_temporary(low: Lowering, target: Expression, value: Expression, span: Span) -> None:
    match target:
        case Builtin(name="vector_element", arguments=(Read(variable=variable), index)):
            low.assign(variable, _replace_lane(variable, index, value, span), span)
        case Undefined(name=name):
            low.emit(Unsupported(low.site(), name, UNKNOWN_NAME, span))
        case _:
            low.emit(Unsupported(low.site(), "", "write to something that is no place", span))
            low.report("unsupported", Severity.INFORMATION, "write to something that is no place", span)


def _replace_lane(variable: Variable, index: Expression, value: Expression, span: Span) -> Expression:
    """Return the vector with the lane that `index` names replaced, by one choice a lane."""
    vector = variable.type
    assert isinstance(vector, VectorType)
    whole: Expression = Read(variable, span)
    index = convert(index, INT)
    for lane in range(vector.lanes):
        here = compare(CompareOp.EQ, index, Constant(lane, INT, span), span)
        old = Swizzle(Read(variable, span), (lane,), vector.element, span)
        chosen = Select(here, value, old, vector.element, span)
        whole = InsertLanes(whole, (lane,), chosen, vector, span)
    return whole


def _store_lanes(
    low: Lowering, memory: Memory, lanes: tuple[int, ...], value: Expression, span: Span
) -> None:
    """Store components: side by side ones at once, others one by one, so that no other lane is written."""
    vector = memory.type
    assert isinstance(vector, VectorType)
    element = vector.element
    base = retype(memory.pointer, pointer_to(element, memory.pointer))
    is_run = all(b == a + 1 for a, b in pairwise(lanes)) and len(lanes) != 3
    if is_run:
        target = pointer_to(value.type, memory.pointer)
        pointer = _lane_address(base, lanes[0], element, target, span)
        size = value.type.size
        alignment = 1 if memory.is_packed else element.size
        store = Store(low.site(), pointer, value, size, alignment, span, memory.is_volatile)
        low.emit(replace(store, component=Component(vector, lanes[0])))
        return
    value = low.pin(value)
    for at, lane in enumerate(lanes):
        pointer = _lane_address(base, lane, element, pointer_to(element, memory.pointer), span)
        part = Swizzle(value, (at,), element, span)
        low.store(Memory(pointer, element, span, memory.is_volatile, is_packed=memory.is_packed), part)


def _lane_address(
    base: Expression, lane: int, element: ScalarType, target: PointerType, span: Span
) -> Expression:
    return PointerOffset(base, Constant(lane, INT, span), element.size, target, span)


def _read_bits(low: Lowering, place: Memory, bits: Field) -> Expression:
    unit = place.type
    if not isinstance(unit, ScalarType) or bits.bits is None:
        return low.load(place)
    whole = low.load(place, _mask(bits, bits.bits))
    width = unit.bits
    span = place.span
    up = Constant(width - bits.bit_offset - bits.bits, unit, span)
    down = Constant(width - bits.bits, unit, span)
    shifted = typed_binary(BinaryOp.SHL, whole, up, unit, span)
    return typed_binary(BinaryOp.SHR, shifted, down, unit, span)


def _write_bits(low: Lowering, place: Memory, bits: Field, value: Expression) -> None:
    unit = place.type
    span = place.span
    if not isinstance(unit, ScalarType) or bits.bits is None:
        low.store(place, value)
        return
    mask = _mask(bits, bits.bits)
    whole = low.load(place, 0)
    kept = binary(BinaryOp.AND, whole, Constant(~mask, unit, span), span)
    moved = binary(BinaryOp.SHL, value, Constant(bits.bit_offset, INT, span), span)
    merged = binary(BinaryOp.OR, kept, binary(BinaryOp.AND, moved, Constant(mask, unit, span), span), span)
    low.store(place, convert(merged, unit), mask)


def _mask(bits: Field, width: int) -> int:
    return ((1 << width) - 1) << bits.bit_offset


def copy_to(low: Lowering, place: Place, value: ObjectValue, span: Span) -> None:
    """Copy a struct to a place."""
    if isinstance(place, Memory):
        copy_object(low, place.pointer, value.pointer, value.type, span)
    else:
        is_quiet = isinstance(place, Temporary) and low.is_unknown(place.value)
        reason = UNKNOWN_NAME if is_quiet else "copy of a struct to a place that is not known"
        low.emit(Unsupported(low.site(), "", reason, span))


def address_of(low: Lowering, place: Place, node: Node) -> Expression:
    """Return `&place`."""
    span = low.span(node)
    match place:
        case Memory(pointer=pointer):
            return pointer
        case Lanes(vector=Memory() as memory, lanes=lanes):
            vector = memory.type
            assert isinstance(vector, VectorType)
            target = pointer_to(vector.element, memory.pointer)
            base = retype(memory.pointer, target)
            return offset_to(base, Constant(lanes[0], INT, span), target, span)
        case Temporary(value=Undefined(name=name)):
            return Undefined(f"&{name}", PointerType(place.type, AddressSpace.PRIVATE), span)
        case _:
            return low.unsupported(node, "address of something that is not in memory")


def retype(pointer: Expression, target: PointerType) -> Expression:
    """Return the same address as a pointer of another type."""
    if pointer.type == target:
        return pointer
    match pointer:
        case ObjectAddress(variable=variable, span=span):
            return ObjectAddress(variable, target, span)
        case PointerOffset(pointer=base, index=index, stride=stride, span=span):
            return PointerOffset(base, index, stride, target, span)
        case FieldAddress(pointer=base, field=member, span=span):
            return FieldAddress(base, member, target, span)
        case _:
            return PointerCast(pointer, target, pointer.span)


@handles(PLACES, "string_literal", "concatenated_string")
def _string(low: Lowering, node: Node) -> Place:
    data = string_bytes(low.text(node))
    span = low.span(node)
    type_ = ArrayType(CHAR, len(data))
    variable = Variable("string", type_, VariableKind.CONSTANT_OBJECT, span, is_temporary=True)
    low.initializers[variable] = Initializer(variable, data)
    low.used_objects[variable] = None
    pointer = ObjectAddress(variable, PointerType(type_, AddressSpace.CONSTANT, True), span)
    return Memory(pointer, type_, span)
