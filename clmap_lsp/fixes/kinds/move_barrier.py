"""Move a barrier out of control flow that not all work-items of a group follow.

A condition around the barrier is split: what stands before and after the barrier keeps the condition, the
barrier loses it. An early return becomes a condition on what follows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from clmap_lsp.emulator.result import FaultKind
from clmap_lsp.fixes.guarding import deeper, negated
from clmap_lsp.fixes.model import Proposal
from clmap_lsp.fixes.scope import Scope, as_typed
from clmap_lsp.source import ir

if TYPE_CHECKING:
    from clmap_lsp.findings import Edit
    from clmap_lsp.fixes.model import Subject
    from clmap_lsp.fixes.outline import Node

KIND = "move-barrier"
NEEDS = "a barrier that not all work-items of a group reach"


def propose(subject: Subject) -> Iterator[Proposal]:
    """Yield the moves that may cure the barrier divergence that the emulator saw."""
    emulation = subject.emulation
    if emulation is None or not any(it.kind is FaultKind.BARRIER_DIVERGENCE for it in emulation.faults):
        return
    scope = Scope.of(subject)
    if scope is None:
        return
    for title, edits in (*_split(scope), *_stay(scope)):
        yield Proposal(
            KIND,
            title,
            edits,
            ("CM303",),
            cures=FaultKind.BARRIER_DIVERGENCE,
            choice=KIND,
            lowers_traffic=False,
        )


def _barriers(scope: Scope) -> list[Node]:
    found = []
    for statement in ir.walk(scope.subject.analysis.kernel.body):
        if isinstance(statement, ir.Barrier) and as_typed(statement.span, scope.subject.path):
            place = scope.body.path(statement.span.start, statement.span.end)[-1]
            if place.kind == "simple":
                found.append(place)
    return found


def _declared(scope: Scope, start: int, end: int) -> frozenset[str]:
    return frozenset(
        it.variable.name
        for it in ir.walk(scope.subject.analysis.kernel.body)
        if isinstance(it, ir.Declare) and not it.variable.is_temporary and start <= it.span.start < end
    )


# -------------------------------------------------------------------------------------- a condition around it


def _split(scope: Scope) -> Iterator[tuple[str, tuple[Edit, ...]]]:
    conditions: dict[tuple[int, int], tuple[Node, list[Node]]] = {}
    for barrier in _barriers(scope):
        path = scope.body.path(barrier.start, barrier.end)
        around = [it for it in path if it.kind == "if"]
        if len(around) != 1 or path[-2] is not around[0].children[0] or path[-2].kind != "block":
            return
        conditions.setdefault((around[0].start, around[0].end), (around[0], []))[1].append(barrier)
    edits = []
    for guard, barriers in conditions.values():
        text = _parts(scope, guard, barriers)
        if text is None:
            return
        edits.append(scope.replaced(guard.start, guard.end, text))
    if edits:
        yield "Move the barrier out of the condition", tuple(edits)


def _parts(scope: Scope, guard: Node, barriers: Sequence[Node]) -> str | None:
    """Return the statements that replace a condition with barriers in it."""
    if len(guard.children) != 1 or guard.head is None:
        return None
    if scope.block_statement(guard.start, guard.end) is None:
        return None
    name = scope.fresh("active")
    indent, line = scope.indent(guard.start), scope.newline
    lines = [f"const bool {name} = {scope.text[guard.head[0] : guard.head[1]]};"]
    part: list[Node] = []
    inside = guard.children[0].children
    for node in (*inside, None):
        if node is not None and node not in barriers:
            part.append(node)
            continue
        if part:
            start, end = part[0].start, part[-1].end
            later = scope.words(end, guard.end)
            if _declared(scope, start, end) & later:
                return None  # A variable would end before its use.
            lines.append(f"if ({name}) {{{line}{indent}{scope.unit}{scope.text[start:end]}{line}{indent}}}")
            part = []
        if node is not None:
            lines.append(scope.source(node))
    return f"{line}{indent}".join(lines)


# ------------------------------------------------------------------------------------------- an early return


def _stay(scope: Scope) -> Iterator[tuple[str, tuple[Edit, ...]]]:
    """Let all work-items reach the barriers, and put all else that follows the return under its condition."""
    barriers = _barriers(scope)
    guards = [it for it in scope.body.children if it.kind == "if" and _returns(scope, it)]
    returns = [it for it in ir.walk(scope.subject.analysis.kernel.body) if isinstance(it, ir.Return)]
    if len(guards) != 1 or len(returns) != 1 or not barriers or guards[0].head is None:
        return
    guard = guards[0]
    name = scope.fresh("inside")
    stays = negated(scope, guard.head or (0, 0))
    edits = [scope.replaced(guard.start, guard.end, f"const bool {name} = {stays};")]
    at = scope.body.children.index(guard)
    more = _under(scope, name, scope.body.children[at + 1 :], barriers)
    if more is not None:
        yield "Let every work-item reach the barrier", (*edits, *more)


def _returns(scope: Scope, node: Node) -> bool:
    text = "".join(scope.shown[node.children[0].start : node.children[0].end].split())
    return len(node.children) == 1 and text in ("return;", "{return;}")


def _under(scope: Scope, name: str, nodes: Sequence[Node], barriers: Sequence[Node]) -> list[Edit] | None:
    """Put statements under the condition, but for barriers, declarations and loops with barriers in them."""
    edits: list[Edit] = []
    for node in nodes:
        if node in barriers:
            continue
        if any(node.holds(it.start, it.end) for it in barriers):
            if node.kind != "for" or node.children[0].kind != "block":
                return None
            inner = _under(scope, name, node.children[0].children, barriers)
            if inner is None:
                return None
            edits += inner
        elif node.kind == "simple" and _declared(scope, node.start, node.end):
            if any(
                node.holds(it.access.span.start, it.access.span.end) for it in scope.subject.analysis.accesses
            ):
                return None  # It would have to be declared apart from its first value.
        else:
            indent = scope.indent(node.start)
            text = deeper(scope.source(node), scope.unit)
            edits.append(
                scope.replaced(node.start, node.end, f"if ({name}){scope.newline}{indent}{scope.unit}{text}")
            )
    return edits
