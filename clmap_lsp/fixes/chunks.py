"""Loops in which every work-item walks a chunk of its own, and the chunks of a group make one range.

The counter is the element (`for (i = start; i < min(start + chunk, n); i++)`), or the turn, with the element
in a variable or in the indices (`a[start + k]`). The analysis knows where a loop starts and how many turns it
makes; what of it is a chunk's length, and what cuts the last one, is read from that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from clmap_lsp.access.algebra import substitute
from clmap_lsp.access.polynomial import (
    ZERO,
    Op,
    Operation,
    Parameter,
    Polynomial,
    WorkItemSymbol,
    global_id,
    local_id,
)
from clmap_lsp.access.records import Access, Direction
from clmap_lsp.dataclass import dataclass
from clmap_lsp.fixes import facts
from clmap_lsp.fixes.alike import always, differs_along
from clmap_lsp.fixes.loops import CountingLoop, counting_loops, is_used_behind
from clmap_lsp.fixes.scope import Scope, as_typed
from clmap_lsp.source import ir
from clmap_lsp.source.types import AddressSpace, ScalarType

Range = tuple[int, int]
"""From one offset of the text to another."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A loop over a work-item's chunk."""

    loop: CountingLoop
    length: Polynomial
    """Elements of a chunk that nothing cuts."""
    cuts: tuple[Polynomial, ...]
    """What all chunks end at besides, where the counter is the element."""
    accesses: tuple[Access, ...]
    """Those that go by the element: stores at it, or at a place from it that is the same for a work-group."""
    texts: tuple[Range, ...] = ()
    """What says which element a turn is for; empty where the counter does."""
    kind: str = ""
    """The type of the texts' values; empty where they are assigned, which makes them what they must be."""

    @property
    def counts_elements(self) -> bool:
        """True if the loop's counter is the element."""
        return not self.texts


def chunks(scope: Scope) -> Iterator[Chunk]:
    """Yield the loops over chunks that every work-item makes."""
    every = list(counting_loops(scope, any_end=True))
    for loop in every:
        if not any(it is loop.statement for it in always(scope.subject.analysis.kernel.body)):
            continue
        if loop.increment is not None or loop.symbol.trip is None or loop.symbol.start is None:
            continue
        if loop.from_zero:
            found = _by_turn(scope, loop) if loop.bound else None
        else:
            found = None if is_used_behind(scope, loop, every) else _by_element(scope, loop)
        if found is not None and _ends_in_order(found):
            yield found


def _ends_in_order(chunk: Chunk) -> bool:
    """True if a loop is left on the way only where its elements have reached something: `if (i >= n) break;`.

    All that come after have reached it, too, whoever makes them. It stands first: nothing is done then.
    """
    body = chunk.loop.statement.body
    leaving = [it for it in ir.walk(body) if isinstance(it, (ir.Break, ir.Leave))]
    if not chunk.loop.symbol.exits_early:
        return True
    own = {it.variable for it in ir.walk(body) if isinstance(it, ir.Declare)}
    named = (it for it in body if not isinstance(it, ir.Declare))
    first = next((it for it in named if not isinstance(it, ir.Assign) or it.variable not in own), None)
    if not isinstance(first, ir.If) or len(leaving) != 1 or first.then != (leaving[0],) or first.otherwise:
        return False
    test = ir.unconverted(first.condition)
    return isinstance(test, ir.Compare) and any(
        test.op in reached and _is_element(chunk, element) and not own & facts.read_in(end)
        for element, end, reached in (
            (test.left, test.right, (ir.CompareOp.GE, ir.CompareOp.GT)),
            (test.right, test.left, (ir.CompareOp.LE, ir.CompareOp.LT)),
        )
    )


def _is_element(chunk: Chunk, value: ir.Expression) -> bool:
    """True for the element itself, by the counter, the variable that is set to it, or in its words."""
    value = ir.unconverted(value)
    if (value.span.start, value.span.end) in chunk.texts:
        return True
    if not isinstance(value, ir.Read):
        return False
    if chunk.counts_elements:
        return value.variable.name == chunk.loop.name
    return any(
        isinstance(it, ir.Assign)
        and it.variable is value.variable
        and (it.value.span.start, it.value.span.end) in chunk.texts
        for it in chunk.loop.statement.body
    )


def _plain(values: Iterable[Polynomial]) -> bool:
    """True for values that are the same for work-items of a group that differ in their first id only."""
    return all(
        isinstance(leaf, (WorkItemSymbol, Parameter)) and not differs_along(value)
        for value in values
        for leaf in value.leaves
    )


def apart(place: Polynomial) -> Polynomial | None:
    """Return how far neighbours of a work-group are apart; `None` if that is not the same for all of them."""
    ids = (global_id(0), local_id(0))
    steps = [place.coefficient(it) or ZERO for it in ids]
    rest = place - sum((Polynomial.of(it) * k for it, k in zip(ids, steps, strict=True)), start=ZERO)
    return sum(steps, start=ZERO) if _plain((rest, *steps)) and any(steps) else None


# ------------------------------------------------------------------------------------------------ by element


