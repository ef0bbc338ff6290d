"""How long one SIMD group takes alone: its instructions, each as soon as what it reads is there."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from clmap_lsp.compiled.machine_code import BasicBlock, Instruction, Pipe

_IN_FLIGHT = 16
"""Registers that loads under way wait to fill: the assembler keeps to 32 where it can, so that a unit stays
full, and the others hold addresses and sums. ptxas 13 for sm_90: 13 to 16 loads of a word in loops of 16 to
48 of them, three or four of four words."""


def path_cycles(
    blocks: tuple[BasicBlock, ...],
    weights: tuple[float, ...],
    warps: float,
    latency: Callable[[Instruction, int], float],
    occupies: Callable[[Instruction], float],
    issue: Mapping[Pipe, float],
) -> float:
    """Return the cycles of the mean SIMD group.

    The assembler orders the instructions of a block as their results are ready; none passes a barrier, and
    no load a store before it to the same kind of memory. A loop's pass ends when its last instruction has
    issued.
    """
    total = 0.0
    carried: dict[str, float] = {}
    now = 0.0
    for block, weight in zip(blocks, weights, strict=True):
        if weight <= 0 or not block.instructions:
            continue
        instructions = block.instructions * block.copies
        once, ready = _pass(instructions, carried, now, latency, occupies, issue)
        each = once - now
        if block.header is not None and any(blocks[it] is block for it in block.successors):
            again, ready = _pass(instructions, ready, once, latency, occupies, issue)
            each = again - once
        total += each / block.copies * weight / max(warps, 1e-9)
        now = once
        carried = ready
    return total


def _pass(
    instructions: Sequence[Instruction],
    carried: Mapping[str, float],
    start: float,
    latency: Callable[[Instruction, int], float],
    occupies: Callable[[Instruction], float],
    issue: Mapping[Pipe, float],
) -> tuple[float, dict[str, float]]:
    """Return when a pass has issued all instructions, and when each register is ready."""
    runs = _runs(instructions)
    copies = Counter(runs)
    latencies = [latency(it, copies[run]) for it, run in zip(instructions, runs, strict=True)]
    needs = _needs(instructions)
    heights = _heights(needs, latencies)
    users: list[list[int]] = [[] for _ in instructions]
    missing = [len(it) for it in needs]
    for place, before in enumerate(needs):
        for one in before:
            users[one].append(place)
    written: dict[str, int] = {}
    first_reads: list[float] = []
    for place, it in enumerate(instructions):
        first_reads.append(max((carried.get(r, start) for r in it.reads if r not in written), default=start))
        for name in it.writes:
            written[name] = place
    done = [0.0] * len(instructions)
    # (when its operands are there, how much waits for it, place): those whose operands are being made.
    waiting = [(first_reads[k], -heights[k], k) for k, count in enumerate(missing) if not count]
    heapq.heapify(waiting)
    able: list[tuple[float, int]] = []
    at = pipeline = start
    under_way: list[float] = []
    while waiting or able:
        while waiting and waiting[0][0] <= at:
            _, height, place = heapq.heappop(waiting)
            heapq.heappush(able, (height, place))
        if not able:
            at = waiting[0][0]
            continue
        _, place = heapq.heappop(able)
        it = instructions[place]
        begun = at
        if it.memory is not None:
            begun = max(at, pipeline)
            if it.memory.op == "load" and len(under_way) + words_of(it) > _IN_FLIGHT:
                begun = max(begun, under_way[words_of(it) - _IN_FLIGHT - 1])
            pipeline = begun + occupies(it)
            begun = pipeline - 1.0
        done[place] = begun + latencies[place]
        if it.memory is not None and it.memory.op == "load":
            under_way += [done[place]] * words_of(it)
        at += max(it.cost * issue.get(it.pipe, 1.0), 0.0)
        for pipe, slots in it.extra:
            at += slots * issue.get(pipe, 1.0)
        for user in users[place]:
            missing[user] -= 1
            if not missing[user]:
                ready = max(
                    first_reads[user], *(_ready(one, instructions, done, user) for one in needs[user])
                )
                heapq.heappush(waiting, (ready, -heights[user], user))
    result = dict(carried)
    for name, place in written.items():
        result[name] = done[place]
    return at, result


def words_of(it: Instruction) -> int:
    """Return the registers that a load fills."""
    return 1 if it.memory is None else min(max(it.memory.size // 4, 1), _IN_FLIGHT)


def _runs(instructions: Sequence[Instruction]) -> list[tuple[int | None, int]]:
    """Return for each instruction its site and the stretch without stores that it is in.

    Loads of one site in one stretch wait together, others one after the other.
    """
    stretches: dict[str, int] = {}
    result = []
    for it in instructions:
        space = it.memory.space if it.memory is not None else ""
        result.append((it.site, stretches.get(space, 0)))
        if it.memory is not None and it.memory.op != "load":
            stretches[space] = stretches.get(space, 0) + 1
    return result


def _ready(one: int, instructions: Sequence[Instruction], done: Sequence[float], user: int) -> float:
    """Return when an instruction lets another go on: with its result, or, in order alone, at once."""
    wanted = set(instructions[one].writes) & set(instructions[user].reads)
    return done[one] if wanted or instructions[one].is_barrier else 0.0


def _needs(instructions: Sequence[Instruction]) -> list[tuple[int, ...]]:
    """Return for each instruction those that must have issued before."""
    result: list[tuple[int, ...]] = []
    writer: dict[str, int] = {}
    barrier: int | None = None
    stores: dict[str, int] = {}  # By address space: what is stored to one is not loaded from another.
    since: list[int] = []
    for place, it in enumerate(instructions):
        before = {writer[name] for name in it.reads if name in writer}
        if barrier is not None:
            before.add(barrier)
        if it.memory is not None and it.memory.space in stores:
            before.add(stores[it.memory.space])
        if it.is_barrier:
            before.update(since)
            barrier, since = place, []
        else:
            since.append(place)
        if it.memory is not None and it.memory.op != "load":
            stores[it.memory.space] = place
        if it.text.startswith("@") and place == len(instructions) - 1:
            before.update(since[:-1])
        result.append(tuple(before - {place}))
        for name in it.writes:
            writer[name] = place
    return result


def _heights(needs: Sequence[tuple[int, ...]], latencies: Sequence[float]) -> list[float]:
    """Return the longest way from each instruction to the end of the block, in cycles."""
    heights = [0.0] * len(needs)
    for place in range(len(needs) - 1, -1, -1):
        heights[place] += latencies[place]
        for one in needs[place]:
            heights[one] = max(heights[one], heights[place])
    return heights
