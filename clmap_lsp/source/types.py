"""OpenCL C types with their sizes and layouts.

Sizes and alignments are bytes. `size_t` and pointers are 64 bits wide, as on every device model shipped.
Source: OpenCL C Specification 3.0, section 6.3 (supported data types) and 6.3.5 (alignment of types).
"""

from __future__ import annotations

from enum import Enum
from typing import TypeGuard

from clmap_lsp.dataclass import record

POINTER_BYTES = 8


class AddressSpace(Enum):
    """Where an object lives."""

    PRIVATE = "private"
    LOCAL = "local"
    GLOBAL = "global"
    CONSTANT = "constant"
    GENERIC = "generic"


class ScalarKind(Enum):
    """How the bits of a scalar are read."""

    VOID = "void"
    BOOL = "bool"
    SIGNED = "signed"
    UNSIGNED = "unsigned"
    FLOAT = "float"


_INTEGERS = (ScalarKind.BOOL, ScalarKind.SIGNED, ScalarKind.UNSIGNED)
"""A tuple: finding a member there takes less time than hashing it, or than looking it up in its class."""


@record(frozen=True, slots=True)
class ScalarType:
    """A scalar by its OpenCL name. `char` is signed; `size_t` is `ulong`, `ptrdiff_t` `long`."""

    name: str
    kind: ScalarKind
    bits: int

    @property
    def size(self) -> int:
        """Bytes."""
        return self.bits // 8

    @property
    def alignment(self) -> int:
        """Bytes; at least 1, so that void can stand in arithmetic on addresses."""
        return max(self.size, 1)

    @property
    def is_integer(self) -> bool:
        """True for bool and the signed and unsigned integers."""
        return self.kind in _INTEGERS

    @property
    def is_signed(self) -> bool:
        """True for signed integers."""
        return self.kind is ScalarKind.SIGNED

    @property
    def is_float(self) -> bool:
        """True for half, float and double."""
        return self.kind is ScalarKind.FLOAT

    def __str__(self) -> str:
        return self.name


@record(frozen=True, slots=True)
class VectorType:
    """`lanes` (2, 3, 4, 8, 16) elements; a vector of 3 has the size and alignment of one of 4."""

    element: ScalarType
    lanes: int

    @property
    def size(self) -> int:
        """Bytes."""
        return self.element.size * (4 if self.lanes == 3 else self.lanes)

    @property
    def alignment(self) -> int:
        """Bytes; a vector is aligned to its size."""
        return self.size

    def __str__(self) -> str:
        return f"{self.element.name}{self.lanes}"


@record(frozen=True, slots=True)
class PointerType:
    """A pointer to `pointee` in `space`; the qualifiers are those of the pointee."""

    pointee: Type
    space: AddressSpace
    is_const: bool = False
    is_volatile: bool = False
    is_restrict: bool = False

    @property
    def size(self) -> int:
        """Bytes."""
        return POINTER_BYTES

    @property
    def alignment(self) -> int:
        """Bytes."""
        return POINTER_BYTES

    def __str__(self) -> str:
        return f"__{self.space.value} {self.pointee}*"


@record(frozen=True, slots=True)
class ArrayType:
    """`length` elements side by side; `None` where the length is not known (`[]` or an unknown constant)."""

    element: Type
    length: int | None

    @property
    def size(self) -> int:
        """Bytes; 0 where the length is not known."""
        return self.element.size * (self.length or 0)

    @property
    def alignment(self) -> int:
        """Bytes."""
        return self.element.alignment

    def __str__(self) -> str:
        dimensions, inner = "", _as_type(self)
        while isinstance(inner, ArrayType):
            dimensions += f"[{'' if inner.length is None else inner.length}]"
            inner = inner.element
        return f"{inner}{dimensions}"


@record(frozen=True, slots=True)
class Field:
    """One member of a struct or union; `offset` in bytes from its start.

    A bit-field has `bits`, its width, and stands at bit `bit_offset` of the unit of `type` at `offset`.
    """

    name: str
    type: Type
    offset: int
    bit_offset: int = 0
    bits: int | None = None


