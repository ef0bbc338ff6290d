"""OpenCL C's integer arithmetic on `Sym` values.

Everything wraps as the hardware does (signed overflow too). A `ulong` may stand as any number that is equal
to it modulo 2^64, since addresses are taken modulo 2^64 anyway; where the number itself matters (comparison,
division, right shift, widening) `settled` finds it.
"""

from __future__ import annotations

from collections.abc import Callable
from math import gcd

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.emulator.symbolic.control import SplitError
from clmap_lsp.emulator.symbolic.space import GROUP_DIMENSIONS, Space, dims_of
from clmap_lsp.emulator.symbolic.values import (
    Ints,
    Sym,
    add,
    affordable,
    bounds,
    dense_shape,
    exact_bounds,
    numbers,
    of_array,
    scale,
    subtract,
    tightened,
)
from clmap_lsp.source.ir import BinaryOp
from clmap_lsp.source.types import ScalarKind, ScalarType

_SPAN64 = 1 << 64


def limits(scalar: ScalarType) -> tuple[int, int]:
    """Return the smallest and largest number of an integer type."""
    bits = scalar.bits if scalar.kind is not ScalarKind.BOOL else 1
    if scalar.is_signed:
        return -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    return 0, (1 << bits) - 1


def spread_out(value: Sym, space: Space) -> Ints:
    """Return all numbers of a value as an array, if it is affordable.

    Raises: SplitError, NotRegularError.
    """
    dims = dims_of(value)
    space.require(dense_shape(value, dims, space.counts), dims)
    return numbers(value, space.counts)


def fit(value: Sym, scalar: ScalarType, space: Space) -> Sym:
    """Wrap a value to its type."""
    low, high = limits(scalar)
    if value.is_uniform:
        const = value.const
        return value if low <= const <= high else Sym(wrapped(const, scalar))
    if scalar.bits == 64:
        low = -(1 << 63)  # Any representative will do, see above.
    least, most = bounds(value, space.counts)
    if low <= least and most <= high:
        return value
    value = tightened(value)
    least, most = exact_bounds(value, space.counts)
    if low <= least and most <= high:
        return value
    span = 1 << scalar.bits
    sheet = (least - low) // span
    if (most - low) // span == sheet:
        return Sym(value.const - sheet * span, value.coefs, value.array, value.low, value.high)
    if scalar.bits == 64:
        return of_array(spread_out(value, space))
    array = spread_out(value, space) & (span - 1)
    if scalar.is_signed:
        array = np.where(array > high, array - span, array)
    return of_array(array)


def wrapped(number: int, scalar: ScalarType) -> int:
    """Wrap one number to a type."""
    low, high = limits(scalar)
    if scalar.kind is ScalarKind.BOOL:
        return int(number != 0)
    return (number - low) % (high - low + 1) + low


def settled(value: Sym, scalar: ScalarType, space: Space) -> Sym | None:
    """Return a value as the number it is; `None` if its lanes lie on both sides of 2^64."""
    if scalar.is_signed or scalar.bits < 64:
        return value
    if value.is_uniform:
        return value if 0 <= value.const < _SPAN64 else Sym(value.const % _SPAN64)
    least, most = bounds(value, space.counts)
    if least < 0 <= most:
        value = tightened(value)
        least, most = exact_bounds(value, space.counts)
    if least >= 0:
        return value
    if most < 0:
        return Sym(value.const + _SPAN64, value.coefs, value.array, value.low, value.high)
    return None


def is_int64(value: Sym, space: Space) -> bool:
    """Tell whether every number of a value can stand in an int64 array."""
    least, most = bounds(value, space.counts)
    return least >= -(1 << 63) and most < 1 << 63


def binary(op: BinaryOp, left: Sym, right: Sym, scalar: ScalarType, space: Space) -> Sym | None:
    """Return `left op right` in type `scalar`; `None` where it has no value (division by zero)."""
    match op:
        case BinaryOp.ADD:
            return fit(add(left, right), scalar, space)
        case BinaryOp.SUB:
            return fit(subtract(left, right), scalar, space)
        case BinaryOp.MUL:
            return multiply(left, right, scalar, space)
        case BinaryOp.SHL if right.is_uniform:
            return fit(scale(left, 1 << (right.const % scalar.bits)), scalar, space)
        case _:
            pass
    one, two = settled(left, scalar, space), settled(right, scalar, space)
    if one is None or two is None:
        return _elementwise_unsigned(op, left, right, space)
    if one.is_uniform and two.is_uniform:
        return _uniform(op, one.const, two.const, scalar)
    if not (is_int64(one, space) and is_int64(two, space)):
        return _elementwise_unsigned(op, left, right, space)
    if two.is_uniform:
        exact = _affine(op, one, two.const, scalar, space)
        if exact is not None:
            return exact
    if op is BinaryOp.AND and one.is_uniform:
        exact = _affine(op, two, one.const, scalar, space)
        if exact is not None:
            return exact
    return _elementwise(op, one, two, scalar, space)


