"""How often a stream of addresses finds its data in a cache of some size.

The stream is that of the work-groups resident on one compute unit, interleaved. Whether an access hits
follows from its reuse time (accesses since the last one to the same sector) and the footprint function of
the stream: an LRU cache of c sectors holds what was touched in a window whose mean footprint is c (Xiang
et al., "HOTL: a higher order theory of locality", ASPLOS 2013).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.dataclass import dataclass

Ints = NDArray[np.int64]
NEVER = np.iinfo(np.int64).max


def reuse_times(blocks: Ints) -> Ints:
    """Return for each access how many accesses ago its block was touched; a huge number at first touch."""
    count = len(blocks)
    order = np.argsort(blocks, kind="stable")
    sorted_blocks = blocks[order]
    times = np.full(count, NEVER, np.int64)
    same = sorted_blocks[1:] == sorted_blocks[:-1]
    times[order[1:][same]] = (order[1:] - order[:-1])[same]
    return times


@dataclass(frozen=True, slots=True)
class Cycle:
    """Blocks beside the stream that are gone through again and again, each as often as the others."""

    blocks: float = 0.0
    accesses: float = 1.0
    """Of the stream, while these are gone through once."""

    def within(self, window: float) -> float:
        """Return how many of them are touched while the stream makes so many accesses."""
        return self.blocks * min(window / self.accesses, 1.0)


NOTHING = Cycle()


def footprint_in(blocks: Ints, window: float) -> float:
    """Return the mean number of distinct blocks in a window of so many accesses."""
    if not len(blocks):
        return 0.0
    return _footprints(blocks, reuse_times(blocks))(min(max(int(window), 1), len(blocks)))


def window_of(blocks: Ints, times: Ints, capacity: float, beside: Cycle = NOTHING) -> float:
    """Return the longest reuse time that a cache of `capacity` blocks still serves."""
    count = len(blocks)
    if not count:
        return 0.0
    footprint = _footprints(blocks, times)
    if footprint(count) + beside.blocks <= capacity:
        return float(NEVER)
    low, high = 1, count
    while low < high:
        middle = (low + high + 1) // 2
        if footprint(middle) + beside.within(middle) <= capacity:
            low = middle
        else:
            high = middle - 1
    return float(low)


def _footprints(blocks: Ints, times: Ints) -> Callable[[int], float]:
    """Return the mean footprint of a stream by the length of the window."""
    count = len(blocks)
    distinct, first = np.unique(blocks, return_index=True)
    total = len(distinct)
    last = count - 1 - np.unique(blocks[::-1], return_index=True)[1]
    gaps = np.concatenate((times[times < NEVER], first + 1, count - last))
    gaps = np.sort(gaps)
    sums = np.concatenate(([0.0], np.cumsum(gaps.astype(float))))

    def footprint(window: int) -> float:
        at = int(np.searchsorted(gaps, window, side="right"))
        beyond = (sums[-1] - sums[at]) - window * (len(gaps) - at)
        return float(total - beyond / (count - window + 1))

    return footprint
