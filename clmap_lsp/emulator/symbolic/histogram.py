"""How often every address is touched, over all groups and turns, without enumerating them.

The addresses of one access are a sum: a lane's part plus coef·t for every dimension. The counts of a sum are
a convolution, and convolving with an arithmetic progression is a running sum, so that the cost is the
footprint, not the number of accesses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

import numpy as np

from clmap_lsp.emulator.symbolic.values import Ints
from clmap_lsp.locality.address_totals import BLOCK, AddressTotals

MAX_LENGTH = 1 << 25
"""Slots of one histogram: 256 MiB."""
_ENUMERATE = 1 << 14
"""Below so many addresses a sum is cheaper spelt out."""


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


def add_region(totals: AddressTotals, parts: Sequence[Progressions], copies: int = 1) -> bool:
    """Add a region with everything that touches it; `copies` regions alike. False if it is too large."""
    spans = [it.span() for it in parts]
    low, high = min(it[0] for it in spans), max(it[1] for it in spans)
    unit = BLOCK  # Blocks of level 10 must not be cut.
    for part in parts:
        unit = gcd(unit, *(coef for coef, _ in part.dims), int(np.gcd.reduce(part.lanes - low)))
    start = low - low % BLOCK
    unit = gcd(unit, low - start)
    length = (high - start) // unit + 1
    if length > MAX_LENGTH:
        return False
    counts = np.zeros(length, np.int64)
    for part in parts:
        _accumulate(counts, part, start, unit)
    totals.take(counts, unit, copies)
    return True


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
