"""Types as a person wrote them: with qualifiers on every level, and typedefs by their names.

The types of `source.types` say how bytes lie; these say what a declaration says. Scalars, vectors and opaque
types are shared.
Source: OpenCL C Specification 3.0, 6.3 (supported data types), 6.7 (address space qualifiers).
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING
from weakref import ReferenceType, ref

from clmap_lsp.dataclass import dataclass, record
from clmap_lsp.source.layout import place_bits
from clmap_lsp.source.types import (
    SCALARS,
    VECTOR_LANES,
    AddressSpace,
    OpaqueType,
    ScalarKind,
    ScalarType,
    VectorType,
)

if TYPE_CHECKING:
    from clmap_lsp.index.model import Symbol


@record(frozen=True, slots=True)
class Qualified:
    """A type with its qualifiers. `space` is `None` where none is written and none follows."""

    base: Base
    is_const: bool = False
    is_volatile: bool = False
    is_restrict: bool = False
    space: AddressSpace | None = None
    access: str | None = None
    """`read_only`, `write_only` or `read_write`, of images and pipes."""

    def __str__(self) -> str:
        return spelled(self)


@record(frozen=True, slots=True)
class Pointer:
    """A pointer; the space of the pointee is that of what it points to."""

    pointee: Qualified
    is_block: bool = False


@record(frozen=True, slots=True)
class Array:
    """`length` is `None` where it is not written or not known."""

    element: Qualified
    length: int | None


@record(frozen=True, slots=True)
class Function:
    """A function's type."""

    result: Qualified
    parameters: tuple[Qualified, ...]
    is_variadic: bool = False
    has_prototype: bool = True


@dataclass(slots=True, eq=False)
class _Declared:
    """A type that a symbol declares; that symbol holds it, and not the other way round."""

    name: str
    _symbol: ReferenceType[Symbol] | None = field(default=None, init=False, repr=False)

    @property
    def symbol(self) -> Symbol | None:
        """The symbol that defines it, else declares it."""
        return None if self._symbol is None else self._symbol()

    @symbol.setter
    def symbol(self, symbol: Symbol) -> None:
        self._symbol = ref(symbol)


@dataclass(slots=True, eq=False)
class Record(_Declared):
    """A struct or union."""

    is_union: bool
    is_packed: bool = False
    aligned: int | None = None
    alias: str = ""
    """The typedef that names it where it has no tag."""

    @property
    def members(self) -> list[Symbol] | None:
        """Its members; `None` until it is defined."""
        symbol = self.symbol
        return None if symbol is None else symbol.members

    @property
    def keyword(self) -> str:
        """`struct` or `union`."""
        return "union" if self.is_union else "struct"


@dataclass(slots=True, eq=False)
class Enumeration(_Declared):
    """An enumeration; its values are ints."""

    alias: str = ""


@record(frozen=True, slots=True)
class Named:
    """A typedef's name for another type."""

    name: str
    target: Qualified
    symbol: Symbol | None = None


@record(frozen=True, slots=True)
class Unknown:
    """A type that cannot be known here; whatever follows from it is not judged."""

    name: str = "?"


@record(frozen=True, slots=True)
class Pipe(Unknown):
    """A pipe, which only the functions for pipes take; `packet` is what it holds, where that is known."""

    packet: Qualified | None = None


Base = (
    ScalarType | VectorType | OpaqueType | Pointer | Array | Function | Record | Enumeration | Named | Unknown
)

UNKNOWN = Qualified(Unknown())
INT = Qualified(SCALARS["int"])
UINT = Qualified(SCALARS["uint"])
LONG = Qualified(SCALARS["long"])
ULONG = Qualified(SCALARS["ulong"])
CHAR = Qualified(SCALARS["char"])
BOOL = Qualified(SCALARS["bool"])
FLOAT = Qualified(SCALARS["float"])
DOUBLE = Qualified(SCALARS["double"])
HALF = Qualified(SCALARS["half"])
VOID = Qualified(SCALARS["void"])
SIZE_T = Qualified(Named("size_t", ULONG))
PTRDIFF_T = Qualified(Named("ptrdiff_t", LONG))
STRING = Qualified(Pointer(Qualified(SCALARS["char"], space=AddressSpace.CONSTANT)))


def canonical(type_: Qualified) -> Qualified:
    """Return the type with its outermost typedefs replaced by what they stand for."""
    while isinstance(type_.base, Named):
        inner = type_.base.target
        type_ = Qualified(
            inner.base,
            type_.is_const or inner.is_const,
            type_.is_volatile or inner.is_volatile,
            type_.is_restrict or inner.is_restrict,
            type_.space or inner.space,
            type_.access or inner.access,
        )
    return type_


def base_of(type_: Qualified) -> Base:
    """Return what a type is, typedefs replaced, without its qualifiers."""
    base = type_.base
    while isinstance(base, Named):
        base = base.target.base
    return base


