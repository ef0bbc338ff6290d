"""Which accesses there are: every one that the counting engine executes, whatever the algebra makes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clmap_lsp.access.polynomial import ZERO, Unknown, poly
from clmap_lsp.access.records import Access, Direction
from clmap_lsp.source import ir
from clmap_lsp.source.types import AddressSpace, PointerType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clmap_lsp.access.records import AccessSummary
    from clmap_lsp.analysis.costs import LaunchCosts


def accesses_left_out(summary: AccessSummary, costs: LaunchCosts) -> tuple[Access, ...]:
    """Return the accesses that the algebra holds to be never reached, and those that it did not see at all.

    The algebra classifies; whether an access is executed, and how often, only the engine that counts knows.
    """
    seen = {it.site for it in (*summary.accesses, *summary.private, *summary.unreached)}
    missing = frozenset(costs.sites) - seen
    unseen = tuple(_unseen(summary, missing)) if missing else ()
    return (*summary.unreached, *unseen)


def _unseen(summary: AccessSummary, sites: frozenset[int]) -> Iterator[Access]:
    """Yield an access whose index is unknown for each site."""
    for statement in ir.walk(summary.kernel.body):
        for touch in ir.touches(statement):
            if touch.site in sites:
                yield _unknown(summary, statement, touch)


def _unknown(summary: AccessSummary, statement: ir.Statement, touch: ir.Touch) -> Access:
    reason = "its address is not followed by the algebra"
    pointer = touch.pointer
    root = next((it.variable for it in ir.nodes(pointer) if isinstance(it, ir.ObjectAddress | ir.Read)), None)
    space = pointer.type.space if isinstance(pointer.type, PointerType) else AddressSpace.GLOBAL
    value = poly(Unknown(reason, -1 - touch.site))
    return Access(
        site=touch.site,
        span=statement.span,
        frames=summary.kernel.frames.get(touch.site, ()),
        buffer="?" if root is None else root.name,
        root=root,
        space=space,
        direction=Direction(touch.op),
        type=touch.type,
        size=touch.size,
        offset=value,
        index=value,
        unit=1,
        alignment=touch.alignment,
        subscripts=(),
        within=None,
        loops=(),
        guard=(ZERO,),
        names=summary.names,
        unknown=reason,
    )
