"""Load or store what lies side by side at once: `a[2 * i]` and `a[2 * i + 1]` as one `float2`.

So are members of structures: `p[i].x`, `.y` and `.z` as a `float4` that holds the member behind them, too.

Work-items that handle pairs or quadruples of elements one by one make a request for each, and every request
touches all the lines. As in `vectorise`, the access goes through a pointer to vectors, which promises that it
is aligned: that follows from an index whose terms are all multiples of the number of elements.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from clmap_lsp.access.polynomial import Op, Operation, Polynomial
from clmap_lsp.access.records import Access, Direction
from clmap_lsp.dataclass import dataclass
from clmap_lsp.fixes import facts
from clmap_lsp.fixes.assumptions import overlaps, unique
from clmap_lsp.fixes.kinds.vectorise import aligned_vectors
from clmap_lsp.fixes.model import Proposal
from clmap_lsp.fixes.scope import Scope
from clmap_lsp.source import ir
from clmap_lsp.source.types import AddressSpace, ScalarType

if TYPE_CHECKING:
    from clmap_lsp.findings import Edit
    from clmap_lsp.fixes.assumptions import Assumption
    from clmap_lsp.fixes.model import Subject
    from clmap_lsp.fixes.outline import Node

KIND = "join-accesses"
NEEDS = (
    "accesses of one work-item that lie side by side from a multiple of 2 or 4 on, in a "
    "straight line of statements"
)
LANES = (4, 2)
_LABEL = re.compile(r"(?:case|default)\b|\w+\s*:(?!:)")
_ELEMENT = re.compile(
    r"(?:\w+|\(\s*\([^()]*\)\s*\w+\s*\))\s*\[.*\](?:\s*\.\s*\w+)*"
    r"|\w+\s*->\s*\w+(?:\s*\.\s*\w+)*|\*\s*(?:\w+|\(.*\))",
    re.DOTALL,
)
"""`a[i]`, `((__global uint *)a)[i]`, `p[i].x`, `p->x`, `*p`, `*(a + i)`."""


@dataclass(frozen=True, slots=True)
class Joined:
    """Accesses that become one, in the order of their addresses."""

    accesses: tuple[Access, ...]
    edits: tuple[Edit, ...]
    assumptions: tuple[Assumption, ...]

    @property
    def buffer(self) -> str:
        """The buffer of the first."""
        return self.accesses[0].buffer

    def meets(self, other: Joined) -> bool:
        """True if what one writes anew holds what the other does, such as a load in a stored value."""
        return any(
            a.span.start < b.span.end and b.span.start < a.span.end for a in self.edits for b in other.edits
        )


@dataclass(frozen=True, slots=True)
class _Run:
    """Accesses to elements of one vector, by their place in it."""

    lanes: int
    by_lane: Mapping[int, tuple[Access, ...]]
    """For each element, in the order of the source."""

    @property
    def first(self) -> Access:
        """One of the vector's first element."""
        return self.by_lane[0][0]

    @property
    def accesses(self) -> tuple[Access, ...]:
        """All, in the order of their addresses."""
        return tuple(it for some in self.by_lane.values() for it in some)

    @property
    def lane_of(self) -> Mapping[int, int]:
        """The element that each site accesses."""
        return {it.site: lane for lane, some in self.by_lane.items() for it in some}

    def once(self) -> _Run:
        """Return the first access of each element."""
        return _Run(self.lanes, {lane: some[:1] for lane, some in self.by_lane.items()})


def propose(subject: Subject) -> Iterator[Proposal]:
    """Yield one rewrite for all neighbours that a kernel accesses one by one, and one for each buffer."""
    scope = Scope.of(subject)
    if scope is None or facts.opaque(subject.analysis.kernel):
        return
    everything = facts.accesses(subject.analysis)
    if any(it.buffer == "?" for it in everything):
        return
    found: list[Joined] = []
    for run in _runs(scope, everything):
        if run.first.direction is Direction.LOAD:
            joined = _loads(scope, run) or _loads(scope, run.once())
        else:
            joined = _stores(scope, run)
        if joined is not None and not any(joined.meets(it) for it in found):
            found.append(joined)
    if not found:
        return
    yield _proposal(found)
    buffers = dict.fromkeys(it.buffer for it in found)
    if len(buffers) > 1:
        for buffer in buffers:
            yield _proposal([it for it in found if it.buffer == buffer])


def _proposal(found: Sequence[Joined]) -> Proposal:
    names = ", ".join(dict.fromkeys(f"`{it.buffer}`" for it in found))
    return Proposal(
        KIND,
        f"Access neighbours of {names} as vectors",
        tuple(edit for it in found for edit in it.edits),
        ("CM101", "CM102", "CM103"),
        unique(assumed for it in found for assumed in it.assumptions),
        sites=frozenset(access.site for it in found for access in it.accesses),
        choice=KIND,
    )


