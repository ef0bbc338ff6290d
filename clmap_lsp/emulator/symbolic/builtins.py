"""Integer built-in functions whose intermediate values need more than 64 bits, number by number and exact.

Source: OpenCL C Specification 3.0, section 6.15.3 (integer functions).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.emulator.symbolic.integers import limits, spread_out, wrapped
from clmap_lsp.emulator.symbolic.space import Space
from clmap_lsp.emulator.symbolic.values import Sym, affordable, of_array
from clmap_lsp.source.types import ScalarType

MAX_CELLS: Final = 1 << 17
"""Python's integers are a hundred times slower than NumPy's."""

Numbers = NDArray[Any]
"""Python integers (dtype object), as large as they need be."""


def exactly(
    name: str, values: Sequence[Sym], kind: ScalarType, result: ScalarType, space: Space
) -> Sym | None:
    """Return an integer function of arguments of type `kind`; `None` if there are too many values.

    Raises: SplitError, NotRegularError.
    """
    if all(it.is_uniform for it in values):
        found = FUNCTIONS[name]([np.array([_number(it.const, kind)], object) for it in values], kind)
        return Sym(wrapped(int(found[0]), result))
    arrays = [spread_out(it, space) for it in values]
    affordable(*arrays)
    if np.broadcast(*arrays).size > MAX_CELLS:
        return None
    if kind.bits == 64 and not kind.is_signed:
        objects = [np.ascontiguousarray(it).view(np.uint64).astype(object) for it in arrays]
    else:
        objects = [it.astype(object) for it in arrays]
    found = FUNCTIONS[name](np.broadcast_arrays(*objects), kind)
    low, high = limits(result)
    inside = (found - low) % (high - low + 1) + low
    if high >= 1 << 63:  # Any representative modulo 2^64 will do, and int64 holds but half of them.
        inside = np.where(inside >= 1 << 63, inside - (1 << 64), inside)
    return of_array(inside.astype(np.int64))


def _number(const: int, kind: ScalarType) -> int:
    return wrapped(const, kind)


def _saturated(values: Numbers, kind: ScalarType) -> Numbers:
    low, high = limits(kind)
    held: Numbers = np.minimum(np.maximum(values, low), high)
    return held


def _rotated(values: Sequence[Numbers], kind: ScalarType) -> Numbers:
    span = 1 << kind.bits
    bits, by = values[0] % span, values[1] % kind.bits
    turned: Numbers = bits << by | bits >> (kind.bits - by)
    return turned


FUNCTIONS: Final[dict[str, Callable[[Sequence[Numbers], ScalarType], Numbers]]] = {
    "abs": lambda it, _: np.abs(it[0]),
    "abs_diff": lambda it, _: np.abs(it[0] - it[1]),
    "add_sat": lambda it, kind: _saturated(it[0] + it[1], kind),
    "sub_sat": lambda it, kind: _saturated(it[0] - it[1], kind),
    "mad_sat": lambda it, kind: _saturated(it[0] * it[1] + it[2], kind),
    "hadd": lambda it, _: it[0] + it[1] >> 1,
    "rhadd": lambda it, _: it[0] + it[1] + 1 >> 1,
    "mul_hi": lambda it, kind: it[0] * it[1] >> kind.bits,
    "mad_hi": lambda it, kind: (it[0] * it[1] >> kind.bits) + it[2],
    "bitselect": lambda it, _: it[0] & ~it[2] | it[1] & it[2],
    "rotate": _rotated,
    "upsample": lambda it, kind: it[0] << kind.bits | it[1] % (1 << kind.bits),
}
