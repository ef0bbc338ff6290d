"""What a launch asks of each part of a device: cycles, sectors, bytes, operations. No device times yet."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from clmap_lsp.compiled.balance import Balance
from clmap_lsp.compiled.build import Compiled
from clmap_lsp.compiled.counts import Executed, Profile
from clmap_lsp.compiled.machine_code import Instruction, Pipe
from clmap_lsp.dataclass import dataclass
from clmap_lsp.emulator.symbolic.machine import HOW_OFTEN, WHETHER
from clmap_lsp.time.accesses import AccessDemand, Counters, access_demand, with_combined_stores
from clmap_lsp.time.atomics import AtomicDemand, atomic_demand, made_one
from clmap_lsp.time.facts import TimeFacts
from clmap_lsp.time.footprints import Footprint, Place, footprint_of, places_of
from clmap_lsp.time.latency import Orders, orders_of, path_cycles
from clmap_lsp.time.private import (
    ALIKE,
    LINES_AT_ONCE,
    STORED_COST,
    lines_and_sectors,
    spreads,
)
from clmap_lsp.time.stream import Kept, seen_of
from clmap_lsp.time.tables import object_sizes, with_kept_tables

if TYPE_CHECKING:
    from clmap_lsp.devices.model import DeviceModel
    from clmap_lsp.launch.model import Launch


@dataclass(frozen=True, slots=True)
class Residents:
    """Work-groups that a unit holds at once, and what holds them down."""

    groups: int
    simd_groups: int
    limit: str
    """`registers`, `local`, `groups` or `size`."""


@dataclass(frozen=True, slots=True)
class PrivateDemand:
    """Private arrays in memory."""

    cycles: float = 0.0
    """Lines that pass through the first level, a word of each lane at a time."""
    spilled: float = 0.0
    """The share that the first level does not hold, 0 to 1."""
    load_sectors: float = 0.0
    load_lines: float = 0.0
    store_sectors: float = 0.0
    store_lines: float = 0.0
    """At the second level."""


@dataclass(frozen=True, slots=True)
class Demand:
    """One launch."""

    groups: int
    group_items: int
    warps: float
    """SIMD groups of the launch."""
    resident: Residents
    slots: Mapping[str, float]
    """Issue slots of SIMD groups by pipe, over the launch; `issue` is all of them."""
    accesses: tuple[AccessDemand, ...]
    places: tuple[Place, ...]
    private: PrivateDemand
    path: Mapping[float, float]
    """Cycles of the mean SIMD group alone, by the cycles after which loads that wait are served (`WAITS`)."""
    best_path: Mapping[float, float]
    """The same if the lanes of every request were side by side."""
    barriers: float
    """Barriers that one SIMD group passes."""
    atomics: AtomicDemand
    balance: Balance
    caveats: tuple[str, ...] = ()
    supposed_turns: str = ""
    """Why the number of iterations of some loop is supposed; empty where none is. A rewrite may change it."""
    turns: int = 0
    """How many such a loop is taken to make."""

    @property
    def line_cycles(self) -> float:
        """Global lines over the launch, with private arrays."""
        return sum(it.line_cycles for it in self.accesses if it.space != "local") + self.private.cycles

    @property
    def local_cycles(self) -> float:
        """Wavefronts of local memory over the launch."""
        return sum(it.line_cycles for it in self.accesses if it.space == "local")

    def l2(self, op: str) -> tuple[float, float]:
        """Return sectors and lines that loads or stores ask the second level for."""
        some = [it for it in self.accesses if it.op == op and it.space != "local"]
        private = self.private
        sectors, lines = (
            (private.load_sectors, private.load_lines)
            if op == "load"
            else (private.store_sectors, private.store_lines)
        )
        return sectors + sum(it.l2_sectors for it in some), lines + sum(it.l2_lines for it in some)

    @property
    def footprint(self) -> Footprint:
        """Bytes that are touched at least once."""
        return footprint_of(self.places, self.accesses)

    @property
    def has_unknown_addresses(self) -> bool:
        """True if the addresses of some access depend on data."""
        return any(it.is_guessed for it in self.accesses)

    def scattered(self, lanes: int) -> Demand:
        """Return the launch if lanes whose addresses depend on data were far from each other."""
        return dataclasses.replace(self, accesses=tuple(it.scattered(lanes) for it in self.accesses))

    def wasted_cycles(self, sites: Collection[int] | None = None) -> float:
        """Return cycles of the first level beyond those of requests whose lanes are side by side."""
        some = (it for it in self.accesses if sites is None or it.site in sites)
        return sum(it.line_cycles - it.at_its_best().line_cycles for it in some)

    def at_its_best(self, sites: Collection[int]) -> Demand:
        """Return the launch if the lanes' elements were side by side in every request of some accesses."""
        best = {it.site: it for it in self.accesses if it.site in sites}
        wasted = self.wasted_cycles()
        share = self.wasted_cycles(sites) / wasted if wasted else 0.0
        return dataclasses.replace(
            self,
            accesses=tuple(it.at_its_best() if it.site in best else it for it in self.accesses),
            places=tuple(
                it.at_its_best(best[it.site]) if it.site in best and it.op != "atomic" else it
                for it in self.places
            ),
            path={
                wait: cycles - share * max(cycles - self.best_path[wait], 0.0)
                for wait, cycles in self.path.items()
            },
        )

    def with_tiles(self, sites: Collection[int]) -> Demand:
        """Return the launch if some loads asked local memory, and global memory for each byte once.

        No staged kernel is as fast: it fills tiles for each work-group, waits at barriers, and fewer of its
        work-groups are resident.
        """
        spans = {it.site: it.span for it in self.places if it.op == "load"}
        moved = {it.site: it for it in self.accesses if it.site in sites and it.op == "load"}
        return dataclasses.replace(
            self,
            accesses=tuple(
                it.loaded_once(spans.get(it.site, 0.0)) if it.site in moved else it for it in self.accesses
            ),
            places=tuple(
                it.at_its_best(moved[it.site]) if it.site in moved and it.op == "load" else it
                for it in self.places
            ),
            path=dict.fromkeys(self.path, min(*self.path.values(), *self.best_path.values())),
        )


