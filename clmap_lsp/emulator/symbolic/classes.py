"""Entropies of the timesteps of a box by classes of work-groups and turns, whatever its size.

A timestep holds the accesses that have one ordinal since one barrier. In a box no mask and no ordinal depends
on the work-group, so that the same timesteps occur in each; and a loop with barriers has the same in every
turn. The addresses of an access differ there by coef·t alone, and entropies by that modulo 2**10: groups and
turns with the same residues are a class, worked out once. Accesses that have timesteps in common are worked
out together.

The definition is the paper's: means over a group's timesteps, then over groups.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from math import gcd, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.caches import droppable
from clmap_lsp.dataclass import dataclass
from clmap_lsp.emulator.symbolic.counting import dense, residues
from clmap_lsp.emulator.symbolic.distinct import distinct
from clmap_lsp.emulator.symbolic.machine import Machine
from clmap_lsp.emulator.symbolic.recurring import contents
from clmap_lsp.emulator.symbolic.rows import Rows
from clmap_lsp.emulator.symbolic.space import GROUP_DIMENSIONS, dims_of, mask_dims
from clmap_lsp.emulator.symbolic.values import Ints, Sym, at_turn, numbers
from clmap_lsp.locality.definition import LEVELS, Definition
from clmap_lsp.locality.entropy import entropies_of_sums, rows_sums
from clmap_lsp.locality.products import weighted_rows
from clmap_lsp.source.ir import Variable

_BLOCK = 1 << (LEVELS - 1)
_MAX_KEYS = 1 << 22
"""Timesteps of one class of groups, each counted for every access and lane that has its own."""
_MAX_CELLS = 1 << 23
"""Accesses of all classes that are worked out; some seconds."""
_MAX_CLASSES = 4_096
"""Of one timestep."""
_KNOWN_ROWS = 8_192
"""Sets of timesteps, from one residue on, whose entropies are kept: 2 MB."""
_KNOWN_TABLES = 64
"""Likewise those from several residues on: 6 MB at most."""


_MAX_KEPT_KEYS = 1 << 21
"""Timesteps of accesses that are remembered for other boxes."""

_Found = tuple[NDArray[np.float64], int, int]
"""Entropies over all groups, timesteps of one group, accesses that were worked out."""


class _TooManyError(Exception):
    """More classes than are worth working out, or a dependence that classes do not cover."""


@dataclass(slots=True, eq=False)
class _Access:
    """One access, or one half of an atomic."""

    row: Rows
    ordinal: Sym
    segment: Sym
    free: tuple[int, ...]
    """Dimensions, those of groups first, in every step of which the same timesteps recur."""

    @property
    def turns(self) -> tuple[tuple[int, int, int], ...]:
        """The free dimensions of loops: (dimension, count, barriers a turn)."""
        barriers = dict(self.segment.coefs)
        loops = [it for it in self.free if it >= GROUP_DIMENSIONS]
        return tuple((d, self.row.counts[d], barriers[d]) for d in loops)

    @property
    def steps(self) -> tuple[tuple[int, int], ...]:
        """The free dimensions along which addresses move: (dimension, bytes)."""
        return tuple((d, coef) for d, coef in self.row.offset.coefs if d in self.free)


@dataclass(slots=True)
class Known:
    """What the boxes of one launch have in common, by what it follows from."""

    keys: dict[Hashable, Ints] = field(default_factory=dict)
    """The different timesteps of an access, counted from where its own begin."""
    sums: dict[Hashable, _Found] = field(default_factory=dict)
    """The entropies of accesses that meet."""


def box_entropies(
    machine: Machine, bases: Mapping[Variable, int], known: Known
) -> NDArray[np.float64] | None:
    """Return the sum over a box's groups of their mean entropies a timestep, shape (11,).

    `bases` are the virtual addresses of buffers, multiples of 2**10. `None` if classes do not cover the box.
    """
    try:
        accesses = [it for row in machine.rows for it in _halves(row)]
        if not _turns_are_apart(accesses):
            for it in accesses:
                it.free = tuple(d for d in it.free if d < GROUP_DIMENSIONS)
        total, steps, cells = np.zeros(LEVELS), 0, _MAX_CELLS
        for part in _components(accesses, known):
            alike = _alike(part, bases)
            found = known.sums.get(alike)
            if found is None:
                found = _alone(part[0]) if len(part) == 1 else None
                found = known.sums[alike] = _together(part, bases, cells) if found is None else found
            total += found[0]
            steps += found[1]
            cells -= found[2]
    except _TooManyError:
        return None
    return np.asarray(total / max(steps, 1))


def _halves(row: Rows) -> Iterator[_Access]:
    assert row.ordinal is not None
    assert row.segment is not None
    if row.mask is False:
        return
    ordinal, segment = _of_active(row.ordinal, row), _of_active(row.segment, row)
    for half in (0, 1) if row.op == "atomic" else (0,):
        own = Sym(ordinal.const + half, ordinal.coefs, ordinal.array, ordinal.low, ordinal.high)
        yield _Access(row, own, segment, _free_dimensions(row, own, segment))


def _of_active(value: Sym, row: Rows) -> Sym:
    """Return a value as one without array where all work-items that take part have the same."""
    if value.array is None:
        return value
    array, active = np.broadcast_arrays(value.array, np.asarray(row.mask))
    used = array[active]
    low = int(used.min())
    return Sym(value.const + low, value.coefs) if low == int(used.max()) else value


def _free_dimensions(row: Rows, ordinal: Sym, segment: Sym) -> tuple[int, ...]:
    bound = dims_of(ordinal) | dims_of(Sym(0, (), segment.array))
    if not isinstance(row.mask, bool):
        bound |= mask_dims(row.mask)
    barriers = dict(segment.coefs)
    if any(d < GROUP_DIMENSIONS for d in bound | set(barriers)):
        raise _TooManyError
    bound |= dims_of(Sym(0, (), row.offset.array))
    dimensions = range(len(row.counts))
    return tuple(d for d in dimensions if d not in bound and (d < GROUP_DIMENSIONS or barriers.get(d, 0)))


def _turns_are_apart(accesses: Sequence[_Access]) -> bool:
    """Tell whether stretches between barriers in different turns of loops, or different loops, are different.

    So it is unless work-items have accesses behind the last barrier of a turn.
    """
    seen = np.zeros(0, np.int64)
    kinds: dict[tuple[tuple[int, int, int], ...], list[Ints]] = {}
    for it in accesses:
        first = it.segment
        for d, _, _ in it.turns:
            first = at_turn(first, d, 0, keeps_axis=True)
        kinds.setdefault(it.turns, []).append(distinct(_spelt(first, it.row)))
    for turns, found in kinds.items():
        starts = distinct(np.concatenate(found))
        for _, count, barriers in turns:
            if len(starts) * count > _MAX_KEYS:
                raise _TooManyError
            starts = (starts[:, None] + np.arange(count) * barriers).ravel()
        if len(distinct(starts)) != len(starts) or len(np.intersect1d(starts, seen)):
            return False
        seen = np.concatenate([seen, starts])
    return True


def _spelt(value: Sym, row: Rows) -> Ints:
    if prod(row.counts[d] for d, _ in value.coefs) > _MAX_KEYS:
        raise _TooManyError
    return numbers(value, row.counts)


# -------------------------------------------------------------------------------------------- components


def _keys(it: _Access) -> Ints:
    """Return a number for each timestep of an access in one class, by dimensions and lanes as they matter."""
    segment = it.segment
    for d, _, _ in it.turns:
        segment = at_turn(segment, d, 0, keeps_axis=True)
    cells = prod(it.row.counts[d] for d, _ in {*segment.coefs, *it.ordinal.coefs})
    arrays = [x.array.size for x in (segment, it.ordinal) if x.array is not None]
    if cells * max(arrays, default=1) > _MAX_KEYS:
        raise _TooManyError
    return (numbers(segment, it.row.counts) << 32) + numbers(it.ordinal, it.row.counts)


def _components(accesses: Sequence[_Access], known: Known) -> Iterable[list[_Access]]:
    """Return the accesses in sets that have no timestep in common."""
    if not accesses:
        return []
    keys = [_distinct_keys(it, known) for it in accesses]
    if sum(map(len, keys)) > _MAX_KEYS:
        raise _TooManyError
    owner = np.repeat(np.arange(len(accesses)), [len(it) for it in keys])
    everything = np.concatenate(keys)
    order = np.argsort(everything, kind="stable")
    same = np.flatnonzero(np.diff(everything[order]) == 0)
    parent = list(range(len(accesses)))

    def root(at: int) -> int:
        while parent[at] != at:
            at = parent[at]
        return at

    pairs = np.unique(np.stack([owner[order][same], owner[order][same + 1]]), axis=1)
    for one, two in pairs.T.tolist():
        parent[root(two)] = root(one)
    found: dict[int, list[_Access]] = {}
    for at, it in enumerate(accesses):
        found.setdefault(root(at), []).append(it)
    return found.values()


def _distinct_keys(it: _Access, known: Known) -> Ints:
    """Return the numbers of the timesteps of an access, rising."""
    first = (it.segment.const << 32) + it.ordinal.const
    if it.row.mask is True and it.ordinal.array is None and it.segment.array is None:
        return distinct(_keys(it))
    alike = _pattern(it)
    found = known.keys.get(alike)
    if found is None:
        found = distinct(_active_keys(it)) - first
        if sum(map(len, known.keys.values())) + len(found) > _MAX_KEPT_KEYS:
            known.keys.clear()
        known.keys[alike] = found
    return found + first


def _pattern(it: _Access) -> Hashable:
    """Return what an access's timesteps and addresses follow from, but for where they begin."""
    row = it.row
    values = tuple((x.coefs, contents(x.array)) for x in (row.offset, it.ordinal, it.segment))
    return values, contents(row.mask), row.counts, row.n_lanes, it.free


