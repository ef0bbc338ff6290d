"""Move what a loop does with one and the same element out of the loop.

A load whose address does not change with the turns, of a buffer that the loop does not write, is made once
before it. A sum that is kept in memory (`C[i] += …` in every turn) is kept in a private variable and stored
after the loop.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from clmap_lsp.access.facts import Facts
from clmap_lsp.access.polynomial import ZERO
from clmap_lsp.access.records import Access, Direction
from clmap_lsp.fixes import facts
from clmap_lsp.fixes.assumptions import Assumption, overlaps, positive
from clmap_lsp.fixes.loops import CountingLoop, counting_loops
from clmap_lsp.fixes.model import Proposal
from clmap_lsp.fixes.scope import Scope
from clmap_lsp.source import ir
from clmap_lsp.source.types import AddressSpace

if TYPE_CHECKING:
    from clmap_lsp.findings import Edit
    from clmap_lsp.fixes.model import Subject

KIND = "hoist-access"
NEEDS = "an element that every turn of a counting loop touches at one address"


def propose(subject: Subject) -> Iterator[Proposal]:
    """Yield one rewrite for each element that an innermost loop touches again and again."""
    scope = Scope.of(subject)
    if scope is None or facts.opaque(subject.analysis.kernel):
        return
    for loop in counting_loops(scope):
        if facts.synchronises(loop.statement.body):
            continue
        seen: set[str] = set()
        for access in facts.accesses(subject.analysis):
            text = scope.source(access.span)
            if text not in seen and _may_move(scope, loop, access):
                seen.add(text)
                found = _proposal(scope, loop, access)
                if found is not None:
                    yield found


def _may_move(scope: Scope, loop: CountingLoop, access: Access) -> bool:
    """True if the address is known, the same in every turn, and reached in every turn."""
    if not access.loops or access.loops[-1] != loop.symbol or loop.symbol in access.offset.leaves:
        return False
    if access.space not in (AddressSpace.GLOBAL, AddressSpace.LOCAL) or not access.known or access.volatile:
        return False
    if not scope.is_typed(access) or not facts.plain_element(access.type) or access.buffer == "?":
        return False
    if not scope.source(access.span).endswith("]"):
        return False
    if not facts.in_every_turn(loop.statement.body, access.site):
        return False
    if any(isinstance(it, (ir.Return, ir.Continue, ir.Break)) for it in ir.walk(loop.statement.body)):
        return False
    names = {loop.name} | {
        it.variable.name for it in ir.walk(loop.statement.body) if isinstance(it, (ir.Declare, ir.Assign))
    }
    return not names.intersection(scope.words(access.span.start, access.span.end))


def _proposal(scope: Scope, loop: CountingLoop, access: Access) -> Proposal | None:
    same = [it for it in facts.accesses(scope.subject.analysis) if it.buffer in (access.buffer, "?")]
    inside = [it for it in same if loop.node.holds(it.span.start, it.span.end)]
    mine = [it for it in inside if it.offset == access.offset and _may_move(scope, loop, it)]
    stores = [it for it in inside if it.direction is not Direction.LOAD]
    if any(it.direction is Direction.ATOMIC for it in stores) or (stores and len(mine) != len(inside)):
        return None
    text = scope.source(access.span)
    name = scope.fresh(f"{access.buffer}_value")
    places = sorted({(it.span.start, it.span.end) for it in mine})
    constant = "" if stores else "const "
    before = f"{constant}{access.type} {name} = {text};"
    after = [f"{text} = {name};"] if stores else []
    title = f"Keep `{text}` in a register over the loop" if stores else f"Load `{text}` before the loop"
    return Proposal(
        KIND,
        title,
        _edits(scope, loop, before, dict.fromkeys(places, name), after),
        ("CM101", "CM102", "CM103"),
        (*_apart(scope, loop, access.buffer, bool(stores)), *_turns(scope, loop, access, bool(stores))),
        sites=frozenset(it.site for it in mine),
    )


def _edits(
    scope: Scope, loop: CountingLoop, before: str, changes: dict[tuple[int, int], str], after: list[str]
) -> tuple[Edit, ...]:
    """Return edits that put lines around a loop and change its text, in braces where something governs it."""
    node = loop.node
    around = scope.block_statement(node.start, node.end)
    if around is not None and around[1] is node:
        inside = [scope.replaced(start, end, text) for (start, end), text in changes.items()]
        return (scope.before(node, [before]), *inside, *([scope.after(node, after)] if after else []))
    changed = scope.rewritten(node.start, node.end, changes)
    text = f"{scope.newline}{scope.indent(node.start)}".join([before, changed, *after])
    return (scope.replaced(node.start, node.end, scope.governed(node, text)),)


def _apart(scope: Scope, loop: CountingLoop, buffer: str, is_stored: bool) -> tuple[Assumption, ...]:
    """Return which buffers must not overlap, so that nothing in the loop changes what was loaded before it.

    A sum that is stored after the loop only must not be what the loop loads, either.
    """
    others = [it for it in facts.accesses(scope.subject.analysis) if loop.symbol in it.loops]
    stored = {it.buffer for it in others if it.direction is not Direction.LOAD}
    loaded = {it.buffer for it in others} if is_stored else {buffer}
    kernel = scope.subject.analysis.kernel
    mine = {buffer} if is_stored else stored
    return overlaps(kernel, loaded, mine)


def _turns(scope: Scope, loop: CountingLoop, access: Access, is_stored: bool) -> tuple[Assumption, ...]:
    """Return that the loop runs at least once, so that nothing new is loaded, unless that is known.

    It is known where the trip count says so, and nothing is new where the element was accessed before.
    """
    if loop.symbol.trip is None:
        return (positive(ZERO, f"the loop over `{loop.name}` runs at least once"),)
    low, _ = Facts().interval(loop.symbol.trip)
    if low is not None and low >= 1:
        return ()
    for other in facts.accesses(scope.subject.analysis):
        same = (other.buffer, other.offset) == (access.buffer, access.offset)
        same = same and other.known and set(other.guard) <= set(access.guard)  # It is made wherever this is.
        before = other.span.end <= loop.node.start and other.loops == access.loops[:-1]
        if same and before and (not is_stored or other.direction is Direction.STORE):
            return ()
    return (positive(loop.symbol.trip, f"{loop.start} < {loop.bound}"),)
