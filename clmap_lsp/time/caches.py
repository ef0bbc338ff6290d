"""How often a stream of addresses finds its data in a cache of some size.

The stream is that of the work-groups resident on one compute unit, interleaved. Whether an access hits
follows from its reuse time (accesses since the last one to the same sector) and the footprint function of
the stream: an LRU cache of c sectors holds what was touched in a window whose mean footprint is c (Xiang
et al., "HOTL: a higher order theory of locality", ASPLOS 2013).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

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


def window_of(blocks: Ints, times: Ints, capacity: float) -> float:
    """Return the longest reuse time that a cache of `capacity` blocks still serves."""
    count = len(blocks)
    if not count:
        return 0.0
    distinct, first = np.unique(blocks, return_index=True)
    total = len(distinct)
    if total <= capacity:
        return float(NEVER)
    last = count - 1 - np.unique(blocks[::-1], return_index=True)[1]
    gaps = np.concatenate((times[times < NEVER], first + 1, count - last))
    gaps = np.sort(gaps)
    sums = np.concatenate(([0.0], np.cumsum(gaps.astype(float))))
    low, high = 1, count

    def footprint(window: int) -> float:
        at = int(np.searchsorted(gaps, window, side="right"))
        beyond = (sums[-1] - sums[at]) - window * (len(gaps) - at)
        return float(total - beyond / (count - window + 1))

    while low < high:
        middle = (low + high + 1) // 2
        if footprint(middle) <= capacity:
            low = middle
        else:
            high = middle - 1
    return float(low)
