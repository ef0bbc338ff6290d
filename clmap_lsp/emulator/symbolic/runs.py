"""How often every address is touched, where accesses cover whole stretches: worked out at their ends alone.

What touches a region is a sum of runs of neighbouring slots, so that the counts change at the ends of runs
and nowhere else. A triangular loop over a matrix of 8192 x 8192 has 33 million addresses and 16,384 runs.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.dataclass import dataclass
from clmap_lsp.emulator.symbolic.progressions import Dims, Progressions
from clmap_lsp.emulator.symbolic.recurring import contents
from clmap_lsp.emulator.symbolic.values import Ints
from clmap_lsp.locality.address_totals import AddressTotals
from clmap_lsp.locality.definition import LEVELS
from clmap_lsp.locality.products import sum_of_products

_MAX_RUNS = 1 << 20
_SLOTS_PER_RUN = 16
"""Shorter runs than this on average are no gain."""
_REMEMBERED_LANES = 1 << 12
"""Lists of so many addresses or more are sorted once for all accesses that are alike."""


@dataclass(frozen=True, slots=True)
class _Runs:
    """Slots `starts[i]` to `starts[i] + lengths[i]`, each touched `weights[i]` times."""

    starts: Ints
    lengths: Ints
    weights: Ints


def add_runs(
    totals: AddressTotals, parts: Sequence[Progressions], start: int, unit: int, length: int, copies: int
) -> bool:
    """Add a region of `length` slots of `unit` bytes from `start` on; False, with nothing added, if runs are
    too many to be worth it.
    """
    room = min(_MAX_RUNS, length // _SLOTS_PER_RUN)
    known: dict[Hashable, _Runs] = {}
    found = []
    for part in parts:
        runs = _runs_of(part, start, unit, room, known)
        if runs is None:
            return False
        room -= len(runs.starts)
        found.append(runs)
    starts, lengths, weights = (
        np.concatenate([getattr(it, name) for it in found]) for name in ("starts", "lengths", "weights")
    )
    ends, counts = _stretches(starts, lengths, weights)
    _take(totals, ends, counts, unit, copies)
    return True


# --------------------------------------------------------------------------------------------------- runs


def _runs_of(
    part: Progressions, start: int, unit: int, room: int, known: dict[Hashable, _Runs]
) -> _Runs | None:
    """Return the runs of one part; `None` if there are more than `room`."""
    lanes, first = part.lanes.ravel(), int(part.lanes.min())
    runs = _of_lanes(lanes, first, unit, known)
    starts, lengths, weights = runs.starts, runs.lengths, runs.weights * part.times
    for coef, count in sorted(_forward(part.dims), key=lambda it: it[0]):
        step = coef // unit
        if not step:
            weights = weights * count
        elif int(lengths.min()) == int(lengths.max()) == step:
            lengths = lengths * count
        elif len(starts) * count > room:
            return None
        else:
            starts = (starts[:, None] + np.arange(count, dtype=np.int64) * step).ravel()
            lengths, weights = np.repeat(lengths, count), np.repeat(weights, count)
    if len(starts) > room:
        return None
    back = sum(min(coef * (count - 1), 0) for coef, count in part.dims)
    return _Runs(starts + (first + back - start) // unit, lengths, weights)


def _forward(dims: Dims) -> Dims:
    """Return dimensions with their steps turned forward: the same places, from the far end."""
    return tuple((abs(coef), count) for coef, count in dims)


def _of_lanes(lanes: Ints, first: int, unit: int, known: dict[Hashable, _Runs]) -> _Runs:
    key: Hashable = None
    relative = lanes - first
    if relative.size >= _REMEMBERED_LANES:
        key = contents(relative)
        if key in known:
            return known[key]
    slots = relative // unit
    if not (np.diff(slots) >= 0).all():
        slots = np.sort(slots)
    heads = np.flatnonzero(np.diff(slots, prepend=-1))
    times = np.diff(heads, append=len(slots))
    slots = slots[heads]
    begins = np.ones(len(slots), np.bool_)
    begins[1:] = (np.diff(slots) != 1) | (np.diff(times) != 0)
    at = np.flatnonzero(begins)
    runs = _Runs(slots[at], np.diff(at, append=len(slots)), times[at])
    if key is not None:
        known[key] = runs
    return runs


def _stretches(starts: Ints, lengths: Ints, weights: Ints) -> tuple[Ints, Ints]:
    """Return the places where counts change, and the counts from each to the next (the last is 0)."""
    places = np.concatenate([starts, starts + lengths])
    changes = np.concatenate([weights, -weights])
    order = np.argsort(places, kind="stable")
    places, changes = places[order], changes[order]
    heads = np.flatnonzero(np.diff(places, prepend=places[0] - 1))
    return places[heads], np.cumsum(np.add.reduceat(changes, heads))


# ------------------------------------------------------------------------------------------------- totals


def _take(totals: AddressTotals, places: Ints, counts: Ints, unit: int, copies: int) -> None:
    used = np.flatnonzero(counts[:-1])
    low, high, counts = places[used], places[used + 1], counts[used]
    totals.total += copies * int((counts * (high - low)).sum())
    _add_by_count(totals, counts, high - low, copies)
    for level in range(LEVELS):
        width = max((1 << level) // unit, 1)
        totals.sums[level] += copies * _weighed(low, high, counts, width)


def _add_by_count(totals: AddressTotals, counts: Ints, slots: Ints, copies: int) -> None:
    order = np.argsort(counts, kind="stable")
    sorted_counts = counts[order]
    heads = np.flatnonzero(np.diff(sorted_counts, prepend=-1))
    many = np.add.reduceat(slots[order], heads)
    for value, times in zip(sorted_counts[heads].tolist(), many.tolist(), strict=True):
        totals.by_count[value] = totals.by_count.get(value, 0) + copies * times


def _weighed(low: Ints, high: Ints, counts: Ints, width: int) -> float:
    """Return Σ c·log2 c over blocks of `width` slots, of stretches in rising order."""
    if width == 1:
        return sum_of_products(_c_log_c(counts), high - low)
    whole_from, whole_to = -(-low // width), high // width
    blocks = np.maximum(whole_to - whole_from, 0)
    total = sum_of_products(_c_log_c(counts * width), blocks)
    # The ends of a stretch that fill no whole block: one part at most before its whole blocks, one behind;
    # a stretch inside of one block is all in the first.
    inside = whole_to < whole_from
    before = np.where(inside, high - low, whole_from * width - low)
    behind = np.where(inside, 0, high - whole_to * width)
    block = np.stack([low // width, whole_to], axis=1).ravel()
    parts = (np.stack([before, behind], axis=1) * counts[:, None]).ravel()
    block, parts = block[parts > 0], parts[parts > 0]
    if not len(block):
        return total
    heads = np.flatnonzero(np.diff(block, prepend=-1))
    return total + float(_c_log_c(np.add.reduceat(parts, heads)).sum())


def _c_log_c(counts: Ints) -> NDArray[np.float64]:
    return np.asarray(counts * np.log2(np.maximum(counts, 1)))
