"""Barriers that order nothing once some local arrays are gone."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from clmap_lsp.fixes import facts
from clmap_lsp.fixes.scope import Scope, as_typed
from clmap_lsp.fixes.unused import line_of
from clmap_lsp.source import ir
from clmap_lsp.source.types import AddressSpace

if TYPE_CHECKING:
    from clmap_lsp.source.ir import Variable


def without_barriers(scope: Scope, gone: Collection[Variable]) -> list[tuple[int, int, str]]:
    """Return what takes out all barriers, if no local memory besides `gone` is left that they could order."""
    body = scope.subject.analysis.kernel.body
    local = (it for it in facts.accesses(scope.subject.analysis) if it.space is AddressSpace.LOCAL)
    barriers = [it for it in ir.walk(body) if isinstance(it, ir.Barrier)]
    if any(it.root not in gone for it in local):
        return []
    if any(it.fences_global or not as_typed(it.span, scope.subject.path) for it in barriers):
        return []
    edits = []
    for barrier in barriers:
        found = scope.block_statement(barrier.span.start, barrier.span.end)
        if found is None or found[1].kind != "simple":
            return []
        edits.append((*line_of(scope, found[1]), ""))
    return edits
