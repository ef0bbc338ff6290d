"""How long one SIMD group takes alone: its instructions, each as soon as what it reads is there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from clmap_lsp.compiled.machine_code import BasicBlock, Instruction, Pipe
from clmap_lsp.time.order import issue_order, uniform_registers

Orders = tuple[tuple[int, ...], ...]
"""For each block the places of its instructions, those of all copies, as they are issued."""


def orders_of(blocks: Sequence[BasicBlock], weights: Sequence[float]) -> Orders:
    """Return the order of the machine code in blocks that are executed."""
    uniform = uniform_registers(blocks)
    return tuple(
        _order(block.instructions * block.copies, uniform) if weight > 0 else ()
        for block, weight in zip(blocks, weights, strict=True)
    )


def _order(instructions: Sequence[Instruction], uniform: frozenset[str]) -> tuple[int, ...]:
    return tuple(issue_order(instructions, _needs(instructions), uniform))


def path_cycles(
    blocks: tuple[BasicBlock, ...],
    weights: tuple[float, ...],
    warps: float,
    latency: Callable[[Instruction, int], float],
    occupies: Callable[[Instruction], float],
    issue: Mapping[Pipe, float],
    orders: Orders | None = None,
) -> float:
    """Return the cycles of the mean SIMD group.

    Instructions are issued one after the other, each as soon as its operands are there. A loop's pass ends
    when its last instruction has issued.
    """
    total = 0.0
    carried: dict[str, float] = {}
    now = 0.0
    orders = orders_of(blocks, weights) if orders is None else orders
    for block, weight, order in zip(blocks, weights, orders, strict=True):
        if weight <= 0 or not block.instructions:
            continue
        instructions = block.instructions * block.copies
        once, ready = _pass(instructions, order, carried, now, latency, occupies, issue)
        each = once - now
        if block.header is not None and any(blocks[it] is block for it in block.successors):
            again, ready = _pass(instructions, order, ready, once, latency, occupies, issue)
            each = again - once
        total += each / block.copies * weight / max(warps, 1e-9)
        now = once
        carried = ready
    return total


def _pass(
    instructions: Sequence[Instruction],
    order: Sequence[int],
    carried: Mapping[str, float],
    start: float,
    latency: Callable[[Instruction, int], float],
    occupies: Callable[[Instruction], float],
    issue: Mapping[Pipe, float],
) -> tuple[float, dict[str, float]]:
    """Return when a pass has issued all instructions, and when each register is ready."""
    runs = _runs(instructions)
    copies = Counter(runs)
    needs = _needs(instructions)
    first_reads, last_writes = _borders(instructions, carried, start)
    done = [0.0] * len(instructions)
    at = pipeline = start
    for place in order:
        it = instructions[place]
        begun = max(
            first_reads[place], start, *(_ready(one, instructions, done, place) for one in needs[place])
        )
        if it.cost > 0 or it.memory is not None:  # What is folded into its users holds up nobody.
            begun = at = max(at, begun)
        if it.memory is not None:
            pipeline = max(begun, pipeline) + occupies(it)
            begun = pipeline - 1.0
        done[place] = begun + latency(it, copies[runs[place]])
        at += max(it.cost * issue.get(it.pipe, 1.0), 0.0)
        for pipe, slots in it.extra:
            at += slots * issue.get(pipe, 1.0)
    return at, {**carried, **{name: done[place] for name, place in last_writes.items()}}


def _borders(
    instructions: Sequence[Instruction], carried: Mapping[str, float], start: float
) -> tuple[list[float], dict[str, int]]:
    """Return for each instruction when what it reads from before the pass is ready, and who writes last."""
    written: dict[str, int] = {}
    first_reads = []
    for place, it in enumerate(instructions):
        first_reads.append(max((carried.get(r, start) for r in it.reads if r not in written), default=start))
        for name in it.writes:
            written[name] = place
    return first_reads, written


def _runs(instructions: Sequence[Instruction]) -> list[tuple[int | None, int]]:
    """Return for each instruction its site and the stretch without stores or branches that it is in.

    Loads of one site in one stretch wait together, others one after the other.
    """
    stretches: dict[str, int] = {}
    result = []
    branches = 0
    for it in instructions:
        space = it.memory.space if it.memory is not None else ""
        branches += it.branches
        result.append((it.site, stretches.get(space, 0) + branches))
        if it.memory is not None and it.memory.op != "load":
            stretches[space] = stretches.get(space, 0) + 1
    return result


def _ready(one: int, instructions: Sequence[Instruction], done: Sequence[float], user: int) -> float:
    """Return when an instruction lets another go on: with its result, or, in order alone, at once."""
    wanted = set(instructions[one].writes) & set(instructions[user].reads)
    return done[one] if wanted or _parts(instructions[one]) else 0.0


def _parts(it: Instruction) -> bool:
    """Tell whether what follows an instruction in the source stays behind it, and waits for it."""
    return it.is_barrier or it.branches


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
        if _parts(it):
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
