"""Choose how work-items share a range: contiguous chunks, or striding side by side.

A GPU's neighbours should take neighbouring elements in every turn (thread stride); a CPU's work-item should
walk a contiguous chunk, which its caches and vector units like. The direction follows the device model, as
in the stride sweep of clmempatterns (Lal et al.). Which work-item handles which element changes, so that the
loop must handle each element by itself, or add them up in an order that does not matter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from clmap_lsp.access.polynomial import ONE, LoopSymbol, Polynomial, WorkItemSymbol, global_id
from clmap_lsp.access.records import Access
from clmap_lsp.findings import FixSafety
from clmap_lsp.fixes import facts
from clmap_lsp.fixes.loops import CountingLoop, counting_loops
from clmap_lsp.fixes.model import Proposal
from clmap_lsp.fixes.scope import Scope, as_typed, spelt, tight
from clmap_lsp.source import ir
from clmap_lsp.source.types import AddressSpace, ScalarType

if TYPE_CHECKING:
    from clmap_lsp.findings import Edit
    from clmap_lsp.fixes.model import Subject
    from clmap_lsp.fixes.outline import Node

KIND = "stride-order"
_ID = r"(?P<id>[A-Za-z_]\w*|get_global_id\(\s*0\s*\))"
_STRIDED = re.compile(
    rf"\s*(?P<type>\w+)\s+(?P<name>\w+)\s*=\s*{_ID}\s*;\s*(?P=name)\s*<\s*(?P<bound>[\w.]+)\s*;"
    r"\s*(?P=name)\s*\+=\s*get_global_size\(\s*0\s*\)\s*"
)


def propose(subject: Subject) -> Iterator[Proposal]:
    """Yield one rewrite for each loop whose order is the other kind of device's."""
    scope = Scope.of(subject)
    if scope is None or len(facts.extended(subject.launch)) != 1 or facts.opaque(subject.analysis.kernel):
        return
    if subject.device.has_scratchpad is False:
        yield from _chunked(scope)
        return
    for loop in counting_loops(scope):
        found = _strided(scope, loop)
        if found is not None:
            yield found


# ---------------------------------------------------------------------------------------- GPUs: side by side


def _strided(scope: Scope, loop: CountingLoop) -> Proposal | None:
    """Turn element `id * count + i` into `i * work-items + id`."""
    if loop.start != "0" or not _independent(loop.statement):
        return None
    mine = [it for it in facts.accesses(scope.subject.analysis) if loop.symbol in it.loops]
    walking = [it for it in mine if it.space is AddressSpace.GLOBAL]
    if not walking or len(walking) != len(mine):
        return None
    ids = {_chunk_of(loop, it) for it in walking}
    if len(ids) != 1 or (identity := ids.pop()) is None:
        return None
    if not all(scope.is_typed(it) and scope.source(it.span).startswith(f"{it.buffer}[") for it in walking):
        return None
    if loop.name in _words_elsewhere(scope, loop, walking):
        return None  # The turn's number means something besides the element.
    symbol, count = identity
    names = scope.names_at(loop.node.start, walking[0].names)
    place, total = names[symbol], spelt(Polynomial.of(_work_items(symbol)), names)
    if spelt(count, names) != loop.bound and count != loop.symbol.trip:
        return None
    edits = tuple(
        scope.replaced(a, b, f"{it.buffer}[{loop.name} * {total} + {place}]")
        for it in walking
        for a, b in [(it.span.start, it.span.end)]
    )
    return Proposal(
        KIND,
        "Stride over the work-items instead of walking chunks",
        FixSafety.UNSAFE,
        tuple(dict.fromkeys(edits)),
        ("CM101", "CM102", "CM403"),
        frozenset(it.site for it in walking),
        reorders_sums=True,
    )


def _chunk_of(loop: CountingLoop, access: Access) -> tuple[WorkItemSymbol, Polynomial] | None:
    """Return (id, chunk length) of an index `id * length + turn`."""
    if access.index.coefficient(loop.symbol) != ONE or not access.known or access.volatile:
        return None
    symbol = global_id(0)
    rest = access.index - Polynomial.of(loop.symbol)
    length = rest.coefficient(symbol)
    if length is None or not length or rest != length * Polynomial.of(symbol):
        return None
    return (symbol, length) if length == loop.symbol.trip else None