def _runs(scope: Scope, accesses: Sequence[Access]) -> Iterator[_Run]:
    """Yield accesses of elements of an aligned vector, in their order, each in one run at most.

    There are as many as a vector has elements, but that loads of members may leave one out.
    """
    taken = loads_of([it for it in accesses if it.direction is not Direction.LOAD], accesses)
    for lanes in LANES:
        groups: dict[object, dict[int, list[Access]]] = {}
        for it in accesses:
            if it.site in taken or not is_single(scope, it):
                continue
            index = facts.unwrapped(it.index)
            start = index.offset % lanes
            if any(factor % lanes for monomial, factor in index.terms.items() if monomial):
                continue
            block = scope.block_statement(it.span.start, it.span.end)
            inner = None if block is None else block[0].start
            where = index - start, _wraps(it.index), inner
            key = it.buffer, it.direction, it.type, it.loops, it.guard, where
            groups.setdefault(key, {}).setdefault(start, []).append(it)
        for group in groups.values():
            if 0 in group and len(group) >= lanes - _may_lack(group[0][0], lanes):
                run = _Run(lanes, {lane: tuple(group[lane]) for lane in sorted(group)})
                taken.update(run.lane_of)
                yield run


def loads_of(stores: Sequence[Access], accesses: Sequence[Access]) -> set[int]:
    """Return the sites of loads that stand where something is stored, such as that of `a[i] += 1`."""
    stored = {it.span for it in stores}
    return {it.site for it in accesses if it.direction is Direction.LOAD and it.span in stored}


def _may_lack(access: Access, lanes: int) -> int:
    """Return how many elements of a vector need not be asked for: one of a structure that holds it whole."""
    whole = access.within is not None and access.within.size % (access.size * lanes) == 0
    return int(whole and lanes > 2 and access.direction is Direction.LOAD)


def _wraps(index: Polynomial) -> frozenset[tuple[Polynomial, int]]:
    """Return the unsigned parts of an index without constants: those of neighbours wrap together."""
    found = set()
    for monomial, coefficient in index.terms.items():
        match monomial:
            case (Operation(op=Op.WRAP_UNSIGNED, operands=(inner, _)),):
                found.add((inner - inner.offset, coefficient))
            case _:
                pass
    return frozenset(found)


def is_single(scope: Scope, access: Access) -> bool:
    """True if an access of global memory stands in the kernel's own text and touches one scalar."""
    return (
        access.space is AddressSpace.GLOBAL
        and access.known
        and access.direction in (Direction.LOAD, Direction.STORE)
        and not access.volatile
        and scope.is_typed(access)
        and isinstance(access.type, ScalarType)
        and access.type.size in (1, 2, 4, 8)
        and access.unit == access.size == access.type.size
        and _ELEMENT.fullmatch(scope.source(access.span)) is not None
        and not scope.has_effects(access.span.start, access.span.end)
    )


def _address(scope: Scope, access: Access) -> str:
    """Return an operand that points to an element."""
    text = scope.source(access.span)
    return text[1:].lstrip() if text.startswith("*") else f"&{text}"


# ---------------------------------------------------------------------------------------------------- loads


def _loads(scope: Scope, run: _Run) -> Joined | None:
    """Load a vector before the first statement that uses an element of it."""
    found = straight(scope, run.accesses)
    if found is None:
        return None
    node, inside = found
    kernel = scope.subject.analysis.kernel
    sites = {it.site for it in inside if isinstance(it, ir.Store)}
    everything = facts.accesses(scope.subject.analysis)
    stored = {it.buffer for it in everything if it.site in sites}
    head = run.first
    if assigned(inside) & scope.words(head.span.start, head.span.end):
        return None
    if head.buffer in stored and not _stays_valid(run, inside, {it.site: it for it in everything}):
        return None
    stored.discard(head.buffer)
    kind, name = f"{head.type}{run.lanes}", scope.fresh(f"{head.buffer}_{run.lanes}")
    line = f"const {kind} {name} = *(__global const {kind} *){_address(scope, head)};"
    edits = [
        scope.replaced(it.span.start, it.span.end, f"{name}.s{lane}")
        for lane, some in run.by_lane.items()
        for it in some
    ]
    assumed = (*overlaps(kernel, {head.buffer}, stored), *aligned_vectors(scope, [head], run.lanes))
    return Joined(run.accesses, (scope.before(node, [line]), *edits), assumed)


def straight(scope: Scope, accesses: Sequence[Access]) -> tuple[Node, list[ir.Statement]] | None:
    """Return the first statement that makes one of some loads, and all up to the last of them.

    `None` unless they are made one after the other whenever the first is, with nothing on the way that waits
    for other work-items or may do anything.
    """
    first = min(accesses, key=lambda it: it.span.start)
    place = scope.block_statement(first.span.start, first.span.end)
    if place is None or not _is_evaluated_first(scope, place[1], first):
        return None
    body = scope.subject.analysis.kernel.body
    statements = _between(body, {it.site for it in accesses}, place[1])
    if statements is None or any(map(ir.may_leave, statements)):
        return None
    inside = list(ir.walk(statements))
    others = (ir.Atomic, ir.Call, ir.CopyObject)
    if facts.synchronises(inside) or any(isinstance(it, others) for it in inside):
        return None
    return place[1], inside


