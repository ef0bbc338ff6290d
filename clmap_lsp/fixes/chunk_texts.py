"""What the author calls the length of a chunk: what a loop's first element is an id times of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from clmap_lsp.fixes import facts
from clmap_lsp.fixes.scope import as_typed, spelt, tight
from clmap_lsp.source import ir
from clmap_lsp.source.ir import WorkItemQuery as Query

if TYPE_CHECKING:
    from clmap_lsp.access.polynomial import Atom, Polynomial
    from clmap_lsp.fixes.loops import CountingLoop
    from clmap_lsp.fixes.scope import Scope

_IDS = (Query.GLOBAL_ID, Query.LOCAL_ID)


def length_of(scope: Scope, loop: CountingLoop, length: Polynomial, names: Mapping[Atom, str]) -> str | None:
    """Return the length of a chunk as C text, an operand of a product."""
    kernel = scope.subject.analysis.kernel
    head = loop.node.head
    first = next(
        (
            it.value
            for it in ir.walk(kernel.body)
            if isinstance(it, ir.Assign) and it.variable.name == loop.name
            if head is not None and head[0] <= it.span.start and it.span.end <= head[1]
        ),
        None,
    )
    factor = None if first is None else _factor(scope, first)
    if factor is not None and _means_the_same(scope, factor, loop.node.start):
        return tight(scope.source(factor.span))
    if isinstance(factor, ir.Constant) and factor.span.path == scope.subject.path:
        named = scope.source(factor.span)
        if named.isidentifier():
            return named  # A macro, which is the same number wherever it stands.
    text = spelt(length, names)
    return None if text is None else tight(text)


def _factor(scope: Scope, value: ir.Expression) -> ir.Expression | None:
    """Return what an id is multiplied by in a value; `None` where that does not stand in one place."""
    value = _resolved(scope, value)
    if not isinstance(value, ir.Binary):
        return None
    knowing = [it for it in (value.left, value.right) if _knows_id(scope, it)]
    if len(knowing) != 1:
        return None
    other = value.right if knowing[0] is value.left else value.left
    if value.op is ir.BinaryOp.ADD:
        return _factor(scope, knowing[0])
    is_id = isinstance(_resolved(scope, knowing[0]), ir.WorkItem)
    return ir.unconverted(other) if value.op is ir.BinaryOp.MUL and is_id else None


def _resolved(scope: Scope, value: ir.Expression) -> ir.Expression:
    """Return a value without conversions, and what a variable that is set once was set to."""
    value = ir.unconverted(value)
    if isinstance(value, ir.Read):
        sets = _sets(scope, value.variable)
        if len(sets) == 1 and value.variable.kind is not ir.VariableKind.PARAMETER:
            return _resolved(scope, sets[0].value)
    return value


def _sets(scope: Scope, variable: ir.Variable) -> list[ir.Assign]:
    body = scope.subject.analysis.kernel.body
    return [it for it in ir.walk(body) if isinstance(it, ir.Assign) and it.variable is variable]


def _knows_id(scope: Scope, value: ir.Expression) -> bool:
    return any(
        isinstance(_resolved(scope, it), ir.WorkItem) and getattr(_resolved(scope, it), "query", None) in _IDS
        for it in ir.nodes(value)
    )


def _means_the_same(scope: Scope, value: ir.Expression, at: int) -> bool:
    """True if a value's text may be said again in front of a loop: it has no effects, its names are known."""
    span = value.span
    if not as_typed(span, scope.subject.path) or scope.has_effects(span.start, span.end):
        return False
    known = scope.declared_before(at)
    kernel = scope.subject.analysis.kernel
    changing = facts.set_names(kernel.body)
    times: dict[str, int] = {}
    for name in changing:
        times[name] = times.get(name, 0) + 1
    for it in ir.nodes(value):
        if isinstance(it, ir.Read):
            is_parameter = it.variable.kind is ir.VariableKind.PARAMETER
            if it.variable.name not in known or times.get(it.variable.name, 0) != (not is_parameter):
                return False
        elif not isinstance(it, (ir.Constant, ir.Binary, ir.Convert, ir.WorkItem)):
            return False
    return True