def residents(facts: TimeFacts, warps: int, registers: int, local: int) -> Residents:
    """Return how many work-groups of so many SIMD groups fit on a unit at once.

    Registers are allotted to SIMD groups in pieces of 256 (NVIDIA's occupancy calculator, capability 9.0).
    """
    each = -(-registers * facts.simd_width // 256) * 256
    bounds = [
        (facts.max_groups, "groups"),
        (facts.max_warps // warps, "size"),
        (facts.registers // max(each * warps, 1), "registers"),
    ]
    if local:
        bounds.append((int(facts.local_bytes // (local + _RESERVED)), "local"))
    groups, limit = min(bounds, key=lambda it: it[0])
    groups = max(groups, 1)
    return Residents(groups, groups * warps, limit)


def first_level(facts: TimeFacts, groups: int, local: int) -> float:
    """Return the bytes that local memory leaves of the first level.

    The driver sets as much aside as lets `groups` work-groups be resident, however many the launch has. Its
    rule is not published. On an H200, with one work-group of 64 on each unit, private arrays of 128 KB beside
    64 KB of lines stay in the first level without local memory, and with 2 KB of it do not (`mm_row_private`
    and `mm_row_private_local`, 512, in `benchmarks/results/time_h200.json`).
    """
    return max(facts.l1_bytes - groups * (local + _RESERVED if local else 0), _LEAST_CACHE)


_RESERVED = 1024
"""Local memory of a work-group that the driver takes for itself (CUDA C++ Programming Guide, 9.0)."""
_LEAST_CACHE = 16 * 1024.0

WAITS = (30.0, 300.0, 900.0)


def demand(
    made: Compiled,
    found: Profile,
    run: Executed,
    launch: Launch,
    device: DeviceModel,
    facts: TimeFacts,
    local_argument_bytes: int,
) -> Demand:
    """Return what a launch asks for."""
    groups = 1
    for count in launch.num_groups:
        groups *= count
    per_group = -(-launch.group_items // facts.simd_width)
    local = made.code.local_bytes + local_argument_bytes
    resident = residents(facts, per_group, made.code.registers or 32, local)
    side_by_side = min(resident.groups, max(1, -(-groups // facts.compute_units)))
    cache = first_level(facts, resident.groups, local)
    kept = _kept(run, found, float(made.code.private_bytes), launch.group_items * side_by_side)
    seen = seen_of(found, launch, side_by_side, facts.compute_units, cache, facts.simd_width, kept)
    counters = Counters(device)
    accesses = with_combined_stores(
        [(one, it) for one in run.accesses if (it := access_demand(one, seen.hits, counters)) is not None],
        per_group,
    )
    accesses = made_one(accesses, found, made)
    sizes = object_sizes(made.probed.kernel, launch)
    accesses = with_kept_tables(accesses, sizes, min(groups, facts.compute_units), cache)
    warps = float(found.simd_groups)
    private = _private(run, launch.integers, seen.spilled, facts.simd_width)
    orders = orders_of(run.compiled.code.blocks, run.weights)
    path = _path(run, accesses, facts, private, warps, orders)
    best = tuple(it.at_its_best() for it in accesses)
    return Demand(
        groups,
        launch.group_items,
        warps,
        resident,
        _slots(run),
        accesses,
        places_of(found, accesses, counters),
        private,
        path,
        path if best == accesses else _path(run, best, facts, private, warps, orders),
        _barriers(run, warps),
        atomic_demand(accesses, found, made, sizes),
        found.balance,
        _caveats(made, found, accesses),
        next((it for it in found.supposed.values() if it.startswith(HOW_OFTEN)), ""),
        found.turns.count if found.turns is not None else 0,
    )


def _path(
    run: Executed,
    accesses: tuple[AccessDemand, ...],
    facts: TimeFacts,
    private: PrivateDemand,
    warps: float,
    orders: Orders | None = None,
) -> dict[float, float]:
    by_site: dict[int, AccessDemand] = {}
    for it in accesses:  # A loop's main part rather than what is left of its turns.
        if it.site not in by_site or it.requests > by_site[it.site].requests:
            by_site[it.site] = it
    return {
        wait: path_cycles(
            run.compiled.code.blocks,
            run.weights,
            warps,
            _latencies(by_site, facts, wait, private),
            lambda it: _occupies(it, by_site),
            {Pipe.FP64: 1.0, Pipe.SPECIAL: 2.0},
            orders,
        )
        for wait in WAITS
    }


def _caveats(made: Compiled, found: Profile, accesses: tuple[AccessDemand, ...]) -> tuple[str, ...]:
    notes = [found.note] if found.note else []
    notes += [f"the cost of {name} is not known" for name in made.unknown]
    turns = found.turns.count if found.turns is not None else 0
    notes += dict.fromkeys(_supposed(reason, turns) for reason in found.supposed.values())
    if any(it.is_guessed for it in accesses):
        notes.append("as if addresses that depend on data were side by side")
    return tuple(notes)


def _supposed(reason: str, turns: int) -> str:
    """Return what is supposed of an access that data decide about, from why it is not known."""
    if reason.startswith(HOW_OFTEN):
        what = reason.removeprefix(f"{HOW_OFTEN} depends on ")
        return f"as if loops made {turns} iterations where their number depends on {what}"
    return f"as if every branch were taken that {reason.removeprefix(f'{WHETHER} ')}"


def _slots(run: Executed) -> dict[str, float]:
    total: dict[str, float] = {"issue": 0.0}
    for weight, block in zip(run.weights, run.compiled.code.blocks, strict=True):
        for it in block.instructions:
            for pipe, slots in ((it.pipe, it.cost), *it.extra):
                if slots:
                    total[pipe.value] = total.get(pipe.value, 0.0) + weight * slots
                    total["issue"] += weight * slots
    return total


def _kept(run: Executed, found: Profile, each: float, items: int) -> Kept:
    """Return the private arrays of so many work-items."""
    if not each:
        return Kept()
    moved = 0.0
    for weight, block in zip(run.weights, run.compiled.code.blocks, strict=True):
        for it in block.instructions:
            if it.memory is not None and it.memory.space == "private":
                moved += weight * it.memory.size
    return Kept(each * items, moved / max(float(found.simd_groups), 1.0) / each)


def _private(run: Executed, scalars: Mapping[str, int], spilled: float, lanes: int) -> PrivateDemand:
    by_site = spreads(run.compiled.probed.kernel, scalars)
    cycles = load_sectors = load_lines = store_sectors = store_lines = 0.0
    for op, site, asked in _private_words(run):
        lines, sectors = lines_and_sectors(by_site.get(site, ALIKE), lanes)
        if op == "store":
            cycles += asked * lines
            store_sectors += asked * sectors * STORED_COST
            store_lines += asked * lines
        else:
            cycles += asked * max(lines / LINES_AT_ONCE, 1.0)
            load_sectors += spilled * asked * sectors
            load_lines += spilled * asked * lines
    return PrivateDemand(cycles, spilled, load_sectors, load_lines, store_sectors, store_lines)


def _private_words(run: Executed) -> Iterator[tuple[str, int, float]]:
    """Yield accesses of private arrays: what they do, where in the source, and how many words a lane."""
    for weight, block in zip(run.weights, run.compiled.code.blocks, strict=True):
        for it in block.instructions:
            if it.memory is not None and it.memory.space == "private":
                site = -1 if it.site is None else it.site
                yield it.memory.op, site, weight * max(it.memory.size / 4, 1.0)


def _barriers(run: Executed, warps: float) -> float:
    total = 0.0
    for weight, block in zip(run.weights, run.compiled.code.blocks, strict=True):
        total += weight * sum(it.is_barrier for it in block.instructions)
    return total / max(warps, 1.0)


def _latencies(
    by_site: Mapping[int, AccessDemand], facts: TimeFacts, wait: float, private: PrivateDemand
) -> Callable[[Instruction, int], float]:
    """Return the latency of an instruction of which a pass has some copies."""
    return lambda it, copies: _latency(it, copies, by_site, facts, wait, private)


def _latency(
    it: Instruction,
    copies: int,
    by_site: Mapping[int, AccessDemand],
    facts: TimeFacts,
    wait: float,
    private: PrivateDemand,
) -> float:
    memory = it.memory
    if memory is None or memory.op == "store":
        return it.latency if memory is None else 1.0
    if memory.space == "local":
        return facts.latency_local
    if memory.space == "private":
        # What a walk no longer finds was dropped in one stretch: the words of a pass wait together.
        return facts.latency_l1 + private.spilled * (wait - facts.latency_l1)
    if memory.space == "constant" and memory.op == "load":
        return facts.latency_l1
    found = by_site.get(it.site if it.site is not None else -1)
    if memory.op == "atomic":
        return facts.latency_l2 if it.writes else 1.0
    # Copies of one access in a pass: the pass waits if any of them does.
    waits = found.hits.waits_of(copies) if found is not None and found.hits is not None else 1.0
    return facts.latency_l1 + waits * (wait - facts.latency_l1)


def _occupies(it: Instruction, by_site: Mapping[int, AccessDemand]) -> float:
    """Return the cycles for which an access holds the first level's pipeline."""
    found = by_site.get(it.site if it.site is not None else -1)
    if it.memory is None:
        return 0.0
    return found.line_cycles / found.requests if found is not None and found.requests else 1.0
