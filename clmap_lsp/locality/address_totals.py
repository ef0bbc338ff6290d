"""Sums over all addresses of a launch from which its entropies and footprints follow.

Regions of memory are taken one after the other, so that no list of all addresses is ever made.
"""

from __future__ import annotations

from dataclasses import field

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.dataclass import dataclass
from clmap_lsp.locality.definition import LEVELS, Definition
from clmap_lsp.locality.metrics import AccessCounts, Metrics
from clmap_lsp.locality.products import sum_of_products

Counts = NDArray[np.int64]

BLOCK = 1 << (LEVELS - 1)
"""Bytes of the largest block: regions start at its multiples."""
_SPARSE = 16
"""Counts that reach more than so many times as high as there are counts are cheaper sorted."""
_CHUNK = 1 << 20


@dataclass(slots=True)
class AddressTotals:
    """How often addresses are touched, summed up over regions that are disjoint and block-aligned."""

    total: int = 0
    sums: NDArray[np.float64] = field(default_factory=lambda: np.zeros(LEVELS))
    """Σ c·log2 c over blocks of 2**n bytes, n = 0..10."""
    by_count: dict[int, int] = field(default_factory=dict)
    """How many addresses are touched exactly so often."""

    def take_long(self, counts: NDArray[np.integer], unit: int, copies: int = 1) -> None:
        """As `take`, in parts: what it needs besides does not grow with the region. Counts may be narrow."""
        step = max(_CHUNK, BLOCK // unit)
        for start in range(0, len(counts), step):
            part = counts[start : start + step]
            low, high = int(part.min()), int(part.max())
            if low == high and len(part) * unit % BLOCK == 0:
                self._take_alike(high, len(part), unit, copies)
            else:
                self.take(part.astype(np.int64, copy=False), unit, copies)

    def _take_alike(self, count: int, many: int, unit: int, copies: int) -> None:
        """As `take`, for whole blocks of which every address is touched as often: streams, mostly."""
        if not count:
            return
        self.total += copies * count * many
        self.by_count[count] = self.by_count.get(count, 0) + copies * many
        for level in range(LEVELS):
            width = max((1 << level) // unit, 1)
            self._weigh(level, np.array([count * width]), np.array([many // width]), copies)

    def _weigh(self, level: int, values: Counts, times: Counts, copies: int) -> None:
        weights = values * np.log2(np.maximum(values, 1))
        self.sums[level] += copies * sum_of_products(weights, times)

    def take(self, counts: Counts, unit: int, copies: int = 1) -> None:
        """Add the accesses of a region's addresses, `unit` bytes apart (a power of two up to 1024).

        The first address is a multiple of 1024; `copies` such regions are alike.
        """
        self.total += copies * int(counts.sum())
        values, times = _count_of_counts(counts)
        for value, many in zip(values.tolist(), times.tolist(), strict=True):
            self.by_count[value] = self.by_count.get(value, 0) + copies * many
        block = 1
        for level in range(LEVELS):
            width = max((1 << level) // unit, 1)
            if width > block:
                counts = _joined(counts, width // block)
                block = width
                values, times = _count_of_counts(counts)
            self._weigh(level, values, times, copies)

    def entropies(self) -> NDArray[np.float64]:
        """Return the entropies of all addresses with 0 to 10 low bits dropped, bits."""
        if not self.total:
            return np.zeros(LEVELS)
        return np.asarray(np.maximum(np.log2(self.total) - self.sums / self.total, 0.0))

    @property
    def footprint(self) -> int:
        """Distinct addresses."""
        return sum(self.by_count.values())

    def covering(self, percent: int = 90) -> int:
        """Return the least number of addresses that take ceil(percent % of all accesses)."""
        wanted = -(-self.total * percent // 100)
        taken = 0
        for count in sorted(self.by_count, reverse=True):
            many = self.by_count[count]
            if wanted <= many * count:
                return taken + -(-wanted // count)
            wanted -= many * count
            taken += many
        return taken

    def metrics(self, counts: AccessCounts, psl: NDArray[np.float64], definition: Definition) -> Metrics:
        """Put a launch's figures together; `psl` has shape (11,), see `PslAccumulator.result`."""
        entropies = self.entropies().tolist()
        return Metrics(
            accesses=counts.accesses,
            loads=counts.loads,
            stores=counts.stores,
            footprint=self.footprint,
            footprint_90=self.covering(),
            gmae=entropies[0],
            lmae=tuple(entropies[1:]),
            psl=tuple(psl.tolist()),
            relative_local=counts.relative_local,
            definition=definition,
        )


def _count_of_counts(counts: Counts) -> tuple[Counts, Counts]:
    """Return the distinct positive counts and how often each occurs."""
    if int(counts.max(initial=0)) < _SPARSE * len(counts):
        times = np.bincount(counts)
        values = np.flatnonzero(times[1:]) + 1 if len(times) else np.zeros(0, np.int64)
        return values.astype(np.int64), times[values].astype(np.int64)
    values, many = np.unique(counts[counts > 0], return_counts=True)
    return values, many.astype(np.int64)


def _joined(counts: Counts, width: int) -> Counts:
    """Add up `width` neighbours at a time, a power of two; the array starts at a block boundary.

    Two at a time: NumPy sums short rows a tenth as fast.
    """
    rest = -len(counts) % width
    joined = np.pad(counts, (0, rest)) if rest else counts
    while width > 1:
        joined = joined[0::2] + joined[1::2]
        width //= 2
    return joined
