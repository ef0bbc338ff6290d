"""How long one SIMD group takes alone: its instructions in order, each as soon as what it reads is there."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from clmap_lsp.compiled.machine_code import BasicBlock, Instruction, Pipe


def path_cycles(
    blocks: tuple[BasicBlock, ...],
    weights: tuple[float, ...],
    warps: float,
    latency: Callable[[Instruction, int], float],
    occupies: Callable[[Instruction], float],
    issue: Mapping[Pipe, float],
) -> float:
    """Return the cycles of the mean SIMD group.

    Loads move to the start of their block as far as their addresses allow, as the assembler moves them; after
    that a block issues in order. A loop's pass ends when its last instruction has issued.
    """
    total = 0.0
    carried: dict[str, float] = {}
    now = 0.0
    for block, weight in zip(blocks, weights, strict=True):
        if weight <= 0 or not block.instructions:
            continue
        once, ready = _pass(block, carried, now, latency, occupies, issue)
        each = once - now
        if block.header is not None and any(blocks[it] is block for it in block.successors):
            again, ready = _pass(block, ready, once, latency, occupies, issue)
            each = again - once
        total += each * weight / max(warps, 1e-9)
        now = once
        carried = ready
    return total


def _pass(
    block: BasicBlock,
    carried: Mapping[str, float],
    start: float,
    latency: Callable[[Instruction, int], float],
    occupies: Callable[[Instruction], float],
    issue: Mapping[Pipe, float],
) -> tuple[float, dict[str, float]]:
    """Return when a pass has issued all of a block, and when each register is ready."""
    ready = dict(carried)
    order = _scheduled(block.instructions)
    copies: dict[int | None, int] = {}
    for it in order:
        if it.memory is not None:
            copies[it.site] = copies.get(it.site, 0) + 1
    at = pipeline = start
    for it in order:
        needed = max((ready.get(name, 0.0) for name in it.reads), default=0.0)
        at = max(at, needed)
        start = at
        if it.memory is not None:
            start = max(at, pipeline)
            pipeline = start + occupies(it)
            start = pipeline - 1.0
        done = start + latency(it, copies.get(it.site, 1))
        for name in it.writes:
            ready[name] = done
        at += max(it.cost * issue.get(it.pipe, 1.0), 0.0)
        for pipe, slots in it.extra:
            at += slots * issue.get(pipe, 1.0)
    return at, ready


def _scheduled(instructions: list[Instruction]) -> list[Instruction]:
    """Move loads, and what their addresses need, before other instructions; barriers and stores stay."""
    result: list[Instruction] = []
    part: list[Instruction] = []
    for it in instructions:
        if it.is_barrier or (it.memory is not None and it.memory.op != "load"):
            # A later load may be of what is stored here, as far as the compiler knows.
            result += [*_hoisted(part), it]
            part = []
        else:
            part.append(it)
    return result + _hoisted(part)


def _hoisted(part: list[Instruction]) -> list[Instruction]:
    needed: set[str] = set()
    early: list[bool] = [False] * len(part)
    written_later: set[str] = set()
    for place in range(len(part) - 1, -1, -1):
        it = part[place]
        is_load = it.memory is not None and it.memory.op == "load"
        if is_load or (needed & set(it.writes) and it.memory is None):
            early[place] = True
            needed -= set(it.writes)
            needed |= set(it.reads)
        written_later |= set(it.writes)
    # A load that depends on another load's value stays where the value is used.
    loaded: set[str] = set()
    first: list[Instruction] = []
    rest: list[Instruction] = []
    for place, it in enumerate(part):
        depends = bool(loaded & set(it.reads))
        if early[place] and not depends and not (set(it.reads) & {w for r in rest for w in r.writes}):
            first.append(it)
            if it.memory is not None:
                loaded |= set(it.writes)
        else:
            rest.append(it)
            if it.memory is not None and it.memory.op == "load":
                loaded |= set(it.writes)
    return first + rest