def unqualified(type_: Qualified) -> Qualified:
    """Return the type of a value: without qualifiers."""
    if type_.is_const or type_.is_volatile or type_.is_restrict or type_.space is not None or type_.access:
        return Qualified(type_.base)
    return type_


def space_of(type_: Qualified) -> AddressSpace | None:
    """Return the address space that objects of a type lie in, as far as the type says."""
    while True:
        if type_.space is not None:
            return type_.space
        if isinstance(type_.base, Named):
            type_ = type_.base.target
        elif isinstance(type_.base, Array):
            type_ = type_.base.element
        else:
            return None


def is_const(type_: Qualified) -> bool:
    """Tell whether an object of a type may not be written."""
    type_ = canonical(type_)
    if isinstance(type_.base, Array):
        return is_const(type_.base.element)
    return type_.is_const or type_.space is AddressSpace.CONSTANT


def is_arithmetic(base: Base) -> bool:
    """Tell whether a base is a scalar number or an enumeration."""
    return (isinstance(base, ScalarType) and base.kind is not ScalarKind.VOID) or isinstance(
        base, Enumeration
    )


def is_integer(base: Base) -> bool:
    """Tell whether a base is a scalar integer or an enumeration."""
    return (isinstance(base, ScalarType) and base.is_integer) or isinstance(base, Enumeration)


def scalar_of(base: Base) -> ScalarType | None:
    """Return the scalar that arithmetic takes a base for."""
    if isinstance(base, ScalarType):
        return base
    return SCALARS["int"] if isinstance(base, Enumeration) else None


def with_lanes(element: ScalarType, lanes: int) -> Qualified:
    """Return a vector, or the scalar for one lane."""
    return Qualified(element if lanes == 1 else VectorType(element, lanes))


def decayed(type_: Qualified) -> Qualified:
    """Return the type of a value read from an object: arrays and functions become pointers."""
    base = base_of(type_)
    if isinstance(base, Array):
        space = space_of(type_)
        element = base.element
        if space is not None and space_of(element) is None:
            element = Qualified(
                element.base, element.is_const, element.is_volatile, element.is_restrict, space
            )
        return Qualified(Pointer(element))
    if isinstance(base, Function):
        return Qualified(Pointer(type_))
    return unqualified(type_)


# ---------------------------------------------------------------------------------------------- spelling

_SPACES = {it: f"__{it.value}" for it in AddressSpace}


def spelled(type_: Qualified, declarator: str = "", *, is_canonical: bool = False) -> str:
    """Return a type in C, around a declarator (a name, or nothing)."""
    if is_canonical:
        type_ = canonical(type_)
    base = type_.base
    words = _qualifiers(type_)
    if isinstance(base, Pointer):
        inner = f"{'^' if base.is_block else '*'}{words}{' ' if words and declarator else ''}{declarator}"
        pointee = base_of(base.pointee) if is_canonical else base.pointee.base
        if isinstance(pointee, Array | Function):
            inner = f"({inner})"
        return spelled(base.pointee, inner, is_canonical=is_canonical)
    if isinstance(base, Array):
        length = "" if base.length is None else str(base.length)
        return spelled(base.element, f"{declarator}[{length}]", is_canonical=is_canonical)
    if isinstance(base, Function):
        parameters = ", ".join(spelled(it, is_canonical=is_canonical) for it in base.parameters)
        if base.is_variadic:
            parameters += ", ..." if parameters else "..."
        if not parameters and base.has_prototype:
            parameters = "void"
        return spelled(base.result, f"{declarator}({parameters})", is_canonical=is_canonical)
    name = _name(base)
    head = f"{words} {name}" if words else name
    if not declarator:
        return head
    return (
        f"{head} {declarator}" if declarator[0] not in "[" or declarator[:1].isalnum() else head + declarator
    )


def _qualifiers(type_: Qualified) -> str:
    words = []
    if type_.is_const:
        words.append("const")
    if type_.is_volatile:
        words.append("volatile")
    if type_.is_restrict:
        words.append("restrict")
    if type_.space is not None and type_.space is not AddressSpace.PRIVATE:
        words.append(_SPACES[type_.space])
    if type_.access:
        words.append(f"__{type_.access}")
    return " ".join(words)


def _name(base: Base) -> str:
    if isinstance(base, Record):
        return f"{base.keyword} {base.name}" if base.name else base.alias or f"{base.keyword} (unnamed)"
    if isinstance(base, Enumeration):
        return f"enum {base.name}" if base.name else base.alias or "enum (unnamed)"
    if isinstance(base, Named):
        return base.name
    if isinstance(base, Unknown):
        return base.name
    return str(base)


# ------------------------------------------------------------------------------------------------ layout


_MOST_INSIDE = 200
"""Structures and arrays in each other; nobody is told how large an object of more is."""


@record(frozen=True, slots=True)
class Layout:
    """Bytes of an object, and what its address is a multiple of."""

    size: int
    alignment: int


