"""What a launch asks of each part of a device: cycles, sectors, bytes, operations. No device times yet."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clmap_lsp.compiled.build import Compiled
from clmap_lsp.compiled.counts import Executed, MachineAccess, Profile
from clmap_lsp.compiled.machine_code import Instruction, MemoryOp, Pipe
from clmap_lsp.devices.model import GlobalRule
from clmap_lsp.emulator.symbolic.control import Budget, OverBudgetError, Spending
from clmap_lsp.emulator.symbolic.counting import Counter, Tally
from clmap_lsp.launch.model import BufferArgument
from clmap_lsp.source import ir
from clmap_lsp.source.types import AddressSpace
from clmap_lsp.time.facts import TimeFacts
from clmap_lsp.time.latency import path_cycles
from clmap_lsp.time.stream import Hits, hits

if TYPE_CHECKING:
    from clmap_lsp.devices.model import DeviceModel
    from clmap_lsp.emulator.symbolic.rows import Rows
    from clmap_lsp.launch.model import Launch


@dataclass(frozen=True, slots=True)
class Residents:
    """Work-groups that a unit holds at once, and what holds them down."""

    groups: int
    simd_groups: int
    limit: str
    """`registers`, `local`, `groups` or `size`."""


@dataclass(frozen=True, slots=True)
class AccessDemand:
    """One access of the source: what its instructions ask for over the launch."""

    site: int
    op: str
    space: str
    requests: float
    line_cycles: float
    """Lines (global) or wavefronts (local) that pass through the first level's pipeline."""
    l2_sectors: float
    l2_lines: float
    hits: Hits | None
    """Of the first level; `None`: nothing is known, and all is taken to wait."""
    footprint: float
    """Bytes of distinct 64-byte pieces."""


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
    line_cycles: float
    """Global lines and local wavefronts over the launch."""
    local_cycles: float
    """Of these, those of local memory."""
    load_sectors: float
    load_lines: float
    store_sectors: float
    store_lines: float
    """At the second level."""
    read_bytes: float
    write_bytes: float
    random_sectors: float
    """Sectors whose neighbours are not wanted, beyond the footprint's first touch."""
    partial_sectors: float
    """Sectors that a store request fills in part only; `write_bytes` is of the others."""
    partial_lines: float
    footprint: float
    """Bytes of distinct lines: what the second level has to hold."""
    path: Mapping[float, float]
    """Cycles of the mean SIMD group alone, by the cycles after which loads that wait are served (`WAITS`)."""
    barriers: float
    """Barriers that one SIMD group passes."""
    atomic_same: float
    """Operations on an address right after another one's, summed: lanes, or SIMD groups if uniform."""
    atomic_lines: float
    atomic_requests: float
    atomic_spread: float
    """How many lines atomics are spread over."""
    local_atomics: float
    """Cycles of local atomics over the launch."""
    accesses: tuple[AccessDemand, ...] = ()
    caveats: tuple[str, ...] = ()


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
        bounds.append((int(facts.local_bytes // (local + 1024)), "local"))
    groups, limit = min(bounds, key=lambda it: it[0])
    groups = max(groups, 1)
    return Residents(groups, groups * warps, limit)


WAITS = (30.0, 300.0, 900.0)

_LINES = GlobalRule(128, 128, split={8: 2, 16: 4})
_PIECES = GlobalRule(64, 64)


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
    cache = max(facts.l1_bytes - side_by_side * local, 16 * 1024)
    seen = hits(found, launch, side_by_side, facts.compute_units, cache, facts.simd_width)
    lines = Counter(
        dataclasses.replace(device, id=f"{device.id}:lines", global_rule=_LINES), Spending(Budget())
    )
    whole = Counter(
        dataclasses.replace(device, id=f"{device.id}:whole", global_rule=GlobalRule(128, 128)),
        Spending(Budget()),
    )
    banks = Counter(device, Spending(Budget()))
    pieces = Counter(
        dataclasses.replace(device, id=f"{device.id}:pieces", global_rule=_PIECES), Spending(Budget())
    )
    accesses = tuple(
        it for one in run.accesses if (it := _access(one, found, seen, lines, whole, banks)) is not None
    )
    warps = float(found.simd_groups)
    reads, writes, again, partial, held = _footprints(found, accesses, pieces, whole, device)
    atomics = [it for it in accesses if it.op == "atomic"]
    by_site: dict[int, AccessDemand] = {}
    for it in accesses:  # A loop's main part rather than what is left of its turns.
        if it.site not in by_site or it.requests > by_site[it.site].requests:
            by_site[it.site] = it
    loads = [it for it in accesses if it.op == "load" and it.space != "local"]
    stores = [it for it in accesses if it.op == "store" and it.space != "local"]
    private = _private(run, facts)
    kept = float(made.code.private_bytes) * launch.group_items * side_by_side
    spilled = max(0.0, 1.0 - 0.75 * cache / kept) if kept else 0.0
    return Demand(
        groups,
        launch.group_items,
        warps,
        resident,
        _slots(run),
        sum(it.line_cycles for it in accesses) + private,
        sum(it.line_cycles for it in accesses if it.space == "local"),
        sum(it.l2_sectors for it in loads) + 4.0 * private * spilled,
        sum(it.l2_lines for it in loads),
        sum(it.l2_sectors for it in stores),
        sum(it.l2_lines for it in stores),
        reads,
        writes,
        again,
        *partial,
        held,
        {
            wait: path_cycles(
                made.code.blocks,
                run.weights,
                warps,
                _latencies(by_site, facts, wait, spilled),
                lambda it: _occupies(it, by_site),
                {Pipe.FP64: 1.0, Pipe.SPECIAL: 2.0},
            )
            for wait in WAITS
        },
        _barriers(run, warps),
        *_atomic_demand(atomics, found, _spans(made, launch)),
        accesses,
        _caveats(made, found),
    )


def _caveats(made: Compiled, found: Profile) -> tuple[str, ...]:
    notes = [found.note] if found.note else []
    notes += [f"the cost of {name} is not known" for name in made.unknown]
    return tuple(notes)


def _access(
    one: MachineAccess,
    found: Profile,
    seen: Mapping[int, Hits],
    lines: Counter,
    whole: Counter,
    banks: Counter,
) -> AccessDemand | None:
    memory = one.instruction.memory
    assert memory is not None
    if one.row is None or one.site is None:
        if one.requests <= 0:
            return None
        width = 32.0 * memory.size / 32.0
        return AccessDemand(
            -1 if one.instruction.site is None else one.instruction.site,
            memory.op,
            memory.space,
            one.requests,
            max(width / 4, 1) * one.requests,
            width * one.requests,
            one.requests,
            None,
            0.0,
        )
    if memory.space == "local":
        wavefronts = (one.units or one.requests) / one.requests if one.requests else 1.0
        return AccessDemand(
            one.site,
            memory.op,
            "local",
            one.requests,
            one.requests * _local_cycles(memory, wavefronts),
            0.0,
            0.0,
            None,
            0.0,
        )
    row = dataclasses.replace(one.row, op="store") if memory.op == "atomic" else one.row
    try:
        line = lines.count(row)
        full = whole.count(row)
        bank = banks.count(dataclasses.replace(row, space=AddressSpace.LOCAL))
    except OverBudgetError:
        line = full = bank = Tally()
    per_request = max(_each(line) / _LINES_A_CYCLE, _each(bank), 1.0)
    per_line = _each(full)
    sectors = one.units if one.units is not None else one.requests * 4
    cached = seen.get(one.site)
    missing = 1.0 - cached.sectors if cached is not None and memory.op == "load" else 1.0
    return AccessDemand(
        one.site,
        memory.op,
        memory.space,
        one.requests,
        per_request * one.requests,
        sectors * missing,
        per_line * one.requests * missing,
        cached,
        0.0,
    )


_LINES_A_CYCLE = 4.0
"""Lines of which a request's tags are compared in a cycle; NVIDIA H200, lookups in a table of 32 lines."""


def _each(tally: Tally) -> float:
    return tally.units / tally.requests if tally.requests else 1.0


def _local_cycles(memory: MemoryOp, wavefronts: float) -> float:
    """Return the cycles of a local access: 128 bytes a cycle, and of wide ones each conflict again."""
    least = memory.size / 4.0
    if memory.op != "load" or memory.size <= 8:
        return max(wavefronts, 1.0)
    return max(least, 2.0 * wavefronts - least)


def _footprints(
    found: Profile,
    accesses: tuple[AccessDemand, ...],
    pieces: Counter,
    whole_lines: Counter,
    device: DeviceModel,
) -> tuple[float, float, float, tuple[float, float], float]:
    """Return bytes read and written once, sectors that come again from far apart, sectors and lines
    written in part, and bytes of lines that are held.
    """
    held: dict[object, list[float]] = {}
    sectors = Counter(device, Spending(Budget()))
    partial: dict[object, tuple[float, float]] = {}
    read: dict[object, list[float]] = {}
    written: dict[object, list[float]] = {}
    random = 0.0
    fetched: dict[object, float] = {}
    used = {it.site: it for it in accesses if it.site >= 0}
    for site, rows in found.rows.items():
        if not rows or rows[0].space.value not in ("global", "constant") or site not in used:
            continue
        touched, low, high = 0.0, None, None
        for one in rows:
            try:
                tally = pieces.count(one)
            except OverBudgetError:
                continue
            touched += 64.0 * tally.units * found.scale
            if tally.first_byte is not None:
                low = tally.first_byte if low is None else min(low, tally.first_byte)
                high = tally.end_byte if high is None else max(high, tally.end_byte)
        if low is None or high is None:
            continue
        root = rows[0].root
        line_bytes = 128.0 * found.scale * sum(whole_lines.count(it).units for it in rows)
        entry = held.setdefault(root, [0.0, low, high])
        entry[0] += line_bytes
        entry[1], entry[2] = min(entry[1], low), max(entry[2], high)
        for op, table in (("load", read), ("store", written)):
            if rows[0].op in (op, "atomic"):
                entry = table.setdefault(root, [0.0, low, high])
                entry[0] += touched
                entry[1], entry[2] = min(entry[1], low), max(entry[2], high)
        if rows[0].op == "store":
            few = found.scale * sum(sectors.count(it).units for it in rows)
            stored = found.scale * sum(pieces.count(it).executions for it in rows) * rows[0].size
            if stored < 0.9 * min(32.0 * few, high - low):
                old = partial.get(root, (0.0, 0.0))
                span = high - low
                partial[root] = (old[0] + min(float(few), span / 32), old[1] + min(line_bytes, span) / 128.0)
        if rows[0].op == "load":
            fetched[root] = fetched.get(root, 0.0) + used[site].l2_sectors
    filled = {root: it for root, it in written.items() if root not in partial}
    sums = [sum(min(it[0], it[2] - it[1]) for it in table.values()) for table in (read, filled)]
    for source, asked in fetched.items():
        entry = read[source]
        random += max(0.0, asked - min(entry[0], entry[2] - entry[1]) / 32)
    both = (sum(it[0] for it in partial.values()), sum(it[1] for it in partial.values()))
    return sums[0], sums[1], random, both, sum(min(it[0], it[2] - it[1]) for it in held.values())


def _slots(run: Executed) -> dict[str, float]:
    total: dict[str, float] = {"issue": 0.0}
    for weight, block in zip(run.weights, run.compiled.code.blocks, strict=True):
        for it in block.instructions:
            for pipe, slots in ((it.pipe, it.cost), *it.extra):
                if slots:
                    total[pipe.value] = total.get(pipe.value, 0.0) + weight * slots
                    total["issue"] += weight * slots
    return total


def _private(run: Executed, facts: TimeFacts) -> float:
    """Cycles of private arrays in memory: a wavefront for each four bytes; interleaved by lane, they
    coalesce."""
    total = 0.0
    for weight, block in zip(run.weights, run.compiled.code.blocks, strict=True):
        for it in block.instructions:
            if it.memory is not None and it.memory.space == "private":
                total += weight * max(it.memory.size / 4, 1.0)
    return total


def _barriers(run: Executed, warps: float) -> float:
    total = 0.0
    for weight, block in zip(run.weights, run.compiled.code.blocks, strict=True):
        total += weight * sum(it.is_barrier for it in block.instructions)
    return total / max(warps, 1.0)


def _latencies(
    by_site: Mapping[int, AccessDemand], facts: TimeFacts, wait: float, spilled: float
) -> Callable[[Instruction, int], float]:
    """Return the latency of an instruction of which a pass has some copies."""
    return lambda it, copies: _latency(it, copies, by_site, facts, wait, spilled)


def _latency(
    it: Instruction,
    copies: int,
    by_site: Mapping[int, AccessDemand],
    facts: TimeFacts,
    wait: float,
    spilled: float,
) -> float:
    memory = it.memory
    if memory is None or memory.op == "store":
        return it.latency if memory is None else 1.0
    if memory.space == "local":
        return facts.latency_local
    if memory.space == "private":
        return facts.latency_l1 + spilled * (wait - facts.latency_l1)
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


def _atomic_demand(
    atomics: list[AccessDemand], found: Profile, spans: Mapping[int, tuple[float, float]]
) -> tuple[float, float, float, float, float]:
    """Return same-address operations, line requests, requests, lines spread over, and local cycles."""
    same = lines = requests = local = 0.0
    spread = 1.0
    for it in atomics:
        rows: list[Rows] = found.rows.get(it.site, [])
        executions = it.requests * 32.0
        if it.space == "local":
            local += it.requests * _multiplicity(rows)
            continue
        if not rows:
            addresses, covered = spans.get(it.site, (1e6, 1e5))
            requests += it.requests
            lines += it.requests * min(32.0, covered)
            spread = max(spread, covered)
            same += executions / max(addresses, 1.0)
            continue
        low = min((one.offset.const for one in rows), default=0)
        uniform = bool(rows) and all(one.offset.is_uniform for one in rows)
        addresses, covered = _addresses(rows, low)
        requests += it.requests
        lines += it.l2_lines
        spread = max(spread, covered)
        if uniform:
            same += it.requests
        else:
            same += executions / max(addresses, 1.0)
    return same, lines, requests, spread, local


def _spans(made: Compiled, launch: Launch) -> dict[int, tuple[float, float]]:
    """Return for atomics whose places are not known how many addresses and lines their buffers have."""
    spans = {}
    for statement in ir.walk(made.probed.kernel.body):
        if not isinstance(statement, ir.Atomic):
            continue
        for node in ir.nodes(statement.pointer):
            name = node.variable.name if isinstance(node, ir.Read) else ""
            buffer = launch.arguments.get(name)
            if isinstance(buffer, BufferArgument):
                spans[statement.site] = (
                    float(buffer.count),
                    max(buffer.count * statement.type.size / 128, 1.0),
                )
    return spans


def _addresses(rows: list[Rows], low: int) -> tuple[float, float]:
    from clmap_lsp.emulator.symbolic.counting import dense

    first, end = None, None
    for one in rows:
        try:
            addresses, _, rest = dense(one)
        except OverBudgetError:
            return 1e9, 1e7
        reach = sum(abs(c) * (one.counts[d] - 1) for d, c in rest.coefs)
        at = int(addresses.min()) + rest.const
        first = at if first is None else min(first, at)
        end = max(end or 0, int(addresses.max()) + rest.const + reach + one.size)
    width = (end or 4) - (first or 0)
    return max(width / 4.0, 1.0), max(width / 128.0, 1.0)


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
