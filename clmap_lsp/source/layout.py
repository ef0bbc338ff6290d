"""Layout of structs and unions.

Members stand at multiples of their alignment, in order; `packed` sets all alignments to 1, `aligned(n)`
raises one. Bit-fields share storage units as the System V ABI has it: a bit-field may not straddle a unit
of its declared type. Source: OpenCL C Specification 3.0, section 6.11 (attributes), and the System V ABI
(AMD64 supplement), section 3.1.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from clmap_lsp.dataclass import dataclass
from clmap_lsp.source.types import UCHAR, ArrayType, Field, ScalarType, StructType, Type, VectorType

MAX_MEMBERS = 1024
"""Members of a struct, those of structs inside of it counted too, beyond which structs in it are bytes."""
MAX_DEPTH = 64
"""Structs in each other; those further inside are bytes."""
MAX_LEAVES = 4096
"""Elements of one array inside a struct that are named one by one."""


@dataclass(frozen=True, slots=True)
class Member:
    """One declared member. `bits` is a bit-field's width, 0 for one that closes its unit."""

    name: str
    type: Type
    bits: int | None = None
    aligned: int | None = None
    is_packed: bool = False


def lay_out(
    name: str,
    members: Sequence[Member],
    *,
    is_union: bool = False,
    is_packed: bool = False,
    aligned: int | None = None,
) -> StructType:
    """Return the struct or union `name` with its offsets, size and alignment in bytes."""
    fields: list[Field] = []
    n_members, depth = len(members), 1
    position = 0  # in bits
    end = 0
    alignment = 1
    for member in members:
        natural = 1 if is_packed or member.is_packed else member.type.alignment
        natural = max(natural, member.aligned or 1)
        if is_union:
            position = 0
        if member.bits is not None:
            placed, position = _place_bits(member, position, is_packed or member.is_packed)
            if member.bits and member.name:
                fields.append(placed)
                alignment = max(alignment, natural)
        else:
            offset = _round_up(_round_up(position, 8) // 8, natural)
            inner = _structure_in(member.type)
            more, deep = (inner.n_members, inner.depth) if inner is not None else (0, 0)
            is_too_much = inner is not None and (n_members + more > MAX_MEMBERS or deep >= MAX_DEPTH)
            # Structures that hold two others each are a few lines, and more than there is time to look at.
            type_ = ArrayType(UCHAR, member.type.size) if is_too_much else member.type
            fields.append(Field(member.name, type_, offset))
            if not is_too_much:
                n_members, depth = n_members + more, max(depth, deep + 1)
            position = (offset + member.type.size) * 8
            alignment = max(alignment, natural)
        end = max(end, position)
    alignment = max(alignment, aligned or 1)
    size = _round_up(_round_up(end, 8) // 8, alignment)
    return StructType(name, tuple(fields), size, alignment, is_union, n_members, depth)


def _structure_in(value: Type) -> StructType | None:
    """Return the structure that a type is, or is an array of."""
    while isinstance(value, ArrayType):
        value = value.element
    return value if isinstance(value, StructType) else None


@lru_cache(maxsize=256)
def leaves(struct: StructType) -> Mapping[int, tuple[str, ScalarType]]:
    """Return the scalars inside a struct by byte offset: how C names each, as in `.a[1].x`, and its type.

    Of a union, those of its first member; lanes of vectors are named `.s0` to `.sf`.
    """
    return dict(_leaves(struct, "", 0))


def _leaves(type_: Type, path: str, offset: int) -> Iterator[tuple[int, tuple[str, ScalarType]]]:
    match type_:
        case ScalarType():
            yield offset, (path, type_)
        case VectorType(element=element):
            for lane in range(type_.lanes):
                yield offset + lane * element.size, (f"{path}.s{lane:x}", element)
        case ArrayType():
            for index in range(min(type_.length or 0, MAX_LEAVES)):
                yield from _leaves(type_.element, f"{path}[{index}]", offset + index * type_.element.size)
        case StructType():
            for member in type_.fields[:1] if type_.is_union else type_.fields:
                inner = f"{path}.{member.name}" if member.name else path
                yield from _leaves(member.type, inner, offset + member.offset)
        case _:
            return


def _place_bits(member: Member, position: int, is_packed: bool) -> tuple[Field, int]:
    bits = member.bits or 0
    offset, first, end = place_bits(member.type.size, bits, position, is_packed=is_packed)
    return Field(member.name, member.type, offset, first, member.bits or None), end


def place_bits(size: int, bits: int, position: int, *, is_packed: bool) -> tuple[int, int, int]:
    """Return where a bit-field of a type of `size` bytes stands that comes at a bit of its structure.

    That is the byte of its unit, its first bit there, and the bit behind it.
    """
    unit = max(size, 1) * 8
    if bits == 0:
        return 0, 0, _round_up(position, unit)
    if not is_packed and position // unit != (position + bits - 1) // unit:
        position = _round_up(position, unit)
    offset = position // unit * unit // 8
    if is_packed and position - offset * 8 + bits > unit:
        offset = position // 8
    return offset, position - offset * 8, position + bits


def _round_up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple
