"""The addresses of the work-groups resident on one compute unit, in the order in which they ask for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.dataclass import dataclass
from clmap_lsp.emulator.symbolic.rows import Rows
from clmap_lsp.emulator.symbolic.values import Sym
from clmap_lsp.time.caches import NEVER, NOTHING, Cycle, footprint_in, reuse_times, window_of

if TYPE_CHECKING:
    from clmap_lsp.compiled.counts import Profile
    from clmap_lsp.launch.model import Launch

Ints = NDArray[np.int64]

_LANES = 600_000
"""Accesses of work-items that are looked at; loops are cut short beyond."""
_TURNS = 8
"""Turns of a loop that are looked at in any case."""
_LINE = 128
FULL = 0.75
"""Of the first level: how much can be gone through again and again without a miss."""
_RUN = 16
"""Accesses that a SIMD group makes before another one's come in between."""


@dataclass(frozen=True, slots=True)
class Hits:
    """Of one access of the source: shares of its sectors and of its requests, 0 to 1."""

    sectors: float
    """Sectors that the first level has."""
    waits: tuple[float, ...]
    """Of runs of 1, 2, 4, 8, 16 requests in a row by one SIMD group: those in which any waits for the
    second level or beyond, be it for a miss of another SIMD group."""

    def waits_of(self, copies: int) -> float:
        """Return the share of runs of so many requests that wait."""
        return self.waits[min(max(copies, 1).bit_length() - 1, len(self.waits) - 1)]


@dataclass(frozen=True, slots=True)
class Kept:
    """Private arrays in memory, of the resident work-groups of one unit."""

    size: float = 0.0
    """Bytes."""
    walks: float = 0.0
    """How often a work-item goes through all of its own."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What the first level of one unit has."""

    hits: dict[int, Hits]
    """By global load of the source."""
    spilled: float
    """The share of the private arrays that it does not have when they are gone through again, 0 to 1."""


