"""In which order the assembler puts the instructions of a block.

A unit executes a SIMD group's instructions in the order of the machine code, so that one that waits holds up
those behind it. The assembler takes them in the order of the source, past those whose operands are not there
yet, as far as registers go: it keeps to 32, with which a unit is full. Far loads and what their addresses
are made of come as early as that allows, near ones when they are needed.

Read off the machine code that ptxas 13 makes for sm_90 of what the OpenCL compiler returned for kernels in
`benchmarks/time_kernels/unseen_seventh.cl`. `gravity_direct`: four loads of four words fill what is left of
32 registers, and the four bodies' roots follow one after the other. `sgemm_reg_4x4`: of four turns' loads
three wait in turn.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence, Set

from clmap_lsp.compiled.machine_code import BasicBlock, Instruction

_REGISTERS = 32
_TAKEN = 4
"""Of them, for the stack, for the work-item's number, and for what is used behind the block."""
_FAR = 200.0
"""Cycles that the assembler expects a load to take that is not from local memory."""
_LOCAL = 30.0
_CHOICE = 32
"""Instructions that could be issued, among which one is looked for."""


def uniform_registers(blocks: Sequence[BasicBlock]) -> frozenset[str]:
    """Return the registers that are alike in all lanes whatever data say: these lie elsewhere."""
    every = [it for block in blocks for it in block.instructions]
    readers: dict[str, list[Instruction]] = {}
    for it in every:
        for name in it.reads:
            readers.setdefault(name, []).append(it)
    varying: set[str] = set()
    found = [it for it in every if _varies(it)]
    while found:
        fresh = [name for name in found.pop().writes if name not in varying]
        varying.update(fresh)
        for name in fresh:
            found += readers.get(name, [])
    return frozenset(name for it in every for name in it.writes) - varying


def _varies(it: Instruction) -> bool:
    is_loaded = it.memory is not None and it.memory.op != "store"
    return is_loaded or "%tid" in it.text or "%laneid" in it.text


