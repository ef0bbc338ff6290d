"""How often each block of machine code runs, from how often each block of the source does.

Probes say which copies of which source blocks a machine block holds. Where one source block has copies in
several, they come from unrolling (a main loop of k copies and one for the rest), from rotating a loop's test,
or from duplicated code: the main loop takes the whole multiples of k of each entry's turns. Blocks that lost
their probes, because nothing else was left in them, run as often as the loop around them, which its other
blocks or its statements tell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clmap_lsp.compiled.machine_code import BasicBlock


def block_weights(
    blocks: tuple[BasicBlock, ...], probes: Mapping[int, float], entry: float, owners: Sequence[int] = ()
) -> list[float]:
    """Return the executions of each block by SIMD groups.

    `probes` has the executions of each probe that ran; `entry` is how many SIMD groups start. `owners` has
    the probe of each statement's block, by the numbers that instructions carry.
    """
    return _Weights(blocks, probes, entry, owners).run()


class _Weights:
    def __init__(
        self,
        blocks: tuple[BasicBlock, ...],
        probes: Mapping[int, float],
        entry: float,
        owners: Sequence[int],
    ) -> None:
        self.blocks, self.probes, self.entry, self.owners = blocks, probes, entry, owners
        self.known: list[float | None] = [None] * len(blocks)
        self.before: list[list[int]] = [[] for _ in blocks]
        for number, block in enumerate(blocks):
            for successor in block.successors:
                self.before[successor].append(number)

    def run(self) -> list[float]:
        """Return all weights: outer loops first, because they tell how often inner ones are entered."""
        if self.blocks:
            self.known[0] = self.entry
        holders: dict[int, list[int]] = {}
        for number, block in enumerate(self.blocks):
            for probe in block.probes:
                holders.setdefault(probe, []).append(number)
        deepest = max((block.loop_depth for block in self.blocks), default=0)
        for depth in range(deepest + 1):
            for probe in sorted(holders):
                where = holders[probe]
                if max(self.blocks[it].loop_depth for it in where) == depth:
                    self._share(where, probe, self.probes.get(probe, 0.0))
            self._fill(depth)
        return [it if it is not None else self.entry for it in self.known]

    def _share(self, where: list[int], probe: int, count: float) -> None:
        """Share the executions of one source block among the machine blocks that have copies of it."""
        blocks, known = self.blocks, self.known
        deepest = max(blocks[it].loop_depth for it in where)
        inner = sorted(
            (it for it in where if blocks[it].loop_depth == deepest), key=lambda it: -blocks[it].probes[probe]
        )
        rest = count
        for number in where:  # Peeled turns: as often as their own block runs.
            if blocks[number].loop_depth < deepest:
                entries = known[number] if known[number] is not None else self._entries(inner)
                share = min(entries or 0.0, rest / blocks[number].probes[probe])
                self._raise(number, share)
                rest = max(rest - share * blocks[number].probes[probe], 0.0)
        if not deepest:  # Duplicated code without a loop: as often as each other.
            copies = sum(blocks[it].probes[probe] for it in inner)
            for number in inner:
                self._raise(number, count / copies)
            return
        for position, number in enumerate(inner):
            copies = blocks[number].probes[probe]
            if position == len(inner) - 1:
                found = rest / copies
            elif blocks[inner[-1]].probes[probe] == copies:
                found = rest / copies / (len(inner) - position)
            else:
                entries = max(self._entries([number]), 1e-9)
                found = entries * float(int(rest / entries / copies + 1e-6))
            found = min(found, rest / copies)
            self._raise(number, found)
            rest = max(rest - found * copies, 0.0)

    def _raise(self, number: int, weight: float) -> None:
        old = self.known[number]
        self.known[number] = weight if old is None else max(old, weight)

    def _entries(self, inner: list[int]) -> float:
        """Return how often the loop that holds these blocks is entered: as often as the block before runs."""
        blocks = self.blocks
        first = min((head for it in inner if (head := blocks[it].header) is not None), default=0)
        depth = max(blocks[first].loop_depth - 1, 0)
        outside = [
            value
            for it in self.before[first]
            if blocks[it].loop_depth <= depth and (value := self.known[it]) is not None
        ]
        if outside:
            return max(outside)
        for number in range(first - 1, -1, -1):
            value = self.known[number]
            if value is not None and blocks[number].loop_depth <= depth:
                return value
        return self.entry

    def _fill(self, depth: int) -> None:
        """Give blocks of one depth that have no probes the executions of their loop, or of what leads to
        them."""
        blocks, known = self.blocks, self.known
        for head in {block.header for block in blocks if block.loop_depth == depth and depth}:
            members = [
                it for it, block in enumerate(blocks) if block.header == head and block.loop_depth == depth
            ]
            told = [value for it in members if (value := known[it]) is not None]
            if head is not None and not told:
                told = [self._from_statements(members)]
            for it in members:
                if known[it] is None:
                    known[it] = max(told)
        for _ in range(3):
            for number, block in enumerate(blocks):
                if known[number] is not None or block.loop_depth != depth:
                    continue
                leading = [
                    value
                    for it in self.before[number]
                    if blocks[it].loop_depth == depth and (value := known[it]) is not None
                ]
                if leading:
                    known[number] = max(leading)
        if not depth:
            for number, block in enumerate(blocks):
                if known[number] is None and not block.loop_depth:
                    known[number] = self.entry

    def _from_statements(self, members: list[int]) -> float:
        """Return the least executions of the source blocks whose statements stand in a loop.

        What was moved out of inner loops stands there too, and its blocks run more often.
        """
        found = [
            self.probes[owner]
            for it in members
            for instruction in self.blocks[it].instructions
            if 0 < instruction.statement < len(self.owners)
            and (owner := self.owners[instruction.statement]) in self.probes
        ]
        above = [it for it in found if it > self.entry * 1.001]
        return min(above or found, default=self.entry)
