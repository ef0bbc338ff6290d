"""How often each block of machine code runs, from how often each block of the source does.

Probes say which copies of which source blocks a machine block holds. Where one source block has copies in
several, they come from unrolling (a main loop of k copies and one for the rest), from rotating a loop's test,
or from duplicated code: the main loop takes the whole multiples of k of each entry's turns.
"""

from __future__ import annotations

from collections.abc import Mapping

from clmap_lsp.compiled.machine_code import BasicBlock


def block_weights(blocks: tuple[BasicBlock, ...], probes: Mapping[int, float], entry: float) -> list[float]:
    """Return the executions of each block by SIMD groups.

    `probes` has the executions of each probe; `entry` is how many SIMD groups start.
    """
    known: list[float | None] = [None] * len(blocks)
    holders: dict[int, list[int]] = {}
    for number, block in enumerate(blocks):
        for probe in block.probes:
            holders.setdefault(probe, []).append(number)
    # Outer blocks first: how often a loop is entered comes from the block before it.
    for probe in sorted(holders):
        where = holders[probe]
        count = probes.get(probe)
        if count is None:
            continue
        if len(where) == 1:
            number = where[0]
            found = count / blocks[number].probes[probe]
            old = known[number]
            known[number] = found if old is None else max(old, found)
        else:
            _share(blocks, where, probe, count, known, entry)
    if known and known[0] is None:
        known[0] = entry
    return _filled(blocks, known, entry)


def _share(
    blocks: tuple[BasicBlock, ...],
    where: list[int],
    probe: int,
    count: float,
    known: list[float | None],
    entry: float,
) -> None:
    """Share the executions of one source block among the machine blocks that have copies of it."""
    rest = count
    looping = [it for it in where if blocks[it].loop_depth]
    deepest = max((blocks[it].loop_depth for it in where), default=0)
    straight = [it for it in where if blocks[it].loop_depth < deepest]
    entries = _entries(blocks, looping or where, known, entry)
    for number in straight:  # Peeled turns: once an entry.
        share = known[number] if known[number] is not None else min(entries, rest)
        assert share is not None
        known[number] = share
        rest = max(rest - share * blocks[number].probes[probe], 0.0)
    inner = [it for it in where if blocks[it].loop_depth == deepest]
    inner.sort(key=lambda it: -blocks[it].probes[probe])
    if not deepest:  # Duplicated code without a loop: as often as each other.
        copies = sum(blocks[it].probes[probe] for it in inner)
        for number in inner:
            known[number] = max(known[number] or 0.0, count / copies)
        return
    for position, number in enumerate(inner):
        copies = blocks[number].probes[probe]
        if position == len(inner) - 1:
            found = rest / copies
        elif blocks[inner[-1]].probes[probe] == copies:
            found = rest / copies / (len(inner) - position)
        else:
            found = entries * float(int(rest / max(entries, 1e-9) / copies + 1e-6))
        found = min(found, rest / copies)
        known[number] = found if known[number] is None else max(known[number] or 0.0, found)
        rest = max(rest - found * copies, 0.0)


def _entries(
    blocks: tuple[BasicBlock, ...], inner: list[int], known: list[float | None], entry: float
) -> float:
    """Return how often the loops that hold these blocks are entered: as often as the block before runs."""
    heads = {blocks[it].header for it in inner}
    first = min((it for it in heads if it is not None), default=0)
    depth = max(blocks[first].loop_depth - 1, 0)
    for number in range(first - 1, -1, -1):
        value = known[number]
        if value is not None and blocks[number].loop_depth <= depth:
            return value
    return entry


def _filled(blocks: tuple[BasicBlock, ...], known: list[float | None], entry: float) -> list[float]:
    """Give blocks without probes the executions of what leads to them."""
    before: list[list[int]] = [[] for _ in blocks]
    for number, block in enumerate(blocks):
        for successor in block.successors:
            before[successor].append(number)
    for _ in range(4):
        for number, block in enumerate(blocks):
            if known[number] is not None:
                continue
            depth = block.loop_depth
            leading = [it for it in before[number] if known[it] is not None]
            same = [it for it in leading if blocks[it].loop_depth == depth]
            after = [
                it for it in block.successors if blocks[it].loop_depth == depth and known[it] is not None
            ]
            outer = [it for it in leading if blocks[it].loop_depth <= depth]
            for group in (same, after, outer):
                if group:
                    known[number] = max(known[it] or 0.0 for it in group)
                    break
    # A block that loops leave to runs as often as what stands before the loop.
    result: list[float] = []
    for number, block in enumerate(blocks):
        value = known[number]
        if value is None:
            earlier = [result[it] for it in range(number) if blocks[it].loop_depth <= block.loop_depth]
            value = earlier[-1] if earlier else entry
        result.append(value)
    return result