def multiply(left: Sym, right: Sym, scalar: ScalarType, space: Space) -> Sym:
    """Return the product, wrapped."""
    if right.is_uniform:
        return fit(scale(left, right.const), scalar, space)
    if left.is_uniform:
        return fit(scale(right, left.const), scalar, space)
    one, two = spread_out(left, space), spread_out(right, space)
    affordable(one, two)
    with np.errstate(over="ignore"):
        array = one * two
    a, b = bounds(left, space.counts), bounds(right, space.counts)
    if max(map(abs, a)) * max(map(abs, b)) < 1 << 62 or scalar.bits == 64:
        return fit(of_array(array), scalar, space)
    return of_array(_wrap_array(array, scalar))  # int64 wrapped too, at a multiple of the type's span.


def _wrap_array(array: Ints, scalar: ScalarType) -> Ints:
    if scalar.bits == 64:
        return array
    span = 1 << scalar.bits
    array = array & (span - 1)
    return np.where(array > limits(scalar)[1], array - span, array)


def _uniform(op: BinaryOp, one: int, two: int, scalar: ScalarType) -> Sym | None:
    match op:
        case BinaryOp.DIV | BinaryOp.REM:
            if two == 0:
                return None
            quotient = abs(one) // abs(two) * (1 if (one < 0) == (two < 0) else -1)
            return Sym(wrapped(quotient if op is BinaryOp.DIV else one - quotient * two, scalar))
        case BinaryOp.SHL:
            return Sym(wrapped(one << (two % scalar.bits), scalar))
        case BinaryOp.SHR:
            return Sym(one >> (two % scalar.bits))
        case BinaryOp.AND:
            return Sym(one & two)
        case BinaryOp.OR:
            return Sym(one | two)
        case BinaryOp.XOR:
            return Sym(one ^ two)
        case _:
            return None


def _affine(op: BinaryOp, one: Sym, two: int, scalar: ScalarType, space: Space) -> Sym | None:
    """Divide, shift or mask by a constant while the affine part stays symbolic, where that is exact."""
    match op:
        case BinaryOp.SHR:
            return _divided(one, 1 << (two % scalar.bits), space, remainder=False, floors=True)
        case BinaryOp.DIV if two > 0:
            return _divided(one, two, space, remainder=False, floors=False)
        case BinaryOp.REM if two > 0:
            return _divided(one, two, space, remainder=True, floors=False)
        case BinaryOp.AND if two >= 0 and (two + 1) & two == 0:
            return _divided(one, two + 1, space, remainder=True, floors=True)
        case BinaryOp.AND if two > 0 and one.coefs:
            return _masked(one, two, space)
        case BinaryOp.OR | BinaryOp.XOR if two >= 0 and one.coefs:
            return _low_bits(op, one, two, space)
        case _:
            return None