@record(frozen=True, slots=True)
class StructType:
    """A struct or union with its layout (`packed` and `aligned` are already applied)."""

    name: str
    fields: tuple[Field, ...]
    size: int
    alignment: int
    is_union: bool = False
    n_members: int = 0
    """Of this structure and of those inside of it."""
    depth: int = 1
    """How many structures stand in each other, this one counted."""

    def field(self, name: str) -> Field | None:
        """Return the member `name`, looking into anonymous members too."""
        for member in self.fields:
            if member.name == name:
                return member
            if not member.name and isinstance(member.type, StructType) and (inner := member.type.field(name)):
                return Field(name, inner.type, member.offset + inner.offset, inner.bit_offset, inner.bits)
        return None

    def __str__(self) -> str:
        return self.name


@record(frozen=True, slots=True)
class OpaqueType:
    """A type that programs only pass on: images, samplers, events, pipes, queues."""

    name: str
    size: int = POINTER_BYTES
    alignment: int = POINTER_BYTES

    @property
    def is_image(self) -> bool:
        """True for `image1d_t`, `image2d_array_t` and the like."""
        return self.name.startswith("image")

    def __str__(self) -> str:
        return self.name


@record(frozen=True, slots=True)
class UnknownType:
    """A type whose definition is not in sight. It is taken for 4 bytes, and what depends on it says so."""

    name: str
    size: int = 4
    alignment: int = 4

    def __str__(self) -> str:
        return self.name


Type = ScalarType | VectorType | PointerType | ArrayType | StructType | OpaqueType | UnknownType

VOID = ScalarType("void", ScalarKind.VOID, 0)
BOOL = ScalarType("bool", ScalarKind.BOOL, 8)
CHAR = ScalarType("char", ScalarKind.SIGNED, 8)
UCHAR = ScalarType("uchar", ScalarKind.UNSIGNED, 8)
SHORT = ScalarType("short", ScalarKind.SIGNED, 16)
USHORT = ScalarType("ushort", ScalarKind.UNSIGNED, 16)
INT = ScalarType("int", ScalarKind.SIGNED, 32)
UINT = ScalarType("uint", ScalarKind.UNSIGNED, 32)
LONG = ScalarType("long", ScalarKind.SIGNED, 64)
ULONG = ScalarType("ulong", ScalarKind.UNSIGNED, 64)
HALF = ScalarType("half", ScalarKind.FLOAT, 16)
FLOAT = ScalarType("float", ScalarKind.FLOAT, 32)
DOUBLE = ScalarType("double", ScalarKind.FLOAT, 64)
SIZE_T = ULONG
PTRDIFF_T = LONG

SCALARS = {
    it.name: it
    for it in (VOID, BOOL, CHAR, UCHAR, SHORT, USHORT, INT, UINT, LONG, ULONG, HALF, FLOAT, DOUBLE)
}
VECTOR_LANES = (2, 3, 4, 8, 16)


def element_of(value: Type) -> Type:
    """Return the element of a vector, and any other type itself."""
    return value.element if isinstance(value, VectorType) else value


def has_union(value: Type) -> bool:
    """Tell whether an object of a type can hold values of several types in one place."""
    match value:
        case ArrayType(element=element):
            return has_union(element)
        case StructType(fields=fields, is_union=is_union):
            return is_union or any(has_union(it.type) for it in fields)
        case _:
            return False


def points_to_local(value: Type) -> TypeGuard[PointerType]:
    """Tell whether a type is a pointer to local memory."""
    return isinstance(value, PointerType) and value.space is AddressSpace.LOCAL


def lanes_of(value: Type) -> int:
    """Return the number of lanes of a vector, and 1 for any other type."""
    return value.lanes if isinstance(value, VectorType) else 1


def _as_type(value: Type) -> Type:
    return value
