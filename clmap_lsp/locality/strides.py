"""How far a work-item's consecutive accesses lie apart, in the manner of MICA.

Source: Hoste and Eeckhout, "Microarchitecture-Independent Workload Characterization" (IEEE Micro 27(3),
2007): data strides, given as the share of strides of at most 0, 8, 64, 512, 4096 bytes. Here they are kept
per work-item and whatever the caller groups by (a buffer, a source line), because a kernel's work-items
interleave freely.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.dataclass import dataclass

LIMITS_BYTES = (0, 8, 64, 512, 4096)


@dataclass(frozen=True, slots=True)
class StrideSummary:
    """Shares of strides, 0..1: `within[i]` have a magnitude of at most `LIMITS_BYTES[i]` bytes.

    `common` are the most frequent strides in bytes with their shares, largest share first. `exact` is False
    if there were more distinct strides than are kept, so that `common` may have missed some.
    """

    count: int
    within: tuple[float, ...]
    common: tuple[tuple[int, float], ...]
    exact: bool


class StrideHistogram:
    """Counts strides; keeps at most `max_distinct` distinct values, and the shares of all."""

    def __init__(self, max_distinct: int = 4096) -> None:
        self._max_distinct = max_distinct
        self._strides = np.zeros(0, np.int64)
        """Distinct strides, in order."""
        self._counts = np.zeros(0, np.int64)
        self._within = np.zeros(len(LIMITS_BYTES), np.int64)
        self._total = 0
        self._exact = True

    def add(self, strides: NDArray[np.int64], times: int = 1) -> None:
        """Add signed strides in bytes, each `times` times."""
        values, counts = np.unique(strides, return_counts=True)
        self.add_counted(values, counts.astype(np.int64) * times)

    def add_counted(self, strides: NDArray[np.int64], counts: NDArray[np.int64]) -> None:
        """Add distinct signed strides in bytes with their counts, shape (n,) both."""
        magnitudes = np.abs(strides)
        self._within += np.array([int(counts[magnitudes <= it].sum()) for it in LIMITS_BYTES])
        self._total += int(counts.sum())
        order = np.argsort(strides, kind="stable")
        strides, counts = strides[order], counts[order]
        where = np.searchsorted(self._strides, strides)
        inside = np.minimum(where, max(len(self._strides) - 1, 0))
        known = self._strides[inside] == strides if len(self._strides) else np.zeros(len(strides), np.bool_)
        self._counts[where[known]] += counts[known]
        self._keep(strides[~known], counts[~known])

    def _keep(self, strides: NDArray[np.int64], counts: NDArray[np.int64]) -> None:
        """Remember new strides, the most frequent ones where not all have room."""
        room = self._max_distinct - len(self._strides)
        if len(strides) > room:
            self._exact = False
            chosen = np.argsort(-counts, kind="stable")[:room]
            strides, counts = strides[chosen], counts[chosen]
        if len(strides):
            merged = np.concatenate([self._strides, strides])
            order = np.argsort(merged, kind="stable")
            self._strides = merged[order]
            self._counts = np.concatenate([self._counts, counts])[order]

    def summary(self, n_common: int = 4) -> StrideSummary:
        """Return the shares."""
        if self._total == 0:
            return StrideSummary(0, (0.0,) * len(LIMITS_BYTES), (), True)
        order = np.lexsort((self._strides, np.abs(self._strides), -self._counts))[:n_common]
        ranked = zip(self._strides[order].tolist(), self._counts[order].tolist(), strict=True)
        return StrideSummary(
            self._total,
            tuple((self._within / self._total).tolist()),
            tuple((value, count / self._total) for value, count in ranked),
            self._exact,
        )