def layout(type_: Qualified, known: dict[int, Layout | None] | None = None, depth: int = 0) -> Layout | None:
    """Return how many bytes an object takes; `None` where that is not known.

    `known` is what was found of structures on the way: one may hold another many times, and that others.
    """
    known = {} if known is None else known
    base = base_of(type_)
    if depth > _MOST_INSIDE:
        return None
    if isinstance(base, Pointer | Function):
        return Layout(8, 8)
    if isinstance(base, Enumeration):
        return Layout(4, 4)
    if isinstance(base, Array):
        element = layout(base.element, known, depth + 1)
        if element is None or base.length is None:
            return None
        return Layout(element.size * base.length, element.alignment)
    if isinstance(base, Record):
        if id(base) not in known:
            placed = members_layout(base, known, depth + 1)
            known[id(base)] = None if placed is None else placed[1]
        return known[id(base)]
    if isinstance(base, ScalarType | VectorType | OpaqueType):
        return Layout(base.size, base.alignment)
    return None


@record(frozen=True, slots=True)
class Placed:
    """A member with where it stands, in bytes; a bit-field stands at `bit` of the unit there."""

    member: Symbol
    offset: int
    size: int
    bit: int | None = None


def members_layout(
    base: Record, known: dict[int, Layout | None] | None = None, depth: int = 0
) -> tuple[list[Placed], Layout] | None:
    """Return each member with its place, and the layout of the whole; `known` as for `layout`."""
    if base.members is None:
        return None
    known = {} if known is None else known
    placed: list[Placed] = []
    at = end = 0  # in bits
    alignment = base.aligned or 1
    for member in base.members:
        inner = None if member.type is None else layout(member.type, known, depth + 1)
        if inner is None:
            return None
        multiple = max(1 if base.is_packed else inner.alignment, member.aligned or 1)
        at = 0 if base.is_union else at
        if member.bits is None:
            offset = -(-at // (8 * multiple)) * multiple
            placed.append(Placed(member, offset, inner.size))
            at = 8 * (offset + inner.size)
        else:
            offset, bit, at = place_bits(inner.size, member.bits, at, is_packed=base.is_packed)
            if member.name:
                placed.append(Placed(member, offset, inner.size, bit))
        if member.bits is None or member.name:
            alignment = max(alignment, multiple)
        end = max(end, at)
    return placed, Layout(-(-end // (8 * alignment)) * alignment, alignment)


# ----------------------------------------------------------------------------------------- built-in names

VECTORS = {
    f"{name}{lanes}": Qualified(VectorType(scalar, lanes))
    for name, scalar in SCALARS.items()
    if name not in ("void", "bool")
    for lanes in VECTOR_LANES
}
_ALIASES = {
    "size_t": SIZE_T,
    "ptrdiff_t": PTRDIFF_T,
    "intptr_t": Qualified(Named("intptr_t", LONG)),
    "uintptr_t": Qualified(Named("uintptr_t", ULONG)),
    "cl_mem_fence_flags": Qualified(Named("cl_mem_fence_flags", UINT)),
    "memory_order": Qualified(Named("memory_order", INT)),
    "memory_scope": Qualified(Named("memory_scope", INT)),
    "kernel_enqueue_flags_t": Qualified(Named("kernel_enqueue_flags_t", INT)),
    "clk_profiling_info": Qualified(Named("clk_profiling_info", INT)),
}
ATOMICS = {
    f"atomic_{name}": target
    for name, target in (
        ("int", INT),
        ("uint", UINT),
        ("long", LONG),
        ("ulong", ULONG),
        ("half", HALF),
        ("float", FLOAT),
        ("double", DOUBLE),
        ("flag", INT),
        ("intptr_t", LONG),
        ("uintptr_t", ULONG),
        ("size_t", ULONG),
        ("ptrdiff_t", LONG),
    )
}
IMAGES = (
    *("image1d_t", "image1d_array_t", "image1d_buffer_t", "image2d_t", "image2d_array_t", "image3d_t"),
    *("image2d_depth_t", "image2d_array_depth_t", "image2d_msaa_t", "image2d_array_msaa_t"),
    *("image2d_msaa_depth_t", "image2d_array_msaa_depth_t"),
)
OPAQUE = ("sampler_t", "event_t", "queue_t", "clk_event_t", "ndrange_t", "reserve_id_t")
OF_2_0 = frozenset({*ATOMICS, *OPAQUE[2:], "memory_order", "memory_scope", "kernel_enqueue_flags_t"})
"""Type names that OpenCL C 1.2 does not have."""

SCALAR_TYPES = {name: Qualified(it) for name, it in SCALARS.items()}
TYPE_NAMES: dict[str, Qualified] = {
    **SCALAR_TYPES,
    **VECTORS,
    **_ALIASES,
    **{name: Qualified(Named(name, target)) for name, target in ATOMICS.items()},
    **{name: Qualified(OpaqueType(name)) for name in (*IMAGES, *OPAQUE)},
}
"""Every type that needs no declaration, by its name."""