def seen_of(
    profile: Profile, launch: Launch, groups: int, units: int, capacity_bytes: float, width: int, kept: Kept
) -> Seen:
    """Return what `groups` resident work-groups of one unit find in its first level.

    Where work-groups were followed one by one, or only some of the launch, these are taken to share a unit.
    """
    rows = profile.rows
    loads = {
        site: [it for it in found if it.op == "load" and it.space.value in ("global", "constant")]
        for site, found in rows.items()
    }
    sampled = profile.scale > 1.0 or _one_by_one(profile)
    chosen = [(0, 0, 0)] if sampled else _groups(launch, groups, units)
    parts = []
    total = sum(_lanes(it) for found in loads.values() for it in found) * len(chosen)
    cut = max(1.0, total / _LANES)
    asked = looked_at = 0
    roots: dict[object, int] = {}
    for at, group in enumerate(chosen):
        for site, found in loads.items():
            for one in found:
                start = roots.setdefault(one.root, len(roots) << 44)
                place = profile.places[id(one)] if sampled else at
                if place >= groups:
                    continue
                part = _requests(one, group, cut, width)
                if part is not None:
                    asked += _lanes(one)
                    looked_at += _lanes(one, cut)
                    parts.append((site, place, start, *part))
    lines = capacity_bytes / _LINE
    if not any(len(order) for _, _, _, order, *_ in parts):  # No work-item of these loads anything.
        return Seen({}, _spilled(kept.size / _LINE, lines))
    ordered = _in_order(parts)
    beside = NOTHING
    if kept.size:
        whole = len(ordered.blocks) * asked / max(looked_at, 1)
        beside = Cycle(kept.size / _LINE, max(whole / max(kept.walks, 1.0), 1.0))
    between = footprint_in(ordered.blocks // _SECTORS, beside.accesses) if kept.size else 0.0
    return Seen(_judged(ordered, capacity_bytes, beside), _spilled(beside.blocks + between, lines))


def _one_by_one(profile: Profile) -> bool:
    """Tell whether all work-groups of a launch were followed, each on its own: their rows are no unit's."""
    several = len(set(profile.places.values())) > 1
    return several and all(it.counts[:3] == (1, 1, 1) for found in profile.rows.values() for it in found)


def _lanes(rows: Rows, cut: float = 1.0) -> int:
    total = rows.n_lanes
    for count in _shape(rows.counts, cut)[3:]:
        total *= count
    return total


def _spilled(asked: float, lines: float) -> float:
    """Return the share that is missed of lines that come again after `asked` others.

    All or nothing were it least recently used and sets filled evenly; so it begins at three quarters.
    """
    return min(max((asked / lines - FULL) / (2.0 - 2.0 * FULL), 0.0), 1.0)


def _groups(launch: Launch, groups: int, units: int) -> list[tuple[int, int, int]]:
    """Return work-groups that share a unit: every `units`-th, from the middle of the launch."""
    sizes = (*launch.num_groups, 1, 1)[:3]
    whole = sizes[0] * sizes[1] * sizes[2]
    first = (whole // 2 // units) * units if whole > units * groups else 0
    found = []
    for k in range(groups):
        linear = first + k * units
        if linear >= whole:
            linear = k * units
        if linear >= whole:
            break
        found.append((linear % sizes[0], linear // sizes[0] % sizes[1], linear // (sizes[0] * sizes[1])))
    return found or [(0, 0, 0)]


def _requests(
    rows: Rows, group: tuple[int, int, int], cut: float, width: int
) -> tuple[Ints, Ints, Ints, Ints] | None:
    """Return (ordinal, SIMD group, sector, request) of one row of one work-group, without repeats."""
    dims = len(rows.counts)
    if any(group[d] >= rows.counts[d] for d in range(3)):
        return None
    shape = _shape(rows.counts, cut)
    whole = (*(shape[d] for d in range(dims - 1, 2, -1)), rows.n_lanes)
    addresses = np.broadcast_to(_values(rows.offset, group, shape, dims), whole)
    mask = np.broadcast_to(_picked_mask(rows.mask, group, shape, dims), whole)
    order = np.zeros(whole[:-1], np.int64)
    for part, scale in ((rows.ordinal, 1), (rows.segment, 1 << 24)):
        if part is not None:
            order = order + scale * np.broadcast_to(
                _values(part, group, shape, dims).max(axis=-1), whole[:-1]
            )
    flat = addresses.reshape(-1, rows.n_lanes)
    active = mask.reshape(-1, rows.n_lanes)
    short = -rows.n_lanes % width
    if short:
        flat = np.pad(flat, ((0, 0), (0, short)))
        active = np.pad(active, ((0, 0), (0, short)))
    n_warps = flat.shape[1] // width
    flat, active = flat.reshape(-1, width), active.reshape(-1, width)
    when = np.repeat(order.reshape(-1), n_warps)
    who = np.tile(np.arange(n_warps), len(flat) // n_warps)
    sector = np.where(active, flat // 32, -1)
    sector.sort(axis=1)
    fresh = sector >= 0
    fresh[:, 1:] &= sector[:, 1:] != sector[:, :-1]
    at = np.nonzero(fresh)
    wide = sector[at]
    if rows.size > 32:
        more = -(-rows.size // 32)
        wide = (wide[:, None] + np.arange(more)).reshape(-1)
        request = np.repeat(at[0], more)
    else:
        request = at[0]
    return when[request], who[request], wide, request


def _shape(counts: Sequence[int], cut: float) -> list[int]:
    """Return how much of each dimension is looked at: outer loops are cut short before inner ones.

    What a loop comes back to in its next turn is then as far away as it really is.
    """
    shape = list(counts)
    for d in range(3, len(shape)):
        kept = max(min(shape[d], _TURNS), int(shape[d] / cut))
        cut = max(1.0, cut * kept / shape[d])
        shape[d] = kept
    return shape


def _values(value: Sym, group: tuple[int, int, int], shape: list[int], dims: int) -> Ints:
    """Return an integer for one work-group, with an axis for each loop (outer last) and one for the lanes."""
    result = np.full((1,) * (dims - 2), _wrapped(value.const), np.int64)
    for d, coef in value.coefs:
        if d < 3:
            result = result + _wrapped(coef * group[d])
        else:
            view = [1] * (dims - 2)
            view[dims - 1 - d] = shape[d]
            result = result + (_wrapped(coef) * np.arange(shape[d])).reshape(view)
    return result if value.array is None else result + _picked(value.array, group, shape, dims)


def _wrapped(number: int) -> int:
    """Return what 64 bits of an address hold of a number: offsets of hostile kernels know no bounds."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


def _picked(array: NDArray[Any], group: tuple[int, int, int], shape: list[int], dims: int) -> NDArray[Any]:
    """Return an array's part for one work-group, loops cut to `shape`."""
    full = array.reshape((1,) * (dims + 1 - array.ndim) + array.shape)
    index: list[int | slice] = []
    for axis in range(dims):
        d = dims - 1 - axis
        length = full.shape[axis]
        if d < 3:
            index.append(group[d] if length > 1 else 0)
        else:
            index.append(slice(0, shape[d] if length > 1 else 1))
    return np.asarray(full[(*index, slice(None))])


def _picked_mask(mask: Any, group: tuple[int, int, int], shape: list[int], dims: int) -> NDArray[np.bool_]:
    if isinstance(mask, bool):
        return np.full((1,) * (dims - 2), mask)
    return _picked(np.asarray(mask), group, shape, dims).astype(bool)


@dataclass(frozen=True, slots=True)
class _Stream:
    """The sectors asked for, one after the other, and by which access, request and SIMD group."""

    blocks: Ints
    sites: Ints
    requests: Ints
    when: Ints
    warps: Ints


def _in_order(parts: list[tuple[int, int, int, Ints, Ints, Ints, Ints]]) -> _Stream:
    sites = np.concatenate([np.full(len(it[3]), it[0]) for it in parts])
    places = np.concatenate([np.full(len(it[3]), it[1]) for it in parts])
    when = np.concatenate([it[3] for it in parts])
    who = np.concatenate([it[4] for it in parts])
    blocks = np.concatenate([it[5] + it[2] for it in parts])
    starts = np.cumsum([0, *(int(it[6].max(initial=-1)) + 1 for it in parts)])
    request = np.concatenate([it[6] + start for it, start in zip(parts, starts[:-1], strict=True)])
    order = np.lexsort((when, who, places, when // _RUN))
    warps = places * 4096 + who
    return _Stream(blocks[order], sites[order], request[order], when[order], warps[order])


def _judged(stream: _Stream, capacity_bytes: float, beside: Cycle) -> dict[int, Hits]:
    blocks = stream.blocks
    missed = missed_sectors(blocks, capacity_bytes, beside)
    # A hit on data that another SIMD group asks for at the same time waits for that miss.
    step = blocks * 1_000_003 + stream.when // _RUN
    _, inverse = np.unique(step, return_inverse=True)
    pending = np.zeros(int(inverse.max()) + 1, bool)
    np.logical_or.at(pending, inverse, missed)
    waits = pending[inverse] & (missed | _first_of_warp(blocks, stream.warps))
    found = {}
    for site in np.unique(stream.sites):
        mine = stream.sites == site
        _, first, inverse = np.unique(stream.requests[mine], return_index=True, return_inverse=True)
        waiting = np.zeros(len(first), bool)
        np.logical_or.at(waiting, inverse, waits[mine])
        by_warp = np.lexsort((stream.when[mine][first], stream.warps[mine][first]))
        found[int(site)] = Hits(float(1.0 - missed[mine].mean()), _runs(waiting[by_warp]))
    return found


_SECTORS = 4
"""Of a line; a line is kept or dropped as a whole, and holds those of its sectors that were asked for."""


def missed_sectors(blocks: Ints, capacity_bytes: float, beside: Cycle = NOTHING) -> NDArray[np.bool_]:
    """Tell for each access to a sector whether the first level does not have it."""
    lines = blocks // _SECTORS
    times = reuse_times(lines)
    window = window_of(lines, times, capacity_bytes / _LINE, beside)
    dropped = (times > window) | (times == NEVER)
    by_line = np.argsort(lines, kind="stable")
    stay = np.empty(len(blocks), np.int64)
    stay[by_line] = np.cumsum(dropped[by_line])  # The same number: the line was there all the while.
    by_sector = np.argsort(blocks, kind="stable")
    sectors, stays = blocks[by_sector], stay[by_sector]
    missed = np.ones(len(blocks), bool)
    missed[by_sector[1:]] = (sectors[1:] != sectors[:-1]) | (stays[1:] != stays[:-1])
    return missed


def _runs(waiting: NDArray[np.bool_]) -> tuple[float, ...]:
    shares = []
    for length in (1, 2, 4, 8, 16):
        whole = len(waiting) // length * length
        if not whole:
            shares.append(min(1.0, float(waiting.mean()) * length))
            continue
        shares.append(float(waiting[:whole].reshape(-1, length).any(axis=1).mean()))
    return tuple(shares)


def _first_of_warp(blocks: Ints, warps: Ints) -> NDArray[np.bool_]:
    """Tell for each access whether its SIMD group touches the block for the first time."""
    key = np.stack((blocks, warps), axis=1)
    _, first = np.unique(key, axis=0, return_index=True)
    found = np.zeros(len(blocks), bool)
    found[first] = True
    return found
