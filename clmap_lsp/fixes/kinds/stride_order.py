"""Choose how work-items share a range: contiguous chunks, or striding side by side.

A GPU's neighbours should take neighbouring elements in every turn (thread stride); a CPU's work-item should
walk a contiguous chunk, which its caches and vector units like. The stride sweep of the device (or of the
nearest one that has records) decides, as in clmempatterns (Lal et al.); without one, only the traffic can.
Which work-item handles which element changes, so that the loop must handle each element by itself, or add
them up in an order that does not matter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from clmap_lsp.access.polynomial import (
    GROUP_QUERIES,
    LANE_QUERIES,
    LoopSymbol,
    Op,
    Operation,
    Polynomial,
    WorkItemSymbol,
    global_id,
    varies_in_launch,
)
from clmap_lsp.access.records import Access, Direction
from clmap_lsp.dataclass import dataclass
from clmap_lsp.fixes import facts
from clmap_lsp.fixes.alike import Known, always
from clmap_lsp.fixes.assumptions import Assumption, multiple, no_offset, other_order, overlaps
from clmap_lsp.fixes.loops import CountingLoop, counting_loops
from clmap_lsp.fixes.model import Proposal
from clmap_lsp.fixes.scope import Scope, spelt, tight
from clmap_lsp.research import LoopSplit, Resplit, loop_splits, resplit
from clmap_lsp.source import ir
from clmap_lsp.source.types import ScalarType

if TYPE_CHECKING:
    from clmap_lsp.access.polynomial import Atom
    from clmap_lsp.findings import Edit
    from clmap_lsp.fixes.model import Subject
    from clmap_lsp.fixes.outline import Node

KIND = "stride-order"
NEEDS = (
    "a loop in which every work-item walks a chunk, or a grid stride, with turns that do "
    "not depend on each other"
)
_SIZE = "get_global_size(0)"
_ID = r"(?P<id>[A-Za-z_]\w*|get_global_id\(\s*0\s*\))"
_STRIDED = re.compile(
    rf"\s*(?P<type>\w+)\s+(?P<name>\w+)\s*=\s*{_ID}\s*;\s*(?P=name)\s*<\s*(?P<bound>[\w.]+)\s*;"
    r"\s*(?P=name)\s*\+=\s*get_global_size\(\s*0\s*\)\s*"
)


@dataclass(frozen=True, slots=True)
class _Divided:
    """A loop that divides arrays among work-items, with its accesses; all share one stride exponent."""

    symbol: LoopSymbol
    splits: tuple[LoopSplit, ...]
    accesses: tuple[Access, ...]

    @property
    def sites(self) -> frozenset[int]:
        return frozenset(it.site for it in self.accesses)


def propose(subject: Subject) -> Iterator[Proposal]:
    """Yield one rewrite for each loop whose order is the other kind of device's."""
    scope = Scope.of(subject)
    if scope is None or facts.opaque(subject.analysis.kernel):
        return
    loops = {it.symbol: it for it in counting_loops(scope)}
    for divided in _divided(subject):
        if divided.splits[0].is_grid_stride:
            found = _chunks(scope, divided)
        else:
            found = _strided(scope, loops[divided.symbol], divided) if divided.symbol in loops else None
        if found is not None:
            yield found


def _divided(subject: Subject) -> Iterator[_Divided]:
    """Yield the loops that only walk memory by one split, and load what all share."""
    splits = loop_splits(subject.analysis)
    for symbol, group in groupby(sorted(splits, key=lambda it: it.loop.identity), key=lambda it: it.loop):
        mine = tuple(group)
        by_site = {it.site: it for it in mine}
        inside = [it for it in facts.accesses(subject.analysis) if symbol in it.loops]
        others = [it for it in inside if it.site not in by_site]
        if len({it.exponent for it in mine}) == 1 and all(_is_common(it) for it in others):
            yield _Divided(symbol, mine, tuple(it for it in inside if it.site in by_site))


def _is_common(access: Access) -> bool:
    """True for a load that is the same for all work-items and in all turns."""
    return (
        access.direction is Direction.LOAD
        and access.known
        and not varies_in_launch(access.index)
        and not any(isinstance(it, LoopSymbol) for it in access.index.leaves)
    )


