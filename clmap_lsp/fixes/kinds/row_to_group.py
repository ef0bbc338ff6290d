"""Let a work-group share what one work-item did: a row of a matrix, a line of a sum.

A work-item that walks a row by itself reads a row apart from its neighbours, and a launch of few rows leaves
most of a GPU idle. As a work-group a row, neighbours read side by side and a tree of pairs adds up what they
gathered: NVIDIA's MatVecMulUncoalesced0 of 8192 x 8192 became 18 times as fast by it on an H200. Where
neighbours read side by side already, each of them with a column of its own, a group keeps its columns and
shares each of them: 8192 columns of 8192 became 9 times as fast. Short rows go several to a group.

Only for devices whose local memory is on the chip: a CPU's work-item is best left with its row. What is not
such a loop is done by all work-items alike; what is stored outside of one, by the first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from clmap_lsp.access.algebra import substitute
from clmap_lsp.access.polynomial import ONE, ZERO, Polynomial, global_id
from clmap_lsp.access.records import Direction
from clmap_lsp.dataclass import dataclass
from clmap_lsp.fixes import elements, facts
from clmap_lsp.fixes.assumptions import either_zero, no_offset, other_order, overlaps
from clmap_lsp.fixes.edits import insert
from clmap_lsp.fixes.group_size import requires
from clmap_lsp.fixes.guarding import deeper, negated
from clmap_lsp.fixes.loops import CountingLoop, counting_loops, is_used_behind
from clmap_lsp.fixes.model import Proposal
from clmap_lsp.fixes.reductions import Total, starts_at_zero, totals, tree
from clmap_lsp.fixes.scope import Scope, as_typed, tight
from clmap_lsp.source import ir
from clmap_lsp.source.ir import WorkItemQuery as Query
from clmap_lsp.source.types import AddressSpace, ScalarType

if TYPE_CHECKING:
    from clmap_lsp.access.records import Access
    from clmap_lsp.findings import Edit
    from clmap_lsp.fixes.assumptions import Assumption
    from clmap_lsp.fixes.model import Subject
    from clmap_lsp.fixes.outline import Node
    from clmap_lsp.launch.model import Launch

KIND = "row-to-group"
_ID = re.compile(r"\bget_global_id\s*\(\s*0\s*\)")


@dataclass(frozen=True, slots=True)
class _Form:
    """How a work-group is divided: `turns` work-items (a power of two) share each of `rows` rows."""

    turns: int
    rows: int = 1
    rows_first: bool = False
    """Neighbours have neighbouring rows, not neighbouring turns."""

    @property
    def items(self) -> int:
        """Work-items of a work-group."""
        return self.turns * self.rows

    @property
    def title(self) -> str:
        """What is done, for people."""
        if self.rows == 1:
            return f"Share a row among {self.turns} work-items with a tree"
        what = "columns" if self.rows_first else "rows"
        return f"Share each of {self.rows} {what} among {self.turns} work-items"


BY_ROWS = (_Form(128), _Form(256), _Form(32), _Form(32, 8))
BY_COLUMNS = (_Form(32, 32, True), _Form(16, 32, True), _Form(8, 32, True))
"""The fastest on an H200 for long and short rows, and for columns."""


@dataclass(frozen=True, slots=True)
class _Guard:
    """What a kernel's rows are told apart by from work-items beyond them: `if (row >= n) return;`."""

    node: Node
    inside: str
    """The condition for rows, as C text."""
    returns: bool
    """It leaves the kernel; else it stands around all that is done."""


@dataclass(frozen=True, slots=True)
class _Shared:
    """A loop whose turns are divided; if it stores, each turn stores its own element."""

    loop: CountingLoop
    totals: tuple[Total, ...]


@dataclass(frozen=True, slots=True)
class _Work:
    """What a kernel does: the loops, and what one work-item does for all."""

    shared: tuple[_Shared, ...]
    alone: tuple[Node, ...]
    fenced: bool
    """Work-items touch in one loop what another one stores in another, or loaded before."""


