"""Let the work-items of a group walk their chunks together, side by side.

`for (k = 0; k < per; k++) count(a[id * per + k])` has neighbours read a chunk apart. The chunks of a group
lie side by side, too, so that its work-items can take them together, neighbours neighbouring elements. The
group handles the same elements as before; who of it handles which must not matter. It does not where an
iteration knows nothing besides its element, and stores only there, counts atomically, or adds to what the
group adds up afterwards: then each work-item has another part of the same total.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from clmap_lsp.access.polynomial import Atom, Polynomial, global_id, local_id
from clmap_lsp.access.records import Direction
from clmap_lsp.fixes import facts
from clmap_lsp.fixes.alike import Known, differs_along
from clmap_lsp.fixes.assumptions import Assumption, other_order, overlaps
from clmap_lsp.fixes.chunk_texts import length_of
from clmap_lsp.fixes.chunks import Chunk, chunks
from clmap_lsp.fixes.joined import joined_by_group
from clmap_lsp.fixes.kinds.local_counts import is_used
from clmap_lsp.fixes.model import Proposal
from clmap_lsp.fixes.reductions import Total, totals
from clmap_lsp.fixes.scope import Scope, spelt, tight
from clmap_lsp.source import ir
from clmap_lsp.source.types import ScalarType

if TYPE_CHECKING:
    from clmap_lsp.findings import Edit
    from clmap_lsp.fixes.loops import CountingLoop
    from clmap_lsp.fixes.model import Subject

KIND = "share-chunk"
NEEDS = (
    "a loop in which every work-item walks a chunk of its own, with iterations that know "
    "their element only and store there, count atomically or add to what their work-group adds up"
)
WHY = "// Work-items take the chunks of their group together: neighbours neighbouring elements."
_COUNTING = frozenset({ir.AtomicOp.ADD, ir.AtomicOp.SUB, ir.AtomicOp.INC, ir.AtomicOp.DEC})
_TOGETHER = (_COUNTING, *(frozenset({it}) for it in (ir.AtomicOp.MIN, ir.AtomicOp.MAX)))
"""Operations that give the same in any order."""
_UNFIT = (
    ir.Return, ir.OpaqueCall, ir.Unsupported, ir.CopyObject, ir.Call, ir.AsyncCopy, ir.Collective,
    ir.ImageWrite, ir.Print,
)  # fmt: skip


def propose(subject: Subject) -> Iterator[Proposal]:
    """Yield one rewrite for each loop over a chunk."""
    scope = Scope.of(subject)
    kernel = subject.analysis.kernel
    if scope is None or facts.opaque(kernel) or any(isinstance(it, ir.Return) for it in ir.walk(kernel.body)):
        return
    for chunk in chunks(scope):
        gathered = _gathered(scope, chunk)
        if gathered is None or not _is_any_order(scope, chunk, gathered):
            continue
        edits = _by_element(scope, chunk) if chunk.counts_elements else _by_turn(scope, chunk)
        assumed = joined_by_group(scope, chunk.loop.statement, gathered) if edits is not None else None
        if edits is not None and assumed is not None:
            yield _proposal(scope, chunk, edits, gathered, assumed)


def _proposal(
    scope: Scope,
    chunk: Chunk,
    edits: tuple[Edit, ...],
    gathered: tuple[Total, ...],
    joined: tuple[Assumption, ...],
) -> Proposal:
    inside = [it for it in facts.accesses(scope.subject.analysis) if chunk.loop.symbol in it.loops]
    names = ", ".join(f"`{it}`" for it in dict.fromkeys(it.buffer for it in chunk.accesses))
    rounds = any(it.is_float and it.operation == "+" for it in gathered)
    return Proposal(
        KIND,
        f"Walk {names} side by side in a work-group",
        edits,
        ("CM101", "CM102", "CM403"),
        (
            *joined,
            *((other_order(),) if rounds else ()),
            *overlaps(
                scope.subject.analysis.kernel, {it.buffer for it in inside}, _stored_near(scope, chunk)
            ),
        ),
        sites=frozenset(it.site for it in chunk.accesses),
        reorders_sums=rounds,
    )


def _stored_near(scope: Scope, chunk: Chunk) -> set[str]:
    """Return the buffers that work-items may store to while others of their group are still in the loop."""
    end = chunk.loop.node.end
    barriers = (
        it.span.start
        for it in scope.subject.analysis.kernel.body
        if isinstance(it, ir.Barrier) and it.fences_global and it.span.start >= end
    )
    until = next(barriers, None)
    return {
        it.buffer
        for it in facts.accesses(scope.subject.analysis)
        if it.direction is not Direction.LOAD and (until is None or it.span.start < until or it.frames)
    }


# --------------------------------------------------------------------------------------------- in any order


def _gathered(scope: Scope, chunk: Chunk) -> tuple[Total, ...] | None:
    """Return what a loop gathers into variables of around it; `None` if its turns share anything else."""
    loop = chunk.loop
    own = _own(chunk)
    outside = (it for it in ir.walk(loop.statement.body) if isinstance(it, (ir.Assign, ir.Load)))
    if all(it.variable in own for it in outside):
        return ()
    found = totals(scope, loop.statement, loop.name, bits=True)
    if found is None or any(it.is_float and it.operation.startswith("if") for it in found):
        return None
    return found


def _own(chunk: Chunk) -> set[ir.Variable]:
    """Return the variables of an iteration, the loop's counter among them."""
    loop = chunk.loop.statement
    own = {it.variable for it in ir.walk(loop.body) if isinstance(it, ir.Declare)}
    for it in ir.walk((*loop.body, *loop.step)):
        variable = getattr(it, "variable", None)
        if isinstance(variable, ir.Variable) and (
            variable.is_temporary or (chunk.counts_elements and variable.name == chunk.loop.name)
        ):
            own.add(variable)
    return own