def _resplit(scope: Scope, divided: _Divided, *, side_by_side: bool) -> Resplit | None:
    """Return what the device's stride sweep says; `None` without one."""
    from clmap_lsp.research import DatabaseError, known_records

    if not scope.subject.device.is_product:
        return None
    try:
        return resplit(known_records(), divided.splits, scope.subject.device.id, side_by_side=side_by_side)
    except DatabaseError:  # `db` says what is wrong with the records; here they are only missing.
        return None


def _assumed(scope: Scope, divided: _Divided) -> tuple[Assumption, ...]:
    """Return that sums may be taken in another order, and that no element is reached by two names."""
    others = facts.accesses(scope.subject.analysis)
    inside = [it for it in others if any(s.span == divided.symbol.span for s in it.loops)]
    kernel = scope.subject.analysis.kernel
    return (
        *((other_order(),) if _sums(scope, divided) else ()),
        no_offset(1),
        *_divided_evenly(divided.splits[0].exponent),
        *overlaps(kernel, {it.buffer for it in inside}, facts.written(scope.subject.analysis)),
    )


def _divided_evenly(exponent: int) -> tuple[Assumption, ...]:
    """Return that work-items fill the parts that share a block: the split is of so many."""
    size = Polynomial.of(WorkItemSymbol(ir.WorkItemQuery.GLOBAL_SIZE, 0))
    return (multiple(size, _SIZE, 1 << exponent),) if exponent else ()


def _sums(scope: Scope, divided: _Divided) -> bool:
    """True if the loop adds up floating-point numbers."""
    for loop in ir.walk(scope.subject.analysis.kernel.body):
        if isinstance(loop, ir.Loop) and loop.span == divided.symbol.span:
            return any(
                isinstance(it, ir.Assign)
                and not it.variable.is_temporary
                and _is_sum(it)
                and getattr(it.value.type, "is_float", False)
                for it in ir.walk(loop.body)
            )
    return True


# ---------------------------------------------------------------------------------------- GPUs: side by side


def _strided(scope: Scope, loop: CountingLoop, divided: _Divided) -> Proposal | None:
    """Let all work-items walk side by side."""
    if not _independent(loop.statement) or any(it.volatile for it in divided.accesses):
        return None
    texts = tuple((it.span.start, it.span.end) for it in divided.accesses) if loop.from_zero else ()
    element = "" if loop.from_zero else loop.name
    if not _added_up_by_all(scope, loop.statement):
        return None
    if not _is_anyones(scope, loop.statement, element, texts):
        return None
    sweep = _resplit(scope, divided, side_by_side=True)
    if sweep is not None and sweep.gain <= 1:
        return None
    edits = _by_turn(scope, loop, divided) if loop.from_zero else _by_element(scope, loop, divided)
    if edits is None:
        return None
    return Proposal(
        KIND,
        "Stride over the work-items",
        edits,
        ("CM101", "CM102", "CM403"),
        _assumed(scope, divided),
        sites=divided.sites,
        reorders_sums=True,
        promise="" if sweep is None else sweep.describe(),
    )


def _by_turn(scope: Scope, loop: CountingLoop, divided: _Divided) -> tuple[Edit, ...] | None:
    """Turn every index of a split into `turn * work-items + id`."""
    plain = [it for it in divided.accesses if _is_plain(scope, it)]
    if len(plain) != len(divided.accesses) or loop.name in _words_elsewhere(scope, loop, plain):
        return None  # The turn's number means something besides the element.
    names = scope.names_at(loop.node.start, plain[0].names)
    places = {}
    for access, split in zip(divided.accesses, divided.splits, strict=True):
        offset = _offset(scope, split)
        text = None if offset is None else spelt(offset, names)
        if text is None:
            return None
        added = "" if text == "0" else f" + {text}"
        index = f"{loop.name} * {_SIZE} + {names[global_id(0)]}{added}"
        places[access.span.start, access.span.end] = f"{access.buffer}[{index}]"
    return tuple(scope.replaced(a, b, text) for (a, b), text in places.items())


def _is_plain(scope: Scope, access: Access) -> bool:
    return scope.is_typed(access) and scope.source(access.span).startswith(f"{access.buffer}[")