def _alike(part: Sequence[_Access], bases: Mapping[Variable, int]) -> Hashable:
    """Return what the entropies of accesses that meet follow from: where they begin, from the first one."""
    steps = min(it.ordinal.const for it in part), min(it.segment.const for it in part)
    firsts: dict[Variable, int] = {}
    for it in part:
        first = firsts.get(it.row.root, it.row.offset.const)
        firsts[it.row.root] = min(first, it.row.offset.const)
    return tuple(
        (
            _pattern(it),
            it.ordinal.const - steps[0],
            it.segment.const - steps[1],
            it.row.root,
            it.row.offset.const - firsts[it.row.root],
            (bases[it.row.root] + firsts[it.row.root]) % _BLOCK,
        )
        for it in part
    )


def _active_keys(it: _Access) -> Ints:
    keys = _keys(it)
    if it.row.mask is True or keys.size == 1:
        return keys
    keys, active = np.broadcast_arrays(keys, np.asarray(it.row.mask))
    return np.asarray(keys[active])


def _n_groups(it: _Access) -> int:
    return prod(it.row.counts[:GROUP_DIMENSIONS])


def _alone(it: _Access) -> _Found | None:
    """Return entropies over all groups, timesteps of one group and cells of an access that meets no other.

    `None` if its work-items are not in one timestep at a time.
    """
    row = it.row
    if it.ordinal.array is not None or it.segment.array is not None:
        return None
    loops = prod(row.counts[d] for d in range(GROUP_DIMENSIONS, len(row.counts)) if d not in it.free)
    if len(distinct(_keys(it))) != loops:
        return None
    addresses, mask, rest = dense(row)
    used = np.asarray(mask.any(axis=1))
    addresses, mask = addresses[used], mask[used]
    both = np.where(mask, addresses, np.iinfo(np.int64).max)
    rows, many = np.unique(both, axis=0, return_counts=True) if len(both) > 1 else (both, np.ones(1))
    histogram = residues(rest.const, [(coef, row.counts[d]) for d, coef in rest.coefs], _BLOCK)
    cells = rows.size * len(histogram)
    if cells > _MAX_CELLS:
        raise _TooManyError
    covered = sum(times for _, times in histogram)
    repeats = prod(row.counts) // (len(used) * covered)
    found = _of_rows(rows, many, tuple(it for it, _ in histogram))
    total = weighted_rows(np.array([times for _, times in histogram]), found)
    n_steps = len(addresses) * covered * repeats // _n_groups(it)
    return total * repeats, n_steps, cells


