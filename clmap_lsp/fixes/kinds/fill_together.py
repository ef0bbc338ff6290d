"""Let all work-items of a group fill a local array that its first one fills alone.

`if (l == 0) for (i = 0; i < n; i++) s[i] = a[i];` before a barrier keeps the group waiting for one work-item,
whose loads come one after the other. Turns that store to places of their own may be anybody's: each work-item
takes every so many-th, neighbours neighbouring ones. All of them come there, since all come to the barrier
behind it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from clmap_lsp.access.polynomial import LANE_QUERIES, varies_in_group
from clmap_lsp.access.records import Access, Direction
from clmap_lsp.dataclass import dataclass
from clmap_lsp.fixes import facts
from clmap_lsp.fixes.assumptions import Assumption, flat_groups, overlaps
from clmap_lsp.fixes.loops import CountingLoop, counting_loops
from clmap_lsp.fixes.model import Proposal
from clmap_lsp.fixes.scope import Scope, as_typed
from clmap_lsp.source import ir
from clmap_lsp.source.types import AddressSpace

if TYPE_CHECKING:
    from clmap_lsp.fixes.model import Subject

KIND = "fill-together"
NEEDS = "a loop in which the first work-item of a group alone fills local memory, with a barrier behind it"
WHY = "// All work-items of the group fill {names}, neighbours neighbouring elements."
_KINDS = (ir.Load, ir.Store, ir.Assign, ir.Declare, ir.Scope)
"""What a turn may consist of."""
_WHOLE = Assumption("all work-items of a group come to the barrier, or none", lambda _: True)
"""The language asks for it (OpenCL C 1.2, 6.12.8); launches that break it have a fault. GPUs let a group go
on without work-items that have ended, so that it is said."""
_COUNTERS = frozenset({"int", "uint", "long", "ulong"})
"""Types in which as many as a group has can be added to a counter."""


@dataclass(frozen=True, slots=True)
class _Fill:
    """What only the first work-item does, the loop that it consists of, and what stands around it."""

    only: ir.If
    loop: CountingLoop
    follows_barrier: bool
    repeats: bool
    """It stands in a loop."""
    above: tuple[ir.Statement, ...]
    """What every work-item that comes to it has done."""
    may_divide: bool
    """It stands under a condition, or some work-items may have ended."""


def propose(subject: Subject) -> Iterator[Proposal]:
    """Yield one rewrite for each such loop."""
    scope = Scope.of(subject)
    kernel = subject.analysis.kernel
    if scope is None or facts.opaque(kernel):
        return
    loops = {id(it.statement): it for it in counting_loops(scope)}
    for fill in _fills(kernel, kernel.body, loops):
        accesses = [it for it in facts.accesses(subject.analysis) if fill.loop.symbol in it.loops]
        if _is_anybodys(scope, fill, accesses):
            yield from _proposals(scope, fill, accesses)


def _fills(
    kernel: ir.Kernel,
    block: ir.Block,
    loops: dict[int, CountingLoop],
    above: tuple[ir.Statement, ...] = (),
    *,
    repeats: bool = False,
    divides: bool = False,
) -> Iterator[_Fill]:
    """Yield the loops that the first work-item makes alone right before a barrier of its group."""
    statements = [it for it in block if not isinstance(it, ir.Declare)]
    for at, statement in enumerate(statements):
        before = (*above, *statements[:at])
        if isinstance(statement, ir.If) and at + 1 < len(statements) and _is_barrier(statements[at + 1]):
            loop = loops.get(id(_only(statement.then)))
            if loop is not None and not statement.otherwise and _is_first(kernel, statement.condition):
                behind = at > 0 and _is_barrier(statements[at - 1])
                ends = any(isinstance(it, ir.Return) for it in ir.walk(before))
                yield _Fill(statement, loop, behind, repeats, before, divides or ends)
        match statement:
            case ir.If(then=then, otherwise=otherwise):
                yield from _fills(kernel, then, loops, before, repeats=repeats, divides=True)
                yield from _fills(kernel, otherwise, loops, before, repeats=repeats, divides=True)
            case ir.Scope(body=body):
                yield from _fills(kernel, body, loops, before, repeats=repeats, divides=divides)
            case ir.Loop(body=body, step=step):
                yield from _fills(kernel, body, loops, (*before, *step), repeats=True, divides=True)
            case _:
                pass


def _is_barrier(statement: ir.Statement) -> bool:
    """True for one that shows local memory to the whole group, whatever its flags turn out to be."""
    if not isinstance(statement, ir.Barrier) or statement.flags is not None:
        return False
    return statement.scope is ir.BarrierScope.WORK_GROUP and statement.fences_local


def _only(block: ir.Block) -> ir.Statement | None:
    """Return the loop that a block consists of; what sets its counter stands before it in the IR."""
    inside = [it for it in block if not isinstance(it, ir.Declare)]
    if len(inside) == 1 and isinstance(inside[0], ir.Scope):
        return _only(inside[0].body)
    if len(inside) == 2 and isinstance(inside[0], ir.Assign):
        return inside[1]
    return None


def _is_first(kernel: ir.Kernel, condition: ir.Expression) -> bool:
    """True if a condition is that an id in the work-group is 0."""
    condition = ir.unconverted(condition)
    if not isinstance(condition, ir.Compare) or condition.op is not ir.CompareOp.EQ:
        return False
    sides = (condition.left, condition.right)
    return any(facts.is_zero(b) and _is_local_id(kernel, a) for a, b in (sides, sides[::-1]))


def _is_local_id(kernel: ir.Kernel, value: ir.Expression) -> bool:
    value = ir.unconverted(value)
    if isinstance(value, ir.Read):
        made = [it for it in ir.walk(kernel.body) if value.variable in ir.written(it)]
        return len(made) == 1 and isinstance(made[0], ir.Assign) and _is_local_id(kernel, made[0].value)
    return (
        isinstance(value, ir.WorkItem)
        and value.query is ir.WorkItemQuery.LOCAL_ID
        and value.dimension is not None
        and facts.is_zero(value.dimension)
    )


def _is_anybodys(scope: Scope, fill: _Fill, accesses: list[Access]) -> bool:
    """True if it does not matter which work-item makes which turn."""
    loop, kernel = fill.loop, scope.subject.analysis.kernel
    symbol, inside = loop.symbol, list(ir.walk(loop.statement.body))
    if not loop.declares or loop.type not in _COUNTERS or not all(isinstance(it, _KINDS) for it in inside):
        return False
    if {it.site for it in inside if isinstance(it, (ir.Load, ir.Store))} != {it.site for it in accesses}:
        return False  # Arrays of its own.
    filled = {it.buffer for it in accesses if it.direction is not Direction.LOAD}
    for access in accesses:
        if (
            not access.known
            or access.volatile
            or not scope.is_typed(access)
            or varies_in_group(access.offset)
        ):
            return False
        step = access.index.coefficient(symbol)
        if access.direction is Direction.LOAD:
            if access.space not in (AddressSpace.GLOBAL, AddressSpace.CONSTANT):
                return False
        elif access.space is not AddressSpace.LOCAL or step is None or not step.value:
            return False
    if len({(it.buffer, it.index) for it in accesses if it.buffer in filled}) != len(filled):
        return False
    first = min((it.site for it in accesses), default=0)
    earlier = any(it.buffer in filled and it.site < first for it in facts.accesses(scope.subject.analysis))
    if not fill.follows_barrier and (fill.repeats or earlier):
        return False  # Who is ahead would overwrite what others still read.
    stored = facts.written(scope.subject.analysis)
    if stored & {it.buffer for it in accesses if it.buffer not in filled} or "?" in stored:
        return False
    return bool(filled) and _knows_no_more(kernel, fill, inside)


def _knows_no_more(kernel: ir.Kernel, fill: _Fill, inside: list[ir.Statement]) -> bool:
    """True if a turn depends on nothing but its number, what it loads, and what the whole group knows."""
    own = {it.variable for it in inside if isinstance(it, ir.Declare)}
    made = frozenset(it.variable for it in inside if isinstance(it, (ir.Assign, ir.Load)))
    if any(it not in own and not it.is_temporary for it in made):
        return False
    read = [*inside, *fill.loop.statement.test, *ir.walk(fill.only.then)]
    expressions = [it for statement in read for it in ir.expressions(statement)]
    if fill.loop.statement.condition is not None:
        expressions.append(fill.loop.statement.condition)
    counter = _made_by(fill.loop.statement.step)
    known = _known(kernel, fill.above)
    return all(_is_known(it, made | counter, known, kernel) for it in expressions)


def _made_by(block: ir.Block) -> frozenset[ir.Variable]:
    """Return the variables that a block writes."""
    return frozenset(it for statement in ir.walk(block) for it in ir.written(statement))


def _known(kernel: ir.Kernel, above: tuple[ir.Statement, ...]) -> dict[ir.Variable, list[ir.Expression]]:
    """Return the variables that only what everybody has done who comes to a place sets, and to what."""
    times = Counter(it for statement in ir.walk(kernel.body) for it in ir.written(statement))
    found: dict[ir.Variable, list[ir.Expression]] = {}
    for it in above:
        if isinstance(it, ir.Assign):
            found.setdefault(it.variable, []).append(it.value)
    return {it: values for it, values in found.items() if len(values) == times[it]}


def _is_known(
    value: ir.Expression,
    free: frozenset[ir.Variable],
    known: dict[ir.Variable, list[ir.Expression]],
    kernel: ir.Kernel,
) -> bool:
    """True if a value is the same for the whole group, but for some variables."""
    for node in ir.nodes(value):
        if isinstance(node, ir.Read) and (variable := node.variable) not in free:
            if variable in known:
                if not all(_is_known(it, free | {variable}, known, kernel) for it in known[variable]):
                    return False
            elif variable not in kernel.parameters or variable in _made_by(kernel.body):
                return False
        elif isinstance(node, ir.WorkItem) and node.query in LANE_QUERIES:
            return False
    return True


def _proposals(scope: Scope, fill: _Fill, accesses: list[Access]) -> Iterator[Proposal]:
    node, loop = scope.node_at(fill.only.span), fill.loop
    if node is None or node.kind != "if" or not as_typed(fill.only.span, scope.subject.path):
        return
    assert loop.node.head is not None, "a counting loop has a head"
    filled = {it.buffer for it in accesses if it.direction is not Direction.LOAD}
    loaded = {it.buffer for it in accesses} - filled
    lane = "get_local_id(0)" if loop.start.strip() == "0" else f"{loop.start} + get_local_id(0)"
    step = f"{loop.name} += get_local_size(0)"
    head = f"for ({loop.type} {loop.name} = {lane}; {loop.name} < {loop.bound}; {step})"
    before, after = scope.indent(loop.node.begins), scope.indent(node.start)
    body = scope.text[loop.node.head[1] + 1 : loop.node.end].replace(f"\n{before}", f"\n{after}")
    names = " and ".join(sorted(filled))
    around = (*scope.comments(node.begins, loop.node.start), *scope.comments(loop.node.end, node.end))
    lines = [*around, WHY.format(names=names), *scope.hints(loop.node), head + body]
    text = scope.governed(node, f"{scope.newline}{after}".join(lines))
    stored = facts.written(scope.subject.analysis)
    yield Proposal(
        KIND,
        f"Fill `{names}` by all work-items of a group",
        (scope.replaced_with_hints(node, text),),
        ("CM101", "CM103", "CM106"),
        (
            flat_groups((0,)),
            *((_WHOLE,) if fill.may_divide else ()),
            *overlaps(scope.subject.analysis.kernel, loaded, stored),
        ),
        sites=frozenset(it.site for it in accesses),
    )