def _is_any_order(scope: Scope, chunk: Chunk, gathered: tuple[Total, ...]) -> bool:
    """True if it does not matter which work-item of a group makes an iteration."""
    statements = list(ir.walk(chunk.loop.statement.body))
    if facts.synchronises(statements) or any(isinstance(it, _UNFIT) for it in statements):
        return False
    own = _own(chunk) | {it.variable for it in gathered}
    outside = [it.variable for it in statements if isinstance(it, (ir.Assign, ir.Load))]
    if any(it not in own and it.name != chunk.loop.name for it in outside):
        return False
    known = Known(scope, chunk.texts, frozenset(own))
    return known.knows_only_its_element(chunk.loop.statement) and _stores_apart(scope, chunk, statements, own)


def _stores_apart(scope: Scope, chunk: Chunk, statements: list[ir.Statement], own: set[ir.Variable]) -> bool:
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
    if any(len({it.index for it in chunk.accesses if it.buffer == name}) > 1 for name in stored):
        return False
    return not stored & elsewhere and not {it.buffer for it in chunk.accesses} & changed


def _root(pointer: ir.Expression) -> ir.Variable | None:
    """Return the variable that a pointer points into."""
    found = [it.variable for it in ir.nodes(pointer) if isinstance(it, ir.ObjectAddress)]
    return found[0] if len(found) == 1 else None


# --------------------------------------------------------------------------------------------------- writing


def _names(scope: Scope, chunk: Chunk) -> dict[Atom, str]:
    known = scope.declared_before(chunk.loop.node.start)
    return {it: name for it, name in chunk.accesses[0].names.items() if name in known}


def _by_turn(scope: Scope, chunk: Chunk) -> tuple[Edit, ...] | None:
    """Say another element in each turn; `None` where the loop means something else by a name in it."""
    loop, access = chunk.loop, chunk.accesses[0]
    names = _names(scope, chunk)
    lane = names.get(local_id(0), "get_local_id(0)")
    own = access.index - Polynomial.of(loop.symbol)
    rest = facts.unwrapped(own) - Polynomial.of(global_id(0)) * chunk.length
    first = f"({names.get(global_id(0), 'get_global_id(0)')} - {lane}) * {tight(loop.bound)} + "
    if differs_along(rest):
        rest, first = facts.unwrapped(own) - Polynomial.of(local_id(0)) * chunk.length, ""
    added = None if differs_along(rest) else spelt(rest, names)
    if added is None:
        return None
    place = f"{first}{loop.name} * get_local_size(0) + {lane}"
    text = place if added == "0" else f"{place} + {added}"
    hidden = {it.variable.name for it in ir.walk(loop.statement.body) if isinstance(it, ir.Declare)}
    if hidden.intersection(re.findall(r"[A-Za-z_]\w*", text)):
        return None
    if chunk.kind and loop.body.kind == "block" and len(chunk.texts) > 1:
        element, inside = scope.fresh("element"), loop.body.children[0]
        said = scope.before(inside, [f"const {chunk.kind} {element} = {text};"])
        return (
            scope.before(loop.node, [WHY]), said, *(scope.replaced(a, b, element) for a, b in chunk.texts)
        )  # fmt: skip
    text = f"(uint)({text})" if chunk.kind == "uint" else text
    return (scope.before(loop.node, [WHY]), *(scope.replaced(a, b, text) for a, b in chunk.texts))