def _of_rows(rows: Ints, many: NDArray[Any], residues: tuple[int, ...]) -> NDArray[np.float64]:
    """Return the entropies of rows of addresses, each `many` times, from each residue on: (residues, 11).

    Addresses of no lane are the largest number. Boxes of work-groups that take different numbers of turns
    have the same rows in many of them.
    """
    same = contents(rows), contents(many)
    table = _tables.get((same, residues))
    if table is not None:
        return table
    active = rows != np.iinfo(np.int64).max
    table = np.empty((len(residues), LEVELS))
    for n, residue in enumerate(residues):
        found = _known.get((same, residue))
        if found is None:
            found = weighted_rows(many, _entropies(rows + np.where(active, residue, 0), active))
            if len(_known) >= _KNOWN_ROWS:
                _known.clear()
                _tables.clear()
            _known[same, residue] = found
        table[n] = found
    if len(_tables) >= _KNOWN_TABLES:
        _tables.clear()
    _tables[same, residues] = table
    return table


_known: dict[Hashable, NDArray[np.float64]] = droppable({})
_tables: dict[Hashable, NDArray[np.float64]] = droppable({})


def _entropies(addresses: Ints, active: NDArray[np.bool_]) -> NDArray[np.float64]:
    sums, totals = rows_sums(addresses, None if active.all() else active)
    return entropies_of_sums(sums, totals[:, None], Definition.PAPER)


