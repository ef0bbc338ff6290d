"""What a launch's atomics ask for: how often they meet each other at an address or a line."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from clmap_lsp.compiled.build import Compiled
from clmap_lsp.compiled.counts import Profile
from clmap_lsp.dataclass import dataclass
from clmap_lsp.emulator.symbolic.control import OverBudgetError
from clmap_lsp.source import ir
from clmap_lsp.time.accesses import AccessDemand
from clmap_lsp.time.model import PIECE_BYTES

if TYPE_CHECKING:
    from clmap_lsp.emulator.symbolic.rows import Rows


@dataclass(frozen=True, slots=True)
class AtomicDemand:
    """The atomics of a launch."""

    same: float = 0.0
    """Operations on an address right after another one's, summed: lanes, or SIMD groups if uniform."""
    requests: float = 0.0
    sectors: float = 0.0
    """Sectors asked for, over all requests; whole ones count less."""
    again: float = 0.0
    """Operations beyond the first of a request on a sector: lanes that meet at an address take turns."""
    spread: float = 1.0
    """How many pieces of `PIECE_BYTES` they are spread over."""
    local_cycles: float = 0.0
    """Operations of local memory beyond the first of a request: lanes at one address take turns, and what the
    compiler makes one of is added up before. Wavefronts are counted with those of loads."""
    stored: float = 0.0
    """Stores of SIMD groups to lines that all of them write: flags that many set."""
    stored_lines: float = 1.0
    """How many such lines there are."""


def atomic_demand(
    accesses: Sequence[AccessDemand], found: Profile, made: Compiled, sizes: Mapping[int, tuple[str, float]]
) -> AtomicDemand:
    """Return what the atomics of a launch ask for; `sizes` are what `object_sizes` gives."""
    same = requests = sectors = again = local = 0.0
    spread = 1.0
    merged = merged_sites(made)
    for it in accesses:
        if it.op != "atomic":
            continue
        rows: list[Rows] = found.rows.get(it.site, [])
        if it.space == "local":
            alike = it.site in merged and is_at_one_place(rows)
            local += it.requests * (1.0 if alike else _multiplicity(rows) - 1.0)
            continue
        requests += it.requests
        if rows and all(one.offset.is_uniform for one in rows):  # One for a SIMD group.
            same += it.requests
            sectors += it.requests
            continue
        _, size = sizes.get(it.site, ("", 4e6))
        places = (_places(rows) if rows else None) or _anywhere(size / max(it.size, 4), size)
        same += it.requests * _LANES / places.addresses
        sectors += it.requests * places.sectors
        again += it.requests * places.again
        spread = max(spread, places.pieces)
    return AtomicDemand(same, requests, sectors, again, spread, local, *_flags(accesses, found))


_LANES = 32


@dataclass(frozen=True, slots=True)
class _Places:
    """Where the lanes of a mean request go."""

    addresses: float
    """How many there are over the launch."""
    pieces: float
    sectors: float
    again: float


def _anywhere(addresses: float, size: float) -> _Places:
    """Return places that are chosen at random among so many addresses in so many bytes."""
    all_sectors = max(size / 32, 1.0)
    sectors = all_sectors * (1.0 - (1.0 - 1.0 / all_sectors) ** _LANES)
    # The most lanes that meet at one of a sector's addresses, where so many come to each on average.
    meeting = _LANES / sectors / max(min(addresses, 8.0), 1.0)
    turns = max(1.0, meeting + 1.6 * meeting**0.5)
    return _Places(max(addresses, 1.0), max(size / PIECE_BYTES, 1.0), sectors, sectors * (turns - 1.0))


_WORDS = 8
_WHOLE = 0.78
"""What a sector costs of which all words are asked for, over one of which some are; `atomic_line`, H100."""
_SAMPLE = 1 << 18
"""Lanes that are looked at."""


