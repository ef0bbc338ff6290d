"""Make a loop whose turns are independent the second dimension of the launch.

`for (int j = 0; j < n; j++) C[i * n + j] = …` gives a GPU a work-item a row: too few to keep it busy, and
neighbours store a row apart. As work-items of their own the turns run side by side, and what is then an
ordinary two-dimensional kernel can be tiled.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from clmap_lsp.access.environment import uniform_environment
from clmap_lsp.access.evaluate import UnknownValueError, evaluate
from clmap_lsp.access.polynomial import ONE, varies_in_launch
from clmap_lsp.access.records import Direction
from clmap_lsp.dataclass import dataclass
from clmap_lsp.fixes import elements, facts
from clmap_lsp.fixes.assumptions import no_offset, overlaps, positive
from clmap_lsp.fixes.loops import CountingLoop, counting_loops
from clmap_lsp.fixes.model import STAGING_GAIN, Proposal
from clmap_lsp.fixes.reductions import totals
from clmap_lsp.fixes.scope import Scope, spelt
from clmap_lsp.source import ir
from clmap_lsp.source.types import AddressSpace

if TYPE_CHECKING:
    from clmap_lsp.findings import Edit
    from clmap_lsp.fixes.assumptions import Assumption
    from clmap_lsp.fixes.model import Subject
    from clmap_lsp.launch.model import Launch

KIND = "spread-loop"
NEEDS = "one dimension, and an outermost counting loop whose turns store to places of their own"
SIDE = 16
"""Work-items of a group in each dimension, where rows come in such numbers."""
FLAT = 128
"""Work-items of a group in the dimension of turns, where they do not."""


@dataclass(frozen=True, slots=True)
class _Spread:
    """A loop, and the dimension that its turns become: 0 where neighbouring turns store side by side."""

    loop: CountingLoop
    dimension: int
    apart: tuple[Assumption, ...]
    """That turns store in places of their own, where that is no number."""

    def relaunched(self, launch: Launch) -> Launch:
        """Return the launch with the turns as work-items, rounded up to whole work-groups."""
        assert self.loop.symbol.trip is not None, "a loop that is spread has a known number of turns"
        try:
            turns = int(evaluate(self.loop.symbol.trip, uniform_environment(launch)))
        except (UnknownValueError, ArithmeticError, ValueError):
            return launch
        rows = launch.global_size[0]
        group = (SIDE, SIDE) if rows % SIDE == 0 else (FLAT, 1)
        turns = max(-(-turns // group[0]) * group[0], group[0])
        sizes, local = (turns, rows), group
        if self.dimension == 1:
            sizes, local = (rows, turns), (group[1], group[0])
        return replace(launch, global_size=sizes, local_size=local, global_offset=())


def propose(subject: Subject) -> Iterator[Proposal]:
    """Yield the rewrite if the kernel is one loop of independent turns."""
    scope = Scope.of(subject)
    kernel = subject.analysis.kernel
    if scope is None or kernel.attributes.reqd_work_group_size is not None:
        return
    if elements.elements(scope) is None or not elements.ID.search(
        scope.shown, scope.body.start, scope.body.end
    ):
        return
    spread = _spread(scope)
    edits = None if spread is None else _edits(scope, spread)
    if spread is None or edits is None:
        return
    accesses = facts.accesses(subject.analysis)
    loaded = {it.buffer for it in accesses if it.direction is Direction.LOAD}
    bound, side = spread.loop.bound, "first" if spread.dimension == 0 else "second"
    yield Proposal(
        KIND,
        f"Make the iterations of `{spread.loop.name}` work-items of their own",
        edits,
        ("CM101", "CM102", "CM104", "CM403"),
        (no_offset(1), *spread.apart, *overlaps(kernel, loaded, facts.written(subject.analysis))),
        sites=frozenset(it.site for it in accesses if spread.loop.symbol in it.loops),
        relaunch=spread.relaunched,
        host_change=f"launch two dimensions: the {side} of `{bound}` work-items, rounded up to whole "
        f"work-groups, the other as large as the launch was",
        lowers_traffic=False,
        least_gain=0.0,
        by_time=True,
        or_traffic=STAGING_GAIN,
    )


def _spread(scope: Scope) -> _Spread | None:
    known = {id(it.statement): it for it in counting_loops(scope)}
    outermost = list(ir.outermost_loops(scope.subject.analysis.kernel.body))
    if len(outermost) != 1:
        return None
    loop = known.get(id(outermost[0]))
    if loop is None or loop.increment is not None or totals(scope, loop.statement, loop.name) != ():
        return None
    trip = loop.symbol.trip
    if trip is None or varies_in_launch(trip):
        return None
    accesses = facts.accesses(scope.subject.analysis)
    stores = [it for it in accesses if it.direction is not Direction.LOAD]
    if not stores or any(it.buffer == "?" or it.volatile for it in accesses):
        return None
    for store in stores:
        step = store.index.coefficient(loop.symbol)
        mine = [it for it in accesses if it.buffer == store.buffer]
        if loop.symbol not in store.loops or not store.known or store.space is AddressSpace.LOCAL:
            return None
        if (
            step is None
            or step.value == 0
            or varies_in_launch(step)
            or spelt(step, {}) is None
            or any(it.index != store.index for it in mine)
        ):
            return None
        if any(it in store.index.leaves for it in store.loops if it != loop.symbol):
            return None
    steps = [it.index.coefficient(loop.symbol) for it in stores]
    apart = tuple(positive(it, f"{spelt(it, {})} > 0") for it in steps if it is not None and it.value is None)
    return _Spread(loop, 0 if ONE in steps else 1, apart)


def _edits(scope: Scope, spread: _Spread) -> tuple[Edit, ...] | None:
    """Return the edits; `None` where something follows the loop, or names would meet."""
    loop = spread.loop
    place = scope.block_statement(loop.node.start, loop.node.end)
    if place is None or place[0].children[-1] is not place[1]:
        return None
    governed = place[1].kind == "if" and place[1].children == (loop.node,)
    if place[1] is not loop.node and not governed:
        return None
    tops = scope.body.children
    if place[0] is not scope.body and not (tops[-1].kind == "if" and tops[-1].children == (place[0],)):
        return None  # Something follows what the loop stands in.
    inner = loop.body.children if loop.body.kind == "block" else (loop.body,)
    if not inner:
        return None
    earlier = scope.words(scope.body.start, loop.node.start)
    declared = {
        it.variable.name
        for it in ir.walk(loop.statement.body)
        if isinstance(it, ir.Declare) and not it.variable.is_temporary
    }
    if declared & earlier or (loop.declares and loop.name in scope.words(scope.body.start, loop.node.start)):
        return None
    kind = f"const {loop.type} " if loop.declares else ""
    start = "" if loop.start.strip() == "0" else f"{loop.start} + "
    unit, indent, newline = scope.unit, scope.indent(loop.node.begins), scope.newline
    text = scope.text[inner[0].start : inner[-1].end]
    lines = [
        f"{kind}{loop.name} = {start}get_global_id({spread.dimension});",
        f"if ({loop.name} >= {loop.bound})",
        f"{unit}return;",
        _shallower(text, scope.indent(inner[0].start), indent),
    ]
    other = f"get_global_id({1 - spread.dimension})"
    edits = [scope.replaced(loop.node.start, loop.node.end, "")]
    body = f"{newline}{indent}".join(lines)
    if spread.dimension == 0:
        head, body = lines[0], elements.ID.sub(other, f"{newline}{indent}".join(lines[1:]))
        body = f"{head}{newline}{indent}{body}"
        for found in elements.ID.finditer(scope.shown, scope.body.start, loop.node.start):
            edits.append(scope.replaced(found.start(), found.end(), other))
    edits[0] = scope.replaced_with_hints(loop.node, scope.governed(loop.node, body))
    return tuple(edits)


def _shallower(text: str, before: str, after: str) -> str:
    """Return text with lines that start with one indentation at another."""
    return re.sub(rf"(?m)^{re.escape(before)}", after, text) if before else text
