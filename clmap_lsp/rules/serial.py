"""Long loops that one work-item of a work-group, or of the launch, runs alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from clmap_lsp.dataclass import dataclass
from clmap_lsp.rules.intensity import turns_of_loops
from clmap_lsp.source import ir
from clmap_lsp.source.ir import CompareOp, WorkItemQuery

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clmap_lsp.analysis.model import KernelAnalysis
    from clmap_lsp.source.span import Span

_IDS = frozenset(
    {
        WorkItemQuery.GLOBAL_ID,
        WorkItemQuery.LOCAL_ID,
        WorkItemQuery.GLOBAL_LINEAR_ID,
        WorkItemQuery.LOCAL_LINEAR_ID,
    }
)


@dataclass(frozen=True, slots=True)
class Alone:
    """A loop that one work-item runs while the others wait or have ended."""

    span: Span
    """The condition's statement."""
    loop: Span
    turns: int
    """Of the loop and those inside it."""
    of_launch: bool
    """One work-item of the whole launch, not of each work-group."""


def runs_alone(kernel: KernelAnalysis) -> Alone | None:
    """Return the longest such loop, if no loop that all work-items run is longer."""
    turns = turns_of_loops(kernel)
    if not turns:
        return None
    definitions = _assigned_once(kernel.kernel.body)
    found = list(_alone(kernel.kernel.body, definitions, turns))
    if not found:
        return None
    longest = max(found, key=lambda it: it.turns)
    inside = {it.span for it in found}
    others = _longest(kernel.kernel.body, turns, inside)
    return longest if longest.turns > others else None


def _alone(
    block: ir.Block, definitions: Mapping[ir.Variable, ir.Expression], turns: Mapping[Span, int]
) -> Iterator[Alone]:
    for it in block:
        pinned = _pinned(it.condition, definitions) if isinstance(it, ir.If) else None
        if isinstance(it, ir.If) and pinned is not None:
            loops = [inner for inner in it.then if isinstance(inner, ir.Loop)]
            loops += [
                inner
                for scope in it.then
                for part in ir.blocks(scope)
                for inner in part
                if isinstance(inner, ir.Loop)
            ]
            if loops:
                made, loop = max(
                    ((_longest((inner,), turns, set()), inner.span) for inner in loops), key=lambda p: p[0]
                )
                yield Alone(
                    it.span, loop, made, pinned in (WorkItemQuery.GLOBAL_ID, WorkItemQuery.GLOBAL_LINEAR_ID)
                )
        else:
            for inner in ir.blocks(it):
                yield from _alone(inner, definitions, turns)


def _longest(block: ir.Block, turns: Mapping[Span, int], without: set[Span]) -> int:
    """Return the most turns that a nest of loops of a block makes; 1 without loops."""
    most = 1
    for it in block:
        if it.span in without and isinstance(it, ir.If):
            continue
        inner = max((_longest(part, turns, without) for part in ir.blocks(it)), default=1)
        most = max(most, inner * turns.get(it.span, 1) if isinstance(it, ir.Loop) else inner)
    return most


def _pinned(
    condition: ir.Expression, definitions: Mapping[ir.Variable, ir.Expression]
) -> WorkItemQuery | None:
    """Return which id a condition fixes to a constant, as in `get_global_id(0) == 0`."""
    match condition:
        case ir.Compare(op=CompareOp.EQ, left=left, right=right):
            for one, other in ((left, right), (right, left)):
                query = _id(one, definitions)
                if query is not None and isinstance(ir.unconverted(other), ir.Constant):
                    return query
            return None
        case ir.Logical(op=ir.LogicalOp.AND, left=left, right=right):
            return _pinned(left, definitions) or _pinned(right, definitions)
        case _:
            return None


def _id(expression: ir.Expression, definitions: Mapping[ir.Variable, ir.Expression]) -> WorkItemQuery | None:
    plain = ir.unconverted(expression)
    if isinstance(plain, ir.Read) and plain.variable in definitions:
        return _id(definitions[plain.variable], definitions)
    return plain.query if isinstance(plain, ir.WorkItem) and plain.query in _IDS else None


def _assigned_once(body: ir.Block) -> dict[ir.Variable, ir.Expression]:
    from clmap_lsp.hierarchy.private_memory import assigned_once

    return dict(assigned_once(body))
