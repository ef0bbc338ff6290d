"""Where values come from: which variables may differ between lanes, and which hold what memory did."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from clmap_lsp.dataclass import dataclass
from clmap_lsp.source import ir
from clmap_lsp.source.types import AddressSpace, PointerType

if TYPE_CHECKING:
    from clmap_lsp.source.ir import Expression, Kernel, Variable


@dataclass(frozen=True, slots=True)
class Origin:
    """Where values come from that are followed: into variables, through branches that they decide."""

    queries: frozenset[ir.WorkItemQuery]
    spaces: frozenset[AddressSpace]
    """Of the memory whose contents are such values."""

    def holds(self, node: Expression, variables: Collection[Variable]) -> bool:
        """Tell whether an expression is such a value, or reads one of the variables that hold them."""
        if isinstance(node, ir.WorkItem):
            return node.query in self.queries
        return isinstance(node, ir.Read) and node.variable in variables


_IDS = frozenset(
    {
        ir.WorkItemQuery.GLOBAL_ID,
        ir.WorkItemQuery.LOCAL_ID,
        ir.WorkItemQuery.GLOBAL_LINEAR_ID,
        ir.WorkItemQuery.LOCAL_LINEAR_ID,
        ir.WorkItemQuery.SUB_GROUP_LOCAL_ID,
    }
)
"""What differs between lanes from the start."""
VARYING = Origin(_IDS, frozenset({AddressSpace.PRIVATE, AddressSpace.LOCAL}))
"""What may differ between lanes: by id, by what was loaded, or by a branch."""
DATA = Origin(frozenset(), frozenset(AddressSpace))
"""What memory holds."""


def fixpoint(kernel: Kernel, origin: Origin) -> set[Variable]:
    """Return the variables that may hold values of an origin."""
    found: set[Variable] = set()
    before = -1
    while len(found) != before:
        before = len(found)
        _follow(kernel.body, found, origin, divergent=False)
    return found


def _follow(block: ir.Block, found: set[Variable], origin: Origin, *, divergent: bool) -> None:
    """Add what a block makes such. Lanes that are still in a loop have made as many turns."""
    for it in block:
        is_such = differs(it, found, origin)
        if isinstance(it, ir.Load):
            is_such = is_such or space_of(it.pointer) in origin.spaces
        if is_such or divergent:
            found.update(ir.written(it))
        inside = divergent or (is_such and isinstance(it, (ir.If, ir.Switch)))
        for body in ir.blocks(it):
            _follow(body, found, origin, divergent=inside)


def differs(it: ir.Statement, found: set[Variable], origin: Origin) -> bool:
    """Tell whether a statement uses values of an origin."""
    return any(origin.holds(node, found) for part in ir.expressions(it) for node in ir.nodes(part))


def space_of(pointer: Expression) -> AddressSpace | None:
    """Return the address space of what an expression points to, if it is a pointer."""
    kind = getattr(pointer, "type", None)
    return kind.space if isinstance(kind, PointerType) else None
