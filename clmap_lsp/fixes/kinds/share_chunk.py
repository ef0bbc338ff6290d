"""Let the work-items of a group walk their chunks together, side by side.

`for (k = 0; k < per; k++) count(a[id * per + k])` has neighbours read a chunk apart. The chunks of a group
lie side by side, too, so that its work-items can take them together, neighbours neighbouring elements. The
group handles the same elements as before; who of it handles which must not matter. It does not where an
iteration knows nothing besides its element, and stores only there, or counts atomically.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from clmap_lsp.access.polynomial import Polynomial, global_id, local_id, varies_in_group
from clmap_lsp.access.records import Access, Direction
from clmap_lsp.dataclass import dataclass
from clmap_lsp.fixes import facts
from clmap_lsp.fixes.alike import Known, always
from clmap_lsp.fixes.assumptions import overlaps
from clmap_lsp.fixes.kinds.local_counts import is_used
from clmap_lsp.fixes.loops import CountingLoop, counting_loops
from clmap_lsp.fixes.model import Proposal
from clmap_lsp.fixes.scope import Scope, as_typed, spelt, tight
from clmap_lsp.source import ir
from clmap_lsp.source.types import AddressSpace, ScalarType

if TYPE_CHECKING:
    from clmap_lsp.fixes.model import Subject

KIND = "share-chunk"
NEEDS = (
    "a loop in which every work-item walks a chunk of its own, with iterations that know "
    "their element only and store there or count atomically"
)
WHY = "// Work-items take the chunks of their group together: neighbours neighbouring elements."
_COUNTING = frozenset({ir.AtomicOp.ADD, ir.AtomicOp.SUB, ir.AtomicOp.INC, ir.AtomicOp.DEC})
_TOGETHER = (_COUNTING, *(frozenset({it}) for it in (ir.AtomicOp.MIN, ir.AtomicOp.MAX)))
"""Operations that give the same in any order."""
_UNFIT = (
    ir.Return, ir.OpaqueCall, ir.Unsupported, ir.CopyObject, ir.Call, ir.AsyncCopy, ir.Collective,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Chunk:
    """A loop over a work-item's chunk: the element of an iteration, and the texts that say which it is."""

    loop: CountingLoop
    rest: Polynomial
    """What the index adds to the element's number, the same for a work-group."""
    accesses: tuple[Access, ...]
    texts: tuple[tuple[int, int], ...]
    cast: str
    """What brings the texts' values to their type; empty where an assignment does, or nothing can wrap."""


def propose(subject: Subject) -> Iterator[Proposal]:
    """Yield one rewrite for each loop over a chunk."""
    scope = Scope.of(subject)
    kernel = subject.analysis.kernel
    if scope is None or facts.opaque(kernel) or any(isinstance(it, ir.Return) for it in ir.walk(kernel.body)):
        return
    for loop in counting_loops(scope):
        chunk = _chunk(scope, loop)
        text = None if chunk is None else _element(scope, chunk)
        if chunk is not None and text is not None and _is_any_order(scope, chunk):
            yield _proposal(scope, chunk, text)


def _proposal(scope: Scope, chunk: _Chunk, text: str) -> Proposal:
    inside = [it for it in facts.accesses(scope.subject.analysis) if chunk.loop.symbol in it.loops]
    names = ", ".join(f"`{it}`" for it in dict.fromkeys(it.buffer for it in chunk.accesses))
    written = {it.buffer for it in inside if it.direction is not Direction.LOAD}
    return Proposal(
        KIND,
        f"Walk {names} side by side in a work-group",
        (scope.before(chunk.loop.node, [WHY]), *(scope.replaced(a, b, text) for a, b in chunk.texts)),
        ("CM101", "CM102", "CM403"),
        overlaps(scope.subject.analysis.kernel, {it.buffer for it in inside}, written),
        sites=frozenset(it.site for it in chunk.accesses),
    )


# ---------------------------------------------------------------------------------------------- recognition


def _chunk(scope: Scope, loop: CountingLoop) -> _Chunk | None:
    """Return the chunk that a loop walks: element `id * turns + turn`, under no condition that ids decide."""
    trip = loop.symbol.trip
    if trip is None or varies_in_group(trip) or not loop.from_zero or loop.increment is not None:
        return None
    if not any(it is loop.statement for it in always(scope.subject.analysis.kernel.body)):
        return None
    inside = [it for it in facts.accesses(scope.subject.analysis) if loop.symbol in it.loops]
    found: list[Access] = []
    for access in inside:
        rest = facts.unwrapped(access.index) - Polynomial.of(loop.symbol) - Polynomial.of(global_id(0)) * trip
        if access.space is AddressSpace.GLOBAL and access.known and not varies_in_group(rest):
            if loop.symbol in rest.leaves or not scope.is_typed(access) or access.volatile:
                return None
            found.append(access)
    if not found or len({it.index for it in found}) != 1:
        return None
    named = _named(scope, loop, found)
    if named is None:
        return None
    rest = facts.unwrapped(found[0].index) - Polynomial.of(loop.symbol) - Polynomial.of(global_id(0)) * trip
    return _Chunk(loop, rest, tuple(found), *named)


