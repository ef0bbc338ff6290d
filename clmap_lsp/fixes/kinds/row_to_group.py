"""Let a work-group share what one work-item did: a row of a matrix, a line of a sum.

A work-item that walks a row by itself reads a row apart from its neighbours, and a launch of few rows leaves
most of a GPU idle. As a work-group a row, neighbours read side by side and a tree of pairs adds up what they
gathered: NVIDIA's MatVecMulUncoalesced0 of 8192 x 8192 became 5.7 times as fast by it on an H200.

Only for devices whose local memory is on the chip: a CPU's work-item is best left with its row. What is not
such a loop is done by all work-items alike; what is stored outside of one, by the first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from clmap_lsp.access.records import Direction
from clmap_lsp.fixes import facts
from clmap_lsp.fixes.assumptions import no_offset, other_order, overlaps
from clmap_lsp.fixes.group_size import requires
from clmap_lsp.fixes.guarding import deeper
from clmap_lsp.fixes.loops import CountingLoop, counting_loops
from clmap_lsp.fixes.model import Proposal
from clmap_lsp.fixes.reductions import Total, starts_at_zero, totals, tree
from clmap_lsp.fixes.scope import Scope, as_typed, tight
from clmap_lsp.source import ir
from clmap_lsp.source.ir import WorkItemQuery as Query
from clmap_lsp.source.types import AddressSpace

if TYPE_CHECKING:
    from clmap_lsp.access.records import Access
    from clmap_lsp.findings import Edit
    from clmap_lsp.fixes.assumptions import Assumption
    from clmap_lsp.fixes.model import Subject
    from clmap_lsp.fixes.outline import Node
    from clmap_lsp.launch.model import Launch

KIND = "row-to-group"
SIZES = (128, 256, 32)
"""Work-items that share a row; powers of two."""
_ID = re.compile(r"\bget_global_id\s*\(\s*0\s*\)")


@dataclass(frozen=True, slots=True)
class _Shared:
    """A loop whose turns are divided; without totals it only stores, each turn its own element."""

    loop: CountingLoop
    totals: tuple[Total, ...]


def propose(subject: Subject) -> Iterator[Proposal]:
    """Yield one rewrite for each number of work-items a row."""
    scope = Scope.of(subject)
    if scope is None or subject.device.has_scratchpad is False or not _plain(scope):
        return
    shared = _shared(scope)
    alone = None if shared is None else _alone(scope, shared)
    if shared is None or alone is None:
        return
    for size in SIZES:
        if size <= (subject.device.limits.max_work_group_size or 256):
            yield _proposal(subject, shared, alone, size)


def _proposal(subject: Subject, shared: tuple[_Shared, ...], alone: tuple[Node, ...], size: int) -> Proposal:
    scope = Scope.of(subject)
    assert scope is not None, "it was read before"
    accesses = facts.accesses(subject.analysis)
    loaded = {it.buffer for it in accesses if it.direction is Direction.LOAD}

    def relaunched(launch: Launch) -> Launch:
        return replace(launch, global_size=(launch.global_size[0] * size,), local_size=(size,))

    return Proposal(
        KIND,
        f"Share a row among {size} work-items and add up by a tree",
        _edits(scope, shared, alone, size),
        ("CM101", "CM102", "CM104", "CM403"),
        (
            no_offset(1),
            *_reordered(shared),
            *overlaps(subject.analysis.kernel, loaded, facts.written(subject.analysis)),
        ),
        sites=frozenset(it.site for it in accesses if any(one.loop.symbol in it.loops for one in shared)),
        relaunch=relaunched,
        host_change=f"launch a work-group of {size} for every work-item of before: global size {size} times "
        f"as large, local size {size}",
        reorders_sums=bool(_reordered(shared)),
    )


def _reordered(shared: tuple[_Shared, ...]) -> tuple[Assumption, ...]:
    """Return that floating-point sums may be taken in another order, where there are any."""
    sums = any(it.is_float and it.operation == "+" for one in shared for it in one.totals)
    return (other_order(),) if sums else ()


# ---------------------------------------------------------------------------------------------- recognition


def _plain(scope: Scope) -> bool:
    """True if a kernel's work-items know each other by nothing but their first global id."""
    subject = scope.subject
    kernel, launch = subject.analysis.kernel, subject.launch
    if len(launch.global_size) != 1 or facts.opaque(kernel) or facts.synchronises(kernel.body):
        return False
    if kernel.attributes.reqd_work_group_size is not None or kernel.frames:
        return False
    if any(it.kind is ir.VariableKind.LOCAL_OBJECT for it in kernel.variables):
        return False
    for statement in ir.walk(kernel.body):
        if isinstance(statement, (ir.Atomic, ir.ImageRead, ir.ImageWrite, ir.Print, ir.Fence)):
            return False
        for expression in ir.expressions(statement):
            for it in ir.nodes(expression):
                if isinstance(it, ir.WorkItem) and not _is_id(scope, it):
                    return False
    accesses = facts.accesses(subject.analysis)
    return not any(it.volatile or it.buffer == "?" or it.space is AddressSpace.LOCAL for it in accesses)


