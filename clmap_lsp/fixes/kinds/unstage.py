"""Take out a local array that does not pay: of which every work-item reads only what it wrote itself.

The array becomes a private variable of the same name. Barriers that then separate nothing go too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from clmap_lsp.access.polynomial import ZERO, Polynomial, local_id
from clmap_lsp.access.records import Direction
from clmap_lsp.fixes import facts
from clmap_lsp.fixes.assumptions import Assumption, flat_groups
from clmap_lsp.fixes.barriers import without_barriers
from clmap_lsp.fixes.local_arrays import LocalArray, local_arrays
from clmap_lsp.fixes.model import Proposal
from clmap_lsp.fixes.scope import Scope

if TYPE_CHECKING:
    from clmap_lsp.access.records import Access
    from clmap_lsp.findings import Edit
    from clmap_lsp.fixes.model import Subject

KIND = "unstage"
NEEDS = "a local array of which no work-item reads what another one wrote"
_LOCAL = re.compile(r"\b(?:__)?local\s+")


def propose(subject: Subject) -> Iterator[Proposal]:
    """Yield one rewrite for each local array that nobody shares."""
    scope = Scope.of(subject)
    if scope is None:
        return
    arrays = [it for it in local_arrays(scope) if it.lengths and it.uses]
    for array in arrays:
        own = _is_own(array)
        edits = None if own is None else _edits(scope, array)
        if own is None or edits is None:
            continue
        assumptions = _assumed(subject, array, own)
        name = array.variable.name
        yield Proposal(
            KIND,
            f"Keep `{name}` in a private variable",
            (*edits, *(scope.replaced(*it) for it in without_barriers(scope, (array.variable,)))),
            ("CM201", "CM402"),
            assumptions,
            sites=frozenset(it.site for it in array.accesses),
        )


def _is_own(array: LocalArray) -> frozenset[int] | None:
    """Return the dimensions in which each work-item has its own element; `None` if some may share one.

    Subscripts are, one for one, the local ids of different dimensions; then only a dimension that no
    subscript names can bring two work-items to one element. All accesses are of that element.
    """
    first = array.accesses[0].offset
    if any(it.direction is Direction.ATOMIC or it.offset != first for it in array.accesses):
        return None
    expected, width = ZERO, array.element.size
    found: set[int] = set()
    for dimension, step in _strides(array):
        if dimension is None or dimension in found:
            return None
        found.add(dimension)
        expected += Polynomial.of(local_id(dimension), step * width)
    return frozenset(found) if expected == first else None


def _strides(array: LocalArray) -> Iterator[tuple[int | None, int]]:
    """Yield, for each length of the array, the dimension that walks it, and its step in elements."""
    first, step = array.accesses[0].offset, 1
    for length in reversed(array.lengths):
        wanted = step * array.element.size
        steps = {d: first.coefficient(local_id(d)) for d in range(3)}
        yield next((d for d, it in steps.items() if it is not None and it.value == wanted), None), step
        step *= length


def _assumed(subject: Subject, array: LocalArray, dimensions: frozenset[int]) -> tuple[Assumption, ...]:
    """Return what groups must look like: flat in the other dimensions, if the kernel does not say so.

    Nothing is assumed where every work-item stores: two that share an element would race.
    """
    required = subject.analysis.kernel.attributes.reqd_work_group_size
    if required is not None and all(required[it] == 1 for it in range(3) if it not in dimensions):
        return ()
    stores = [it for it in array.accesses if it.direction is Direction.STORE]
    conditions = [part for it in stores for part in (*it.guard, *_turns(it))]
    if stores and all(
        it is not None and (lanes := facts.lanes_in(it)) is not None and lanes <= dimensions
        for it in conditions
    ):
        return ()
    return () if len(dimensions) == 3 else (flat_groups(dimensions),)


def _is_set(array: LocalArray) -> bool:
    """True if each load stands under the conditions of a store: compilers warn of what none sets."""
    stores = [it for it in array.accesses if it.direction is Direction.STORE]
    loads = [it for it in array.accesses if it.direction is Direction.LOAD]
    return all(
        any(set(store.guard) <= set(load.guard) and set(store.loops) <= set(load.loops) for store in stores)
        for load in loads
    )


def _turns(access: Access) -> Iterator[Polynomial | None]:
    """Yield how often the loops around an access turn: no turn, no store."""
    for loop in access.loops:
        yield None if loop.exits_early else loop.trip


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
        scope.replaced(variable.span.end, close, "" if _is_set(array) else " = 0"),
    ]
    for use in array.uses:
        start = use[0][0] - 1
        while scope.shown[start - 1].isspace():
            start -= 1
        edits.append(scope.replaced(start, use[-1][1] + 1, ""))
    return edits
