"""Counting alike rows once.

Counts do not change when a whole row is moved by a multiple of the granule or bank row, and the requests of a
regular kernel are mostly such moved copies: a few patterns stand for a million rows.
"""

from __future__ import annotations

from collections.abc import Callable

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
    if len(np.unique(_hashes(sampled))) * 2 > len(sampled):
        return count(addresses, active)
    moved = _moved(addresses, active, modulus)
    _, first, which = np.unique(_hashes(moved), return_index=True, return_inverse=True)
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
    factors = np.random.default_rng(0).integers(1, 1 << 62, rows.shape[1]) * 2 + 1
    hashes: Counts = rows @ factors
    return hashes