def _places(rows: list[Rows]) -> _Places | None:
    """Return where an atomic whose addresses are known goes; `None` if these are too many to be looked at."""
    import numpy as np

    from clmap_lsp.emulator.symbolic.counting import dense

    sampled, extents = [], []
    for one in rows:
        try:
            addresses, active, rest = dense(one)
        except OverBudgetError:
            return None
        short = -addresses.shape[1] % _LANES
        lanes = np.pad(np.where(active, addresses + rest.const, -1), ((0, 0), (0, short)), constant_values=-1)
        lanes = lanes.reshape(-1, _LANES)
        sampled.append(lanes[:: max(1, lanes.size // _SAMPLE)])
        moves = sum(abs(factor) * (one.counts[d] - 1) for d, factor in rest.coefs)
        if moves:  # The same again elsewhere: all in between is taken to be gone to.
            extents.append(float(lanes.max() - lanes[lanes >= 0].min(initial=lanes.max()) + moves + 4))
    lanes = np.concatenate(sampled)
    request = np.repeat(np.arange(len(lanes)), _LANES)[lanes.reshape(-1) >= 0]
    flat = lanes.reshape(-1)[lanes.reshape(-1) >= 0]
    if not len(flat):
        return None
    pairs, meeting = np.unique(np.stack((request, flat), axis=1), axis=0, return_counts=True)
    sector = np.concatenate(([True], np.any(np.diff(pairs // np.array([1, 32]), axis=0) != 0, axis=1)))
    starts = np.flatnonzero(sector)
    turns = np.maximum.reduceat(meeting, starts)
    whole = np.diff(starts, append=len(pairs)) >= _WORDS
    asked = float(len(np.unique(request)))
    reach = max(extents, default=0.0)
    pieces = max(float(np.unique(flat // PIECE_BYTES).size), reach / PIECE_BYTES)
    distinct = max(float(np.unique(flat).size), reach / 4.0)
    sectors = float(np.where(whole, _WHOLE, 1.0).sum()) / asked
    return _Places(distinct, pieces, sectors, float((turns - 1).sum()) / asked)


_FLAG_LINES = 32.0
"""Lines up to which stores of all SIMD groups wait for each other; of 128 they do not (`hot.cl`, H100)."""


_MERGED_STORES = 0.25
"""Of SIMD groups that wait for nothing in between, whose stores of one word meet before they leave a unit."""


def _flags(accesses: Sequence[AccessDemand], found: Profile) -> tuple[float, float]:
    """Return the stores of one word by whole SIMD groups that fall on few lines, and on how many."""
    from clmap_lsp.emulator.symbolic.counting import is_uniform_in_group

    stored, spread = 0.0, 1.0
    for it in accesses:
        rows: list[Rows] = found.rows.get(it.site, [])
        if it.op != "store" or it.space != "global" or not rows or it.requests < 1024:
            continue
        if not all(is_uniform_in_group(one.offset) for one in rows):
            continue
        covered = _lines(rows, min(one.offset.const for one in rows))
        if covered <= _FLAG_LINES:
            stored += it.requests
            spread = max(spread, covered)
    waits = any(it.op == "load" and it.space == "global" for it in accesses)
    return stored * (1.0 if waits else _MERGED_STORES), spread


_BY_MASK = frozenset({ir.AtomicOp.INC, ir.AtomicOp.DEC})
_MERGED = _BY_MASK | {
    ir.AtomicOp.ADD,
    ir.AtomicOp.SUB,
    ir.AtomicOp.MIN,
    ir.AtomicOp.MAX,
    ir.AtomicOp.AND,
    ir.AtomicOp.OR,
    ir.AtomicOp.XOR,
}


def is_at_one_place(rows: list[Rows]) -> bool:
    """Tell whether all lanes of a work-group go to one address at a time."""
    from clmap_lsp.emulator.symbolic.counting import is_uniform_in_group

    return bool(rows) and all(is_uniform_in_group(one.offset) for one in rows)


def made_one(accesses: Sequence[AccessDemand], found: Profile, made: Compiled) -> tuple[AccessDemand, ...]:
    """Return accesses with one wavefront for each local atomic that is one operation of a SIMD group."""
    merged = merged_sites(made)
    return tuple(
        dataclasses.replace(it, line_cycles=it.requests)
        if it.op == "atomic"
        and it.space == "local"
        and it.site in merged
        and is_at_one_place(found.rows.get(it.site, []))
        else it
        for it in accesses
    )


def merged_sites(made: Compiled) -> frozenset[int]:
    """Return the atomics that compilers make one of for a SIMD group at one address.

    Integers whose result nobody uses, and counters: what each lane gets follows from the lanes before it.
    """
    body = made.probed.kernel.body
    used = {it.variable for it in ir.all_expressions(body) if isinstance(it, ir.Read)}
    return frozenset(
        it.site
        for it in ir.walk(body)
        if isinstance(it, ir.Atomic)
        and it.type.is_integer
        and it.op in (_BY_MASK if it.variable in used else _MERGED)
    )


def _lines(rows: list[Rows], low: int) -> float:
    """Return over how many lines, at the most, an access goes."""
    from clmap_lsp.emulator.symbolic.counting import dense

    first, end = None, None
    for one in rows:
        try:
            addresses, _, rest = dense(one)
        except OverBudgetError:
            return 1e7
        reach = sum(abs(c) * (one.counts[d] - 1) for d, c in rest.coefs)
        at = int(addresses.min()) + rest.const
        first = at if first is None else min(first, at)
        end = max(end or 0, int(addresses.max()) + rest.const + reach + one.size)
    return max(((end or 4) - (first or 0)) / 128.0, 1.0)


def _multiplicity(rows: list[Rows]) -> float:
    import numpy as np

    from clmap_lsp.emulator.symbolic.counting import dense

    if not rows:
        return 2.0
    try:
        addresses, _, _ = dense(rows[0])
    except OverBudgetError:
        return 3.0
    lanes = addresses[: min(len(addresses), 256)]
    lanes = lanes[:, : lanes.shape[1] // 32 * 32] if lanes.shape[1] >= 32 else lanes
    worst = []
    for row in lanes.reshape(-1, min(32, lanes.shape[1])):
        worst.append(np.unique(row, return_counts=True)[1].max())
    return float(np.mean(worst))