class Order:
    """The order of one block's instructions, built by `issue_order`."""

    def __init__(
        self, instructions: Sequence[Instruction], needs: Sequence[tuple[int, ...]], uniform: Set[str]
    ) -> None:
        self._its = instructions
        self._needs = needs
        self._widths = {
            name: _width(name, uniform) for it in instructions for name in (*it.reads, *it.writes)
        }
        self._assumed = [_assumed(it) for it in instructions]
        self._users: list[list[int]] = [[] for _ in instructions]
        for place, before in enumerate(needs):
            for one in before:
                self._users[one].append(place)
        self._heights = self._longest_ways()
        self._far = self._lead_to_far_loads()
        self._values()
        self.order: list[int] = []

    def _longest_ways(self) -> list[float]:
        heights = [0.0] * len(self._its)
        for place in range(len(heights) - 1, -1, -1):
            after = (heights[it] for it in self._users[place])
            heights[place] = self._assumed[place] + max(after, default=0.0)
        return heights

    def _lead_to_far_loads(self) -> list[bool]:
        """Tell of each instruction whether it is a load from afar, or an address of one is made of it."""
        far = [_is_far(it) for it in self._its]
        return [is_far or any(far[it] for it in self._users[at]) for at, is_far in enumerate(far)]

    def _values(self) -> None:
        """Find who reads whose result, how many registers each takes, and what is kept all the while."""
        count = len(self._its)
        writer: dict[str, int] = {}
        given: set[str] = set()
        self._operands: list[list[int]] = [[] for _ in range(count)]
        self._readers = [0] * count
        for place, it in enumerate(self._its):
            for name in set(it.reads):
                if name in writer:
                    self._operands[place].append(writer[name])
                    self._readers[writer[name]] += 1
                else:
                    given.add(name)
            for name in it.writes:
                writer[name] = place
        # What the next turn reads takes the place of what this one was given.
        kept = {writer[name] for name in given if name in writer}
        for place in kept:
            self._readers[place] += 1
        self._sizes = [
            0 if place in kept or not self._readers[place] else sum(self._widths[name] for name in it.writes)
            for place, it in enumerate(self._its)
        ]
        self._live = _TAKEN + sum(self._widths[name] for name in given)
        self._budget = max(_REGISTERS, self._needed())

    def _needed(self) -> int:
        """Return how many registers the order of the source takes."""
        left, live = self._readers[:], self._live
        most = live
        for place, size in enumerate(self._sizes):
            live += size
            most = max(most, live)
            for one in self._operands[place]:
                left[one] -= 1
                live -= 0 if left[one] else self._sizes[one]
        return most

    def _more(self, place: int) -> int:
        """Return how many registers more are taken once an instruction is issued."""
        freed = sum(self._sizes[it] for it in self._operands[place] if self._readers[it] == 1)
        return self._sizes[place] - freed

    def run(self) -> list[int]:
        """Return the instructions' places in the order of the machine code."""
        missing = [len(it) for it in self._needs]
        ready = [0.0] * len(missing)
        waiting = [(0.0, place) for place, count in enumerate(missing) if not count]
        able: list[int] = []
        longest = max(self._heights, default=0.0)
        at = 0.0
        while waiting or able:
            while waiting and waiting[0][0] <= at:
                heapq.heappush(able, heapq.heappop(waiting)[1])
            place, at = self._next(able, waiting, at, longest)
            if place < 0:
                continue
            self.order.append(place)
            self._live += self._more(place)
            for one in self._operands[place]:
                self._readers[one] -= 1
            at += max(self._its[place].cost, 0.0)
            for user in self._users[place]:
                missing[user] -= 1
                ready[user] = max(ready[user], at + self._result_after(place, user))
                if not missing[user]:
                    heapq.heappush(waiting, (ready[user], user))
        return self.order

    def _next(
        self, able: list[int], waiting: Sequence[tuple[float, int]], at: float, longest: float
    ) -> tuple[int, float]:
        """Return what is issued now, taken out of `able`, or -1 and when to look again."""
        chosen = -1
        later = [waiting[0][0]] if waiting else []
        looked_at: list[tuple[int, int]] = []
        while able and len(looked_at) < _CHOICE:
            place = heapq.heappop(able)
            more = self._more(place)
            # What takes a register and is not far away is not needed before the longest way comes to it.
            due = at if self._far[place] or more <= 0 else longest - self._heights[place]
            fits = self._live + more <= self._budget
            if fits and due <= at:
                chosen = place
                break
            later += [due] if fits else []
            looked_at.append((more, place))
        if chosen < 0 and not later:  # Nothing fits and nothing will: what takes the fewest registers.
            chosen = min(looked_at)[1]
        for _, place in looked_at:
            if place != chosen:
                heapq.heappush(able, place)
        return chosen, at if chosen >= 0 else min(later)

    def _result_after(self, place: int, user: int) -> float:
        """Return after how many cycles one lets another go on: at once, if only their order matters."""
        return self._assumed[place] if set(self._its[place].writes) & set(self._its[user].reads) else 0.0


def issue_order(
    instructions: Sequence[Instruction], needs: Sequence[tuple[int, ...]], uniform: Set[str]
) -> list[int]:
    """Return the places of instructions in the order in which they are issued.

    `needs` names for each those that must come before; `uniform` the registers that cost none.
    """
    return Order(instructions, needs, uniform).run()


def _width(name: str, uniform: Set[str]) -> int:
    """Return how many of a lane's registers one of the assembly takes: predicates and uniform ones none."""
    return 0 if name.startswith("%p") or name in uniform else 2 if name.startswith("%rd") else 1


def _is_far(it: Instruction) -> bool:
    return it.memory is not None and it.memory.op == "load" and it.memory.space != "local"


def _assumed(it: Instruction) -> float:
    if it.memory is None or it.memory.op != "load":
        return it.latency
    return _FAR if _is_far(it) else _LOCAL
