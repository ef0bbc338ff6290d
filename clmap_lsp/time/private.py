"""Private arrays at places that differ between the lanes of a SIMD group.

An array that is not in registers lies interleaved in memory, word by word of each lane, so that lanes at the
same index share lines. Lanes at different indices do not: each request touches a line for each index, and on
NVIDIA's GPUs what is stored that way goes to the second level and comes from there again (counters of an
H200: 26 sectors a request for 16 elements, as many as lanes at random touch).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from clmap_lsp.source import ir
from clmap_lsp.source.types import AddressSpace, ArrayType, PointerType

if TYPE_CHECKING:
    from clmap_lsp.source.ir import Expression, Kernel, Variable

_PRIVATE = AddressSpace.PRIVATE
_SECTOR_LANES = 8
"""Lanes whose words are in one sector."""


def scattered_elements(kernel: Kernel) -> Mapping[int, int]:
    """Return for accesses of private arrays, by site, how many elements lanes may be spread over.

    Sites at which all lanes have one index are left out.
    """
    varying = _varying(kernel)
    found = {}
    for statement in ir.walk(kernel.body):
        if not isinstance(statement, (ir.Load, ir.Store)) or _space(statement.pointer) is not _PRIVATE:
            continue
        if any(_is_varying(it, varying) for it in ir.nodes(statement.pointer)):
            found[statement.site] = _elements(statement.pointer, statement.size)
    return found


def lines_and_sectors(elements: int, lanes: int) -> tuple[float, float]:
    """Return the lines and sectors that lanes at random elements touch, on average, for each word."""
    missed = 1.0 - 1.0 / max(elements, 1)
    lines = elements * (1.0 - missed**lanes)
    sectors = lanes / _SECTOR_LANES * elements * (1.0 - missed**_SECTOR_LANES)
    return lines, sectors


def _space(pointer: Expression) -> AddressSpace | None:
    kind = getattr(pointer, "type", None)
    return kind.space if isinstance(kind, PointerType) else None


def _elements(pointer: Expression, size: int) -> int:
    for node in ir.nodes(pointer):
        if isinstance(node, ir.ObjectAddress) and isinstance(node.variable.type, ArrayType):
            return max(node.variable.type.size // max(size, 1), 1)
    return 1


def _varying(kernel: Kernel) -> set[Variable]:
    """Return the variables that may differ between lanes: by id, by what was loaded, or by a branch."""
    varying: set[Variable] = set()
    before = -1
    while len(varying) != before:
        before = len(varying)
        _spread(kernel.body, varying, divergent=False)
    return varying


def _spread(block: ir.Block, varying: set[Variable], *, divergent: bool) -> None:
    """Add what a block makes varying. Lanes that are still in a loop have made as many turns."""
    for it in block:
        differs = any(_is_varying(node, varying) for part in ir.expressions(it) for node in ir.nodes(part))
        if isinstance(it, ir.Load):
            differs = differs or _space(it.pointer) in (AddressSpace.PRIVATE, AddressSpace.LOCAL)
        if differs or divergent:
            varying.update(ir.written(it))
        inside = divergent or (differs and isinstance(it, (ir.If, ir.Switch)))
        for body in ir.blocks(it):
            _spread(body, varying, divergent=inside)


def _is_varying(node: Expression, varying: set[Variable]) -> bool:
    if isinstance(node, ir.WorkItem):
        return node.query in _IDS
    return isinstance(node, ir.Read) and node.variable in varying


_IDS = frozenset(
    {
        ir.WorkItemQuery.GLOBAL_ID,
        ir.WorkItemQuery.LOCAL_ID,
        ir.WorkItemQuery.GLOBAL_LINEAR_ID,
        ir.WorkItemQuery.LOCAL_LINEAR_ID,
        ir.WorkItemQuery.SUB_GROUP_LOCAL_ID,
    }
)
