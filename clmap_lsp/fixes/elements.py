"""Several elements a work-item: which kernels can be made so, and how it is written.

For kernels with one dimension whose work-items know nothing of each other. A work-item then takes every n-th
element, n work-items apart, so that neighbours still touch neighbouring elements; a `return` for elements
beyond the end goes on with the next one.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from clmap_lsp.access.polynomial import Op, Operation, Polynomial, WorkItemSymbol, global_id, varies_in_launch
from clmap_lsp.dataclass import dataclass
from clmap_lsp.fixes import facts
from clmap_lsp.fixes.assumptions import multiple, no_offset, positive
from clmap_lsp.fixes.guarding import deeper
from clmap_lsp.fixes.scope import as_typed, spelt
from clmap_lsp.source import ir
from clmap_lsp.source.ir import WorkItemQuery as Query

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clmap_lsp.fixes.assumptions import Assumption
    from clmap_lsp.fixes.scope import Scope
    from clmap_lsp.launch.model import Launch

ID = re.compile(r"\bget_global_id\s*\(\s*0\s*\)")
_RETURN = re.compile(r"\breturn\s*;")
_SIZE = Polynomial.of(WorkItemSymbol(Query.GLOBAL_SIZE, 0))


def knows_only_its_id(scope: Scope) -> bool:
    """True if every work-item function of a kernel is a `get_global_id(0)` that is typed in its body.

    What is asked for a variable that nothing reads does not count.
    """
    body = scope.subject.analysis.kernel.body
    read = {it.variable for it in ir.all_expressions(body) if isinstance(it, (ir.Read, ir.ObjectAddress))}
    for statement in ir.walk(body):
        if isinstance(statement, ir.Assign) and statement.variable not in read:
            continue
        for expression in ir.expressions(statement):
            for it in ir.nodes(expression):
                if isinstance(it, ir.WorkItem) and not _is_typed_id(scope, it):
                    return False
    return True


def _is_typed_id(scope: Scope, it: ir.WorkItem) -> bool:
    first = it.dimension is None or (isinstance(it.dimension, ir.Constant) and it.dimension.value == 0)
    if it.query is not Query.GLOBAL_ID or not first or not as_typed(it.span, scope.subject.path):
        return False
    inside = scope.body.start <= it.span.start and it.span.end <= scope.body.end
    return inside and ID.search(scope.shown, it.span.start, it.span.end) is not None


@dataclass(frozen=True, slots=True)
class Elements:
    """How a kernel's elements end: below `bound` where it says so, else with its work-items."""

    bound: Polynomial | None

    def assumptions(self, launch: Launch, count: int) -> tuple[Assumption, ...]:
        """Return what must hold so that the same elements are handled, `count` a work-item."""
        items = count if self.bound is not None else count * launch.local_size[0]
        return () if count == 1 else (no_offset(1), *covered(self.bound, items))


def covered(bound: Polynomial | None, count: int) -> tuple[Assumption, ...]:
    """Return what must hold so that work-items rounded up to a multiple of `count` handle the same elements.

    Those beyond `bound` handle none; without a bound there must be as many as before.
    """
    if count == 1:
        return ()
    if bound is None:
        return (multiple(_SIZE, "get_global_size(0)", count),)
    return (positive(_SIZE - bound + 1, f"get_global_size(0) >= {spelt(bound, {})}"),)


def relaunched(launch: Launch, count: int) -> Launch:
    """Return a launch with as many elements, `count` a work-item, in work-groups as before."""
    (items,), (group,) = launch.global_size, launch.local_size
    return replace(launch, global_size=(-(-items // (count * group)) * group,))


def elements(scope: Scope) -> Elements | None:
    """Return how the elements of a kernel end; `None` if its work-items cannot take several.

    A `return` must stand outside of loops, so that the next element can be taken instead.
    """
    subject = scope.subject
    kernel = subject.analysis.kernel
    if len(subject.launch.global_size) != 1 or facts.opaque(kernel) or facts.synchronises(kernel.body):
        return None
    if kernel.frames or not knows_only_its_id(scope):
        return None
    for node in scope.body.walk():
        if node.kind in ("for", "while", "do", "switch") and _RETURN.search(
            scope.shown, node.start, node.end
        ):
            return None
    returns = [it for it in ir.walk(kernel.body) if isinstance(it, ir.Return)]
    if len(returns) > len(_RETURN.findall(scope.shown, scope.body.start, scope.body.end)):
        return None
    return Elements(bound(scope))


def bound(scope: Scope) -> Polynomial | None:
    """Return what the id stays below wherever memory is touched; `None` if nothing."""
    shared: set[Polynomial] | None = None
    for access in facts.accesses(scope.subject.analysis):
        mine = set(_bounds(access.guard))
        shared = mine if shared is None else shared & mine
    return min(shared, key=str) if shared else None


def _bounds(guard: tuple[Polynomial, ...]) -> Iterator[Polynomial]:
    for condition in facts.conjuncts(guard):
        atom = condition.atom
        if isinstance(atom, Operation) and atom.op in (Op.LT, Op.LE):
            left, right = atom.operands
            bound = right + (atom.op is Op.LE)
            if left.atom == global_id(0) and not varies_in_launch(right) and spelt(bound, {}) is not None:
                yield bound


def repeated(scope: Scope, text: str, count: int) -> list[str]:
    """Return the lines of a loop that makes a kernel's statements for `count` elements.

    Args:
        text: the statements as they are for one element, the first line without its indentation.
    """
    turn, unit = scope.fresh("turn"), scope.unit
    here = f"(get_global_id(0) + {turn} * get_global_size(0))"
    several = _RETURN.sub("continue;", ID.sub(here, text))
    several = re.sub(r"= \((get_global_id\(0\) \+ \w+ \* get_global_size\(0\))\);", r"= \1;", several)
    return [
        f"for (int {turn} = 0; {turn} < {count}; {turn}++) {{",
        unit + deeper(several, unit),
        "}",
    ]
