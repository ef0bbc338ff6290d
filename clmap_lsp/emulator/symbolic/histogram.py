"""How often every address is touched, over all groups and turns, without enumerating them.

The addresses of one access are a sum: a lane's part plus coef·t for every dimension. The counts of a sum are
a convolution, and convolving with an arithmetic progression is a running sum, so that the cost is the
footprint, not the number of accesses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import gcd

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.emulator.symbolic.values import Ints
from clmap_lsp.locality.definition import LEVELS

MAX_LENGTH = 1 << 25
"""Slots of one histogram: 256 MiB."""
_ENUMERATE = 1 << 14
"""Below so many addresses a sum is cheaper spelt out."""
_SPARSE = 16
"""Counts that reach more than so many times as high as there are counts are cheaper sorted."""


@dataclass(frozen=True, slots=True)
class Progressions:
    """Addresses `lanes[i] + Σ coef_j·t_j` for all t_j below count_j, `times` times each.

    `lanes` are bytes, any number of them, equal ones allowed; `dims` are (coef, count).
    """

    lanes: Ints
    dims: tuple[tuple[int, int], ...]
    times: int = 1

    def span(self) -> tuple[int, int]:
        """Return the lowest and highest address."""
        low, high = int(self.lanes.min()), int(self.lanes.max())
        for coef, count in self.dims:
            reach = coef * (count - 1)
            low, high = low + min(reach, 0), high + max(reach, 0)
        return low, high


@dataclass(slots=True)
class AddressCounts:
    """Sums over disjoint regions of memory from which entropies and footprints follow."""

    total: int = 0
    sums: NDArray[np.float64] = field(default_factory=lambda: np.zeros(LEVELS))
    """Σ c·log2 c over blocks of 2**n bytes, n = 0..10."""
    by_count: dict[int, int] = field(default_factory=dict)
    """How many addresses are touched exactly so often."""

    def add_region(self, parts: Sequence[Progressions], copies: int = 1) -> bool:
        """Add a region with everything that touches it; `copies` regions alike. False if it is too large."""
        spans = [it.span() for it in parts]
        low, high = min(it[0] for it in spans), max(it[1] for it in spans)
        unit = 1024  # Blocks of level 10 must not be cut.
        for part in parts:
            unit = gcd(unit, *(coef for coef, _ in part.dims), int(np.gcd.reduce(part.lanes - low)))
        start = low - low % 1024  # Block boundaries are multiples of 2**n bytes of the address.
        unit = gcd(unit, low - start)
        length = (high - start) // unit + 1
        if length > MAX_LENGTH:
            return False
        counts = np.zeros(length, np.int64)
        for part in parts:
            _accumulate(counts, part, start, unit)
        self._take(counts, unit, copies)
        return True

    def _take(self, counts: Ints, unit: int, copies: int) -> None:
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
            weights = values * np.log2(np.maximum(values, 1))
            self.sums[level] += copies * float(np.dot(weights, times))

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


def _count_of_counts(counts: Ints) -> tuple[Ints, Ints]:
    """Return the distinct positive counts and how often each occurs."""
    if int(counts.max(initial=0)) < _SPARSE * len(counts):
        times = np.bincount(counts)
        values = np.flatnonzero(times[1:]) + 1 if len(times) else np.zeros(0, np.int64)
        return values.astype(np.int64), times[values].astype(np.int64)
    values, many = np.unique(counts[counts > 0], return_counts=True)
    return values, many.astype(np.int64)


def _joined(counts: Ints, width: int) -> Ints:
    """Add up `width` neighbours at a time; the array starts at a block boundary."""
    rest = -len(counts) % width
    padded = np.pad(counts, (0, rest)) if rest else counts
    return np.asarray(padded.reshape(-1, width).sum(axis=1))


def _accumulate(counts: Ints, part: Progressions, start: int, unit: int) -> None:
    low, high = part.span()
    first, length = (low - start) // unit, (high - low) // unit + 1
    lanes = part.lanes.ravel()
    n_addresses = lanes.size
    for _, count in part.dims:
        n_addresses *= count
    if n_addresses <= max(_ENUMERATE, length):
        for coef, count in part.dims:
            lanes = (lanes[:, None] + np.arange(count, dtype=np.int64) * coef).ravel()
        # One bincount; the lowest address is the first slot.
        found = np.bincount((lanes - low) // unit, minlength=length)
        counts[first : first + length] += part.times * found
        return
    # Negative steps are run from their far end, so that the lowest address is slot 0 all along.
    shift = sum(min(coef * (count - 1), 0) for coef, count in part.dims)
    own = np.bincount((lanes + shift - low) // unit, minlength=length).astype(np.int64)
    for coef, count in sorted(part.dims, key=lambda it: abs(it[0])):
        own = _windowed(own, abs(coef) // unit, count)
    counts[first : first + length] += part.times * own


def _windowed(counts: Ints, step: int, n: int) -> Ints:
    """Return out[x] = Σ counts[x - step·t] for t = 0 … n-1, by running sums along every step-th slot."""
    if step == 0:
        return counts * n
    length = len(counts)
    rest = -length % step
    table = (np.pad(counts, (0, rest)) if rest else counts).reshape(-1, step)
    running = np.cumsum(table, axis=0)
    if n < len(running):
        running[n:] -= running[:-n].copy()
    return np.asarray(running.reshape(-1)[:length])