def _divided(value: Sym, by: int, space: Space, *, remainder: bool, floors: bool) -> Sym | None:
    """floor((c + Σ a_d t_d + P) / by) = Σ (a_d / by) t_d + floor((c + P) / by) if `by` divides every a_d."""
    least, most = bounds(value, space.counts)
    if least < 0 and not floors:  # C truncates towards zero.
        return None
    sheet = least // by
    if sheet == most // by:
        return add(value, Sym(-sheet * by)) if remainder else Sym(sheet)
    if any(coef % by for _, coef in value.coefs) or (value.array is None and not value.coefs):
        _split_sheets(value, by, space)
        return None
    own = Sym(value.const, (), value.array, value.low, value.high)
    if not is_int64(own, space) or by >= 1 << 63:
        return None  # The parts, or the divisor, do not fit where the sum does.
    rest = of_array(numbers(own, space.counts))
    inner = numbers(rest, space.counts)
    if remainder:
        return of_array(inner % by)
    quotient = of_array(inner // by)
    coefs = tuple((d, coef // by) for d, coef in value.coefs)
    return Sym(quotient.const, coefs, quotient.array, quotient.low, quotient.high)


_MAX_PARTS = 64


def _split_sheets(value: Sym, by: int, space: Space) -> None:
    """Let groups be run apart that have different quotients by `by`, or different remainders of their steps.

    Raises: SplitError, if that makes few parts and masks are not wanted instead.
    """
    if space.budget.mask_cells:
        return
    for dimension, coef in sorted(value.coefs, key=lambda it: -space.counts[it[0]]):
        count = space.counts[dimension]
        if dimension >= GROUP_DIMENSIONS or count == 1 or coef % by == 0:
            continue
        rest = Sym(
            value.const,
            tuple(it for it in value.coefs if it[0] != dimension),
            value.array,
            value.low,
            value.high,
        )
        low, high = bounds(rest, space.counts)
        modulo = by // gcd(coef, by)
        sheets = abs(coef) * (count - 1) // by + 1
        if modulo <= min(sheets, _MAX_PARTS):
            raise SplitError(dimension, (), modulo)
        if sheets <= _MAX_PARTS:
            cuts = _sheet_cuts(low, high, coef, count, by)
            if cuts:
                raise SplitError(dimension, cuts)


def _sheet_cuts(low: int, high: int, coef: int, count: int, by: int) -> tuple[int, ...]:
    """Return the steps at which the lowest or highest of `low … high` + coef·t comes to another quotient."""
    steps = np.arange(count, dtype=np.int64) * coef
    ends = np.stack([(low + steps) // by, (high + steps) // by])
    return tuple((np.flatnonzero((np.diff(ends, axis=1) != 0).any(axis=0)) + 1).tolist())


def _low_bits(op: BinaryOp, value: Sym, bits: int, space: Space) -> Sym | None:
    """Or and xor of low bits leave alone what is a multiple of the next power of two."""
    span = 1 << bits.bit_length()
    if any(coef % span for _, coef in value.coefs):
        _split_sheets(value, span, space)
        return None
    own = Sym(value.const, (), value.array, value.low, value.high)
    if not is_int64(own, space):
        return None
    rest = numbers(own, space.counts)
    low = rest % span
    changed = of_array((low | bits if op is BinaryOp.OR else low ^ bits) - low + rest)
    return Sym(changed.const, value.coefs, changed.array, changed.low, changed.high)


def _masked(value: Sym, bits: int, space: Space) -> Sym | None:
    """And of any bits depends on what lies below the next power of two only."""
    low = _divided(value, 1 << bits.bit_length(), space, remainder=True, floors=True)
    if low is None or low.coefs or not is_int64(low, space):
        return None
    return of_array(numbers(low, space.counts) & bits)


def _elementwise(op: BinaryOp, one: Sym, two: Sym, scalar: ScalarType, space: Space) -> Sym | None:
    left, right = spread_out(one, space), spread_out(two, space)
    affordable(left, right)
    match op:
        case BinaryOp.DIV | BinaryOp.REM:
            if bool(np.any(right == 0)):
                # Lanes that are masked off may divide by zero without harm; their result is never used.
                right = np.where(right == 0, np.int64(1), right)
            sign: Ints = np.where((left < 0) == (right < 0), np.int64(1), np.int64(-1))
            # As unsigned numbers: the least `long` has no absolute value of its own type.
            sizes: NDArray[np.uint64] = np.abs(left).view(np.uint64) // np.abs(right).view(np.uint64)
            quotient: Ints = sizes.view(np.int64) * sign
            return fit(of_array(quotient if op is BinaryOp.DIV else left - quotient * right), scalar, space)
        case BinaryOp.SHL:
            return of_array(_wrap_array(np.left_shift(left, right % scalar.bits), scalar))
        case _:
            return of_array(_BITWISE[op](left, right, scalar.bits))


_BITWISE: dict[BinaryOp, Callable[[Ints, Ints, int], Ints]] = {
    BinaryOp.SHR: lambda a, b, bits: a >> (b % bits),
    BinaryOp.AND: lambda a, b, _: a & b,
    BinaryOp.OR: lambda a, b, _: a | b,
    BinaryOp.XOR: lambda a, b, _: a ^ b,
}


def _elementwise_unsigned(op: BinaryOp, one: Sym, two: Sym, space: Space) -> Sym | None:
    """As `_elementwise` for `ulong` values on both sides of 2^63."""
    left, right = spread_out(one, space).view(np.uint64), spread_out(two, space).view(np.uint64)
    affordable(left, right)
    result: NDArray[np.uint64]
    match op:
        case BinaryOp.DIV | BinaryOp.REM:
            right = np.maximum(right, np.uint64(1))
            result = np.floor_divide(left, right) if op is BinaryOp.DIV else np.remainder(left, right)
        case BinaryOp.SHR:
            result = np.right_shift(left, np.remainder(right, np.uint64(64)))
        case BinaryOp.SHL:
            result = np.left_shift(left, np.remainder(right, np.uint64(64)))
        case _:
            return of_array(_BITWISE[op](left.view(np.int64), right.view(np.int64), 64))
    return of_array(result.view(np.int64))


def convert(value: Sym, source: ScalarType, target: ScalarType, space: Space) -> Sym:
    """Return a value converted between integer types."""
    if target.kind is ScalarKind.BOOL:
        if value.is_uniform:
            return Sym(int(value.const != 0))
        return of_array((spread_out(value, space) != 0).astype(np.int64))
    if source.bits == 64 and not source.is_signed and target.bits < 64:
        return fit(value, target, space)
    known = settled(value, source, space)
    return fit(value if known is None else known, target, space)
