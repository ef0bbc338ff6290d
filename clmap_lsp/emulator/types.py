"""OpenCL C types as LLVM types.

Integers and bool are integers of their width, a vector of 3 has 3 lanes in registers and the room of 4 in
memory. A pointer is 64 bits in memory (see `pointers.py`); images, samplers and events are 64-bit numbers.
"""

from __future__ import annotations

import struct

from llvmlite import ir

from clmap_lsp.source.types import (
    ArrayType,
    OpaqueType,
    PointerType,
    ScalarKind,
    ScalarType,
    StructType,
    Type,
    UnknownType,
    VectorType,
)

I1, I8, I16, I32, I64 = (ir.IntType(it) for it in (1, 8, 16, 32, 64))
HALF, FLOAT, DOUBLE = ir.HalfType(), ir.FloatType(), ir.DoubleType()
POINTER = ir.PointerType()
_FLOATS = {16: HALF, 32: FLOAT, 64: DOUBLE}


def llvm_type(kind: Type) -> ir.Type:
    """Return the LLVM type of a value of `kind` in registers. Arrays and structs have none: a byte array."""
    match kind:
        case ScalarType(kind=ScalarKind.VOID):
            return I8
        case ScalarType(kind=ScalarKind.FLOAT, bits=bits):
            return _FLOATS[bits]
        case ScalarType(bits=bits):
            return ir.IntType(bits)
        case VectorType(element=element, lanes=lanes):
            return ir.VectorType(llvm_type(element), lanes)
        case PointerType() | OpaqueType():
            return I64
        case UnknownType(size=size):
            return ir.IntType(8 * size)
        case ArrayType() | StructType():
            return ir.ArrayType(I8, kind.size)


def bytes_of(kind: ir.Type) -> int:
    """Return how many bytes a load or store of an LLVM type touches."""
    if isinstance(kind, ir.VectorType | ir.ArrayType):
        return int(kind.count) * bytes_of(kind.element)
    if isinstance(kind, ir.IntType):
        return (int(kind.width) + 7) // 8
    return {HALF: 2, FLOAT: 4, DOUBLE: 8}[kind]


def zero(kind: ir.Type) -> ir.Constant:
    """Return the zero of an LLVM type."""
    if isinstance(kind, ir.VectorType):
        return ir.Constant(kind, [zero(kind.element)] * kind.count)
    if kind in (HALF, FLOAT, DOUBLE):
        return ir.Constant(kind, 0.0)
    if isinstance(kind, ir.ArrayType):
        return ir.Constant(kind, None)
    return ir.Constant(kind, 0)


def integer(value: int, kind: ir.Type) -> ir.Constant:
    """Return a constant, wrapped to the width of `kind`; for a vector type the same in every lane."""
    if isinstance(kind, ir.VectorType):
        return ir.Constant(kind, [integer(value, kind.element)] * kind.count)
    bits: int = kind.width
    value &= (1 << bits) - 1
    return ir.Constant(kind, value - (1 << bits) if value >> (bits - 1) and bits > 1 else value)


def real(value: float, kind: ir.Type) -> ir.Constant:
    """Return a floating constant rounded to `kind`; for a vector type the same in every lane."""
    if isinstance(kind, ir.VectorType):
        return ir.Constant(kind, [real(value, kind.element)] * kind.count)
    return ir.Constant(kind, round_to(value, kind))


def round_to(value: float, kind: ir.Type) -> float:
    """Round to nearest even in half, float or double; overflow gives infinity."""
    code = {HALF: "e", FLOAT: "f", DOUBLE: "d"}[kind]
    try:
        rounded: float = struct.unpack(code, struct.pack(code, value))[0]
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    return rounded


def is_float(kind: ir.Type) -> bool:
    """True for half, float, double and their vectors."""
    element = kind.element if isinstance(kind, ir.VectorType) else kind
    return element in (HALF, FLOAT, DOUBLE)


def lanes(kind: ir.Type) -> int:
    """Return the number of lanes; 1 for a scalar."""
    return kind.count if isinstance(kind, ir.VectorType) else 1


def element(kind: ir.Type) -> ir.Type:
    """Return the element of a vector, and any other type itself."""
    return kind.element if isinstance(kind, ir.VectorType) else kind


def like(kind: ir.Type, shape: ir.Type) -> ir.Type:
    """Return `kind` with as many lanes as `shape` has."""
    return ir.VectorType(kind, shape.count) if isinstance(shape, ir.VectorType) else kind


def bits(kind: ir.Type) -> int:
    """Return the width of an element in bits."""
    kind = element(kind)
    if isinstance(kind, ir.IntType):
        width: int = kind.width
        return width
    return {HALF: 16, FLOAT: 32, DOUBLE: 64}[kind]
