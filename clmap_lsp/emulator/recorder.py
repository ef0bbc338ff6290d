"""Keeps every access of a run, for small launches: what traces are compared by."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.emulator import layout as at
from clmap_lsp.emulator.machine_state import MachineState

Words = NDArray[np.int64]


class Recorder:
    """Collects trace entries work-item by work-item; memory grows with the number of accesses."""

    def __init__(self) -> None:
        self._parts: list[Words] = []

    def take(self, state: MachineState) -> None:
        """Copy the rings as far as they will be emptied next."""
        items = int(state.words[at.ITEMS])
        frames = state.frames.reshape(state.sizes.items, -1)[:items]
        counts = frames[:, at.F_COUNT]
        rows = int(state.words[at.RING_ROWS]) if state.words[at.RUNNING] else int(counts.max(initial=0))
        for frame, count in zip(frames, np.minimum(counts, rows).tolist(), strict=True):
            start = (int(frame[at.F_RING]) - int(state.words[at.RING])) // 8
            entries = state.ring[start : start + 2 * count].reshape(count, 2)
            item = np.full((count, 1), frame[at.F_GLOBAL_LINEAR])
            self._parts.append(np.hstack([item, entries]))

    def accesses(self) -> Words:
        """Return (global linear id, trace address, trace site) rows, item-major, in program order."""
        if not self._parts:
            return np.zeros((0, 3), np.int64)
        rows = np.concatenate(self._parts)
        rows = rows[np.argsort(rows[:, 0], kind="stable")]
        rows[:, 2] &= at.MIXED_SITE
        return rows