def _is_id(scope: Scope, it: ir.WorkItem) -> bool:
    """True for `get_global_id(0)` typed in the kernel itself."""
    first = it.dimension is None or (isinstance(it.dimension, ir.Constant) and it.dimension.value == 0)
    if it.query is not Query.GLOBAL_ID or not first or not as_typed(it.span, scope.subject.path):
        return False
    inside = scope.body.start <= it.span.start and it.span.end <= scope.body.end
    return inside and _ID.search(scope.shown, it.span.start, it.span.end) is not None


def _shared(scope: Scope) -> tuple[_Shared, ...] | None:
    """Return the outermost loops, each of which can be divided; `None` if one cannot, or none adds up."""
    known = {id(it.statement): it for it in counting_loops(scope)}
    found = []
    for loop in _outermost(scope.subject.analysis.kernel.body):
        typed = known.get(id(loop))
        gathered = None if typed is None else totals(scope.subject.analysis.kernel, loop, typed.name)
        if typed is None or gathered is None or not _divisible(scope, typed):
            return None
        if not (gathered or _stores_apart(scope, typed)) or (gathered and _stores(scope, typed.node)):
            return None
        found.append(_Shared(typed, gathered))
    return tuple(found) if any(it.totals for it in found) else None


def _outermost(block: ir.Block) -> Iterator[ir.Loop]:
    for statement in block:
        match statement:
            case ir.Loop():
                yield statement
            case ir.If(then=then, otherwise=otherwise):
                yield from _outermost(then)
                yield from _outermost(otherwise)
            case ir.Scope(body=body):
                yield from _outermost(body)
            case ir.Switch(cases=cases):
                for case in cases:
                    yield from _outermost(case.body)
            case _:
                pass


def _divisible(scope: Scope, loop: CountingLoop) -> bool:
    """True if a loop stands in a block, and its counter is not used behind it."""
    place = scope.block_statement(loop.node.start, loop.node.end)
    if place is None or place[1] is not loop.node or loop.increment is not None:
        return False
    accesses = [it for it in facts.accesses(scope.subject.analysis) if loop.symbol in it.loops]
    private = any(it.space is AddressSpace.PRIVATE and it.direction is Direction.STORE for it in accesses)
    later = re.search(rf"\b{loop.name}\b", scope.shown[loop.node.end : scope.body.end])
    return not private and (loop.declares or later is None)


def _stores(scope: Scope, node: Node) -> list[Access]:
    return [
        it
        for it in facts.accesses(scope.subject.analysis)
        if it.direction is not Direction.LOAD and node.holds(it.span.start, it.span.end)
    ]


def _stores_apart(scope: Scope, loop: CountingLoop) -> bool:
    """True if each turn stores an element of its own, in a buffer that nothing else touches."""
    stores = _stores(scope, loop.node)
    everything = facts.accesses(scope.subject.analysis)
    for store in stores:
        step = store.index.coefficient(loop.symbol)
        others = [it for it in everything if it.buffer == store.buffer and it.index != store.index]
        varying = {it for it in store.index.leaves if it in store.loops and it != loop.symbol}
        if not store.known or step is None or not step.value or others or varying or store.unit != store.size:
            return False
        if any(it.buffer == store.buffer and loop.symbol not in it.loops for it in everything):
            return False
    return bool(stores)


def _alone(scope: Scope, shared: tuple[_Shared, ...]) -> tuple[Node, ...] | None:
    """Return the statements that one work-item makes for all: those that store outside of divided loops.

    `None` if one of them also sets a variable or returns, or if what it stores is loaded behind it.
    """
    loops = [it.loop.node for it in shared]
    found: list[Node] = []
    for store in _stores(scope, scope.body):
        if any(it.holds(store.span.start, store.span.end) for it in loops):
            continue
        if not scope.is_typed(store) or store.space is AddressSpace.PRIVATE:
            return None
        place = scope.block_statement(store.span.start, store.span.end)
        node = None if place is None else place[1]
        if node is None or any(node.holds(it.start, it.end) for it in loops):
            return None
        if node not in found:
            found.append(node)
    kernel = scope.subject.analysis.kernel
    for statement in ir.walk(kernel.body):
        mine = next((it for it in found if it.holds(statement.span.start, statement.span.end)), None)
        if mine is not None and isinstance(statement, (ir.Return, ir.Declare, ir.Loop)):
            return None
        if mine is not None and isinstance(statement, ir.Assign) and not statement.variable.is_temporary:
            return None
    for node in found:
        stored = {it.buffer for it in _stores(scope, node)}
        for it in facts.accesses(scope.subject.analysis):
            if it.direction is Direction.LOAD and it.buffer in stored and it.span.start >= node.end:
                return None
    return tuple(found)


