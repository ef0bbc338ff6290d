"""Counting alike rows once.

Counts do not change when a whole row is moved by a multiple of the granule or bank row, and the requests of a
regular kernel are mostly such moved copies: a few patterns stand for a million rows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.devices.model import Unknown

Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]
Counts = NDArray[np.int64]

_FEW_ROWS = 256
"""Below this, counting directly is quicker than looking for copies."""
_CHUNK_CELLS = 1 << 20
_MOST_DISTINCT = 4
"""Patterns must be at most one row in this many, or looking for them does not pay."""


def count_by_pattern(
    addresses: Rows, active: Mask, modulus: int, count: Callable[[Rows, Mask], Counts | Unknown]
) -> Counts | Unknown:
    """Return `count(addresses, active)`, counting rows that are moved copies of each other once.

    Args:
        addresses: shape (n, lanes), bytes.
        active: same shape.
        modulus: moving a row by a multiple of it, in bytes, must not change its count.
        count: the rule; called with some of the rows, perhaps moved.
    """
    n_rows, n_lanes = addresses.shape
    if n_rows < _FEW_ROWS or n_lanes == 0:
        return count(addresses, active)
    step = max(_FEW_ROWS, _CHUNK_CELLS // n_lanes)
    result = np.empty(n_rows, np.int64)
    for start in range(0, n_rows, step):
        rows = slice(start, start + step)
        counts = _count_chunk(addresses[rows], active[rows], modulus, count)
        if isinstance(counts, Unknown):
            return counts
        result[rows] = counts
    return result


def _count_chunk(
    addresses: Rows, active: Mask, modulus: int, count: Callable[[Rows, Mask], Counts | Unknown]
) -> Counts | Unknown:
    # A sample tells data-dependent rows, which have no copies, before all rows are looked at.
    sample = slice(None, None, max(1, len(addresses) // _FEW_ROWS))
    sampled = _moved(addresses[sample], active[sample], modulus)
    if len(set(_hashes(sampled).tolist())) * 2 > len(sampled):
        return count(addresses, active)
    moved = _moved(addresses, active, modulus)
    first, which = _kinds(_hashes(moved))
    if len(first) * _MOST_DISTINCT > len(moved) or not bool(np.array_equal(moved[first[which]], moved)):
        return count(addresses, active)
    counts = count(moved[first], active[first])
    return counts if isinstance(counts, Unknown) else counts[which]


def _moved(addresses: Rows, active: Mask, modulus: int) -> Rows:
    """Move every row to the first period; inactive lanes become -1."""
    base = np.where(active, addresses, np.iinfo(np.int64).max).min(axis=1) // modulus * modulus
    return np.where(active, addresses - base[:, None], -1)


def _hashes(rows: Rows) -> Counts:
    """Return a number for each row; sums of odd multiples wrap around, which is what a hash wants."""
    hashes: Counts = rows @ _factors(rows.shape[1])
    return hashes


@lru_cache(maxsize=64)
def _factors(count: int) -> Counts:
    """Return odd numbers without a pattern (SplitMix64); to import NumPy's generators takes 10 ms."""
    mixed = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    factors: Counts = (mixed | np.uint64(1)).view(np.int64)
    return factors


def _kinds(values: Counts) -> tuple[Counts, Counts]:
    """Return where each different value stands first, and which of them each value is.

    As `np.unique`, which imports masked arrays: 6 ms.
    """
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    is_first = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    which = np.empty(len(values), np.int64)
    which[order] = np.cumsum(is_first) - 1
    return order[is_first], which
