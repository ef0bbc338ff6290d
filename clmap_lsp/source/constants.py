"""Folding of constants: the same results that a device computes at run time.

Integers wrap at their width; floats are rounded once to their type, which is exact for one operation
because a double has more than twice the bits of a float plus two.
"""

from __future__ import annotations

import math
import struct

from clmap_lsp.source.ir import BinaryOp, CompareOp, Constant, Expression, UnaryOp
from clmap_lsp.source.types import INT, ScalarKind, ScalarType, Type

Number = int | float


def wrap(value: int, target: ScalarType) -> int:
    """Return `value` modulo the width of an integer type, read in its sign."""
    if target.kind is ScalarKind.BOOL:
        return int(value != 0)
    value &= (1 << target.bits) - 1
    if target.kind is ScalarKind.SIGNED and value >> (target.bits - 1):
        value -= 1 << target.bits
    return value


def round_float(value: float, bits: int) -> float:
    """Return the nearest value of a float of `bits` bits; too large gives infinity."""
    if bits == 64 or math.isnan(value) or math.isinf(value):
        return value
    code = "<f" if bits == 32 else "<e"
    try:
        return float(struct.unpack(code, struct.pack(code, value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def cast_number(value: Number, target: Type) -> Number | None:
    """Return `value` converted to a scalar type; `None` where C leaves it undefined."""
    if not isinstance(target, ScalarType) or target.kind is ScalarKind.VOID:
        return None
    if target.kind is ScalarKind.FLOAT:
        try:
            return round_float(float(value), target.bits)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    if target.kind is ScalarKind.BOOL:
        return int(value != 0)
    if isinstance(value, float):
        if math.isnan(value) or math.isinf(value):
            return None
        whole = int(value)
        return whole if wrap(whole, target) == whole else None
    return wrap(value, target)


def fold_binary(op: BinaryOp, left: Expression, right: Expression, target: Type) -> Number | None:
    """Return the value of an operation on two constants of type `target`; `None` if it has none."""
    if not (isinstance(left, Constant) and isinstance(right, Constant) and isinstance(target, ScalarType)):
        return None
    if target.is_float:
        value = _float_binary(op, float(left.value), float(right.value))
        return None if value is None else round_float(value, target.bits)
    if isinstance(left.value, float) or isinstance(right.value, float):
        return None
    whole = _integer_binary(op, left.value, right.value, target.bits)
    return None if whole is None else wrap(whole, target)


def _float_binary(op: BinaryOp, a: float, b: float) -> float | None:
    match op:
        case BinaryOp.ADD:
            return a + b
        case BinaryOp.SUB:
            return a - b
        case BinaryOp.MUL:
            return a * b
        case BinaryOp.DIV:
            if b == 0:
                return (
                    math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1, b)
                )
            return a / b
        case _:
            return None


def _integer_binary(op: BinaryOp, a: int, b: int, bits: int) -> int | None:
    match op:
        case BinaryOp.ADD:
            return a + b
        case BinaryOp.SUB:
            return a - b
        case BinaryOp.MUL:
            return a * b
        case BinaryOp.DIV | BinaryOp.REM:
            if b == 0:
                return None
            quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            return quotient if op is BinaryOp.DIV else a - b * quotient
        case BinaryOp.SHL:
            return a << (b % bits)
        case BinaryOp.SHR:
            return a >> (b % bits)
        case BinaryOp.AND:
            return a & b
        case BinaryOp.OR:
            return a | b
        case BinaryOp.XOR:
            return a ^ b


def fold_compare(op: CompareOp, left: Expression, right: Expression) -> int | None:
    """Return 1 or 0 for a comparison of two constants, `None` for anything else."""
    if not (isinstance(left, Constant) and isinstance(right, Constant)):
        return None
    a, b = left.value, right.value
    match op:
        case CompareOp.EQ:
            return int(a == b)
        case CompareOp.NE:
            return int(a != b)
        case CompareOp.LT:
            return int(a < b)
        case CompareOp.LE:
            return int(a <= b)
        case CompareOp.GT:
            return int(a > b)
        case CompareOp.GE:
            return int(a >= b)


def fold_unary(op: UnaryOp, operand: Expression, target: Type) -> Number | None:
    """Return the value of an operation on one constant; `None` if it has none."""
    if not isinstance(operand, Constant) or not isinstance(target, ScalarType):
        return None
    match op:
        case UnaryOp.NEGATE:
            return -operand.value if target.is_float else wrap(-int(operand.value), target)
        case UnaryOp.BIT_NOT:
            return None if target.is_float else wrap(~int(operand.value), target)
        case UnaryOp.LOGICAL_NOT:
            return int(not operand.value)


def integer_value(value: Expression | None) -> int | None:
    """Return the value of an integer constant, `None` for anything else."""
    if isinstance(value, Constant) and isinstance(value.value, int):
        return value.value
    return None


def truth(value: Expression) -> bool | None:
    """Return whether a constant is true, `None` for anything else."""
    return bool(value.value) if isinstance(value, Constant) else None


# Integer constants by name; OpenCL C Specification, sections 6.13.2 to 6.13.4 and 6.13.8 to 6.13.11.
_INTEGERS = {
    "CHAR_BIT": 8,
    "CHAR_MAX": 127,
    "CHAR_MIN": -128,
    "SCHAR_MAX": 127,
    "SCHAR_MIN": -128,
    "UCHAR_MAX": 255,
    "SHRT_MAX": 32767,
    "SHRT_MIN": -32768,
    "USHRT_MAX": 65535,
    "INT_MAX": 2147483647,
    "INT_MIN": -2147483648,
    "FLT_DIG": 6,
    "FLT_MANT_DIG": 24,
    "FLT_MAX_10_EXP": 38,
    "FLT_MAX_EXP": 128,
    "FLT_MIN_10_EXP": -37,
    "FLT_MIN_EXP": -125,
    "FLT_RADIX": 2,
    "DBL_DIG": 15,
    "DBL_MANT_DIG": 53,
    "DBL_MAX_10_EXP": 308,
    "DBL_MAX_EXP": 1024,
    "DBL_MIN_10_EXP": -307,
    "DBL_MIN_EXP": -1021,
    "HALF_DIG": 3,
    "HALF_MANT_DIG": 11,
    "HALF_MAX_EXP": 16,
    "HALF_MIN_EXP": -13,
    "HALF_RADIX": 2,
    "FP_ILOGB0": -2147483648,
    "FP_ILOGBNAN": 2147483647,
    "CLK_LOCAL_MEM_FENCE": 1,
    "CLK_GLOBAL_MEM_FENCE": 2,
    "CLK_IMAGE_MEM_FENCE": 4,
    "CLK_ADDRESS_NONE": 0,
    "CLK_ADDRESS_CLAMP_TO_EDGE": 2,
    "CLK_ADDRESS_CLAMP": 4,
    "CLK_ADDRESS_REPEAT": 6,
    "CLK_ADDRESS_MIRRORED_REPEAT": 8,
    "CLK_NORMALIZED_COORDS_FALSE": 0,
    "CLK_NORMALIZED_COORDS_TRUE": 1,
    "CLK_FILTER_NEAREST": 16,
    "CLK_FILTER_LINEAR": 32,
    "CLK_SNORM_INT8": 0x10D0,
    "CLK_SNORM_INT16": 0x10D1,
    "CLK_UNORM_INT8": 0x10D2,
    "CLK_UNORM_INT16": 0x10D3,
    "CLK_UNORM_SHORT_565": 0x10D4,
    "CLK_UNORM_SHORT_555": 0x10D5,
    "CLK_UNORM_INT_101010": 0x10D6,
    "CLK_SIGNED_INT8": 0x10D7,
    "CLK_SIGNED_INT16": 0x10D8,
    "CLK_SIGNED_INT32": 0x10D9,
    "CLK_UNSIGNED_INT8": 0x10DA,
    "CLK_UNSIGNED_INT16": 0x10DB,
    "CLK_UNSIGNED_INT32": 0x10DC,
    "CLK_HALF_FLOAT": 0x10DD,
    "CLK_FLOAT": 0x10DE,
    "CLK_UNORM_INT24": 0x10DF,
    "CLK_UNORM_INT_101010_2": 0x10E0,
    "CLK_R": 0x10B0,
    "CLK_A": 0x10B1,
    "CLK_RG": 0x10B2,
    "CLK_RA": 0x10B3,
    "CLK_RGB": 0x10B4,
    "CLK_RGBA": 0x10B5,
    "CLK_BGRA": 0x10B6,
    "CLK_ARGB": 0x10B7,
    "CLK_INTENSITY": 0x10B8,
    "CLK_LUMINANCE": 0x10B9,
    "CLK_Rx": 0x10BA,
    "CLK_RGx": 0x10BB,
    "CLK_RGBx": 0x10BC,
    "CLK_DEPTH": 0x10BD,
    "CLK_DEPTH_STENCIL": 0x10BE,
    "CLK_sRGB": 0x10BF,
    "CLK_sRGBx": 0x10C0,
    "CLK_sRGBA": 0x10C1,
    "CLK_sBGRA": 0x10C2,
    "CLK_ABGR": 0x10C3,
    "memory_order_relaxed": 0,
    "memory_order_consume": 1,
    "memory_order_acquire": 2,
    "memory_order_release": 3,
    "memory_order_acq_rel": 4,
    "memory_order_seq_cst": 5,
    "memory_scope_work_item": 0,
    "memory_scope_work_group": 1,
    "memory_scope_device": 2,
    "memory_scope_all_svm_devices": 3,
    "memory_scope_all_devices": 3,
    "memory_scope_sub_group": 4,
}

# Mathematical constants to more digits than a double holds; FLOAT ends in `_F`, HALF in `_H`.
_MATH = {
    "M_E": math.e,
    "M_LOG2E": 1.4426950408889634,
    "M_LOG10E": 0.4342944819032518,
    "M_LN2": 0.6931471805599453,
    "M_LN10": 2.302585092994046,
    "M_PI": math.pi,
    "M_PI_2": math.pi / 2,
    "M_PI_4": math.pi / 4,
    "M_1_PI": 0.3183098861837907,
    "M_2_PI": 0.6366197723675814,
    "M_2_SQRTPI": 1.1283791670955126,
    "M_SQRT2": 1.4142135623730951,
    "M_SQRT1_2": 0.7071067811865476,
}


def _named() -> dict[str, tuple[Number, ScalarType]]:
    from clmap_lsp.source.types import DOUBLE, FLOAT, HALF, LONG, UINT, ULONG

    table: dict[str, tuple[Number, ScalarType]] = {name: (value, INT) for name, value in _INTEGERS.items()}
    table["UINT_MAX"] = (0xFFFFFFFF, UINT)
    table["LONG_MAX"] = (2**63 - 1, LONG)
    table["LONG_MIN"] = (-(2**63), LONG)
    table["ULONG_MAX"] = (2**64 - 1, ULONG)
    for name, value in _MATH.items():
        table[name] = (value, DOUBLE)
        table[f"{name}_F"] = (round_float(value, 32), FLOAT)
        table[f"{name}_H"] = (round_float(value, 16), HALF)
    largest = round_float(float.fromhex("0x1.fffffep127"), 32)
    table["FLT_MAX"] = table["MAXFLOAT"] = (largest, FLOAT)
    table["FLT_MIN"] = (2.0**-126, FLOAT)
    table["FLT_EPSILON"] = (2.0**-23, FLOAT)
    table["DBL_MAX"] = (float.fromhex("0x1.fffffffffffffp1023"), DOUBLE)
    table["DBL_MIN"] = (2.0**-1022, DOUBLE)
    table["DBL_EPSILON"] = (2.0**-52, DOUBLE)
    table["HALF_MAX"] = (65504.0, HALF)
    table["HALF_MIN"] = (2.0**-14, HALF)
    table["HALF_EPSILON"] = (2.0**-10, HALF)
    table["INFINITY"] = table["HUGE_VALF"] = (math.inf, FLOAT)
    table["HUGE_VAL"] = (math.inf, DOUBLE)
    table["NAN"] = (math.nan, FLOAT)
    return table


NAMED_CONSTANTS = _named()
"""Constants that OpenCL C predefines: (value, type) by name."""