def _by_element(scope: Scope, loop: CountingLoop) -> Chunk | None:
    assert loop.symbol.start is not None and loop.symbol.trip is not None, "it was asked"
    start = facts.unwrapped(loop.symbol.start)
    length = apart(start)
    if length is None or loop.node.kind != "for":
        return None
    ends = list(_ends(start, facts.unwrapped(loop.symbol.trip)))
    cuts = tuple(it for it in ends if it != start + length)
    inside = (it for it in facts.accesses(scope.subject.analysis) if loop.symbol in it.loops)
    found = tuple(it for it in inside if _goes_by(it, loop, Polynomial.of(loop.symbol) + start))
    if len(cuts) == len(ends) or not _plain(cuts) or not found:
        return None
    return Chunk(loop, length, cuts, found) if all(_may_move(scope, it) for it in found) else None


def _goes_by(access: Access, loop: CountingLoop, element: Polynomial) -> bool:
    """True for an access at the element; for a load also at a multiple of it, and of what inner loops add."""
    if access.space is not AddressSpace.GLOBAL or not access.known:
        return False
    index = facts.unwrapped(access.index)
    if access.direction is not Direction.LOAD:
        return _plain((index - element,))
    pitch = index.coefficient(loop.symbol)
    if pitch is None or not pitch or not _plain((pitch,)):
        return False
    rest = substitute(index - pitch * element, {it: ZERO for it in access.loops if it != loop.symbol})
    return _plain((rest,))


def _may_move(scope: Scope, access: Access) -> bool:
    return scope.is_typed(access) and not access.volatile


def _ends(start: Polynomial, trip: Polynomial) -> Iterator[Polynomial]:
    """Yield the elements that a loop stays below, each of them."""
    for parts, first in ((_least(trip), start), (_least(start + trip), ZERO)):
        if len(parts) > 1:
            yield from (it + first for it in parts)
            return
    yield start + trip


def _least(value: Polynomial) -> Sequence[Polynomial]:
    """Return the values that one is the least of."""
    atom = value.atom
    match atom:
        case Operation(op=Op.MIN, operands=operands):
            return [part for it in operands for part in _least(it)]
        case Operation(op=Op.SELECT, operands=(test, one, other)):
            asked = test.atom
            less = isinstance(asked, Operation) and asked.op in (Op.LT, Op.LE)
            if less and isinstance(asked, Operation) and asked.operands == (one, other):
                return [*_least(one), *_least(other)]
            return [value]
        case _:
            return [value]


# --------------------------------------------------------------------------------------------------- by turn


def _by_turn(scope: Scope, loop: CountingLoop) -> Chunk | None:
    trip = loop.symbol.trip
    if trip is None or not _plain((trip,)):
        return None
    turn = Polynomial.of(loop.symbol)
    found: list[Access] = []
    for access in facts.accesses(scope.subject.analysis):
        place = facts.unwrapped(access.index) - turn
        if loop.symbol not in access.loops or access.space is not AddressSpace.GLOBAL or not access.known:
            continue
        if loop.symbol not in place.leaves and apart(place) == trip:
            if not _may_move(scope, access):
                return None
            found.append(access)
    if not found or len({it.index for it in found}) != 1:
        return None
    named = _named(scope, loop, found)
    return None if named is None else Chunk(loop, trip, (), tuple(found), *named)


def _named(
    scope: Scope, loop: CountingLoop, accesses: Sequence[Access]
) -> tuple[tuple[Range, ...], str] | None:
    """Return where it is said which element it is: what a variable is set to, or the indices themselves.

    Then the type of such values.
    """
    places = [scope.subscripts(it.span.start + len(it.buffer), 1) for it in accesses]
    if any(
        place is None or not scope.source(it.span).startswith(it.buffer)
        for it, place in zip(accesses, places, strict=True)
    ):
        return None
    texts = sorted({it[0] for it in places if it is not None})
    words = {scope.text[a:b].strip() for a, b in texts}
    if len(words) == 1 and (name := next(iter(words))).isidentifier() and name != loop.name:
        return _set_to(scope, loop, name)
    if any(scope.has_effects(*it) for it in texts):
        return None
    texts += [it for it in _said_again(scope, loop, words) if it not in texts]
    kinds = {
        it.type
        for it in ir.all_expressions(loop.statement.body)
        if (it.span.start, it.span.end) in texts and as_typed(it.span, scope.subject.path)
        if not isinstance(it, ir.Convert)
    }
    if len(kinds) != 1:
        return None
    (kind,) = kinds
    return (tuple(texts), str(kind)) if isinstance(kind, ScalarType) else None


def _set_to(scope: Scope, loop: CountingLoop, name: str) -> tuple[tuple[Range, ...], str] | None:
    own = {it.variable for it in loop.statement.body if isinstance(it, ir.Declare)}
    sets = [
        it
        for it in ir.walk(loop.statement.body)
        if isinstance(it, ir.Assign) and it.variable.name == name and it.variable in own
    ]
    if len(sets) != 1:
        return None
    value, kind = _unconverted(sets[0].value), sets[0].variable.type
    if not as_typed(value.span, scope.subject.path) or value.type.size != kind.size:
        return None
    return (((value.span.start, value.span.end),), "") if isinstance(kind, ScalarType) else None


def _unconverted(value: ir.Expression) -> ir.Expression:
    while isinstance(value, ir.Convert) and value.span == value.operand.span:
        value = value.operand
    return value


def _said_again(scope: Scope, loop: CountingLoop, words: set[str]) -> Iterator[Range]:
    """Yield where else an iteration says the element in the words of its indices: in a test, mostly."""
    for it in ir.all_expressions(loop.statement.body):
        typed = as_typed(it.span, scope.subject.path)
        if typed and isinstance(it, ir.Binary) and scope.source(it.span) in words:
            yield it.span.start, it.span.end
