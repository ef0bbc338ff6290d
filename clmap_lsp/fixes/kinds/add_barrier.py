"""Add the barrier that is missing between a local store and a load of another work-item.

Places are tried from the narrowest: before the later access, after the earlier one, at the end of the loop
around them, and pairs of these. Only what the emulator then sees without a race is offered. A function that
this kernel alone calls gets the barrier itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, islice
from typing import TYPE_CHECKING

from clmap_lsp.emulator.result import FaultKind
from clmap_lsp.fixes.model import Proposal
from clmap_lsp.fixes.outline import outline
from clmap_lsp.fixes.scope import Scope, as_typed

if TYPE_CHECKING:
    from clmap_lsp.findings import Edit
    from clmap_lsp.fixes.model import Subject
    from clmap_lsp.fixes.outline import Node
    from clmap_lsp.source import ir
    from clmap_lsp.source.span import Span

KIND = "add-barrier"
NEEDS = "a race inside a work-group that the emulator saw"
BARRIER = "barrier(CLK_LOCAL_MEM_FENCE);"
MOST_TRIED = 40
"""Each is a run of the kernel; one that races in ever so many places lacks more than barriers."""


def propose(subject: Subject) -> Iterator[Proposal]:
    """Yield the places that may cure the local data races that the emulator saw."""
    if subject.emulation is None:
        return
    races = [it for it in subject.emulation.faults if it.kind is FaultKind.DATA_RACE and it.space == "local"]
    scope = Scope.of(subject) if races else None
    if scope is None:
        return
    places: dict[int, Edit] = {}
    for race in races:
        spans = sorted((race.span, race.other_span or race.span), key=lambda it: it.start)
        around = _around(scope, *spans)
        for edit in () if around is None else _places(around, *spans):
            places.setdefault(edit.span.start, edit)
    edits = list(places.values())
    tried = (chosen for count in (1, 2, 3) for chosen in combinations(edits, count))
    for chosen in islice(tried, MOST_TRIED):
        yield Proposal(
            KIND,
            "Add the missing barrier" if len(chosen) == 1 else f"Add the {len(chosen)} missing barriers",
            chosen,
            ("CM302",),
            cures=FaultKind.DATA_RACE,
            choice=KIND,
            lowers_traffic=False,
        )


def _around(scope: Scope, first: Span, second: Span) -> Scope | None:
    """Return the scope of the kernel, or of a function of its own, that two places stand in."""
    path = scope.subject.path
    if not (as_typed(first, path) and as_typed(second, path)):
        return None
    if scope.body.holds(first.start, second.end):
        return scope
    for function in scope.subject.program.functions.values():
        span = function.span
        if span.path == path and span.start <= first.start and second.end <= span.end:
            body = outline(scope.shown, span.start, span.end) if _is_its_own(scope, function) else None
            return None if body is None else replace(scope, body=body)
    return None


def _is_its_own(scope: Scope, function: ir.Function) -> bool:
    """True if no other kernel calls a function: there a barrier might wait for work-items that never come."""
    named = re.compile(rf"\b{re.escape(function.name)}\b")
    own, kernel = function.span, scope.subject.analysis.span
    return all(
        own.start <= it.start() < own.end or kernel.start <= it.start() < kernel.end
        for it in named.finditer(scope.shown)
    )


def _places(scope: Scope, first: Span, second: Span) -> Iterator[Edit]:
    paths = [_uniform(scope.body.path(it.start, it.end)) for it in (first, second)]
    common = [a for a, b in zip(*paths, strict=False) if a is b]
    blocks = [it for it in common if it.kind == "block"]
    if not blocks:
        return
    block = blocks[-1]
    early = _child(block, first)
    late = _child(block, second)
    if early is not None and late is not None and early is not late:
        yield scope.before(late, [BARRIER])
        yield scope.after(early, [BARRIER])
    for loop in reversed([it for it in common if it.kind in ("for", "while", "do")]):
        yield from _at_end(scope, loop)
        found = scope.block_statement(loop.start, loop.end)
        if found is not None and found[1] is loop:
            yield scope.before(loop, [BARRIER])
            yield scope.after(loop, [BARRIER])


def _uniform(path: tuple[Node, ...]) -> tuple[Node, ...]:
    """Return the statements around a place down to the first condition: below it a barrier may diverge."""
    found = []
    for node in path:
        found.append(node)
        if node.kind in ("if", "switch"):
            break
    return tuple(found)


def _child(block: Node, span: Span) -> Node | None:
    return next((it for it in block.children if it.holds(span.start, span.end)), None)


def _at_end(scope: Scope, loop: Node) -> Iterator[Edit]:
    """Yield the edit that ends every turn of a loop with a barrier."""
    body = loop.children[0]
    if body.kind == "block" and body.children:
        yield scope.after(body.children[-1], [BARRIER])
    elif body.kind != "block" and loop.head is not None and loop.kind != "do":
        start = loop.head[1] + 1
        indent, line, inner = scope.indent(loop.start), scope.newline, scope.indent(body.start)
        text = f" {{{line}{inner}{scope.source(body)}{line}{inner}{BARRIER}{line}{indent}}}"
        yield scope.replaced(start, body.end, text)