def propose(subject: Subject) -> Iterator[Proposal]:
    """Yield one rewrite for each number of work-items a row."""
    scope = Scope.of(subject)
    if scope is None or subject.device.has_scratchpad is False or not _plain(scope):
        return
    shared = _shared(scope)
    alone = None if shared is None else _alone(scope, shared)
    fenced = None if shared is None else _fenced(scope, shared)
    if shared is None or alone is None or fenced is None:
        return
    by_columns = _reads_columns(scope, shared)
    bound = elements.bound(scope)
    guard = _guard(scope, shared, alone)
    for form in BY_COLUMNS if by_columns else BY_ROWS:
        fits = form.items <= (subject.device.limits.max_work_group_size or 256)
        fits &= bound is not None or subject.launch.global_size[0] % form.rows == 0
        if fits and (form.rows == 1 or guard is not None):
            yield _proposal(subject, _Work(shared, alone, fenced), form, guard or (), bound)


def _proposal(
    subject: Subject, work: _Work, form: _Form, guards: tuple[_Guard, ...], bound: Polynomial | None
) -> Proposal:
    scope = Scope.of(subject)
    assert scope is not None, "it was read before"
    accesses = facts.accesses(subject.analysis)
    loaded = {it.buffer for it in accesses if it.direction is Direction.LOAD}

    def relaunched(launch: Launch) -> Launch:
        groups = -(-launch.global_size[0] // form.rows)
        return replace(launch, global_size=(groups * form.items,), local_size=(form.items,))

    every = "every work-item" if form.rows == 1 else f"every {form.rows} work-items"
    return Proposal(
        KIND,
        form.title,
        _Writer(scope, work, form, guards).edits(),
        ("CM101", "CM102", "CM104", "CM403"),
        (
            no_offset(1),
            *elements.covered(bound, form.rows),
            *_reordered(work.shared),
            *overlaps(subject.analysis.kernel, loaded, facts.written(subject.analysis)),
        ),
        sites=frozenset(
            it.site for it in accesses if any(one.loop.symbol in it.loops for one in work.shared)
        ),
        relaunch=relaunched,
        host_change=f"launch a work-group of {form.items} for {every} of before: global size "
        f"{form.turns} times as large, local size {form.items}",
        reorders_sums=bool(_reordered(work.shared)),
    )


def _reordered(shared: tuple[_Shared, ...]) -> tuple[Assumption, ...]:
    """Return what floating-point results may depend on, where turns are taken in another order."""
    operations = [it.operation for one in shared for it in one.totals if it.is_float]
    sums = (other_order(),) if "+" in operations else ()
    return (*sums, either_zero()) if any(it.startswith("if") for it in operations) else sums


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
    typed = list(counting_loops(scope))
    known = {id(it.statement): it for it in typed}
    found = []
    for statement in ir.outermost_loops(scope.subject.analysis.kernel.body):
        loop = known.get(id(statement))
        gathered = None if loop is None else totals(scope, statement, loop.name)
        if loop is None or gathered is None or not _divisible(scope, loop, typed):
            return None
        stores = _stores(scope, loop.node)
        if not (stores or gathered) or not all(_is_apart(scope, loop, it) for it in stores):
            return None
        found.append(_Shared(loop, gathered))
    return tuple(found) if any(it.totals for it in found) else None


def _divisible(scope: Scope, loop: CountingLoop, loops: list[CountingLoop]) -> bool:
    """True if a loop stands in a block, and its counter is not used behind it before another loop sets it."""
    place = scope.block_statement(loop.node.start, loop.node.end)
    if place is None or place[1] is not loop.node or loop.increment is not None:
        return False
    accesses = [it for it in facts.accesses(scope.subject.analysis) if loop.symbol in it.loops]
    private = any(it.space is AddressSpace.PRIVATE and it.direction is Direction.STORE for it in accesses)
    return not private and not is_used_behind(scope, loop, loops)


def _stores(scope: Scope, node: Node) -> list[Access]:
    return [
        it
        for it in facts.accesses(scope.subject.analysis)
        if it.direction is not Direction.LOAD and node.holds(it.span.start, it.span.end)
    ]


def _is_apart(scope: Scope, loop: CountingLoop, store: Access) -> bool:
    """True if each turn stores an element of its own, which no other turn of the loop touches."""
    step = store.index.coefficient(loop.symbol)
    varying = {it for it in store.index.leaves if it in store.loops and it != loop.symbol}
    mine = [it for it in _of_buffer(scope, store) if loop.symbol in it.loops]
    plain = store.known and store.unit == store.size and not varying
    return plain and step is not None and bool(step.value) and all(it.index == store.index for it in mine)


def _of_buffer(scope: Scope, access: Access) -> list[Access]:
    return [it for it in facts.accesses(scope.subject.analysis) if it.buffer == access.buffer]


def _fenced(scope: Scope, shared: tuple[_Shared, ...]) -> bool | None:
    """Return if work-items touch in one loop what others store in another: barriers of trees order that.

    `None` where no tree stands between, or where something is stored in a loop and outside of it.
    """
    fenced = False
    around = (scope.block_statement(*_ends(it.loop.node)) for it in shared)
    blocks = {id(it[0]) for it in around if it is not None}
    for one in shared:
        for store in _stores(scope, one.loop.node):
            for it in _of_buffer(scope, store):
                other = next((m.loop for m in shared if m.loop.symbol in it.loops), None)
                turn = Polynomial.of(one.loop.symbol)
                if other is not None and substitute(it.index, {other.symbol: turn}) == store.index:
                    continue  # The same work-item.
                if other is None and it.direction is not Direction.LOAD:
                    return None
                place = (it.span.start, it.span.end) if other is None else _ends(other.node)
                first, second = sorted((place, _ends(one.loop.node)))
                trees = (_ends(m.loop.node) for m in shared if m.totals)
                if len(blocks) > 1 or not any(first[0] <= a and b <= second[0] for a, b in trees):
                    return None
                fenced = True
    return fenced


def _ends(node: Node) -> tuple[int, int]:
    return node.start, node.end


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


def _reads_columns(scope: Scope, shared: tuple[_Shared, ...]) -> bool:
    """True if neighbouring work-items read side by side in a loop, and turns do not."""
    return any(
        it.direction is Direction.LOAD
        and it.index.coefficient(global_id(0)) == ONE
        and it.index.coefficient(one.loop.symbol) not in (None, ZERO, ONE)
        for one in shared
        for it in facts.accesses(scope.subject.analysis)
        if one.loop.symbol in it.loops
    )


def _guard(scope: Scope, shared: tuple[_Shared, ...], alone: tuple[Node, ...]) -> tuple[_Guard, ...] | None:
    """Return the guard, if any, so that work-items beyond it can come to every barrier, doing nothing.

    `None` for kernels that return elsewhere, that touch memory outside of loops, stores and declarations, or
    whose loops stand under other conditions.
    """
    block, guards = scope.body, []
    loops = [it.loop.node for it in shared]
    for node in scope.body.children:
        if node.kind != "if" or node.head is None or len(node.children) != 1:
            continue
        inner, head = node.children[0], scope.text[node.head[0] : node.head[1]]
        if "".join(scope.shown[inner.start : inner.end].split()) in ("return;", "{return;}"):
            guards.append(_Guard(node, negated(scope, node.head), True))
        elif inner.kind == "block" and any(inner.holds(it.start, it.end) for it in loops):
            guards.append(_Guard(node, head, False))
            block = inner
    leaves = len(re.findall(r"\breturn\b", scope.shown[scope.body.start : scope.body.end]))
    if len(guards) > 1 or leaves != sum(it.returns for it in guards):
        return None
    nodes = [*loops, *alone]
    if any(it not in block.children for it in nodes):
        return None
    for guard in guards:
        assert guard.node.head is not None, "it was asked"
        if scope.has_effects(*guard.node.head) or any(it.start < guard.node.start for it in loops):
            return None
    for it in facts.accesses(scope.subject.analysis):
        inside = any(node.holds(it.span.start, it.span.end) for node in nodes)
        if not inside and it.space is not AddressSpace.PRIVATE and _loading(scope, block, it) is None:
            return None
    return tuple(guards)


_DECLARED = re.compile(r"(?:const\s+)?(?:unsigned\s+)?\w+\s+\w+\s*=(?!=)\s*")


def _loading(scope: Scope, block: Node, access: Access) -> tuple[int, int] | None:
    """Return where the value of a declaration stands that loads; `None` if something else does."""
    node = next((it for it in block.children if it.holds(access.span.start, access.span.end)), None)
    if node is None or node.kind != "simple" or access.direction is not Direction.LOAD:
        return None
    head = _DECLARED.match(scope.shown, node.start, node.end)
    value = "" if head is None else scope.shown[head.end() : node.end].rstrip()
    if head is None or not value.endswith(";") or _commas(value) or not isinstance(access.type, ScalarType):
        return None
    return head.end(), head.end() + len(value) - 1


def _commas(text: str) -> bool:
    """True if a text has a comma outside of parentheses and brackets."""
    depth = 0
    for it in text:
        depth += (it in "([") - (it in ")]")
        if it == "," and not depth:
            return True
    return False


# --------------------------------------------------------------------------------------------------- writing


class _Writer:
    """Writes which work-item does what."""

    def __init__(self, scope: Scope, work: _Work, form: _Form, guards: tuple[_Guard, ...]) -> None:
        self.scope, self.form, self.fenced = scope, form, work.fenced
        self.shared, self.alone = work.shared, work.alone
        self.guards = guards if form.rows > 1 else ()
        self.lane = scope.fresh("lane")
        self.row = scope.fresh("column" if form.rows_first else "row_of_group") if form.rows > 1 else ""
        self.inside = scope.fresh("inside") if self.guards else ""
        self.id = f"(get_group_id(0) * {form.rows} + {self.row})" if self.row else "get_group_id(0)"

    @property
    def _element(self) -> str:
        """The index of a work-item's total."""
        if not self.row:
            return "[{lane}]"
        return f"[{{lane}}][{self.row}]" if self.form.rows_first else f"[{self.row}][{{lane}}]"

    def edits(self) -> tuple[Edit, ...]:
        """Return the edits."""
        scope, form = self.scope, self.form
        edits: list[Edit] = []
        declared = list(self._places())
        stored = {it.buffer for node in self.alone for it in _stores(scope, node)}
        loads = [it for it in facts.accesses(scope.subject.analysis) if it.direction is Direction.LOAD]
        reread = self.fenced or any(
            it.buffer in stored and not any(node.holds(it.span.start, it.span.end) for node in self.alone)
            for it in loads
        )
        shape = f"[{form.turns}]"
        if self.row:
            shape = f"[{form.turns}][{form.rows}]" if form.rows_first else f"[{form.rows}][{form.turns}]"
        for one in self.shared:
            arrays = [scope.fresh(f"{it.name}_parts") for it in one.totals]
            declared += (
                f"__local {it.variable.type} {array}{shape};"
                for it, array in zip(one.totals, arrays, strict=True)
            )
            edits.append(self._divided(one, arrays, reread))
        edits.append(scope.before(scope.body.children[0], declared))
        edits += self._guarded()
        edits += self._loaded()
        apart = [*(it.loop.node for it in self.shared), *self.alone, *(it.node for it in self.guards)]
        edits += self._ids(apart)
        edits += self._stored_once()
        edits += requires(scope, (form.items,))
        return tuple(edits)

    def _places(self) -> Iterator[str]:
        form = self.form
        if not self.row:
            yield f"// {form.turns} work-items share what one did: each takes one iteration in {form.turns}."
            yield f"const int {self.lane} = get_local_id(0);"
            return
        yield (
            f"// {form.turns} work-items share what one did, each takes one iteration in {form.turns}; "
            f"{form.rows} of the earlier ones make a work-group."
        )
        here = "get_local_id(0)"
        quick, slow = (self.row, self.lane) if form.rows_first else (self.lane, self.row)
        length = form.rows if form.rows_first else form.turns
        yield f"const int {quick} = {here} % {length};"
        yield f"const int {slow} = {here} / {length};"

    def _guarded(self) -> Iterator[Edit]:
        """Note who has a row instead of leaving: all come to the barriers."""
        for it in self.guards:
            assert it.node.head is not None, "an if has a head"
            text = f"const bool {self.inside} = {_ID.sub(self.id, it.inside)};"
            end = it.node.end
            if not it.returns:
                end, block = it.node.head[1] + 1, it.node.children[0].start
                if not self.scope.text[end:block].strip():
                    end, text = block, f"{text}{self.scope.newline}{self.scope.indent(it.node.start)}"
            yield self.scope.replaced(it.node.start, end, text)

    def _loaded(self) -> Iterator[Edit]:
        """Let who has no row load nothing."""
        scope, nodes = self.scope, [*(it.loop.node for it in self.shared), *self.alone]
        blocks = [scope.body, *(it.node.children[0] for it in self.guards if not it.returns)]
        values = {
            _loading(scope, blocks[-1], it)
            for it in facts.accesses(scope.subject.analysis)
            if self.inside and not any(node.holds(it.span.start, it.span.end) for node in nodes)
        }
        for start, end in sorted(it for it in values if it is not None):
            yield insert(scope.subject.path, start, f"{self.inside} ? ")
            yield insert(scope.subject.path, end, " : 0")

    def _ids(self, apart: list[Node]) -> Iterator[Edit]:
        scope = self.scope
        heads = {id(it.node): it.node.head or (0, 0) for it in self.guards if not it.returns}
        for found in _ID.finditer(scope.shown, scope.body.start, scope.body.end):
            holders = [it for it in apart if it.holds(found.start(), found.end())]
            # What stands around everything holds ids of its own only in its head.
            if all(id(it) in heads and found.start() >= heads[id(it)][1] for it in holders):
                alone = scope.shown[: found.start()].endswith("= ") and scope.shown[found.end()] == ";"
                text = self.id[1:-1] if alone and self.row else self.id
                yield scope.replaced(found.start(), found.end(), text)

    def _divided(self, one: _Shared, arrays: list[str], fences_global: bool) -> Edit:
        """Return the edit that lets each work-item take some of a loop's turns, and joins their totals."""
        scope, loop, unit, lane = self.scope, one.loop, self.scope.unit, self.lane
        kernel = scope.subject.analysis.kernel
        lines = []
        others = [
            it.name
            for it in one.totals
            if it.operation == "+" and not starts_at_zero(kernel, it, loop.statement)
        ]
        if others:
            resets = [f"{it} = 0;" for it in others]
            opening, closing = ("", []) if len(resets) == 1 else (" {", ["}"])
            lines += [f"if ({lane} > 0){opening}", *(unit + it for it in resets), *closing]
        assert loop.node.head is not None, "a counting loop has a head"
        declared = f"{loop.type} " if loop.declares else ""
        start = lane if loop.start.strip() == "0" else f"{tight(loop.start)} + {lane}"
        step = self.form.turns
        head = f"for ({declared}{loop.name} = {start}; {loop.name} < {loop.bound}; {loop.name} += {step})"
        text = _ID.sub(self.id, head + scope.text[loop.node.head[1] + 1 : loop.node.end])
        if self.inside:
            hints = scope.hints(loop.node)
            inner = [unit + it for it in hints] + [unit + deeper(text, unit)]
            opening, closing = (" {", ["}"]) if hints else ("", [])
            lines += [f"if ({self.inside}){opening}", *inner, *closing]
        else:
            lines += [*scope.hints(loop.node), text]
        if one.totals:
            lines += tree(
                scope, one.totals, arrays, lane, step, element=self._element, fences_global=fences_global
            )
        indent = scope.indent(loop.node.begins)
        return scope.replaced_with_hints(loop.node, f"{scope.newline}{indent}".join(lines))

    def _stored_once(self) -> Iterator[Edit]:
        """Put statements under a condition that holds for one work-item a row; neighbours share it."""
        scope = self.scope
        runs: list[list[Node]] = []
        for node in sorted(self.alone, key=lambda it: it.start):
            if runs and not scope.shown[runs[-1][-1].end : node.start].strip():
                runs[-1].append(node)
            else:
                runs.append([node])
        condition = f"{self.lane} == 0 && {self.inside}" if self.inside else f"{self.lane} == 0"
        for run in runs:
            start, end = run[0].start, run[-1].end
            indent, unit = scope.indent(start), scope.unit
            inner = _ID.sub(self.id, deeper(scope.text[start:end], unit))
            opening, closing = ("", "") if len(run) == 1 else (" {", f"{scope.newline}{indent}}}")
            text = f"if ({condition}){opening}{scope.newline}{indent}{unit}{inner}{closing}"
            yield scope.replaced(start, end, text)
