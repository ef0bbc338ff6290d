"""Local buffers of which a run need not watch a single access: barriers order all, and reads find values.

Work-groups of a box do the same in local memory, so that one of them is followed access by access: no cell is
written between two barriers by one work-item and touched by another, and whoever reads one finds what was
written before: by somebody ahead of a barrier, or by the work-item itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.dataclass import dataclass
from clmap_lsp.emulator.symbolic.machine import Machine
from clmap_lsp.emulator.symbolic.rows import Rows
from clmap_lsp.emulator.symbolic.space import GROUP_DIMENSIONS, dims_of, mask_dims
from clmap_lsp.emulator.symbolic.values import Ints, Sym, numbers
from clmap_lsp.source.ir import Barrier, BarrierScope, CopyObject, Kernel, Load, Store, Variable, walk
from clmap_lsp.source.types import AddressSpace

_MOST_CELLS = 1 << 20
"""Accesses of one work-group that are followed, in each box; a tenth of a second."""
_SHARE = 32
"""A launch has to have so many times the accesses that are followed: with fewer, watching them costs less."""
_MOST_STATES = 1 << 22
"""Cells times stretches between barriers."""


@dataclass(frozen=True, slots=True)
class _Accesses:
    """The accesses of one group to the cells of a buffer, one entry for each: flat arrays of one length."""

    cells: Ints
    items: Ints
    segments: Ints
    ordinals: Ints
    writes: NDArray[np.bool_]


def ordered_buffers(kernel: Kernel, machines: Sequence[Machine]) -> frozenset[Variable]:
    """Return the local buffers whose accesses are in order, of those that have a name of their own."""
    if not _barriers_order_local_memory(kernel):
        return frozenset()
    rows = [it for machine in machines for it in machine.rows if it.space is AddressSpace.LOCAL]
    roots = {it.root for it in rows}
    names = Counter(it.name for it in roots)
    unlike = {it.root for it in rows if not _is_alike(it)} | {
        it.root for it in rows if it.site in _sites_of_pieces(kernel)
    }
    found = roots - unlike
    followed = sum(_one_group(it) for it in rows if it.root in found)
    if followed * _SHARE > sum(_one_group(it) * _groups(it) for it in rows if it.root in found):
        return frozenset()
    return frozenset(
        it
        for it in found
        if names[it.name] == 1
        and all(_is_ordered([row for row in machine.rows if row.root is it]) for machine in machines)
    )


def _barriers_order_local_memory(kernel: Kernel) -> bool:
    barriers = (it for it in walk(kernel.body) if isinstance(it, Barrier))
    whole = (it for it in barriers if it.scope is not BarrierScope.SUB_GROUP)
    return all(it.flags is None and it.fences_local for it in whole)


def _sites_of_pieces(kernel: Kernel) -> set[int]:
    """Return the sites of accesses that write or read part of their bytes only."""
    found: set[int] = set()
    for statement in walk(kernel.body):
        if isinstance(statement, CopyObject):
            found |= {statement.load_site, statement.store_site}
        elif isinstance(statement, Load | Store) and statement.bits is not None:
            found.add(statement.site)
    return found


def _is_alike(row: Rows) -> bool:
    """Tell whether a plain access is the same in every group of its box."""
    if row.op not in ("load", "store") or row.ordinal is None or row.segment is None:
        return False
    dims = dims_of(row.offset) | dims_of(row.ordinal) | dims_of(row.segment)
    if not isinstance(row.mask, bool):
        dims |= mask_dims(row.mask)
    return all(it >= GROUP_DIMENSIONS for it in dims)


def _one_group(row: Rows) -> int:
    """Return how many accesses one group makes at most."""
    total = row.n_lanes
    for count in row.counts[GROUP_DIMENSIONS:]:
        total *= count
    return total


def _groups(row: Rows) -> int:
    x, y, z = row.counts[:GROUP_DIMENSIONS]
    return x * y * z


def _is_ordered(rows: Sequence[Rows]) -> bool:
    """Tell whether one group of a box makes accesses that are in order."""
    if not rows:
        return True
    unit = _unit(rows)
    if sum(_one_group(it) * (it.size // unit) for it in rows) > _MOST_CELLS:
        return False
    found = _joined([_spelt_out(it, unit) for it in rows])
    if not len(found.cells):
        return True
    n_cells = int(found.cells.max()) + 1
    if int(found.cells.min()) < 0 or n_cells * (int(found.segments.max()) + 1) > _MOST_STATES:
        return False
    return _are_apart(found, n_cells) and _find_values(found, n_cells)


def _are_apart(found: _Accesses, n_cells: int) -> bool:
    """Tell whether what is written between two barriers is touched there by nobody else."""
    states = found.segments * n_cells + found.cells
    size = int(states.max()) + 1
    who, written = np.zeros(size, np.int64), np.zeros(size, np.bool_)
    who[states] = found.items
    written[states[found.writes]] = True
    return bool(((who[states] == found.items) | ~written[states]).all())


def _find_values(found: _Accesses, n_cells: int) -> bool:
    """Tell whether every read comes after a write of its cell; those of one stretch are of one work-item."""
    step = int(found.ordinals.max()) + 1
    times = found.segments * step + found.ordinals
    first = np.full(n_cells, np.iinfo(np.int64).max)
    np.minimum.at(first, found.cells[found.writes], times[found.writes])
    reads = ~found.writes
    return bool((first[found.cells[reads]] < times[reads]).all())


def _unit(rows: Iterable[Rows]) -> int:
    """Return the bytes of a cell: what all sizes and addresses are multiples of."""
    unit = 0
    for row in rows:
        steps = [row.size, row.offset.const, *(coef for _, coef in row.offset.coefs)]
        if row.offset.array is not None and row.offset.array.size:
            steps.append(int(np.gcd.reduce(row.offset.array, axis=None)))
        unit = int(np.gcd.reduce(np.array([unit, *steps], np.int64)))
    return unit


def _spelt_out(row: Rows, unit: int) -> _Accesses:
    assert row.ordinal is not None
    assert row.segment is not None
    counts = (1, 1, 1, *row.counts[GROUP_DIMENSIONS:])
    parts = row.size // unit
    shape = (*reversed(counts), row.n_lanes, parts)
    mask = np.broadcast_to(np.asarray(row.mask)[..., None], shape)

    def spread(value: Sym) -> Ints:
        found: Ints = np.broadcast_to(numbers(value, counts)[..., None], shape)[mask]
        return found

    cells = np.broadcast_to((numbers(row.offset, counts) // unit)[..., None] + np.arange(parts), shape)[mask]
    items = np.broadcast_to(np.arange(row.n_lanes)[:, None], shape)[mask]
    writes = np.full(len(cells), row.op == "store")
    return _Accesses(cells, items, spread(row.segment), spread(row.ordinal), writes)


def _joined(parts: Sequence[_Accesses]) -> _Accesses:
    return _Accesses(
        np.concatenate([it.cells for it in parts]),
        np.concatenate([it.items for it in parts]),
        np.concatenate([it.segments for it in parts]),
        np.concatenate([it.ordinals for it in parts]),
        np.concatenate([it.writes for it in parts]),
    )
