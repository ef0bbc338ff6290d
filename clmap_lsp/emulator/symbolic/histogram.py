"""How often every address is touched, over all groups and turns, without enumerating them.

The addresses of one access are a sum: a lane's part plus coef·t for every dimension. The counts of a sum are
a convolution, and convolving with an arithmetic progression is a running sum, so that the cost is the
footprint, not the number of accesses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from math import gcd, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.emulator.symbolic.distinct import distinct
from clmap_lsp.emulator.symbolic.progressions import Dims, Progressions
from clmap_lsp.emulator.symbolic.runs import add_runs
from clmap_lsp.emulator.symbolic.values import Ints
from clmap_lsp.locality.address_totals import BLOCK, AddressTotals

MAX_LENGTH = 1 << 25
"""Slots of a region that is made as a whole: 256 MiB."""
_WORK_SLOTS = 1 << 23
"""Slots of one array while windows are compared: 64 MiB."""
_FLAT = 1 << 18
"""Regions of so few slots are made as a whole; larger ones by the windows that they repeat."""
_MAX_SHAPES = 256
"""Different parts of windows that may be told apart."""
_SHAPE_SLOTS = 1 << 24
"""Slots of all of them: 128 MiB."""
_MANY_PARTS = 4096
"""More parts, each in a window of its own, take longer than to make a region as a whole."""
_SPARSE = 4
"""Where so many slots come to an address, addresses are added one by one."""
_ENUMERATE = 1 << 14
"""Below so many addresses a sum is cheaper spelt out."""


_Counts = NDArray[np.integer[Any]]


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
    # Half as wide where no count can be larger.
    kind: type[np.integer[Any]] = (
        np.uint32 if sum(it.n_addresses() * it.times for it in parts) < 1 << 32 else np.int64
    )
    is_flat = length * np.dtype(kind).itemsize <= 8 * MAX_LENGTH
    if length > _FLAT:
        if add_runs(totals, parts, start, unit, length, copies):
            return True
        # What is worked on grows with the number of windows and with their length.
        periods = sorted(_windows(parts), key=lambda it: length * unit // it + _LENGTH_WEIGHT * (it // unit))
        most = _MANY_PARTS if is_flat else 1 << 62
        if any(_add_windows(totals, parts, start, unit, it, copies, most) for it in periods):
            return True
    if not is_flat:
        return False
    counts: _Counts = np.zeros(length, kind)
    for part in parts:
        _accumulate(counts, part, start, unit)
    totals.take_long(counts, unit, copies)
    return True


def _spelt(part: Progressions) -> Ints:
    """Return all addresses of a part."""
    lanes = part.lanes.ravel()
    for coef, count in part.dims:
        lanes = (lanes[:, None] + np.arange(count, dtype=np.int64) * coef).ravel()
    return lanes


# ---------------------------------------------------------------------------------------------- windows
# A large region is cut into windows of `period` bytes. Along a dimension whose steps are whole windows, an
# access touches every window alike; what it touches in one is a *shape*. A window's counts are the sum of the
# shapes that fall on it, so that windows on which equally many of each fall are counted once.


def _windows(parts: Sequence[Progressions]) -> list[int]:
    """Return periods to try, in bytes: multiples of a block that steps fit in whole numbers."""
    found = {BLOCK}
    for part in parts:
        for coef, count in part.dims:
            if coef and count > 1:
                found.add(lcm(abs(coef), BLOCK))
        row = int(np.diff(np.sort(part.lanes, axis=None)).max(initial=0))
        found |= {lcm(row, BLOCK)} if row >= BLOCK else set()
    return [it for it in found if it <= _LONGEST]


_LENGTH_WEIGHT = 8
_LONGEST = 1 << 23
"""Bytes of a window."""


def _add_windows(
    totals: AddressTotals,
    parts: Sequence[Progressions],
    start: int,
    unit: int,
    period: int,
    copies: int,
    most_parts: int,
) -> bool:
    """Add a region by windows of `period` bytes; False, with nothing added, if there are too many kinds.

    `most_parts` are the parts by single windows from which on this takes longer than to make the region.
    """
    pieces = [it for whole in parts for it in _near(whole, period)]
    if len(pieces) > most_parts:
        return False
    slots = period // unit
    shapes: dict[bytes, int] = {}
    kept: list[Ints] = []
    falls: list[list[tuple[int, Dims, int]]] = []
    n_windows = 0
    for part in pieces:
        for inner, outer in _by_windows(part, period):
            first, shape_rows = _window_rows(inner, start, unit, slots)
            if shape_rows is None:
                return False
            for at, row in enumerate(shape_rows):
                if not row.any():
                    continue
                number = shapes.setdefault(sha256(row.data).digest(), len(shapes))
                if number == len(kept):
                    kept.append(row)
                    falls.append([])
                if len(kept) > _MAX_SHAPES or len(kept) * slots > _SHAPE_SLOTS:
                    return False
                falls[number].append((first + at, outer, inner.times))
                reach = first + at + sum(max(c // period * (n - 1), 0) for c, n in outer)
                n_windows = max(n_windows, reach + 1)
    if n_windows * len(kept) > _WORK_SLOTS:
        return False
    times = np.zeros((len(kept), n_windows), np.int64)
    for number, many in enumerate(falls):
        for first, outer, factor in many:
            # A step back is the same set of windows from its far end.
            begin = first + sum(min(c // period * (n - 1), 0) for c, n in outer)
            steps = tuple((abs(c) // period, n) for c, n in outer)
            _accumulate(times[number], Progressions(np.array([begin], np.int64), steps, factor), 0, 1)
    kinds, windows_of = _alike(times)
    if kinds.shape[1] * slots > 8 * _WORK_SLOTS:
        return False
    for kind, windows in zip(kinds.T, windows_of.tolist(), strict=True):
        used = np.flatnonzero(kind)
        if len(used):
            counts = sum(int(kind[it]) * kept[it] for it in used.tolist())
            totals.take(np.asarray(counts, np.int64), unit, copies * windows)
    return True


def _alike(columns: Ints) -> tuple[Ints, Ints]:
    """Return the different columns, and how many there are of each.

    Sorting numbers made of the columns is several times as fast as sorting columns; where two columns have
    the same number, they are sorted after all.
    """
    factors = np.random.default_rng(1).integers(1, 1 << 62, len(columns), np.int64) | 1
    _, first, number, counts = np.unique(
        factors @ columns, return_index=True, return_inverse=True, return_counts=True
    )
    kinds = columns[:, first]
    if not np.array_equal(kinds[:, number], columns):
        kinds, counts = np.unique(columns, axis=1, return_counts=True)
    return kinds, counts


def _near(part: Progressions, period: int) -> list[Progressions]:
    """Return a part, in pieces of one window each if its lanes lie far apart."""
    low, high = int(part.lanes.min()), int(part.lanes.max())
    if (high - low) // period < _FAR:
        return [part]
    windows = part.lanes // period
    numbers = distinct(windows)
    if len(numbers) > _MAX_SHAPES:
        return [part]
    return [replace(part, lanes=part.lanes[windows == it]) for it in numbers]


_FAR = 8
"""Windows."""


def _by_windows(part: Progressions, period: int) -> Iterator[tuple[Progressions, Dims]]:
    """Yield a part as sums of progressions inside windows and dimensions of whole windows.

    A dimension returns to the same place of a window after so many steps: those are inside, the rest whole.
    """
    waiting: list[tuple[int, Dims, Dims, Dims]] = [(0, part.dims, (), ())]
    while waiting:
        shift, dims, inside, whole = waiting.pop()
        if not dims:
            yield Progressions(part.lanes + shift, inside, part.times), whole
            continue
        (coef, count), rest = dims[0], dims[1:]
        turn = period // gcd(coef, period)
        full, over = divmod(count, turn)
        if full <= 1 or coef == 0:
            waiting.append((shift, rest, (*inside, (coef, count)), whole))
            continue
        within = (*inside, (coef, turn)) if turn > 1 else inside
        waiting.append((shift, rest, within, (*whole, (coef * turn, full))))
        if over:
            waiting.append((shift + coef * turn * full, rest, (*inside, (coef, over)), whole))


def _window_rows(part: Progressions, start: int, unit: int, slots: int) -> tuple[int, Ints | None]:
    """Return the first window that a progression touches, and what it touches in each from there, once."""
    low, high = part.span()
    first = (low - start) // unit // slots
    n = (high - start) // unit // slots - first + 1
    if n * slots > _WORK_SLOTS or n > _MAX_SHAPES:
        return first, None
    counts = np.zeros(n * slots, np.int64)
    _accumulate(counts, replace(part, times=1), start + first * slots * unit, unit)
    return first, counts.reshape(n, slots)


def _accumulate(counts: _Counts, part: Progressions, start: int, unit: int) -> None:
    low, high = part.span()
    first, length = (low - start) // unit, (high - low) // unit + 1
    lanes = part.lanes.ravel()
    if part.n_addresses() <= max(_ENUMERATE, length):
        if part.n_addresses() < length // _SPARSE:
            np.add.at(counts, (_spelt(part) - start) // unit, counts.dtype.type(part.times))
            return
        # One bincount; the lowest address is the first slot.
        found = np.bincount((_spelt(part) - low) // unit, minlength=length)
        _add_times(counts[first : first + length], part.times, found)
        return
    # Negative steps are run from their far end, so that the lowest address is slot 0 all along.
    shift = sum(min(coef * (count - 1), 0) for coef, count in part.dims)
    own = np.bincount((lanes + shift - low) // unit, minlength=length).astype(np.int64)
    for coef, count in sorted(part.dims, key=lambda it: abs(it[0])):
        own = _windowed(own, abs(coef) // unit, count)
    _add_times(counts[first : first + length], part.times, own)


def _add_times(counts: _Counts, times: int, found: Ints) -> None:
    np.add(counts, times * found, out=counts, casting="unsafe")


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