def _offset(scope: Scope, split: LoopSplit) -> Polynomial | None:
    """Return what an index adds to its element of the split; `None` if it may not be one elsewhere."""
    access = scope.general[split.site]  # As it is for every launch.
    loop = _general_loop(scope, split)
    if loop is None or loop.trip is None:
        return None
    if split.exponent == 0:
        rest = access.index - Polynomial.of(loop) - Polynomial.of(global_id(0)) * loop.trip
        if not varies_in_launch(rest) and loop not in rest.leaves:
            return rest
    queries = {*LANE_QUERIES, *GROUP_QUERIES, ir.WorkItemQuery.LOCAL_SIZE}
    fixed = loop.trip.value is not None and all(
        it == loop or (isinstance(it, WorkItemSymbol) and it.query in queries) for it in access.index.leaves
    )
    return Polynomial.constant(split.first) if fixed else None


def _general_loop(scope: Scope, split: LoopSplit) -> LoopSymbol | None:
    """Return the loop of a split with what holds for every launch."""
    return next((it for it in scope.general[split.site].loops if it.span == split.loop.span), None)


def _by_element(scope: Scope, loop: CountingLoop, divided: _Divided) -> tuple[Edit, ...] | None:
    """Change a loop's head only, where its variable is the element."""
    end = _end(scope, loop, divided)
    element = re.compile(rf"\w+\s*\[\s*{re.escape(loop.name)}\s*\]")
    if end is None or not any(
        split.first == 0 and scope.is_typed(access) and element.fullmatch(scope.source(access.span))
        for access, split in zip(divided.accesses, divided.splits, strict=True)
    ):
        return None
    assert loop.node.head is not None, "a for loop has a head"
    place = scope.names_at(loop.node.start, divided.accesses[0].names)[global_id(0)]
    if not loop.declares or loop.increment is not None:
        return None  # Its last value may be used after it.
    head = f"{loop.type} {loop.name} = {place}; {loop.name} < {end}; {loop.name} += {_SIZE}"
    return (scope.replaced(*loop.node.head, head),)


def _end(scope: Scope, loop: CountingLoop, divided: _Divided) -> str | None:
    """Return the number of elements as C text: chunk times work-items, or the bound that cuts chunks."""
    names = scope.names_at(loop.node.start, divided.accesses[0].names)
    general = _general_loop(scope, divided.splits[0])
    if general is None:
        return None
    trip, bound = general.trip, general.bound
    if trip is not None and not varies_in_launch(trip):
        text = loop.bound.removeprefix(f"{loop.start} + ")
        length = spelt(trip, names) if text == loop.bound else text
        return None if length is None else f"{tight(length)} * ({loop.type}){_SIZE}"
    cut = None if bound is None else bound.atom
    if not isinstance(cut, Operation) or cut.op not in (Op.MIN, Op.SELECT):
        return None
    common = [it for it in cut.operands if not varies_in_launch(it)]
    texts = {spelt(it, names) for it in common}
    end = texts.pop() if len(texts) == 1 else None
    if end is None or _covers(general, common[0]):
        return end
    whole = _whole(general, names)  # All chunks together may be shorter than the data.
    return None if whole is None else f"min(({loop.type})({end}), ({loop.type})({whole}))"


def _covers(loop: LoopSymbol, end: Polynomial) -> bool:
    """True if chunks are long enough for all of the data: `(n + work-items - 1) / work-items`."""
    length = None if loop.start is None else loop.start.coefficient(global_id(0))
    size = Polynomial.of(WorkItemSymbol(ir.WorkItemQuery.GLOBAL_SIZE, 0))
    atom = None if length is None else length.atom
    return (
        isinstance(atom, Operation)
        and atom.op in (Op.FLOOR_DIV, Op.TRUNC_DIV)
        and atom.operands == (end + size - 1, size)
    )


def _whole(loop: LoopSymbol, names: Mapping[Atom, str]) -> str | None:
    """Return the elements of all chunks: where the last work-item's chunk would end if nothing cut it."""
    length = None if loop.start is None else loop.start.coefficient(global_id(0))
    rest = None if length is None or loop.start is None else loop.start - Polynomial.of(global_id(0)) * length
    if length is None or rest is None or rest or varies_in_launch(length):
        return None
    text = spelt(length, names)
    return None if text is None else f"{tight(text)} * {_SIZE}"


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
    sums = {
        it.variable for it in ir.walk(loop.body) if isinstance(it, ir.Assign) and it.variable not in inside
    }
    return not any(_read_besides(loop, it) for it in sums if not it.is_temporary)


