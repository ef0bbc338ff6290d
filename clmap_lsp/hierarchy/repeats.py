"""Data that a work-item loads again in every turn of an outer loop: what private memory would keep."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING

from clmap_lsp.access.polynomial import LoopSymbol
from clmap_lsp.access.records import Direction
from clmap_lsp.dataclass import dataclass
from clmap_lsp.hierarchy.properties import in_launch
from clmap_lsp.source.types import AddressSpace

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import AccessAnalysis, KernelAnalysis
    from clmap_lsp.launch.model import Launch


@dataclass(frozen=True, slots=True)
class Repeat:
    """A load that an outer loop repeats for the same elements."""

    access: AccessAnalysis
    loop: LoopSymbol
    """The outermost loop that does not move the index."""
    turns: int
    """How often each element is loaded by one work-item."""
    bytes: int
    """What a work-item loads in one of these turns."""

    @property
    def sectors(self) -> int:
        """What all of them move over the launch."""
        return 0 if self.access.totals is None else self.access.totals.sectors


def repeats_of(analysis: KernelAnalysis) -> Iterator[Repeat]:
    """Yield the loads of read-only global arrays that are repeated, in the order of the source.

    A load that no inner loop moves is left out: compilers take it out of the loop by themselves.
    """
    launch = analysis.launch
    if launch is None:
        return
    stored = {it.access.buffer for it in analysis.accesses if it.access.direction is not Direction.LOAD}
    for it in analysis.accesses:
        access = it.access
        read_only = access.direction is Direction.LOAD and not stored & {access.buffer, "?"}
        if access.space is AddressSpace.GLOBAL and read_only and access.known and not access.volatile:
            found = _repeat(it, launch)
            if found is not None:
                yield found


def _repeat(it: AccessAnalysis, launch: Launch) -> Repeat | None:
    moves = [loop in it.access.index.leaves for loop in it.access.loops]
    if True not in moves or moves.index(True) == 0:
        return None
    innermost = len(moves) - 1 - moves[::-1].index(True)
    still = [loop for loop, moved in zip(it.access.loops[:innermost], moves, strict=False) if not moved]
    moving = [loop for loop, moved in zip(it.access.loops, moves, strict=True) if moved]
    turns, elements = _product(still, launch), _product(moving, launch)
    if turns is None or elements is None:
        return None
    return Repeat(it, still[0], turns, elements * it.access.size)


def _product(loops: list[LoopSymbol], launch: Launch) -> int | None:
    trips = [None if it.trip is None else in_launch(it.trip, launch) for it in loops]
    known = [it for it in trips if it is not None]
    return prod(known) if len(known) == len(trips) and all(it > 0 for it in known) else None