def _named(
    scope: Scope, loop: CountingLoop, accesses: list[Access]
) -> tuple[tuple[tuple[int, int], ...], str] | None:
    """Return where it is said which element it is: what a variable is set to, or the indices themselves.

    Then how such values are cast.
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
    kinds = {
        it.type
        for it in ir.all_expressions(loop.statement.body)
        if (it.span.start, it.span.end) in texts and as_typed(it.span, scope.subject.path)
        if not isinstance(it, ir.Convert)
    }
    if len(kinds) != 1 or any(scope.has_effects(*it) for it in texts):
        return None
    (kind,) = kinds
    return (tuple(texts), "(uint)" if str(kind) == "uint" else "") if isinstance(kind, ScalarType) else None


def _unconverted(value: ir.Expression) -> ir.Expression:
    while isinstance(value, ir.Convert) and value.span == value.operand.span:
        value = value.operand
    return value


def _is_any_order(scope: Scope, chunk: _Chunk) -> bool:
    """True if it does not matter which work-item of a group makes an iteration."""
    statements = list(ir.walk(chunk.loop.statement.body))
    if facts.synchronises(statements) or any(isinstance(it, _UNFIT) for it in statements):
        return False
    own = {it.variable for it in statements if isinstance(it, ir.Declare)}
    own |= {v for it in statements if (v := getattr(it, "variable", None)) is not None and v.is_temporary}
    outside = [it.variable for it in statements if isinstance(it, (ir.Assign, ir.Load))]
    if any(it not in own and it.name != chunk.loop.name for it in outside):
        return False
    known = Known(scope, chunk.texts, frozenset(own))
    return known.knows_only_its_element(chunk.loop.statement) and _stores_apart(scope, chunk, statements, own)


def _stores_apart(scope: Scope, chunk: _Chunk, statements: list[ir.Statement], own: set[ir.Variable]) -> bool:
    """True if what iterations store is their own element, which nothing else touches, or counted."""
    everything = facts.accesses(scope.subject.analysis)
    inside = {it.site: it for it in everything if chunk.loop.symbol in it.loops}
    mine = {it.site for it in chunk.accesses}
    if any(it.buffer == "?" for it in everything):
        return False
    counted: dict[str, set[ir.AtomicOp]] = {}
    for it in statements:
        if isinstance(it, ir.Store) and it.site not in mine and _root(it.pointer) not in own:
            return False
        if isinstance(it, ir.Atomic):
            if it.site not in inside or it.type.is_float or is_used(scope.subject.analysis.kernel, it):
                return False
            counted.setdefault(inside[it.site].buffer, set()).add(it.op)
    if any(not any(ops <= some for some in _TOGETHER) for ops in counted.values()):
        return False
    if any(it.direction is not Direction.ATOMIC for it in inside.values() if it.buffer in counted):
        return False
    elsewhere = {it.buffer for it in everything if it.site not in mine}
    stored = {it.buffer for it in chunk.accesses if it.direction is not Direction.LOAD}
    changed = {it.buffer for it in everything if it.direction is not Direction.LOAD and it.site not in mine}
    return not stored & elsewhere and not {it.buffer for it in chunk.accesses} & changed


def _root(pointer: ir.Expression) -> ir.Variable | None:
    """Return the variable that a pointer points into."""
    found = [it.variable for it in ir.nodes(pointer) if isinstance(it, ir.ObjectAddress)]
    return found[0] if len(found) == 1 else None


# --------------------------------------------------------------------------------------------------- writing


def _element(scope: Scope, chunk: _Chunk) -> str | None:
    """Return which element an iteration takes; `None` where the loop means something else by a name in it."""
    loop, access = chunk.loop, chunk.accesses[0]
    known = scope.declared_before(loop.node.start)
    names = {it: name for it, name in access.names.items() if name in known}
    item = names.get(global_id(0), "get_global_id(0)")
    lane = names.get(local_id(0), "get_local_id(0)")
    rest = spelt(chunk.rest, names)
    if rest is None:
        return None
    added = "" if rest == "0" else f" + {rest}"
    text = f"({item} - {lane}) * {tight(loop.bound)} + {loop.name} * get_local_size(0) + {lane}{added}"
    hidden = {it.variable.name for it in ir.walk(loop.statement.body) if isinstance(it, ir.Declare)}
    if hidden.intersection(re.findall(r"[A-Za-z_]\w*", text)):
        return None
    return f"{chunk.cast}({text})" if chunk.cast else text