def _by_element(scope: Scope, chunk: Chunk) -> tuple[Edit, ...] | None:
    """Walk from the work-item's place in the range of the group, in steps of the group's size."""
    loop, kind = chunk.loop, chunk.loop.type
    assert loop.node.head is not None, "a for loop has a head"
    place = scope.block_statement(loop.node.start, loop.node.end)
    if place is None or place[1] is not loop.node or scope.has_effects(*_init(scope, chunk)):
        return None
    names = _names(scope, chunk)
    length = length_of(scope, loop, chunk.length, names)
    cuts = [spelt(it, names) for it in chunk.cuts]
    if length is None or None in cuts:
        return None
    lane = names.get(local_id(0), "get_local_id(0)")
    first, last = scope.fresh("first"), scope.fresh("last")
    end, wide = f"{first} + {length} * get_local_size(0)", _wide(loop)
    for at, cut in enumerate(cuts):
        end = f"min({f'({wide})({end})' if not at else end}, ({wide}){tight(cut or '')})"
    lines = [
        WHY,
        f"const {kind} {first} = {_first(chunk, lane, length, names)};",
        f"const {kind} {last} = {end};",
    ]
    declared = f"{kind} " if loop.declares else ""
    head = f"{declared}{loop.name} = {first} + {lane}; {loop.name} < {last}; {loop.name} += get_local_size(0)"
    idle = _cutting(scope, loop)
    return scope.before(loop.node, lines), scope.replaced(*loop.node.head, head), *idle


def _cutting(scope: Scope, loop: CountingLoop) -> tuple[Edit, ...]:
    """Return the edits that take away what cut a chunk's end (`if (end > n) end = n;`): nothing asks now."""
    around = scope.block_statement(loop.node.start, loop.node.end)
    if not loop.bound.isidentifier() or around is None:
        return ()
    sets = re.compile(rf"\{{?\s*{re.escape(loop.bound)}\s*=[^=;{{}}]*;\s*\}}?")
    cutting = [
        it
        for it in around[0].children
        if it.kind == "if" and it.end <= loop.node.start and len(it.children) == 1
        if it.head is not None and not scope.has_effects(*it.head)
        if sets.fullmatch(scope.shown, it.children[0].start, it.children[0].end)
    ]
    elsewhere = [
        at
        for at in scope.mentions(loop.bound)
        if not any(it.start <= at < it.end for it in (loop.node, *cutting))
    ]
    declared = len(elsewhere) == 1 and all(elsewhere[0] < it.start for it in cutting)
    return tuple(scope.without_line(it) for it in cutting) if declared else ()


def _init(scope: Scope, chunk: Chunk) -> tuple[int, int]:
    """Return where the text of the loop's first element stands."""
    assert chunk.loop.node.head is not None, "a for loop has a head"
    start, end = chunk.loop.node.head
    equals = scope.shown.index("=", start)
    return equals + 1, scope.shown.index(";", equals, end)


def _first(chunk: Chunk, lane: str, length: str, names: Mapping[Atom, str]) -> str:
    """Return the first element of a work-group's first chunk."""
    start = chunk.loop.symbol.start
    if start is not None and facts.unwrapped(start) == Polynomial.of(global_id(0)) * chunk.length:
        return f"({names.get(global_id(0), 'get_global_id(0)')} - {lane}) * {length}"
    return f"{tight(chunk.loop.start)} - {lane} * {length}"


def _wide(loop: CountingLoop) -> str:
    """Return the type of 64 bits in which the end of a group's range is surely no less than it is."""
    steps = (it for it in loop.statement.step if isinstance(it, ir.Assign))
    kinds = (it.variable.type for it in steps if it.variable.name == loop.name)
    return "long" if any(isinstance(it, ScalarType) and it.is_signed for it in kinds) else "ulong"