def _together(part: Sequence[_Access], bases: Mapping[Variable, int], room: int) -> _Found:
    """Return what `_alone` does, of accesses that meet: their timesteps spelt out, once for each class.

    Raises: _TooManyError.
    """
    if len({it.turns for it in part}) > 1 or any(it.free[:GROUP_DIMENSIONS] != (0, 1, 2) for it in part):
        raise _TooManyError
    movements = sorted({(bases[it.row.root], it.steps) for it in part})
    keys, addresses, moves = _spelt_out(part, bases, {it: n for n, it in enumerate(movements)}, room)
    total, cells = np.zeros(LEVELS), 0
    present = np.stack([(moves == n).any(axis=1) for n in range(len(movements))], axis=1)
    kinds, kind_of = np.unique(present, axis=0, return_inverse=True)
    counts = part[0].row.counts
    free = [(d, counts[d]) for d in part[0].free]
    for number, kind in enumerate(kinds):
        rows = kind_of.ravel() == number
        moving = [movements[n] for n in np.flatnonzero(kind).tolist()]
        if len({base for base, _ in moving}) < len(moving):
            raise _TooManyError  # How near two accesses to one buffer lie differs between groups.
        classes = _classes([dict(steps) for _, steps in moving], free)
        cells += addresses[rows].size * len(classes)
        if cells > room:
            raise _TooManyError
        place = np.zeros(len(movements) + 1, np.int64)
        active = moves[rows] >= 0
        for shifts, times in classes.items():
            place[np.flatnonzero(kind)] = shifts
            total += times * _entropies(addresses[rows] + place[moves[rows]], active).sum(axis=0)
    repeats = prod(n for d, n in free if d >= GROUP_DIMENSIONS)
    return total, len(keys) * repeats, cells


def _spelt_out(
    part: Sequence[_Access], bases: Mapping[Variable, int], numbered: Mapping[object, int], room: int
) -> tuple[Ints, Ints, Ints]:
    """Return the timesteps, and by timestep and lane the address and its movement (-1: no access)."""
    n_lanes = part[0].row.n_lanes
    found = []
    for it in part:
        row, offset, mask = it.row, it.row.offset, np.asarray(it.row.mask)
        shape = [1 if d in it.free else n for d, n in enumerate(row.counts)]
        if prod(shape) * n_lanes > room:
            raise _TooManyError
        offset = Sym(
            offset.const,
            tuple((d, c) for d, c in offset.coefs if d not in it.free),
            offset.array,
            offset.low,
            offset.high,
        )
        full = (*reversed(shape), n_lanes)
        active = np.broadcast_to(mask, full)
        lanes = np.broadcast_to(np.arange(n_lanes), full)[active]
        where = np.broadcast_to(numbers(offset, row.counts), full)[active] + bases[row.root]
        found.append((np.broadcast_to(_keys(it), full)[active], lanes, where))
    keys = distinct(np.concatenate([it[0] for it in found]))
    if len(keys) * n_lanes > room:
        raise _TooManyError
    addresses = np.zeros((len(keys), n_lanes), np.int64)
    moves = np.full((len(keys), n_lanes), -1, np.int64)
    for it, (key, lanes, where) in zip(part, found, strict=True):
        steps = np.searchsorted(keys, key)
        addresses[steps, lanes] = where
        moves[steps, lanes] = numbered[bases[it.row.root], it.steps]
    return keys, addresses, moves


def _classes(
    movements: Sequence[Mapping[int, int]], free: Iterable[tuple[int, int]]
) -> dict[tuple[int, ...], int]:
    """Return by residues of all movements modulo 2**10 how many steps of the free dimensions have them."""
    classes = {(0,) * len(movements): 1}
    for dimension, count in free:
        coefs = [it.get(dimension, 0) for it in movements]
        period = _BLOCK // gcd(_BLOCK, *coefs)
        whole, rest = divmod(count, period)
        after: dict[tuple[int, ...], int] = {}
        for at, times in classes.items():
            for t in range(min(period, count)):
                key = tuple((a + c * t) % _BLOCK for a, c in zip(at, coefs, strict=True))
                after[key] = after.get(key, 0) + times * (whole + (t < rest))
        classes = after
        if len(classes) > _MAX_CLASSES:
            raise _TooManyError
    return classes