def _is_anyones(scope: Scope, loop: ir.Loop, element: str, texts: tuple[tuple[int, int], ...] = ()) -> bool:
    """True if every work-item makes the loop, and its iterations know their element only.

    Args:
        element: the loop's variable, where it is the element.
        texts: where else it is said which element it is.
    """
    kernel = scope.subject.analysis.kernel
    if not any(it is loop for it in always(kernel.body)) or any(
        isinstance(it, ir.Return) for it in ir.walk(kernel.body)
    ):
        return False
    own = {
        variable
        for it in ir.walk((*loop.body, *loop.step))
        if isinstance(variable := getattr(it, "variable", None), ir.Variable)
        and (
            variable.is_temporary or not isinstance(it, ir.Assign) or variable.name == element or _is_sum(it)
        )
    }
    return Known(scope, texts, frozenset(own), in_launch=True).knows_only_its_element(loop)


def _added_up_by_all(scope: Scope, loop: ir.Loop) -> bool:
    """True if a work-item's own sums only go to atomics that add them up: it has other elements then."""
    everything = tuple(ir.walk(scope.subject.analysis.kernel.body))
    inside = {it.variable for it in ir.walk(loop.body) if isinstance(it, ir.Declare)}
    sums = {it.variable for it in ir.walk(loop.body) if isinstance(it, ir.Assign)} - inside
    within = {id(it) for it in ir.walk((*loop.test, *loop.body, *loop.step))}
    return not any(
        facts.variables_read((it,)) & sums and not _only_adds(scope, it, everything)
        for it in everything
        if id(it) not in within
    )


def _only_adds(scope: Scope, statement: ir.Statement, everything: Sequence[ir.Statement]) -> bool:
    """True for an atomic by which all work-items add a variable to one element, and learn nothing."""
    if not isinstance(statement, ir.Atomic) or statement.variable in facts.variables_read(everything):
        return False
    access = scope.general[statement.site]
    return (
        statement.op in (ir.AtomicOp.ADD, ir.AtomicOp.SUB)
        and isinstance(ir.unconverted(statement.operands[0]), ir.Read)
        and not (access.guard or access.loops or varies_in_launch(access.index))
    )


def _read_besides(loop: ir.Loop, variable: ir.Variable) -> bool:
    """True if a loop reads a sum otherwise than to add to it: what it is in a turn depends on the order."""
    statements = ir.walk((*loop.test, *loop.body, *loop.step))
    return any(facts.is_read_besides(it, variable) for it in statements)


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


def _words_elsewhere(scope: Scope, loop: CountingLoop, accesses: Sequence[Access]) -> frozenset[str]:
    blank = {(it.span.start, it.span.end): " " for it in accesses}
    return frozenset(re.findall(r"[A-Za-z_]\w*", scope.rewritten(loop.body.start, loop.body.end, blank)))


# ------------------------------------------------------------------------------------------- CPUs: in chunks


def _chunks(scope: Scope, divided: _Divided) -> Proposal | None:
    """Turn `for (i = id; i < n; i += work-items)` into a walk over a contiguous chunk."""
    span = divided.symbol.span
    node = None if span is None else scope.node_at(span)
    head = None if node is None or node.head is None else _STRIDED.fullmatch(scope.shown, *node.head)
    statement = next(
        (
            it
            for it in ir.walk(scope.subject.analysis.kernel.body)
            if isinstance(it, ir.Loop) and it.span == span
        ),
        None,
    )
    if node is None or head is None or statement is None or not _is_id(scope, head["id"]):
        return None
    sweep = _resplit(scope, divided, side_by_side=False)
    if sweep is None or sweep.gain <= 1 or not _independent(statement):
        return None
    if not _added_up_by_all(scope, statement) or not _is_anyones(scope, statement, head["name"]):
        return None
    edits = _chunk_edits(scope, node, head)
    if edits is None:
        return None
    return Proposal(
        KIND,
        "Walk a contiguous chunk",
        edits,
        ("CM403",),
        _assumed(scope, divided),
        sites=divided.sites,
        reorders_sums=True,
        lowers_traffic=False,
        least_gain=0,
        promise=sweep.describe(),
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
