"""What one memory instruction asks of the first level and of what is beyond it."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from clmap_lsp.compiled.counts import MachineAccess, at_once
from clmap_lsp.compiled.machine_code import MemoryOp
from clmap_lsp.dataclass import dataclass
from clmap_lsp.devices.model import GlobalRule
from clmap_lsp.emulator.symbolic.control import Budget, OverBudgetError, Spending
from clmap_lsp.emulator.symbolic.counting import Counter, Tally
from clmap_lsp.source.types import AddressSpace
from clmap_lsp.time.stream import Hits

if TYPE_CHECKING:
    from clmap_lsp.devices.model import DeviceModel
    from clmap_lsp.emulator.symbolic.rows import Rows

LINE_BYTES = 128
SECTOR_BYTES = 32


@dataclass(frozen=True, slots=True)
class AccessDemand:
    """One access of the source: what an instruction of it asks for over the launch."""

    site: int
    """-1 where it is not known."""
    op: str
    """`load`, `store` or `atomic`."""
    space: str
    size: int
    """Bytes a work-item."""
    requests: float
    line_cycles: float
    """Lines (global) or wavefronts (local) that pass through the first level's pipeline."""
    l2_sectors: float = 0.0
    l2_lines: float = 0.0
    hits: Hits | None = None
    """Of the first level; `None`: nothing is known, and all is taken to wait."""
    is_guessed: bool = False
    """Its addresses depend on data: its lanes are taken to be side by side."""

    @property
    def least_cycles(self) -> float:
        """Cycles in the first level's pipeline if the lanes of a request were side by side."""
        return min(self.line_cycles, max(self.size / 4.0, 1.0) * self.requests)

    def at_its_best(self) -> AccessDemand:
        """Return the same requests with their lanes' elements side by side and aligned.

        What the first level already has is not asked for again, so that sectors fall to those of whole
        requests only where they are more.
        """
        if self.op == "atomic" or self.site < 0:
            return self
        return dataclasses.replace(
            self,
            line_cycles=self.least_cycles,
            l2_sectors=min(self.l2_sectors, self.requests * self.size),
            l2_lines=min(self.l2_lines, self.requests * max(self.size / 4.0, 1.0)),
        )

    def loaded_once(self, n_bytes: float) -> AccessDemand:
        """Return the same requests with what they ask for at hand: so many bytes were loaded, each once.

        Local memory and the first level share one pipeline, which takes a request without conflicts as it
        takes one of a line.
        """
        return dataclasses.replace(
            self,
            line_cycles=self.least_cycles,
            l2_sectors=min(self.l2_sectors, n_bytes / SECTOR_BYTES),
            l2_lines=min(self.l2_lines, n_bytes / LINE_BYTES),
        )

    def scattered(self, lanes: int) -> AccessDemand:
        """Return the same requests if each lane went to a line, or to a row of one bank, of its own."""
        if not self.is_guessed:
            return self
        pieces = -(-self.size // SECTOR_BYTES)
        missing = 1.0 - self.hits.sectors if self.hits is not None else 1.0
        return dataclasses.replace(
            self,
            line_cycles=max(self.line_cycles, float(lanes) * self.requests),
            l2_sectors=max(self.l2_sectors, float(lanes * pieces) * self.requests * missing),
            l2_lines=max(self.l2_lines, float(lanes) * self.requests * missing),
        )


_ROOM = Budget(work_cells=1 << 23)
"""Of all instructions of a kernel together, which unrolling makes many: a tenth of a second for each way of
counting. What takes more is counted for some work-groups, which stand for all."""


class Counters:
    """Counts addresses by the granules that a device's memory works in; each remembers what it counted."""

    def __init__(self, device: DeviceModel) -> None:
        self.lines = _counter(device, "lines", GlobalRule(LINE_BYTES, LINE_BYTES, split={8: 2, 16: 4}))
        """Lines of as many lanes as are served at a time."""
        self.whole_lines = _counter(device, "whole", GlobalRule(LINE_BYTES, LINE_BYTES))
        self.pieces = _counter(device, "pieces", GlobalRule(64, 64))
        """What device memory returns at least."""
        self.sectors = Counter(device, Spending(_ROOM))
        self.whole_sectors = _counter(device, "sectors", GlobalRule(SECTOR_BYTES, SECTOR_BYTES))
        """Sectors of whole accesses, however many instructions these take."""
        self.banks = Counter(device, Spending(_ROOM))


def _counter(device: DeviceModel, name: str, rule: GlobalRule) -> Counter:
    return Counter(dataclasses.replace(device, id=f"{device.id}:{name}", global_rule=rule), Spending(_ROOM))


def access_demand(one: MachineAccess, seen: Mapping[int, Hits], counters: Counters) -> AccessDemand | None:
    """Return what an instruction asks for; `None` for what is not executed."""
    memory = one.instruction.memory
    assert memory is not None
    if not one.rows or one.site is None:
        return _unknown(one, memory)
    if memory.space == "local":
        wavefronts = (one.units or one.requests) / one.requests if one.requests else 1.0
        cycles = one.requests * _local_cycles(memory, wavefronts)
        return AccessDemand(one.site, memory.op, "local", memory.size, one.requests, cycles)
    line, full, bank = Tally(), Tally(), Tally()
    with contextlib.suppress(OverBudgetError):  # What was counted stands for the rest.
        for row in one.rows:
            # Constant memory lies in lines, too; its own rule counts distinct addresses.
            space = AddressSpace.GLOBAL if memory.space == "constant" else row.space
            op = "store" if memory.op == "atomic" else row.op
            counted = dataclasses.replace(row, op=op, space=space)
            found = counters.lines.count(counted), counters.whole_lines.count(counted)
            bank.add(counters.banks.count(dataclasses.replace(counted, space=AddressSpace.LOCAL)))
            line.add(found[0])
            full.add(found[1])
    # A word a cycle of constant memory, though all lanes want the same four (`table_of_points`, H100).
    words = memory.size / 4.0 if memory.space == "constant" else 1.0
    per_request = max(_each(line) / LINES_A_CYCLE, _each(bank), words, 1.0)
    per_line = _each(full)
    sectors = one.units if one.units is not None else one.requests * 4
    if one.whole is not None and memory.op == "load":
        # Pieces of one access ask for the same sectors one after the other.
        sectors = min(sectors, _shared(one.whole, counters) * one.requests * memory.size / one.whole.size)
        per_line = min(per_line, per_line * memory.size / one.whole.size + 1.0)
    cached = seen.get(one.site)
    missing = 1.0 - cached.sectors if cached is not None and memory.op == "load" else 1.0
    return AccessDemand(
        one.site,
        memory.op,
        memory.space,
        memory.size,
        one.requests,
        per_request * one.requests,
        sectors * missing,
        per_line * one.requests * missing,
        cached,
    )


def _shared(whole: Rows, counters: Counters) -> float:
    """Return the sectors of one request of an access that is made in pieces."""
    try:
        return _each(
            counters.whole_sectors.count(dataclasses.replace(whole, moved=at_once(whole, whole.size)))
        )
    except OverBudgetError:
        return float(whole.size)


def _unknown(one: MachineAccess, memory: MemoryOp) -> AccessDemand | None:
    """Return an access whose addresses nobody knows: taken for side by side, and never in a cache."""
    if one.requests <= 0:
        return None
    return AccessDemand(
        -1 if one.instruction.site is None else one.instruction.site,
        memory.op,
        memory.space,
        memory.size,
        one.requests,
        max(memory.size / 4, 1) * one.requests,
        memory.size * one.requests,
        one.requests,
        is_guessed=True,
    )


_COMBINED_LINES = 4.5
"""Lines of a request up to which stores that follow each other are combined. NVIDIA H200,
`benchmarks/time_kernels/stores.cl`: strides of 16 bytes (4 lines) combine, of 20 partly, of 32 not."""
_PARTIAL = 1.5
"""What a sector costs of which a part is written, over one that is written whole; the same measurement."""


_APART = 0.04
"""What scattered stores cost more with each doubling of the SIMD groups of a work-group, whose stores come
between. NVIDIA H100, `benchmarks/time_kernels/store_groups.cl`: three words of each sector by groups of 64,
256 and 1024 take 28.9, 31.7 and 34.2 us, eight 83.5, 87.8 and 88.5, one 91 whatever the groups."""
_USUAL_SIMD_GROUPS = 8
"""Of a work-group, with which `store_sector_s` was measured."""


def with_combined_stores(
    made: Sequence[tuple[MachineAccess, AccessDemand]], simd_groups: int = _USUAL_SIMD_GROUPS
) -> tuple[AccessDemand, ...]:
    """Return accesses with the sectors of stores as the second level gets them.

    A SIMD group's stores to one object that follow each other in a block are combined before they leave the
    first level, unless a request is of many lines: then it is the less likely the more SIMD groups a
    work-group has.
    """
    apart = 1.0 + _APART * math.log2(simd_groups / _USUAL_SIMD_GROUPS)
    together: dict[tuple[int, int, float], list[int]] = {}
    for place, (one, it) in enumerate(made):
        if it.op == "store" and it.space != "local" and one.rows and it.requests:
            together.setdefault((one.block, id(one.rows[0].root), it.requests), []).append(place)
    result = [it for _, it in made]
    for places in together.values():
        some = [result[it] for it in places]
        asked = sum(it.l2_sectors for it in some)
        written = sum(_bytes_written(made[place]) for place in places) / SECTOR_BYTES
        least = max(written, *(it.l2_sectors for it in some)) if len(some) > 1 else asked
        combine = all(it.l2_lines <= _COMBINED_LINES * it.requests for it in some)
        kept = min(least, asked) if combine else asked
        cost = kept * (1.0 if written >= 0.75 * kept else _PARTIAL)
        cost *= apart if len(some) > 1 and not combine else 1.0
        for place, it in zip(places, some, strict=True):
            result[place] = dataclasses.replace(it, l2_sectors=it.l2_sectors * cost / asked if asked else 0.0)
    return tuple(result)


def _bytes_written(made: tuple[MachineAccess, AccessDemand]) -> float:
    one, it = made
    return it.requests * it.size * min(one.rows[0].n_lanes, 32)


LINES_A_CYCLE = 4.0
"""Lines of which a request's tags are compared in a cycle; NVIDIA H200, lookups in a table of 32 lines."""


def _each(tally: Tally) -> float:
    return tally.units / tally.requests if tally.requests else 1.0


def _local_cycles(memory: MemoryOp, wavefronts: float) -> float:
    """Return the cycles of a local access: 128 bytes a cycle, and of wide ones each conflict again."""
    least = memory.size / 4.0
    if memory.op != "load" or memory.size <= 8:
        return max(wavefronts, 1.0)
    return max(least, 2.0 * wavefronts - least)