# --------------------------------------------------------------------------------------------------- writing


def _edits(scope: Scope, shared: tuple[_Shared, ...], alone: tuple[Node, ...], size: int) -> tuple[Edit, ...]:
    lane = scope.fresh("lane")
    edits: list[Edit] = []
    first = scope.body.children[0]
    declared = [
        f"// {size} work-items share what one did: each takes every {size}th turn.",
        f"const int {lane} = get_local_id(0);",
    ]
    stored = {it.buffer for node in alone for it in _stores(scope, node)}
    loads = [it for it in facts.accesses(scope.subject.analysis) if it.direction is Direction.LOAD]
    reread = any(
        it.buffer in stored and not any(node.holds(it.span.start, it.span.end) for node in alone)
        for it in loads
    )
    for one in shared:
        arrays = [scope.fresh(f"{it.name}_parts") for it in one.totals]
        declared += (
            f"__local {it.variable.type} {array}[{size}];"
            for it, array in zip(one.totals, arrays, strict=True)
        )
        edits.append(_divided(scope, one, arrays, lane, size, reread))
    edits.append(scope.before(first, declared))
    edits += _ids(scope, [*(it.loop.node for it in shared), *alone])
    edits += _stored_once(scope, alone, lane)
    edits += requires(scope, (size,))
    return tuple(edits)


def _ids(scope: Scope, apart: list[Node]) -> Iterator[Edit]:
    for found in _ID.finditer(scope.shown, scope.body.start, scope.body.end):
        if not any(it.holds(found.start(), found.end()) for it in apart):
            yield scope.replaced(found.start(), found.end(), "get_group_id(0)")


def _divided(
    scope: Scope, one: _Shared, arrays: list[str], lane: str, size: int, fences_global: bool
) -> Edit:
    """Return the edit that lets each work-item take some of a loop's turns, and joins their totals."""
    loop, unit = one.loop, scope.unit
    kernel = scope.subject.analysis.kernel
    lines = []
    others = [
        it.name for it in one.totals if it.operation == "+" and not starts_at_zero(kernel, it, loop.statement)
    ]
    if others:
        resets = [f"{it} = 0;" for it in others]
        opening, closing = ("", []) if len(resets) == 1 else (" {", ["}"])
        lines += [f"if ({lane} > 0){opening}", *(unit + it for it in resets), *closing]
    assert loop.node.head is not None, "a counting loop has a head"
    declared = f"{loop.type} " if loop.declares else ""
    start = lane if loop.start.strip() == "0" else f"{tight(loop.start)} + {lane}"
    head = f"for ({declared}{loop.name} = {start}; {loop.name} < {loop.bound}; {loop.name} += {size})"
    text = scope.text[loop.node.head[1] + 1 : loop.node.end]
    lines += [*scope.hints(loop.node), _ID.sub("get_group_id(0)", head + text)]
    lines += tree(scope, one.totals, arrays, lane, size, fences_global=fences_global) if one.totals else ()
    indent = scope.indent(loop.node.begins)
    return scope.replaced_with_hints(loop.node, f"{scope.newline}{indent}".join(lines))


def _stored_once(scope: Scope, alone: tuple[Node, ...], lane: str) -> Iterator[Edit]:
    """Put statements under a condition that holds for one work-item; neighbours share it."""
    runs: list[list[Node]] = []
    for node in sorted(alone, key=lambda it: it.start):
        if runs and not scope.shown[runs[-1][-1].end : node.start].strip():
            runs[-1].append(node)
        else:
            runs.append([node])
    for run in runs:
        start, end = run[0].start, run[-1].end
        indent, unit = scope.indent(start), scope.unit
        inner = _ID.sub("get_group_id(0)", deeper(scope.text[start:end], unit))
        opening, closing = ("", "") if len(run) == 1 else (" {", f"{scope.newline}{indent}}}")
        text = f"if ({lane} == 0){opening}{scope.newline}{indent}{unit}{inner}{closing}"
        yield scope.replaced(start, end, text)