def _work_items(symbol: WorkItemSymbol) -> WorkItemSymbol:
    return WorkItemSymbol(ir.WorkItemQuery.GLOBAL_SIZE, symbol.dimension)


def _independent(loop: ir.Loop) -> bool:
    """True if turns share nothing but integer or float sums: no other variable lives from turn to turn."""
    inside = {it.variable for it in ir.walk(loop.body) if isinstance(it, ir.Declare)}
    for statement in ir.walk(loop.body):
        if isinstance(statement, (ir.Return, ir.Break, ir.Loop)) or facts.synchronises((statement,)):
            return False
        if isinstance(statement, ir.Assign) and not (
            statement.variable in inside or statement.variable.is_temporary or _is_sum(statement)
        ):
            return False
    return True


def _is_sum(statement: ir.Assign) -> bool:
    value = statement.value
    return (
        isinstance(value, ir.Binary)
        and value.op is ir.BinaryOp.ADD
        and isinstance(value.type, ScalarType)
        and any(
            isinstance(it, ir.Read) and it.variable is statement.variable for it in (value.left, value.right)
        )
    )


def _words_elsewhere(scope: Scope, loop: CountingLoop, accesses: list[Access]) -> frozenset[str]:
    blank = {(it.span.start, it.span.end): " " for it in accesses}
    return frozenset(re.findall(r"[A-Za-z_]\w*", scope.rewritten(loop.body.start, loop.body.end, blank)))


# ------------------------------------------------------------------------------------------- CPUs: in chunks


def _chunked(scope: Scope) -> Iterator[Proposal]:
    """Turn `for (i = id; i < n; i += work-items)` into a walk over a contiguous chunk."""
    for statement in ir.walk(scope.subject.analysis.kernel.body):
        if not isinstance(statement, ir.Loop) or not as_typed(statement.span, scope.subject.path):
            continue
        node = scope.node_at(statement.span)
        head = None if node is None or node.head is None else _STRIDED.fullmatch(scope.shown, *node.head)
        if node is None or head is None or not _independent(statement) or not _is_id(scope, head["id"]):
            continue
        edits = _chunk_edits(scope, node, head)
        loads = [
            it for it in facts.accesses(scope.subject.analysis) if node.holds(it.span.start, it.span.end)
        ]
        if edits is None or not _walks(loads, statement):
            continue
        yield Proposal(
            KIND,
            "Walk a contiguous chunk instead of striding over the work-items",
            FixSafety.UNSAFE,
            edits,
            ("CM403",),
            frozenset(it.site for it in loads),
            reorders_sums=True,
            lowers_traffic=False,
        )


def _walks(accesses: list[Access], loop: ir.Loop) -> bool:
    return bool(accesses) and all(
        it.known and any(isinstance(leaf, LoopSymbol) and leaf.span == loop.span for leaf in it.index.leaves)
        for it in accesses
    )


def _is_id(scope: Scope, text: str) -> bool:
    if text.startswith("get_global_id"):
        return True
    names = next((it.names for it in facts.accesses(scope.subject.analysis)), {})
    return names.get(global_id(0)) == text


def _chunk_edits(scope: Scope, node: Node, head: re.Match[str]) -> tuple[Edit, ...] | None:
    if scope.block_statement(node.start, node.end) is None:
        return None
    kind, name, place, bound = head["type"], head["name"], head["id"], tight(head["bound"])
    chunk, end = scope.fresh("chunk"), scope.fresh("end")
    first = f"{tight(place) if place.isidentifier() else place} * {chunk}"
    size = "get_global_size(0)"
    lines = [
        f"const {kind} {chunk} = ({bound} + ({kind}){size} - 1) / ({kind}){size};",
        f"const {kind} {end} = min(({kind})({first} + {chunk}), ({kind}){bound});",
        f"for ({kind} {name} = {first}; {name} < {end}; {name}++)",
    ]
    assert node.head is not None, "a for loop has a head"
    body = scope.text[node.head[1] + 1 : node.end]
    text = f"{scope.newline}{scope.indent(node.start)}".join(lines) + body
    return (scope.replaced(node.start, node.end, scope.governed(node, text)),)
