"""Which accesses there are: every one that the counting engine executes, whatever the algebra makes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clmap_lsp.access.polynomial import ZERO, Unknown, poly
from clmap_lsp.access.records import Access, Direction
from clmap_lsp.source import ir
from clmap_lsp.source.types import AddressSpace, PointerType, Type

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
        for site, direction, pointer, kind in _touches(statement):
            if site in sites:
                yield _unknown(summary, statement, site, direction, pointer, kind)


def _touches(statement: ir.Statement) -> Iterator[tuple[int, Direction, ir.Expression, Type]]:
    match statement:
        case ir.Load():
            yield statement.site, Direction.LOAD, statement.pointer, statement.variable.type
        case ir.Store():
            yield statement.site, Direction.STORE, statement.pointer, statement.value.type
        case ir.Atomic():
            yield statement.site, Direction.ATOMIC, statement.pointer, statement.type
        case ir.CopyObject():
            yield statement.load_site, Direction.LOAD, statement.source, statement.type
            yield statement.store_site, Direction.STORE, statement.destination, statement.type
        case ir.AsyncCopy():
            yield statement.load_site, Direction.LOAD, statement.source, statement.element
            yield statement.store_site, Direction.STORE, statement.destination, statement.element
        case _:
            pass


def _unknown(
    summary: AccessSummary,
    statement: ir.Statement,
    site: int,
    direction: Direction,
    pointer: ir.Expression,
    kind: Type,
) -> Access:
    reason = "its address is not followed by the algebra"
    root = next((it.variable for it in ir.nodes(pointer) if isinstance(it, ir.ObjectAddress | ir.Read)), None)
    space = pointer.type.space if isinstance(pointer.type, PointerType) else AddressSpace.GLOBAL
    size, alignment = kind.size, kind.alignment
    if isinstance(statement, ir.Load | ir.Store):
        size, alignment = statement.size, statement.alignment
    return Access(
        site=site,
        span=statement.span,
        frames=summary.kernel.frames.get(site, ()),
        buffer="?" if root is None else root.name,
        root=root,
        space=space,
        direction=direction,
        type=kind,
        size=size,
        offset=poly(Unknown(reason, -1 - site)),
        index=poly(Unknown(reason, -1 - site)),
        unit=1,
        alignment=alignment,
        subscripts=(),
        loops=(),
        guard=(ZERO,),
        names=summary.names,
        unknown=reason,
    )
