"""Figures from repeated timings, without assuming a distribution.

Event times have a floor and a long tail, so the centre is the median and its confidence interval comes from
order statistics: the interval between the k-th smallest and the k-th largest sample holds the median with
probability 1 - 2 * P(Binomial(n, 1/2) < k), whatever the distribution.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from clmap_lsp.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Sample:
    """What a series of timings says. All in the unit of the series."""

    runs: int
    mean: float
    deviation: float
    """Population standard deviation."""
    minimum: float
    median: float
    maximum: float
    low: float
    """The median's confidence interval."""
    high: float

    @property
    def half_width(self) -> float:
        """Half the confidence interval, relative to the median."""
        return (self.high - self.low) / 2 / self.median if self.median else math.inf


def summarise(values: Sequence[float], confidence: float = 0.95) -> Sample:
    """Return the figures of a series.

    Raises: ValueError if it is empty.
    """
    if not values:
        raise ValueError("no runs to summarise")
    ordered = sorted(values)
    count = len(ordered)
    mean = math.fsum(ordered) / count
    deviation = math.sqrt(math.fsum((it - mean) ** 2 for it in ordered) / count)
    middle = count // 2
    median = ordered[middle] if count % 2 else (ordered[middle - 1] + ordered[middle]) / 2
    rank = median_interval_rank(count, confidence)
    return Sample(
        count,
        mean,
        deviation,
        ordered[0],
        median,
        ordered[-1],
        ordered[rank],
        ordered[count - 1 - rank],
    )


def median_interval_rank(count: int, confidence: float) -> int:
    """Return the 0-based rank whose sample, with its mirror, bounds the median at `confidence`.

    0 (the whole range) if there are too few samples for the confidence asked: below 6 for 95 %.
    """
    tail = 0.0
    rank = 0
    for k in range(count // 2):
        tail += math.comb(count, k) / 2**count
        if 2 * tail > 1 - confidence:
            break
        rank = k
    return rank
