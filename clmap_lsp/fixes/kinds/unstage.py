"""Take out a local array that does not pay: of which every work-item reads only what it wrote itself.

The array becomes a private variable of the same name. Barriers that then separate nothing go too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from clmap_lsp.access.environment import group_environment
from clmap_lsp.access.evaluate import UnknownValueError, evaluate
from clmap_lsp.access.polynomial import LoopSymbol
from clmap_lsp.access.records import Direction
from clmap_lsp.findings import FixSafety
from clmap_lsp.fixes import facts
from clmap_lsp.fixes.local_arrays import LocalArray, local_arrays
from clmap_lsp.fixes.model import Proposal
from clmap_lsp.fixes.scope import Scope, as_typed
from clmap_lsp.source import ir

if TYPE_CHECKING:
    from clmap_lsp.findings import Edit
    from clmap_lsp.fixes.model import Subject

KIND = "unstage"
_LOCAL = re.compile(r"\b(?:__)?local\s+")


def propose(subject: Subject) -> Iterator[Proposal]:
    """Yield one rewrite for each local array that nobody shares."""
    scope = Scope.of(subject)
    if scope is None:
        return
    arrays = [it for it in local_arrays(scope) if it.lengths]
    for array in arrays:
        edits = _edits(scope, array) if _is_own(subject, array) else None
        if edits is None:
            continue
        name = array.variable.name
        yield Proposal(
            KIND,
            f"Keep `{name}` in a private variable: no work-item reads another's element",
            FixSafety.UNSAFE if _asks_size(array) else FixSafety.SAFE,
            (*edits, *_barriers(scope, array)),
            ("CM201", "CM402"),
            frozenset(it.site for it in array.accesses),
        )


def _is_own(subject: Subject, array: LocalArray) -> bool:
    """True if all accesses are of one element, a different one for each work-item of a group."""
    import numpy as np

    first = array.accesses[0].offset
    if any(it.direction is Direction.ATOMIC or it.offset != first for it in array.accesses):
        return False
    if any(isinstance(it, LoopSymbol) for it in first.leaves):
        return False
    try:
        places = evaluate(first, group_environment(subject.launch, (0,) * len(subject.launch.local_size)))
    except UnknownValueError:
        return False
    return int(np.unique(np.asarray(places)).size) == subject.launch.group_items


def _asks_size(array: LocalArray) -> bool:
    """True if another work-group size could make work-items share elements: 2-D groups in a 1-D index."""
    lanes = facts.lanes_in(array.accesses[0].offset)
    return lanes is None or len(lanes) != len(array.lengths)


def _edits(scope: Scope, array: LocalArray) -> list[Edit] | None:
    """Return the edits of the declaration, which must be of this array alone, and of all uses."""
    variable = array.variable
    node = scope.top_level(variable.span.start, variable.span.end)
    close = array.declared[-1][1] + 1
    if node is None or node.kind != "simple" or scope.shown[close : node.end].strip() != ";":
        return None
    qualifier = _LOCAL.match(scope.shown, node.start)
    if qualifier is None or "," in scope.shown[node.start : variable.span.start]:
        return None
    edits = [
        scope.replaced(qualifier.start(), qualifier.end(), ""),
        scope.replaced(variable.span.end, close, ""),
    ]
    for use in array.uses:
        start = use[0][0] - 1
        while scope.shown[start - 1].isspace():
            start -= 1
        edits.append(scope.replaced(start, use[-1][1] + 1, ""))
    return edits


def _barriers(scope: Scope, array: LocalArray) -> list[Edit]:
    """Return the edits that take out all barriers, if no local memory is left that they could order."""
    from clmap_lsp.source.types import AddressSpace

    others = [
        it
        for it in facts.accesses(scope.subject.analysis)
        if it.space is AddressSpace.LOCAL and it.root is not array.variable
    ]
    barriers = [it for it in ir.walk(scope.subject.analysis.kernel.body) if isinstance(it, ir.Barrier)]
    if others or any(it.fences_global or not as_typed(it.span, scope.subject.path) for it in barriers):
        return []
    edits = []
    for barrier in barriers:
        found = scope.block_statement(barrier.span.start, barrier.span.end)
        if found is None or found[1].kind != "simple":
            return []
        start, end = found[1].start, found[1].end
        line = scope.text.rfind("\n", 0, start) + 1
        after = scope.text.find("\n", end)
        alone = not scope.text[line:start].strip() and after >= 0 and not scope.text[end:after].strip()
        edits.append(scope.replaced(line, after + 1, "") if alone else scope.replaced(start, end, ""))
    return edits
