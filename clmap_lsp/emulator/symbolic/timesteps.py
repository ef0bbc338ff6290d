"""Entropies of timesteps: the work-items' k-th accesses since a barrier, group by group.

In a box whose work-items stay together (every access has the same ordinal for all who make it, and no two
accesses share one), a timestep is one row of one access, and its entropies depend on the lanes' pattern and
the row's base modulo 2**10 alone. Elsewhere all accesses of the box are spelt out and sorted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.dataclass import dataclass
from clmap_lsp.emulator.symbolic.counting import dense
from clmap_lsp.emulator.symbolic.machine import Machine
from clmap_lsp.emulator.symbolic.rows import Rows
from clmap_lsp.emulator.symbolic.space import GROUP_DIMENSIONS, dims_of
from clmap_lsp.emulator.symbolic.values import Ints, Sym, bounds, numbers
from clmap_lsp.locality.definition import LEVELS, Definition
from clmap_lsp.locality.entropy import entropies_of_sums, rows_sums
from clmap_lsp.source.ir import Variable

_BLOCK = 1 << (LEVELS - 1)
MAX_CELLS = 1 << 17
"""Accesses of a launch that may be spelt out; the JIT engine is the faster one beyond it."""
_MAX_PATTERNS = 2_048
"""Different rows of one access whose entropies may be evaluated one by one."""


@dataclass(slots=True)
class GroupSegments:
    """Timesteps of the groups of a box, by group and segment (the stretches between barriers).

    `entropies` has shape (groups, segments, 11), sums over timesteps; `steps` (groups, segments); groups in
    the order of `group_ids`.
    """

    entropies: NDArray[np.float64]
    steps: Ints
    group_ids: Ints


@dataclass(slots=True, eq=False)
class Patterns:
    """Entropies of lane patterns, each evaluated once for all residues of its base modulo 2**10."""

    definition: Definition
    _cache: dict[Any, NDArray[np.float64]] = field(default_factory=dict)

    def table(self, lanes: Ints, found: tuple[int, ...]) -> NDArray[np.float64]:
        """Return shape (len(found), 11) for the active lanes' addresses relative to a base."""
        key = (lanes.tobytes(), found)
        if key not in self._cache:
            shifted = np.array(found, np.int64)[:, None] + lanes
            sums, totals = rows_sums(shifted)
            self._cache[key] = entropies_of_sums(sums, totals[:, None], self.definition)
        return self._cache[key]


def n_accesses(machine: Machine) -> int:
    """Return how many accesses a box has, masked ones included."""
    total = 0
    for row in machine.rows:
        rows = row.n_lanes
        for count in row.counts:
            rows *= count
        total += rows * (2 if row.op == "atomic" else 1)
    return total


def stays_together(machine: Machine) -> bool:
    """Tell whether every timestep of a box is one row of one access."""
    masks = []
    for row in machine.rows:
        assert row.ordinal is not None
        if row.offset.array is not None and row.offset.array.size > _MAX_PATTERNS * row.n_lanes:
            return False
        if row.ordinal.array is not None or any(d < GROUP_DIMENSIONS for d in dims_of(row.ordinal)):
            return False
        if not isinstance(row.mask, bool):
            if row.mask.ndim > 1 and any(it > 1 for it in row.mask.shape[:-1]):
                return False
            masks.append(row.mask)
    if not masks:
        return True
    return len(masks) == len(machine.rows) and all(np.array_equal(it, masks[0]) for it in masks)


def grouped_entropies(
    machine: Machine, bases: Mapping[Variable, int], definition: Definition
) -> GroupSegments:
    """Spell out a box: entropies by group and segment.

    `bases` are the virtual addresses of buffers and local arrays, all of them multiples of 2**10.
    """
    group_ids = _linear_group_ids(machine)
    found = [
        _spelt_out(row, half, bases[row.root])
        for row in machine.rows
        for half in ((0, 1) if row.op == "atomic" else (0,))
    ]
    if not found:
        return GroupSegments(
            np.zeros((len(group_ids), 1, LEVELS)), np.zeros((len(group_ids), 1), np.int64), group_ids
        )
    groups, segments, ordinals, addresses = (np.concatenate([it[k] for it in found]) for k in range(4))
    return _sorted_entropies(groups, segments, ordinals, addresses, group_ids, definition)


