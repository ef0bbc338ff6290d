"""Entropies of addresses, with low bits dropped, from one sort.

With c_a accesses to address a and n in all, the entropy is log2(n) - S / n with S = sum of c_a * log2(c_a).
Dropping one bit more only joins neighbours in the sorted order, so one sort serves all levels.
Source: AIWC, equation 1 (LMAE) in Chilukuri, Milthorpe, Johnston (IWOCL 2020), section 3.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.locality.definition import LEVELS, Definition
from clmap_lsp.locality.products import sum_of_products

_PAST_ALL = np.iinfo(np.int64).max
_PENDING = 1 << 21
"""Addresses kept before they are counted: 16 MiB."""


def row_entropies(
    addresses: NDArray[np.int64], definition: Definition = Definition.PAPER
) -> NDArray[np.float64]:
    """Return the entropy in bits of one timestep's addresses with 0 to 10 low bits dropped.

    Args:
        addresses: shape (n,), one byte address per work-item that has an access in this timestep.
    Returns: shape (11,); all 0 for n = 0.
    """
    return rows_entropies(addresses[None, :], None, definition).reshape(LEVELS)


def rows_entropies(
    addresses: NDArray[np.int64],
    active: NDArray[np.bool_] | None = None,
    definition: Definition = Definition.PAPER,
) -> NDArray[np.float64]:
    """Return the entropies of many timesteps at once.

    Args:
        addresses: shape (rows, lanes), byte addresses, at most 2**62.
        active: same shape; False where a work-item has no access in the row. None: all have.
    Returns: shape (rows, 11).
    """
    sums, totals = rows_sums(addresses, active)
    return entropies_of_sums(sums, totals[:, None], definition)


def entropies_of_sums(
    sums: NDArray[np.float64], totals: NDArray[np.int64], definition: Definition
) -> NDArray[np.float64]:
    """Return entropies from S = sum of c * log2(c) and the totals n; shapes broadcast.

    With AIWC's p = c / (n + 1) the entropy is (n * log2(n + 1) - S) / (n + 1).
    """
    n = totals.astype(np.float64)
    if definition is Definition.AIWC:
        return (n * np.log2(n + 1) - sums) / (n + 1)
    safe = np.maximum(n, 1)
    return np.maximum(np.log2(safe) - sums / safe, 0.0)


def rows_sums(
    addresses: NDArray[np.int64], active: NDArray[np.bool_] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return S = sum of c * log2(c) per row and level, shape (rows, 11), and the totals, shape (rows,)."""
    n_rows, n_lanes = addresses.shape
    if n_rows == 0 or n_lanes == 0:
        return np.zeros((n_rows, LEVELS)), np.zeros(n_rows, np.int64)
    ordered = addresses.copy() if active is None else np.where(active, addresses, _PAST_ALL)
    ordered.sort(axis=1)
    real = ordered != _PAST_ALL
    differing = np.zeros(ordered.shape, np.int64)
    # What is past the end, and what starts a row, joins nothing at any level.
    differing[:, 0] = _PAST_ALL
    np.bitwise_xor(ordered[:, 1:], ordered[:, :-1], out=differing[:, 1:])
    differing[~real] = _PAST_ALL
    sums = np.empty((n_rows, LEVELS))
    weights = np.arange(n_lanes + 1) * np.log2(np.maximum(np.arange(n_lanes + 1), 1))
    flat = differing.ravel()
    row_of = np.repeat(np.arange(n_rows), n_lanes)
    for level in range(LEVELS):
        starts = np.flatnonzero(flat >> level)
        lengths = np.diff(starts, append=flat.size)
        # An inactive lane is a run of its own with length 1 and adds 1 * log2(1) = 0.
        sums[:, level] = np.bincount(row_of[starts], weights[lengths], n_rows)
    return sums, real.sum(axis=1, dtype=np.int64)


def entropy_levels(addresses: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the entropies of a whole run: GMAE at level 0, LMAE 1 to 10 after it.

    Args:
        addresses: shape (n,), distinct and ascending.
        counts: shape (n,), accesses to each, at least 1.
    Returns: shape (11,), bits; all 0 for n = 0.
    """
    result = np.zeros(LEVELS)
    if len(addresses) == 0:
        return result
    total = float(counts.sum())
    merged = counts
    for level in range(LEVELS):
        # Addresses that met at one level stay together: each level works on what the last one left.
        starts = np.concatenate(([0], np.flatnonzero((addresses[1:] ^ addresses[:-1]) >> level) + 1))
        if level and len(starts) == len(addresses):
            result[level] = result[level - 1]
            continue
        merged, addresses = np.add.reduceat(merged, starts), addresses[starts]
        weights = merged.astype(np.float64)
        result[level] = np.log2(total) - sum_of_products(weights, np.log2(weights)) / total
    return np.maximum(result, 0.0)


def covering(counts: NDArray[np.int64], percent: int = 90) -> int:
    """Return the least number of entries that hold at least ceil(percent % of the total), largest first.

    With accesses per address it is the 90 % footprint; with executions per branch, the 90 % branches.
    """
    total = int(counts.sum())
    if total == 0:
        return 0
    wanted = -(-total * percent // 100)
    largest_first = np.cumsum(np.sort(counts)[::-1])
    return int(np.searchsorted(largest_first, wanted)) + 1


class EntropyAccumulator:
    """Counts accesses per address over a run; memory grows with the footprint, not with the accesses."""

    def __init__(self) -> None:
        self._addresses = np.zeros(0, np.int64)
        self._counts = np.zeros(0, np.int64)
        self._pending: list[tuple[NDArray[np.int64], NDArray[np.int64] | None]] = []
        self._n_pending = 0

    @property
    def n_held(self) -> int:
        """Entries in its lists."""
        return len(self._addresses) + self._n_pending

    def add(self, addresses: NDArray[np.int64], counts: NDArray[np.int64] | None = None) -> None:
        """Add accesses to byte addresses, any shape, once each or `counts` times (same shape)."""
        self._pending.append((addresses.ravel(), None if counts is None else counts.ravel()))
        self._n_pending += addresses.size
        if self._n_pending >= max(_PENDING, len(self._addresses)):
            self._settle()

    def histogram(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the distinct addresses, ascending, and the accesses to each."""
        self._settle()
        return self._addresses, self._counts

    def _settle(self) -> None:
        if not self._pending:
            return
        parts = [_counted(*it) for it in self._pending]
        addresses = np.concatenate([self._addresses, *(it[0] for it in parts)])
        counts = np.concatenate([self._counts, *(it[1] for it in parts)])
        # These lists are the largest thing in memory: what is no longer needed goes before more is made.
        self._pending, self._n_pending = [], 0
        self._addresses = self._counts = np.zeros(0, np.int64)
        del parts
        if not len(addresses):
            return
        order = np.argsort(addresses, kind="stable")
        addresses = addresses[order]
        counts = counts[order]
        del order
        starts = np.flatnonzero(np.concatenate(([True], addresses[1:] != addresses[:-1])))
        self._addresses, self._counts = addresses[starts], np.add.reduceat(counts, starts)


def _counted(
    addresses: NDArray[np.int64], counts: NDArray[np.int64] | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if counts is not None:
        return addresses, counts
    distinct, times = np.unique(addresses, return_counts=True)
    return distinct, times.astype(np.int64)
