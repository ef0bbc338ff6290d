"""Type names that OpenCL C defines.

Source: OpenCL C Specification 3.0, section 6.3 (supported data types).
"""

from __future__ import annotations

from clmap_lsp.source.types import (
    BOOL,
    CHAR,
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    LONG,
    PTRDIFF_T,
    SHORT,
    SIZE_T,
    UCHAR,
    UINT,
    ULONG,
    USHORT,
    VECTOR_LANES,
    VOID,
    OpaqueType,
    ScalarKind,
    ScalarType,
    Type,
    VectorType,
)
from clmap_lsp.source.vocabulary import IMAGE_TYPES

_VECTOR_ELEMENTS = (CHAR, UCHAR, SHORT, USHORT, INT, UINT, LONG, ULONG, HALF, FLOAT, DOUBLE)

_ALIASES: dict[str, Type] = {
    "size_t": SIZE_T,
    "ptrdiff_t": PTRDIFF_T,
    "intptr_t": LONG,
    "uintptr_t": ULONG,
    "ssize_t": LONG,
    "int8_t": CHAR,
    "uint8_t": UCHAR,
    "int16_t": SHORT,
    "uint16_t": USHORT,
    "int32_t": INT,
    "uint32_t": UINT,
    "int64_t": LONG,
    "uint64_t": ULONG,
    "_Bool": BOOL,
    "cl_mem_fence_flags": UINT,
    "memory_order": UINT,
    "memory_scope": UINT,
    "atomic_flag": INT,
    "kernel_enqueue_flags_t": INT,
    "clk_profiling_info": INT,
    "cl_char": CHAR,
    "cl_uchar": UCHAR,
    "cl_short": SHORT,
    "cl_ushort": USHORT,
    "cl_int": INT,
    "cl_uint": UINT,
    "cl_long": LONG,
    "cl_ulong": ULONG,
    "cl_float": FLOAT,
    "cl_double": DOUBLE,
}

_ATOMICS: dict[str, Type] = {
    "atomic_int": INT,
    "atomic_uint": UINT,
    "atomic_long": LONG,
    "atomic_ulong": ULONG,
    "atomic_float": FLOAT,
    "atomic_double": DOUBLE,
    "atomic_half": HALF,
    "atomic_intptr_t": LONG,
    "atomic_uintptr_t": ULONG,
    "atomic_size_t": SIZE_T,
    "atomic_ptrdiff_t": PTRDIFF_T,
}

_OPAQUE = (
    *IMAGE_TYPES,
    "sampler_t",
    "event_t",
    "queue_t",
    "clk_event_t",
    "ndrange_t",
    "reserve_id_t",
    "pipe",
)


def _table() -> dict[str, Type]:
    scalars = (VOID, BOOL, *_VECTOR_ELEMENTS)
    table: dict[str, Type] = {it.name: it for it in scalars}
    for element in _VECTOR_ELEMENTS:
        for lanes in VECTOR_LANES:
            table[f"{element.name}{lanes}"] = VectorType(element, lanes)
    table.update(_ALIASES)
    table.update(_ATOMICS)
    table.update({name: OpaqueType(name) for name in _OPAQUE})
    return table


NAMED_TYPES = _table()
"""Every type name that needs no declaration."""

SIZED_WORDS = frozenset({"unsigned", "signed", "long", "short", "int", "char", "double"})
"""Words that make up a multi-word integer type."""


def sized_type(words: list[str]) -> Type:
    """Return the type of `unsigned long int` and the like, its words in any order."""
    unsigned = "unsigned" in words
    if "char" in words:
        return UCHAR if unsigned else CHAR
    if "short" in words:
        return USHORT if unsigned else SHORT
    if "double" in words:
        return DOUBLE
    if "long" in words:
        return ULONG if unsigned else LONG
    return UINT if unsigned else INT


_SIGNED = {8: CHAR, 16: SHORT, 32: INT, 64: LONG}
_UNSIGNED = {8: UCHAR, 16: USHORT, 32: UINT, 64: ULONG}


def signed_of(value: Type) -> Type:
    """Return the signed integer (vector) of the same width: what comparisons of vectors yield."""
    match value:
        case VectorType(element=element, lanes=lanes):
            return VectorType(_SIGNED[element.bits], lanes)
        case ScalarType(bits=bits) if bits:
            return _SIGNED[bits]
        case _:
            return INT


def unsigned_of(value: Type) -> Type:
    """Return the unsigned integer (vector) of the same width: what `abs` yields."""
    match value:
        case VectorType(element=element, lanes=lanes):
            return VectorType(_UNSIGNED[element.bits], lanes)
        case ScalarType(bits=bits, kind=kind) if kind is not ScalarKind.VOID:
            return _UNSIGNED[bits]
        case _:
            return UINT


def with_lanes(element: ScalarType, lanes: int) -> Type:
    """Return a vector of `lanes` elements, or the element itself for one lane."""
    return element if lanes == 1 else VectorType(element, lanes)
