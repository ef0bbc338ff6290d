"""C's integer arithmetic for all work-items at once, written from the C and OpenCL C specifications alone.

Values are NumPy arrays of Python integers (dtype object), one a work-item, so that nothing wraps unless C
says so. Shares no code with the package: it is what the package is tested against.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


class UndefinedError(Exception):
    """The kernel has undefined behaviour for some work-item, so it is no test of anything."""


@dataclass(frozen=True)
class CType:
    """An integer type; ranks are those of C (6.3.1.1)."""

    name: str
    bits: int
    signed: bool

    @property
    def size(self):
        return self.bits // 8

    @property
    def limits(self):
        return (-(1 << self.bits - 1), (1 << self.bits - 1) - 1) if self.signed else (0, (1 << self.bits) - 1)


TYPES = {
    name: CType(name, bits, not name.startswith("u"))
    for bits, names in {
        8: ("char", "uchar"),
        16: ("short", "ushort"),
        32: ("int", "uint"),
        64: ("long", "ulong"),
    }.items()
    for name in names
}
INT, UINT, ULONG, LONG = TYPES["int"], TYPES["uint"], TYPES["ulong"], TYPES["long"]


def promoted(kind):
    """Return the type after integer promotion."""
    return INT if kind.bits < 32 else kind


def common(one, two):
    """Return the type of the usual arithmetic conversions."""
    one, two = promoted(one), promoted(two)
    if one.bits != two.bits:
        return one if one.bits > two.bits else two
    return one if not one.signed else two


def converted(values, kind):
    """Return integers as a type holds them (modulo 2^bits)."""
    low, _ = kind.limits
    span = 1 << kind.bits
    return (values - low) % span + low


def _exact(values, kind, mask):
    """Return the result of signed arithmetic, which must not overflow, or of unsigned, which wraps."""
    if kind.signed:
        low, high = kind.limits
        used = values[mask]
        if used.size and (used.min() < low or used.max() > high):
            raise UndefinedError("signed overflow")
    return converted(values, kind)


def truncated(a, b):
    """Return the quotient rounded towards zero; where b is 0, 0."""
    safe = np.where(b == 0, 1, b)
    quotient = abs(a) // abs(safe)
    return np.where((a < 0) != (safe < 0), -quotient, quotient)


def arithmetic(op, a, b, kind, mask):
    """Return `a op b` in a type that both were converted to."""
    match op:
        case "+":
            return _exact(a + b, kind, mask)
        case "-":
            return _exact(a - b, kind, mask)
        case "*":
            return _exact(a * b, kind, mask)
        case "/" | "%":
            if (b[mask] == 0).any():
                raise UndefinedError("division by zero")
            quotient = _exact(truncated(a, b), kind, mask)
            return quotient if op == "/" else a - quotient * b
        case "&":
            return converted(a & b, kind)
        case "|":
            return converted(a | b, kind)
        case "^":
            return converted(a ^ b, kind)
    raise AssertionError(op)


def shifted(op, a, count, kind):
    """Return a shift; counts are modulo the width (OpenCL C 3.0, 6.3.10)."""
    by = count % kind.bits
    moved = np.array([x << n if op == "<<" else x >> n for x, n in zip(a, by, strict=True)], object)
    return converted(moved, kind)


COMPARE = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
}


def saturated(values, kind):
    """Return values held inside a type."""
    low, high = kind.limits
    return np.minimum(np.maximum(values, low), high)


def bits_of(value, kind):
    """Return a number's bits as a non-negative integer."""
    return value % (1 << kind.bits)


def builtin(name, arguments, kind):
    """Return an integer built-in function (OpenCL C 3.0, 6.15.3 and 6.15.6) of arguments of one type."""
    match name, arguments:
        case "min", [a, b]:
            return np.minimum(a, b)
        case "max", [a, b]:
            return np.maximum(a, b)
        case "clamp", [a, low, high]:
            return np.minimum(np.maximum(a, low), high)
        case "add_sat", [a, b]:
            return saturated(a + b, kind)
        case "sub_sat", [a, b]:
            return saturated(a - b, kind)
        case "mul_hi", [a, b]:
            return (a * b) >> kind.bits
        case "mad_hi", [a, b, c]:
            return converted(((a * b) >> kind.bits) + c, kind)
        case "hadd", [a, b]:
            return (a + b) >> 1
        case "rhadd", [a, b]:
            return (a + b + 1) >> 1
        case "mad_sat", [a, b, c]:
            return saturated(a * b + c, kind)
        case "bitselect", [a, b, c]:
            return converted((a & ~c) | (b & c), kind)
        case "rotate", [a, b]:

            def turned(value, by):
                value, by = bits_of(value, kind), by % kind.bits
                return value << by | value >> (kind.bits - by)

            return converted(np.array([turned(x, n) for x, n in zip(a, b, strict=True)], object), kind)
        case "popcount", [a]:
            return np.array([bin(bits_of(x, kind)).count("1") for x in a], object)
        case "clz", [a]:
            return np.array([kind.bits - bits_of(x, kind).bit_length() for x in a], object)
    raise AssertionError(name)
