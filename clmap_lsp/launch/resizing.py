"""What the scalars of a launch become when its sizes change."""

from __future__ import annotations

from itertools import combinations
from math import prod

NEAR = 8
"""What a scalar may differ from a size and still be counted as that size with a border."""
SMALL = 64
"""A scalar up to this stays when a launch shrinks."""


def followed(value: int, before: tuple[int, ...], after: tuple[int, ...], by: int) -> int:
    """Return what a scalar becomes when the sizes change: one of them, a product, a multiple, or near one."""
    pairs = list(zip(before, after, strict=True))
    products = [(prod(before), prod(after))]
    products += [(a * c, b * d) for (a, b), (c, d) in combinations(pairs, 2)]
    for old, new in (*pairs, *products):
        if value == old:
            return new
    for old, new in pairs:
        if old > 1 and 0 < abs(value - old) <= NEAR and old > 2 * NEAR:
            return new + value - old
    for old, new in pairs:
        if old > 1 and value > old and value % old == 0 and value // old <= SMALL:
            return new * (value // old)
    return max(value // by, SMALL) if value > SMALL else value
