"""Load and store pairs as vectors where they lie side by side: `a[i]` and `a[i + d]`, on launches with `d` 1.

Sorting networks, transforms and scans exchange elements at a distance that the host changes from launch to
launch. At distance 1 a work-item's two elements are neighbours, and each of its requests touches the lines of
both. The kernel itself tests for that, and does as before elsewhere: nothing is assumed of the launch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from clmap_lsp.access.environment import uniform_environment
from clmap_lsp.access.evaluate import UnknownValueError, evaluate
from clmap_lsp.access.records import Access, Direction
from clmap_lsp.dataclass import dataclass
from clmap_lsp.fixes import facts
from clmap_lsp.fixes.assumptions import overlaps, unique
from clmap_lsp.fixes.kinds.join_accesses import Joined, assigned, is_single, loads_of, straight, value_of
from clmap_lsp.fixes.kinds.vectorise import aligned_vectors
from clmap_lsp.fixes.model import Proposal
from clmap_lsp.fixes.scope import Scope, tight
from clmap_lsp.source import ir

if TYPE_CHECKING:
    from clmap_lsp.fixes.model import Subject
    from clmap_lsp.fixes.outline import Node

KIND = "join-adjacent"
NEEDS = "two elements of one buffer whose distance differs from launch to launch and is 1 on this one"


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two accesses of one kind that are neighbours on the launch at hand."""

    low: Access
    high: Access
    low_text: str
    """The subscripts as typed."""
    high_text: str

    @property
    def accesses(self) -> tuple[Access, Access]:
        """In the order of the source."""
        first, second = sorted((self.low, self.high), key=lambda it: it.span.start)
        return first, second

    @property
    def condition(self) -> str:
        """What holds where the two are one aligned vector; even numbers have a successor in any type."""
        low, high = self.low_text, self.high_text
        is_sum = re.fullmatch(r"[\w\s()+*/%-]+", low) is not None
        named = re.fullmatch(rf"{re.escape(low)} \+ ([A-Za-z_]\w*)", high) if is_sum else None
        apart = named[1] if named else f"{tight(high)} - {tight(low)}"
        return f"{tight(low)} % 2 == 0 && {apart} == 1"

    def vector(self, const: str = "") -> str:
        """Return the element pair as an operand."""
        return f"*(__global {const}{self.low.type}2 *)&{self.low.buffer}[{self.low_text}]"


def propose(subject: Subject) -> Iterator[Proposal]:
    """Yield one rewrite for all pairs of a kernel."""
    scope = Scope.of(subject)
    if scope is None or facts.opaque(subject.analysis.kernel):
        return
    everything = facts.accesses(subject.analysis)
    if any(it.buffer == "?" for it in everything):
        return
    pairs = list(_pairs(scope, everything))
    found: list[Joined] = []
    loads = (_loads(scope, it) for it in pairs if it.low.direction is Direction.LOAD)
    for it in (*loads, *_stores(scope, [it for it in pairs if it.low.direction is Direction.STORE])):
        if it is not None and not any(it.meets(other) for other in found):
            found.append(it)
    if not found:
        return
    names = ", ".join(dict.fromkeys(f"`{access.buffer}`" for it in found for access in it.accesses))
    yield Proposal(
        KIND,
        f"Access pairs of {names} at once where adjacent",
        tuple(edit for it in found for edit in it.edits),
        ("CM101", "CM102", "CM103"),
        unique(assumed for it in found for assumed in it.assumptions),
        sites=frozenset(access.site for it in found for access in it.accesses),
    )


def _pairs(scope: Scope, accesses: Sequence[Access]) -> Iterator[_Pair]:
    """Yield neighbours whose distance another launch may change, each access in one pair at most."""
    moved = assigned(list(ir.walk(scope.subject.analysis.kernel.body)))
    both = loads_of([it for it in accesses if it.direction is not Direction.LOAD], accesses)
    groups: dict[object, list[tuple[Access, str]]] = {}
    for it in accesses:
        text = _subscript(scope, it)
        block = scope.block_statement(it.span.start, it.span.end)
        if text is None or block is None or it.buffer in moved or it.site in both or not is_single(scope, it):
            continue
        key = it.buffer, it.direction, it.type, it.loops, it.guard, block[0].start
        groups.setdefault(key, []).append((it, text))
    for group in groups.values():
        taken: set[int] = set()
        for (one, one_text), (other, other_text) in combinations(group, 2):
            apart = None if {one.site, other.site} & taken else _apart(scope.subject, one, other)
            if apart in (1, -1):
                taken |= {one.site, other.site}
                pair = _Pair(one, other, one_text, other_text)
                yield pair if apart == 1 else _Pair(other, one, other_text, one_text)


def _subscript(scope: Scope, access: Access) -> str | None:
    """Return what stands in the brackets of an element of a parameter, without its white space."""
    start, end = access.span.start, access.span.end
    name = re.match(rf"{re.escape(access.buffer)}\s*(?=\[)", scope.shown[start:end])
    inside = None if name is None else scope.subscripts(start + name.end(), 1)
    if not inside or inside[0][1] + 1 != end or scope.shown[start:end] != scope.text[start:end]:
        return None
    return re.sub(r" \+ 0\b(?!\.)$", "", " ".join(scope.text[slice(*inside[0])].split()))