def together_by_group(machine: Machine, patterns: Patterns) -> GroupSegments | None:
    """As `grouped_entropies` for a box that stays together, at the cost of its distinct residues.

    `None` if an access has no single pattern of lanes.
    """
    group_ids = _linear_group_ids(machine)
    n_segments = 1 + max((_highest(it.segment, it.counts) for it in machine.rows if it.segment), default=0)
    entropies = np.zeros((len(group_ids), n_segments, LEVELS))
    steps = np.zeros(n_segments, np.int64)
    for row in machine.rows:
        addresses, mask, rest = dense(row)
        if len(addresses) != 1 or row.segment is None:
            return None
        used = addresses[0][mask[0]]
        base = int(used.min())
        by_group = _progression([(d, c) for d, c in rest.coefs if d < GROUP_DIMENSIONS], row.counts[:3])
        by_turn = _progression([(d, c) for d, c in rest.coefs if d >= GROUP_DIMENSIONS], row.counts, start=3)
        segments = np.broadcast_to(numbers(row.segment, row.counts)[..., 0], (*reversed(row.counts),))
        segments = segments.reshape(len(by_turn), -1)[:, 0]
        groups, of_group = np.unique(by_group % _BLOCK, return_inverse=True)
        turns, many = np.unique(by_turn % _BLOCK + _BLOCK * segments, return_counts=True)
        found = (rest.const + base + groups[:, None] + turns) % _BLOCK
        residue_list = np.unique(found)
        table = patterns.table(used - base, tuple(residue_list.tolist()))
        times = 2 if row.op == "atomic" else 1
        for k, turn in enumerate(turns.tolist()):
            rows = table[np.searchsorted(residue_list, found[:, k])] * (times * int(many[k]))
            entropies[:, turn // _BLOCK] += rows[of_group.reshape(-1)]
            steps[turn // _BLOCK] += times * int(many[k])
    return GroupSegments(entropies, np.broadcast_to(steps, (len(group_ids), n_segments)), group_ids)


def _highest(value: Sym, counts: Sequence[int]) -> int:
    return bounds(value, counts)[1]


def _progression(coefs: list[tuple[int, int]], counts: Sequence[int], start: int = 0) -> Ints:
    """Return Σ coef·t for all t of the dimensions from `start` on, dimension `start` fastest."""
    total = np.zeros(1, np.int64)
    known = dict(coefs)
    for dimension in range(start, len(counts)):
        steps = np.arange(counts[dimension], dtype=np.int64) * known.get(dimension, 0)
        total = (steps[:, None] + total).ravel()
    return total


def _linear_group_ids(machine: Machine) -> Ints:
    """Return the linear ids of a box's groups, in the order of its dimensions (0 fastest)."""
    box, launch = machine.space.box, machine.space.launch
    x, y, z = (
        start + step * np.arange(count, dtype=np.int64)
        for start, count, step in zip(box.start, box.count, box.step, strict=True)
    )
    n = (*launch.num_groups, 1, 1)
    return (x[None, None, :] + n[0] * (y[None, :, None] + n[1] * z[:, None, None])).ravel()


def _spelt_out(row: Rows, half: int, base: int) -> tuple[Ints, Ints, Ints, Ints]:
    """Return group (in the box), segment, ordinal and address of every single access of a row's access."""
    assert row.ordinal is not None
    assert row.segment is not None
    shape = (*reversed(row.counts), row.n_lanes)
    x, y, z = row.counts[:GROUP_DIMENSIONS]
    groups = np.arange(x * y * z, dtype=np.int64).reshape(z, y, x, 1)
    mask = np.broadcast_to(np.asarray(row.mask), shape)
    address = np.broadcast_to(numbers(row.offset, row.counts), shape)[mask] + base
    return (
        np.broadcast_to(groups, shape)[mask],
        np.broadcast_to(numbers(row.segment, row.counts), shape)[mask],
        np.broadcast_to(numbers(row.ordinal, row.counts), shape)[mask] + half,
        address,
    )


def _sorted_entropies(
    groups: Ints, segments: Ints, ordinals: Ints, addresses: Ints, group_ids: Ints, definition: Definition
) -> GroupSegments:
    n_groups, n_segments = len(group_ids), int(segments.max()) + 1
    stretch = groups * n_segments + segments
    key = stretch * (int(ordinals.max()) + 1) + ordinals
    order = np.lexsort((addresses, key))
    key, addresses, stretch = key[order], addresses[order], stretch[order]
    new_row = np.concatenate(([True], key[1:] != key[:-1]))
    starts = np.flatnonzero(new_row)
    totals = np.diff(starts, append=len(key))
    row_of = np.cumsum(new_row) - 1
    sums = np.empty((len(starts), LEVELS))
    for level in range(LEVELS):
        blocks = addresses >> level
        new_run = new_row.copy()
        new_run[1:] |= blocks[1:] != blocks[:-1]
        runs = np.flatnonzero(new_run)
        lengths = np.diff(runs, append=len(key)).astype(np.float64)
        sums[:, level] = np.bincount(row_of[runs], lengths * np.log2(lengths), len(starts))
    entropies = entropies_of_sums(sums, totals[:, None], definition)
    where = stretch[starts]
    result = np.zeros((n_groups * n_segments, LEVELS))
    for level in range(LEVELS):
        result[:, level] = np.bincount(where, entropies[:, level], n_groups * n_segments)
    steps = np.bincount(where, minlength=n_groups * n_segments).astype(np.int64)
    return GroupSegments(
        result.reshape(n_groups, n_segments, LEVELS), steps.reshape(n_groups, n_segments), group_ids
    )
