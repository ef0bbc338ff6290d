"""Values of all work-items of a box of work-groups at once.

An integer is `const + Σ coef_d · t_d + array`. The `t_d` are *dimensions*: the three of the box of
work-groups (0 to 2), then one for each loop that is run for all its turns at once. `array` holds what is not
affine in them: int64, its last axis the lanes (linear local ids), the axis `-2 - d` that of dimension d; axes
of length 1 are broadcast. So ids and strides stay symbolic, however many groups and turns there are, and
everything else is NumPy's broadcasting.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.dataclass import dataclass
from clmap_lsp.emulator.symbolic.control import OverBudgetError
from clmap_lsp.source.ir import Variable, VariableKind
from clmap_lsp.source.span import Span
from clmap_lsp.source.types import VOID, AddressSpace, PointerType

Ints = NDArray[np.int64]
Coefs = tuple[tuple[int, int], ...]
"""(dimension, coefficient) pairs, dimensions rising, no coefficient 0."""

_WIDE = 1 << 62
MAX_CELLS = 1 << 22
"""No array grows beyond this, whatever is added up: 32 MiB."""


@dataclass(slots=True, eq=False)
class Sym:
    """An integer of every work-item. `low` and `high` bound `array`, perhaps loosely."""

    const: int
    coefs: Coefs = ()
    array: Ints | None = None
    low: int = 0
    high: int = 0

    @property
    def is_uniform(self) -> bool:
        """True if it is one number for all work-items and turns."""
        return self.array is None and not self.coefs


@dataclass(slots=True, eq=False)
class Floats:
    """A floating-point number of every work-item; axes as those of `Sym.array`."""

    array: NDArray[Any]


@dataclass(slots=True, eq=False)
class Pointer:
    """`offset` bytes past the start of a buffer, local array or private object."""

    root: Variable
    offset: Sym


@dataclass(slots=True, eq=False)
class Lanes:
    """A vector: its components."""

    parts: tuple[Sym | Floats | Unknown, ...]


@dataclass(slots=True, eq=False)
class Unknown:
    """A value that only data, or something this engine does not follow, could tell."""

    reason: str


@dataclass(slots=True, eq=False)
class Partly:
    """What a variable holds that some work-items wrote last, where what it held before is not known."""

    value: Sym | Floats | Pointer | Lanes
    mask: bool | NDArray[np.bool_]
    """For whom it is `value`."""
    unknown: Unknown
    """For the others."""


BETWEEN_BUFFERS = 1 << 40
"""Bytes: more than any buffer has, and a multiple of every granule."""
SEVERAL = Variable(
    "?", PointerType(VOID, AddressSpace.GLOBAL), VariableKind.PARAMETER, Span("", 0, 0), is_temporary=True
)
"""Stands for all of global memory where a pointer points into one of several buffers."""

Value = Sym | Floats | Pointer | Lanes | Unknown
Held = Value | Partly
"""What a variable holds."""
Condition = bool | NDArray[np.bool_] | Unknown

ZERO = Sym(0)


def of_array(array: Ints) -> Sym:
    """Make a value of an array, with exact bounds."""
    if array.size == 0:
        return ZERO
    low, high = int(array.min()), int(array.max())
    return Sym(low) if low == high else Sym(0, (), array, low, high)


def affordable(*arrays: NDArray[Any]) -> None:
    """Make sure that arrays, broadcast together, stay within bounds.

    Raises: OverBudgetError.
    """
    cells = 1
    for it in arrays:
        cells *= it.size  # More than enough: only what is over this is worked out.
    if cells > MAX_CELLS and prod(np.broadcast_shapes(*(it.shape for it in arrays))) > MAX_CELLS:
        raise OverBudgetError("values that differ along too many loops at once")


def add(left: Sym, right: Sym) -> Sym:
    """Return left + right, unwrapped."""
    if left.array is None:
        array, low, high = right.array, right.low, right.high
    elif right.array is None:
        array, low, high = left.array, left.low, left.high
    else:
        affordable(left.array, right.array)
        array = left.array + right.array
        low, high = left.low + right.low, left.high + right.high
    if not right.coefs:
        coefs = left.coefs
    elif not left.coefs:
        coefs = right.coefs
    else:
        coefs = merged(left.coefs, right.coefs, 1)
    return Sym(left.const + right.const, coefs, array, low, high)


def merged(left: Coefs, right: Coefs, factor: int) -> Coefs:
    """Return left + factor * right."""
    total = dict(left)
    for dimension, coef in right:
        total[dimension] = total.get(dimension, 0) + factor * coef
    return tuple(sorted((d, c) for d, c in total.items() if c))


def scale(value: Sym, factor: int) -> Sym:
    """Return value * factor, unwrapped."""
    if factor == 1:
        return value
    if factor == 0:
        return ZERO
    coefs = tuple((d, c * factor) for d, c in value.coefs)
    if value.array is None:
        return Sym(value.const * factor, coefs)
    low, high = value.low * factor, value.high * factor
    if factor < 0:
        low, high = high, low
    if max(-low, high, abs(factor)) >= _WIDE:
        array = (value.array * np.int64(signed64(factor))).astype(np.int64)
        return Sym(value.const * factor, coefs, array, int(array.min()), int(array.max()))
    return Sym(value.const * factor, coefs, value.array * factor, low, high)


def signed64(value: int) -> int:
    """Return the number below 2^63 that is equal to `value` modulo 2^64."""
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value


def subtract(left: Sym, right: Sym) -> Sym:
    """Return left - right, unwrapped."""
    if right.is_uniform:
        return Sym(left.const - right.const, left.coefs, left.array, left.low, left.high)
    if left.array is not None and left.array is right.array:
        return Sym(left.const - right.const, merged(left.coefs, right.coefs, -1))
    return add(left, scale(right, -1))


def bounds(value: Sym, counts: Sequence[int]) -> tuple[int, int]:
    """Return numbers that no work-item's value passes; `counts` are the lengths of the dimensions."""
    low, high = value.const + value.low, value.const + value.high
    for dimension, coef in value.coefs:
        reach = coef * (counts[dimension] - 1)
        if reach < 0:
            low += reach
        else:
            high += reach
    return low, high