def _apart(subject: Subject, one: Access, other: Access) -> int | None:
    """Return the distance on the launch at hand; `None` if it is the same on every launch, or not uniform."""
    distance = facts.unwrapped(other.index) - facts.unwrapped(one.index)
    if distance.value is not None:
        return None
    try:
        return int(evaluate(distance, uniform_environment(subject.launch)))
    except (UnknownValueError, OverflowError, ZeroDivisionError, ValueError, TypeError):
        return None


# ---------------------------------------------------------------------------------------------------- loads


def _loads(scope: Scope, pair: _Pair) -> Joined | None:
    """Load both before the first statement that uses one."""
    found = straight(scope, pair.accesses)
    if found is None:
        return None
    node, inside = found
    kernel, everything = scope.subject.analysis.kernel, facts.accesses(scope.subject.analysis)
    sites = {it.site for it in inside if isinstance(it, ir.Store)}
    stored = {it.buffer for it in everything if it.site in sites}
    spans = [it.span for it in pair.accesses]
    loaded = {it.buffer for it in everything if any(a.start <= it.span.start < a.end for a in spans)}
    if loaded & stored or assigned(inside) & _read(inside, {it.site for it in pair.accesses}):
        return None
    low, high = pair.low, pair.high
    name = scope.fresh(f"{low.buffer}_2")
    kind, pad = f"{low.type}2", " " * len(f"const {low.type}2 {name} =")
    lines = (
        f"const {kind} {name} = {pair.condition}",
        f"{pad} ? {pair.vector('const ')}",
        f"{pad} : ({kind})({low.buffer}[{pair.low_text}], {high.buffer}[{pair.high_text}]);",
    )
    edits = (
        scope.before(node, lines),
        *(scope.replaced(it.span.start, it.span.end, f"{name}.s{int(it is high)}") for it in pair.accesses),
    )
    assumed = (*overlaps(kernel, loaded, stored), *aligned_vectors(scope, [low], 2))
    return Joined(pair.accesses, edits, assumed)


def _read(statements: Sequence[ir.Statement], sites: set[int]) -> frozenset[str]:
    """Return the variables that the addresses of some loads are made of, also where macros hide them."""
    loads = (it for it in statements if isinstance(it, ir.Load) and it.site in sites)
    nodes = (node for it in loads for expression in ir.expressions(it) for node in ir.nodes(expression))
    return frozenset(it.variable.name for it in nodes if isinstance(it, ir.Read))


# --------------------------------------------------------------------------------------------------- stores


def _stores(scope: Scope, pairs: Sequence[_Pair]) -> Iterator[Joined | None]:
    """Yield a choice for each row of statements that store pairs, which may alternate between buffers."""
    rows: dict[int, list[tuple[Node, Node, _Pair]]] = {}
    for pair in pairs:
        first, second = (scope.block_statement(it.span.start, it.span.end) for it in pair.accesses)
        if first is not None and second is not None:
            at = next((a for a, b in _ranges(rows) if a <= first[1].start < b), first[1].start)
            rows.setdefault(at, []).append((first[1], second[1], pair))
    for row in rows.values():
        yield _choice(scope, row)


def _ranges(rows: dict[int, list[tuple[Node, Node, _Pair]]]) -> Iterator[tuple[int, int]]:
    return ((at, max(it.end for _, it, _ in row)) for at, row in rows.items())


def _choice(scope: Scope, row: Sequence[tuple[Node, Node, _Pair]]) -> Joined | None:
    pairs = [it for _, _, it in row]
    nodes = sorted((node for one, other, _ in row for node in (one, other)), key=lambda it: it.start)
    start, end = nodes[0].start, nodes[-1].end
    block = scope.block_statement(start, nodes[0].end)
    if block is None or [it for it in block[0].children if start <= it.start < end] != nodes:
        return None
    if len({it.condition for it in pairs}) > 1 or "#" in scope.shown[start:end]:
        return None
    kernel, everything = scope.subject.analysis.kernel, facts.accesses(scope.subject.analysis)
    loaded = {
        it.buffer
        for it in everything
        if it.direction is Direction.LOAD and start <= it.span.start and it.span.end <= end
    }
    stored = [it.low.buffer for it in pairs]
    if loaded & set(stored) or any(
        isinstance(it, (ir.Call, ir.Atomic)) and start <= it.span.start and it.span.end <= end
        for it in ir.walk(kernel.body)
    ):
        return None
    lines = []
    for one, other, pair in row:
        node_of = dict(zip((it.site for it in pair.accesses), (one, other), strict=True))
        values = [value_of(scope, node_of[it.site], it) for it in (pair.low, pair.high)]
        if any(it is None for it in values):
            return None
        both = ", ".join(it or "" for it in values)
        lines.append(f"{pair.vector()} = ({pair.low.type}2)({both});")
    unit, indent = scope.unit, scope.indent(start)
    old = scope.text[start:end].replace(f"\n{indent}", f"\n{indent}{unit}")
    text = f"{scope.newline}{indent}".join(
        (f"if ({pairs[0].condition}) {{", *(unit + it for it in lines), "} else {", unit + old, "}")
    )
    apart = (overlaps(kernel, {a}, {b}) for a, b in combinations(dict.fromkeys(stored), 2))
    assumed = (
        *overlaps(kernel, loaded, stored),
        *(it for some in apart for it in some),
        *aligned_vectors(scope, [it.low for it in pairs], 2),
    )
    return Joined(
        tuple(access for it in pairs for access in it.accesses), (scope.replaced(start, end, text),), assumed
    )