def _stays_valid(run: _Run, inside: Sequence[ir.Statement], accesses: Mapping[int, Access]) -> bool:
    """True if what is stored to the buffer on the way is none of the vector, or not loaded any more then."""
    changed: set[int] = set()
    for it in inside:
        if isinstance(it, ir.Store) and it.site in accesses:
            access = accesses[it.site]
            apart = (access.index - run.first.index).value if access.unit == run.first.unit else None
            if access.buffer == run.first.buffer:
                if apart is None or access.size != access.unit or not access.known:
                    return False
                changed.add(apart)
        elif isinstance(it, ir.Load) and run.lane_of.get(it.site) in changed:
            return False
    return True


def _is_evaluated_first(scope: Scope, node: Node, access: Access) -> bool:
    """True if something may be evaluated before a statement instead of an access in it."""
    if any(it.kind == "switch" for it in scope.body.path(node.start, node.end)):
        return False
    if node.kind == "if":
        return node.head is not None and node.head[0] <= access.span.start and access.span.end <= node.head[1]
    return node.kind == "simple" and _LABEL.match(scope.shown, node.start) is None


def _between(block: ir.Block, sites: set[int], node: Node) -> tuple[ir.Statement, ...] | None:
    """Return the statements from a node on to the last load; `None` if that is no straight line."""
    places = [at for at, it in enumerate(block) if isinstance(it, ir.Load) and it.site in sites]
    if len(places) == len(sites):
        first = next((at for at, it in enumerate(block) if it.span.start >= node.start), places[0])
        return tuple(block[min(first, places[0]) : places[-1] + 1])
    for statement in block:
        if node.holds(statement.span.start, statement.span.end):
            continue  # What the node itself decides on, such as a choice.
        for inner in ir.blocks(statement):
            found = _between(inner, sites, node)
            if found is not None:
                return found
    return None


def assigned(statements: Sequence[ir.Statement]) -> frozenset[str]:
    """Return the names of variables that get values."""
    kinds = (ir.Assign, ir.Declare, ir.Load)
    return frozenset(it.variable.name for it in statements if isinstance(it, kinds))


# --------------------------------------------------------------------------------------------------- stores


def _stores(scope: Scope, run: _Run) -> Joined | None:
    """Store a vector instead of statements that stand one after the other."""
    accesses, head = run.accesses, run.first
    place = scope.block_statement(head.span.start, head.span.end)
    if place is None:
        return None
    nodes = [next((n for n in place[0].children if n.start == it.span.start), None) for it in accesses]
    values = [None if n is None else value_of(scope, n, it) for n, it in zip(nodes, accesses, strict=True)]
    known = [it for it in nodes if it is not None]
    if any(it is None for it in values) or len(known) < run.lanes:
        return None
    ordered = sorted(known, key=lambda it: it.start)
    at = place[0].children.index(ordered[0])
    if list(place[0].children[at : at + run.lanes]) != ordered:
        return None
    start, end = ordered[0].start, ordered[-1].end
    if scope.shown[start:end].split() != scope.text[start:end].split() or "#" in scope.text[start:end]:
        return None  # Comments would be lost.
    kernel = scope.subject.analysis.kernel
    everything = facts.accesses(scope.subject.analysis)
    loaded = {
        it.buffer
        for it in everything
        if it.direction is Direction.LOAD and start <= it.span.start and it.span.end <= end
    }
    if head.buffer in loaded or any(
        isinstance(it, (ir.Call, ir.Atomic)) and start <= it.span.start and it.span.end <= end
        for it in ir.walk(kernel.body)
    ):
        return None
    kind = f"{head.type}{run.lanes}"
    text = f"*(__global {kind} *){_address(scope, head)} = ({kind})({', '.join(it or '' for it in values)});"
    assumed = (*overlaps(kernel, loaded, {head.buffer}), *aligned_vectors(scope, [head], run.lanes))
    return Joined(accesses, (scope.replaced(start, end, text),), assumed)


def value_of(scope: Scope, node: Node, access: Access) -> str | None:
    """Return what a statement stores, in the element's type; `None` if it does anything else."""
    assigned = re.fullmatch(r"\s*=(?!=)\s*(.*);", scope.text[access.span.end : node.end], re.DOTALL)
    if node.kind != "simple" or assigned is None or scope.has_effects(*_right(scope, node, access)):
        return None
    body = scope.subject.analysis.kernel.body
    store = next((it for it in ir.walk(body) if isinstance(it, ir.Store) and it.site == access.site), None)
    if store is None or store.component is not None:
        return None
    value = assigned[1].strip()
    plain = store.value.type == access.type and not isinstance(store.value, ir.Convert)
    return value if plain and "," not in value else f"({access.type})({value})"


def _right(scope: Scope, node: Node, access: Access) -> tuple[int, int]:
    """Return the range right of a statement's `=`."""
    return scope.shown.index("=", access.span.end) + 1, node.end
