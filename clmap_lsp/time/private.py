"""Private arrays at places that differ between the lanes of a SIMD group.

An array that is not in registers lies interleaved in memory, word by word of each lane, so that lanes at the
same index share lines. Lanes at different indices do not: each request touches a line for each index.

What NVIDIA's GPUs do then was read off the counters of an H200 (`benchmarks/private_counters.cu`,
`benchmarks/results/private_counters_h200.json`). Each store goes on to the second level, with all its
sectors, and stays in the first: loads find it there as long as that has room for the arrays of all resident
work-items, be their lanes at one index or at many.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from clmap_lsp.dataclass import dataclass
from clmap_lsp.source import ir
from clmap_lsp.source.types import AddressSpace, ArrayType
from clmap_lsp.time.differing import Differing
from clmap_lsp.time.origins import DATA, VARYING, differs, fixpoint, space_of

if TYPE_CHECKING:
    from clmap_lsp.source.ir import Expression, Kernel, Variable

LINES_AT_ONCE = 4.0
"""Lines of a load that the first level looks up in a cycle: each lane's words are in a bank of its own, and
are read together, however many lines they are in (`spread_reads`: 1 and 4 lines take as long, 16 four times
that)."""
STORED_COST = 2.2
"""What a sector that is stored to a private array costs the second level, over one of a buffer. On an H200
one took 8.9 to 11.8 ps, whether lanes were alike or at 4 to 64 indices, where `l2_sector_s` is 4.8. (Of
stores to up to 4 elements, with 10 instructions between two, one took 4.4 to 6.)"""
_SHARE = 0.5
"""Of the lanes, that go a way about which data decide."""

_NO_SCALARS: Mapping[str, int] = MappingProxyType({})
_PRIVATE = AddressSpace.PRIVATE
_SECTOR_LANES = 8
"""Lanes whose words are in one sector."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Over what the lanes of a SIMD group are spread in one access."""

    elements: int
    """Of the array, that lanes may be at at a time."""
    share: float
    """Of the lanes, that take part: about half go each way where data decide."""


ALIKE = Spread(1, 1.0)
"""All lanes have one index."""


def spreads(kernel: Kernel, scalars: Mapping[str, int] = _NO_SCALARS) -> Mapping[int, Spread]:
    """Return what accesses of private arrays are spread over, by site, with the launch's integers by name.

    Sites at which all lanes have one index are left out.
    """
    differing = Differing.of(kernel, fixpoint(kernel, VARYING), scalars)
    data = fixpoint(kernel, DATA)
    found: dict[int, Spread] = {}
    _collect(kernel.body, differing, data, 1.0, found)
    return found


def _collect(
    block: ir.Block, differing: Differing, data: set[Variable], share: float, found: dict[int, Spread]
) -> None:
    for it in block:
        if isinstance(it, (ir.Load, ir.Store)) and _is_spread(it.pointer, differing.varying):
            found[it.site] = _spread(it.pointer, it.size, share, differing)
        decided = isinstance(it, (ir.If, ir.Switch)) and differs(it, data, DATA)
        for body in ir.blocks(it):
            _collect(body, differing, data, share * (_SHARE if decided else 1.0), found)


def lines_and_sectors(spread: Spread, lanes: int) -> tuple[float, float]:
    """Return the lines and sectors that lanes at random elements touch, on average, for each word."""
    missed = 1.0 - 1.0 / max(spread.elements, 1)
    lines = spread.elements * (1.0 - missed ** (spread.share * lanes))
    each = spread.elements * (1.0 - missed ** (spread.share * _SECTOR_LANES))
    sectors = lanes / _SECTOR_LANES * each
    return lines, sectors


def _is_spread(pointer: Expression, varying: Collection[Variable]) -> bool:
    return space_of(pointer) is _PRIVATE and any(VARYING.holds(it, varying) for it in ir.nodes(pointer))


def _spread(pointer: Expression, size: int, share: float, differing: Differing) -> Spread:
    nodes = list(ir.nodes(pointer))
    values = math.prod(differing.values(it.index) for it in nodes if isinstance(it, ir.PointerOffset))
    for node in nodes:
        if isinstance(node, ir.ObjectAddress) and isinstance(node.variable.type, ArrayType):
            return Spread(max(int(min(node.variable.type.size // max(size, 1), values)), 1), share)
    return Spread(1, share)