def tightened(value: Sym) -> Sym:
    """Return it with exact bounds of its array."""
    if value.array is None:
        return value
    exact = of_array(value.array)
    return Sym(value.const + exact.const, value.coefs, exact.array, exact.low, exact.high)


def exact_bounds(value: Sym, counts: Sequence[int]) -> tuple[int, int]:
    """Return the least and the greatest number that a value is, where that costs no more than its array.

    In `r - r % 4` the array falls as the affine part rises: apart, they seem to reach below 0.
    """
    least, most = bounds(value, counts)
    if value.array is None or least <= -_WIDE or most >= _WIDE:
        return least, most
    lengths = value.array.shape[-2::-1]
    together = [d for d, _ in value.coefs if d < len(lengths) and lengths[d] > 1]
    return bounds(tightened(spread(value, together, counts)), counts)


def dense_shape(value: Sym, dimensions: Iterable[int], counts: Sequence[int]) -> int:
    """Return the number of cells that the array has once `dimensions` are spread out in it."""
    shape = list(value.array.shape) if value.array is not None else [1]
    cells = shape[-1]
    axes = {d: counts[d] for d in dimensions if counts[d] > 1}
    for axis, length in enumerate(reversed(shape[:-1])):
        if length > 1:
            axes[axis] = length
    for length in axes.values():
        cells *= length
    return cells


def spread(value: Sym, dimensions: Iterable[int], counts: Sequence[int]) -> Sym:
    """Move the affine part of some dimensions into the array."""
    wanted = set(dimensions)
    array: Any = value.array if value.array is not None else np.zeros(1, np.int64)
    low, high = value.low, value.high
    for dimension, coef in value.coefs:
        if dimension in wanted:
            if counts[dimension] > MAX_CELLS:
                raise OverBudgetError("a loop or launch of too many steps to spread out")
            steps = np.arange(counts[dimension], dtype=np.int64) * np.int64(signed64(coef))
            steps = steps.reshape((-1,) + (1,) * (dimension + 1))
            affordable(array, steps)
            array = array + steps
            reach = coef * (counts[dimension] - 1)
            low, high = low + min(reach, 0), high + max(reach, 0)
    rest = tuple(it for it in value.coefs if it[0] not in wanted)
    return Sym(value.const, rest, array, low, high)


def numbers(value: Sym, counts: Sequence[int]) -> Ints:
    """Return all of a value as one int64 array that broadcasts over (…, dimensions, lanes)."""
    full = spread(value, [d for d, _ in value.coefs], counts)
    const = signed64(full.const)
    if full.array is None:
        return np.array([const], np.int64)
    with np.errstate(over="ignore"):
        return full.array + np.int64(const)


def at_turn(value: Sym, dimension: int, turn: int, *, keeps_axis: bool = False) -> Sym:
    """Return the value in one step of a dimension, whose axis is dropped (as is right for the innermost)."""
    coef = dict(value.coefs).get(dimension, 0)
    coefs = tuple(it for it in value.coefs if it[0] != dimension)
    array = value.array
    if array is not None and array.ndim >= dimension + 2:
        axis = array.ndim - 2 - dimension
        at = min(turn, array.shape[axis] - 1)
        array = array.take([at] if keeps_axis else at, axis=axis)
    return Sym(value.const + coef * turn, coefs, array, value.low, value.high)


def same(left: Sym, right: Sym) -> bool:
    """Tell whether two values are provably equal for every work-item and turn."""
    if left.coefs != right.coefs:
        return False
    if left.array is right.array:
        return left.const == right.const
    if left.array is None or right.array is None:
        return False
    with np.errstate(over="ignore"):
        one = left.array + np.int64(signed64(left.const))
        return bool(np.array_equal(one, right.array + np.int64(signed64(right.const))))


def choose(mask: NDArray[np.bool_], new: Sym, old: Sym, counts: Sequence[int]) -> Sym:
    """Return `new` where the mask holds and `old` elsewhere."""
    differing = {d for d, _ in merged(new.coefs, old.coefs, -1)}
    if new.coefs != old.coefs:
        new, old = spread(new, differing, counts), spread(old, differing, counts)
    one, two = signed64(new.const), signed64(old.const)
    first: Any = np.int64(one) if new.array is None else new.array + np.int64(one)
    second: Any = np.int64(two) if old.array is None else old.array + np.int64(two)
    affordable(mask, np.asarray(first), np.asarray(second))
    low = min(new.low + one, old.low + two)
    high = max(new.high + one, old.high + two)
    return Sym(0, new.coefs, np.where(mask, first, second), low, high)
