"""What a launch executes of machine code: executions of blocks, and what each access asks of the memory."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Mapping
from dataclasses import field
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING

from clmap_lsp.compiled.balance import Balance, balance_of
from clmap_lsp.compiled.build import Compiled
from clmap_lsp.compiled.machine_code import Instruction, MemoryOp
from clmap_lsp.compiled.probes import ProbedKernel
from clmap_lsp.compiled.weights import block_weights
from clmap_lsp.dataclass import dataclass
from clmap_lsp.emulator.moved import Moved
from clmap_lsp.emulator.symbolic.control import BailError, Budget, OverBudgetError, Spending
from clmap_lsp.emulator.symbolic.counting import Counter, Tally
from clmap_lsp.emulator.symbolic.counts import run_boxes
from clmap_lsp.emulator.symbolic.machine import HOW_OFTEN, Machine, Turns
from clmap_lsp.emulator.symbolic.rows import Rows
from clmap_lsp.emulator.symbolic.space import Box, box_of_group, boxes_of
from clmap_lsp.emulator.symbolic.values import Sym
from clmap_lsp.source import ir
from clmap_lsp.source.types import AddressSpace

if TYPE_CHECKING:
    from clmap_lsp.devices.model import DeviceModel
    from clmap_lsp.launch.model import Launch


@dataclass(frozen=True, slots=True)
class Profile:
    """The executions of a launch, before it is known which instructions they are of."""

    rows: Mapping[int, list[Rows]]
    """By site of the source."""
    probes: Mapping[int, float]
    """Executions of each probe by SIMD groups with an active lane."""
    simd_groups: int
    doubts: Mapping[int, str]
    """Sites that could not be followed, and why."""
    scale: float = 1.0
    """Launches that `rows` stand for: more than 1 where they are of some work-groups only."""
    places: Mapping[int, int] = field(default_factory=dict)
    """By identity of rows, the box that they are of."""
    note: str = ""
    """What of the launch was not followed."""
    supposed: Mapping[int, str] = field(default_factory=dict)
    """Sites, those of probes too, that are counted by what is supposed of data, and why."""
    turns: Turns | None = None
    """Iterations that loops are taken to make which data end."""
    balance: Balance = Balance()

    def without_supposed(self, compiled: Compiled) -> Profile:
        """Return the launch as if nobody took the branches and made the iterations that depend on data."""
        number = compiled.probed.number_of_site
        return dataclasses.replace(
            self,
            rows={site: rows for site, rows in self.rows.items() if site not in self.supposed},
            probes={
                it: 0.0 if it in {number(site) for site in self.supposed} else count
                for it, count in self.probes.items()
            },
            supposed={},
        )


SAMPLED_GROUPS = 24
"""Work-groups that stand for a launch that is too large or too irregular to be followed as a whole."""
_SAMPLED_WORK = 150_000
"""What they may cost together, as `Budget.whole` has it; those that are beyond it are left out."""


@dataclass(frozen=True, slots=True)
class Supposition:
    """What is supposed where data decide that the launch does not give."""

    taken: bool = False
    """Branches are counted as if whoever may come there did."""
    turns: Turns | None = None
    """Loops that data end are counted as if they made so many iterations; else they are unknown."""


NOTHING_SUPPOSED = Supposition()


def profile(
    compiled: Compiled,
    launch: Launch,
    device: DeviceModel,
    constants: tuple[ir.Initializer, ...],
    suppose: Supposition = NOTHING_SUPPOSED,
) -> Profile | str:
    """Follow the launch symbolically; the answer is why not, if that cannot be done.

    Where the whole launch is over the budget, work-groups of it are followed and stand for the others.
    """
    found = _followed(compiled, launch, device, constants, boxes_of(launch), suppose)
    if not isinstance(found, str):
        return found
    return sampled_profile(compiled, launch, device, constants, found, suppose)


def sampled_profile(
    compiled: Compiled,
    launch: Launch,
    device: DeviceModel,
    constants: tuple[ir.Initializer, ...],
    why: str,
    suppose: Supposition = NOTHING_SUPPOSED,
) -> Profile | str:
    """Follow some work-groups of a launch that is too much to be followed or counted as a whole.

    The answer is `why` where even these are.
    """
    groups = 1
    for count in launch.num_groups:
        groups *= count
    chosen = min(SAMPLED_GROUPS, groups)
    edges = [groups * k // chosen for k in range(chosen + 1)]
    random = Random(0)
    ids = [random.randrange(low, high) for low, high in pairwise(edges)]
    boxes = [box_of_group(launch, ids[it]) for it in _scattered(chosen)]
    sample = _followed(compiled, launch, device, constants, boxes, suppose, groups)
    if isinstance(sample, str):
        return why
    followed = round(groups / sample.scale)
    return dataclasses.replace(sample, note=f"{followed} of {groups} work-groups stand for all: {why}")


def _scattered(count: int) -> list[int]:
    """Return 0 to `count` so that any first few of them lie all over: bits in reverse."""
    bits = max(count - 1, 1).bit_length()
    return sorted(range(count), key=lambda it: int(f"{it:0{bits}b}"[::-1], 2))


@dataclass(slots=True)
class _Sums:
    """What has been found out of a launch, machine by machine."""

    rows: dict[int, list[Rows]] = field(default_factory=dict)
    probes: dict[int, float] = field(default_factory=dict)
    doubts: dict[int, str] = field(default_factory=dict)
    supposed: dict[int, str] = field(default_factory=dict)
    places: dict[int, int] = field(default_factory=dict)
    probed_rows: list[list[tuple[int, Rows]]] = field(default_factory=list)

    def add(self, machine: Machine, probed: ProbedKernel, counter: Counter) -> None:
        """Add a machine, or nothing of it. Raises: OverBudgetError."""
        mine = [(number, it) for it in machine.rows if (number := probed.number_of_site(it.site)) is not None]
        counted = [(number, counter.count(it).requests) for number, it in mine]
        for number, requests in counted:
            self.probes[number] = self.probes.get(number, 0.0) + requests
        for one in machine.rows:
            if probed.number_of_site(one.site) is None:
                self.rows.setdefault(one.site, []).append(one)
                self.places[id(one)] = len(self.probed_rows)
        self.probed_rows.append(mine)
        for doubt in machine.doubts:
            where = self.supposed if doubt.is_counted else self.doubts
            if doubt.site not in where or doubt.reason.startswith(HOW_OFTEN):
                where[doubt.site] = doubt.reason


def _followed(
    compiled: Compiled,
    launch: Launch,
    device: DeviceModel,
    constants: tuple[ir.Initializer, ...],
    boxes: list[Box],
    suppose: Supposition,
    sampled_of: int = 0,
) -> Profile | str:
    """Follow boxes of work-groups; with `sampled_of`, as many as fit the budget of so many groups."""
    probed = compiled.probed
    spending = Spending(Budget(whole=_SAMPLED_WORK) if sampled_of else Budget())
    sums = _Sums()
    try:
        machines = run_boxes(
            probed.kernel,
            launch,
            device.simd_width,
            spending,
            (*constants, probed.initializer),
            boxes,
            follow_ordinals=True,
            suppose_taken=suppose.taken,
            suppose_turns=suppose.turns,
            everybody_counts=True,
            as_many_as_fit=bool(sampled_of),
        )
        counter = Counter(device, spending.for_a_sample() if sampled_of else spending)
        for machine in machines:
            try:
                sums.add(machine, probed, counter)
            except OverBudgetError:
                if not (sampled_of and sums.probed_rows):
                    raise
                break
    except BailError as error:
        return error.bail.reason
    except OverBudgetError as error:
        return error.reason
    hidden = [why for site, why in sums.doubts.items() if probed.number_of_site(site) is not None]
    if hidden:
        return hidden[0].replace("whether it runs ", "whether part of the kernel runs, or how often, ", 1)
    return _profile(compiled, launch, device, sums, suppose.turns, sampled_of)


def _profile(
    compiled: Compiled, launch: Launch, device: DeviceModel, sums: _Sums, turns: Turns | None, sampled_of: int
) -> Profile:
    width = device.simd_width
    scale = sampled_of / len(sums.probed_rows) if sampled_of else 1.0
    groups = sum(
        box.n_groups * -(-(box.local_size[0] * box.local_size[1] * box.local_size[2]) // width)
        for box in boxes_of(launch)
    )
    return Profile(
        sums.rows,
        {number: count * scale for number, count in sums.probes.items()},
        groups,
        sums.doubts,
        scale,
        sums.places,
        supposed=sums.supposed,
        turns=turns,
        balance=balance_of(sums.probed_rows, compiled.code, width),
    )


@dataclass(frozen=True, slots=True)
class MachineAccess:
    """One memory instruction and what all its executions ask for."""

    instruction: Instruction
    block: int
    site: int | None
    requests: float
    """Executions by SIMD groups with an active lane."""
    units: float | None
    """Sectors or wavefronts; `None` where they are unknown."""
    merged: int
    """How many accesses of the source it stands for."""
    rows: tuple[Rows, ...] = field(default=(), repr=False)
    """The addresses of the access as the machine makes it: those of one box, or of turns and boxes that are
    followed one by one some, from all over."""
    whole: Rows | None = field(default=None, repr=False)
    """The addresses of the access as written, where the machine makes it in pieces."""


@dataclass(frozen=True, slots=True)
class Executed:
    """A launch of machine code."""

    compiled: Compiled
    weights: tuple[float, ...]
    """Executions of each block by SIMD groups."""
    accesses: tuple[MachineAccess, ...]


def executed(compiled: Compiled, found: Profile, device: DeviceModel) -> Executed:
    """Return what runs of the machine code."""
    weights = block_weights(compiled.code.blocks, found.probes, float(found.simd_groups), compiled.owners)
    units_of = _Units(device, found)
    sizes = {site: rows[0].size for site, rows in found.rows.items() if rows}
    lost = _LostSites(compiled, found)
    accesses = []
    for number, block in enumerate(compiled.code.blocks):
        for instruction in block.instructions:
            memory = instruction.memory
            if memory is None or memory.space == "private":
                continue
            site = instruction.site
            if not _is_of(instruction, found):
                site = lost.take(instruction)
            elif (better := lost.instead_of(instruction)) is not None:
                site = better
            merged = 1
            if site is not None and site in sizes:
                merged = max(1, round(memory.size / min(sizes[site], 16)))
            requests = weights[number]
            units, rows = units_of.instruction(site, merged, requests, memory.size)
            in_pieces = bool(rows) and site is not None and memory.size < sizes[site]
            whole = found.rows[site][0] if in_pieces and site is not None else None
            accesses.append(MachineAccess(instruction, number, site, requests, units, merged, rows, whole))
    return Executed(compiled, tuple(weights), tuple(accesses))


def _is_of(instruction: Instruction, found: Profile) -> bool:
    """Tell whether an instruction is of the access that it names: vectors' parts take another's place."""
    memory, site = instruction.memory, instruction.site
    if memory is None or site is None:
        return False
    rows = found.rows.get(site)
    if not rows:  # It was not followed, so that nothing can be held against what the instruction says.
        return site in found.doubts
    if rows[0].op != memory.op:
        return False
    return (_space(rows[0].space) == "local") == (memory.space == "local")


class _LostSites:
    """Sites of merged instructions whose place LLVM forgot: those that no instruction names, in order."""

    def __init__(self, compiled: Compiled, found: Profile) -> None:
        named = {it.site for block in compiled.code.blocks for it in block.instructions if _is_of(it, found)}
        self.waiting: dict[tuple[str, str], list[int]] = {}
        self.of_size: dict[tuple[str, str, int], collections.Counter[int]] = {}
        """By size: how many instructions each of them was given."""
        for site in sorted(found.rows):
            rows = found.rows[site]
            if site not in named and rows:
                key = (rows[0].op, _space(rows[0].space))
                self.waiting.setdefault(key, []).append(site)
                self.of_size.setdefault((*key, rows[0].size), collections.Counter())[site] = 0
        self.in_pieces = {key: list(sites) for key, sites in self.waiting.items()}
        """All of them: a vector that need not be aligned is loaded in pieces, in each copy of a body."""
        self.given: collections.Counter[int] = collections.Counter()
        self.rows = found.rows
        self.copies = collections.Counter(
            it.site for block in compiled.code.blocks for it in block.instructions if _is_of(it, found)
        )

    def instead_of(self, instruction: Instruction) -> int | None:
        """Return whose access an instruction is that is wider than the one whose place it has.

        Of a vector LLVM keeps the place of the first use of a part, which may be another load's.
        """
        memory, site = instruction.memory, instruction.site
        if memory is None or site is None or site not in self.rows:
            return None
        if self.rows[site][0].size >= memory.size:
            return None
        return self._of_size(memory)

    def _of_size(self, memory: MemoryOp) -> int | None:
        """Return the access of just this size with the fewest instructions: unrolled loops make it again."""
        given = self.of_size.get((memory.op, memory.space, memory.size))
        if not given:
            return None
        site = min(given, key=lambda it: (given[it], it))
        given[site] += 1
        waiting = self.waiting.get((memory.op, memory.space), [])
        if site in waiting:
            waiting.remove(site)
        return site

    def take(self, instruction: Instruction) -> int | None:
        """Return whose access an instruction is that names none, or one of another kind."""
        memory = instruction.memory
        assert memory is not None
        same = self._of_size(memory)
        if same is not None:
            return same
        waiting = self.waiting.get((memory.op, memory.space), [])
        if not waiting:
            piece = self._piece_of(memory)
            return self._like(memory) if piece is None else piece
        first = waiting.pop(0)
        self.given[first] += 1
        left = memory.size - self.rows[first][0].size
        root = self.rows[first][0].root
        while left > 0 and waiting and self.rows[waiting[0]][0].root is root:
            left -= self.rows[waiting.pop(0)][0].size
        return first

    def _piece_of(self, memory: MemoryOp) -> int | None:
        """Return the wider access that no instruction names of which the fewest pieces were found."""
        wider = [
            it
            for it in self.in_pieces.get((memory.op, memory.space), [])
            if self.rows[it][0].size > memory.size
        ]
        if not wider:
            return None
        site = min(wider, key=lambda it: (self.given[it] * memory.size / self.rows[it][0].size, it))
        self.given[site] += 1
        return site

    def _like(self, memory: MemoryOp) -> int | None:
        """Return an access of the source that an instruction can be a copy of, if all are to one object."""
        same = [
            site
            for site, rows in self.rows.items()
            if rows
            and (rows[0].op, _space(rows[0].space)) == (memory.op, memory.space)
            and rows[0].size <= memory.size
        ]
        roots = {id(self.rows[it][0].root) for it in same}
        return min(same, key=lambda it: (self.copies[it], it)) if len(roots) == 1 else None


def _space(space: AddressSpace) -> str:
    return {AddressSpace.LOCAL: "local", AddressSpace.CONSTANT: "constant"}.get(space, "global")


_SHOWN = 32
"""Rows of an access of which lines are counted: turns of a search go from one address for all to one each."""


class _Units:
    """What requests ask for, by the access that they are of: an unrolled loop makes one access many times."""

    def __init__(self, device: DeviceModel, found: Profile) -> None:
        self.device, self.found = device, found
        self.known: dict[tuple[int, int, int], tuple[Tally | None, tuple[Rows, ...]]] = {}

    def instruction(
        self, site: int | None, merged: int, requests: float, size: int
    ) -> tuple[float | None, tuple[Rows, ...]]:
        """Return the sectors or wavefronts of `requests` executions, by the mean of the site's addresses."""
        if site is None or site not in self.found.rows or site in self.found.doubts:
            return None, ()
        asked = site, merged, size
        if asked not in self.known:
            self.known[asked] = self._counted(site, merged, size)
        total, shown = self.known[asked]
        if total is None or total.unknown:
            return None, shown
        return (requests * total.units / total.requests if total.requests else 0.0), shown

    def _counted(self, site: int, merged: int, size: int) -> tuple[Tally | None, tuple[Rows, ...]]:
        """Count all executions of an access; `None` where that is over the budget of one access."""
        counter = Counter(self.device, Spending(Budget()))
        total = Tally()
        every = [widened(rows, merged, size) for rows in self.found.rows[site]]
        count = min(len(every), _SHOWN)
        shown = tuple(every[len(every) * k // count] for k in range(count))
        for wide in every:
            try:
                total.add(counter.count(wide))
            except OverBudgetError:
                return None, shown
        return total, shown


def widened(rows: Rows, merged: int, size: int) -> Rows:
    """Return the addresses of an access that stands for `merged` neighbouring ones of `rows`."""
    if size < rows.size:  # One of the pieces of a wide access: they are counted alike.
        return dataclasses.replace(rows, size=size, moved=at_once(rows, size))
    if merged == 1:
        return rows
    coefs, counts = dict(rows.offset.coefs), list(rows.counts)
    for dimension in range(len(counts) - 1, 2, -1):
        if coefs.get(dimension) == rows.size and counts[dimension] >= merged:
            counts[dimension] //= merged
            coefs[dimension] = rows.size * merged
            offset = Sym(
                rows.offset.const,
                tuple(sorted(coefs.items())),
                rows.offset.array,
                rows.offset.low,
                rows.offset.high,
            )
            return dataclasses.replace(
                rows, offset=offset, counts=tuple(counts), size=size, moved=at_once(rows, size)
            )
    return dataclasses.replace(rows, size=size, moved=at_once(rows, size))


def at_once(rows: Rows, size: int) -> Moved:
    """Return what an instruction of the machine moves, which no compiler splits any further."""
    return Moved(size, size, max(rows.moved.alignment, size))
