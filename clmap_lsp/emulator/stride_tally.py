"""Strides of work-items by access site and by buffer, from what the run-time library counted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.emulator.layout import LANE_STRIDE, SUB_REL
from clmap_lsp.locality.strides import StrideHistogram, StrideSummary

Words = NDArray[np.int64]

_DENSE = 4


class StrideTallies:
    """Distances between a work-item's consecutive accesses, for each slot (a trace site or a buffer)."""

    def __init__(self) -> None:
        self._by_slot: dict[int, StrideHistogram] = {}
        self.counted = 0
        """Distances, alike ones that came in one part once."""

    def add(self, rows: Words, subs: Words) -> None:
        """Add the rows of `MachineState.take_strides`; `subs` are the sub-rows that they speak of."""
        is_lane = (rows[:, 0] & LANE_STRIDE) != 0
        slots = np.where(is_lane, rows[:, 0] & 0xFFFFFFFF, rows[:, 0] >> 32)
        for slot in np.unique(slots).tolist():
            chosen = slots == slot
            histogram = self._by_slot.setdefault(slot, StrideHistogram())
            lanes = rows[chosen & is_lane]
            strides, counts = [lanes[:, 2]], [lanes[:, 3]]
            moves = rows[chosen & ~is_lane]
            before = subs[(moves[:, 0] & 0xFFFFFFFF) - 1, SUB_REL:]
            after = subs[moves[:, 1] - 1, SUB_REL:]
            distance = after - before + moves[:, 2:3]
            strides.append(distance.ravel())
            counts.append(np.repeat(moves[:, 3], distance.shape[1]))
            self.counted += sum(len(it) for it in strides)
            _add(histogram, np.concatenate(strides), np.concatenate(counts))

    def summary(self, slot: int) -> StrideSummary | None:
        """Return the shares of one slot; None if no work-item came there twice."""
        histogram = self._by_slot.get(slot)
        return histogram.summary() if histogram is not None else None


def _add(histogram: StrideHistogram, strides: Words, counts: Words) -> None:
    if not len(strides):
        return
    low = int(strides.min())
    reach = int(strides.max()) - low + 1
    if reach <= _DENSE * len(strides):  # Sorting millions of strides is what takes the time.
        sums = np.bincount(strides - low, weights=counts, minlength=reach).astype(np.int64)
        values = np.flatnonzero(sums)
        histogram.add_counted(values + low, sums[values])
        return
    values, where = np.unique(strides, return_inverse=True)
    totals = np.bincount(where.ravel(), weights=counts, minlength=len(values)).astype(np.int64)
    histogram.add_counted(values, totals)
