"""Count in local memory first: histograms, and counters that all work-items share.

Atomics on one address of global memory are made one after the other for the whole device; those on local
memory only within a work-group. A work-group counts for itself, then adds its counts once. With many elements
a work-item that pays many times over: on an H200, 64 Mi bytes into 256 bins fell from 11.1 to 0.2 ms.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from clmap_lsp.access.facts import Facts
from clmap_lsp.access.records import Access, Direction
from clmap_lsp.dataclass import dataclass
from clmap_lsp.fixes import elements, facts
from clmap_lsp.fixes.assumptions import Assumption, Case, flat_groups, overlaps
from clmap_lsp.fixes.elements import Elements
from clmap_lsp.fixes.guarding import deeper, negated, only_returns
from clmap_lsp.fixes.model import Proposal
from clmap_lsp.fixes.scope import Scope, as_typed
from clmap_lsp.launch.model import BufferArgument
from clmap_lsp.source import ir
from clmap_lsp.source.types import AddressSpace, ScalarType

if TYPE_CHECKING:
    from clmap_lsp.findings import Edit
    from clmap_lsp.fixes.model import Subject
    from clmap_lsp.fixes.outline import Node

KIND = "local-counts"
NEEDS = "atomic additions whose results are not used, to at most 4096 elements"
COUNTS = (32, 8, 128, 1)
"""Elements a work-item."""
MOST_BINS = 4096
_LANES = (
    "get_local_id(0)",
    "get_local_id(1) * get_local_size(0) + get_local_id(0)",
    "(get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0)",
)
"""Which work-item of its group one is, in launches of one, two and three dimensions."""
_ADDING = (ir.AtomicOp.ADD, ir.AtomicOp.SUB, ir.AtomicOp.INC, ir.AtomicOp.DEC)


@dataclass(frozen=True, slots=True)
class _Counted:
    """A buffer of counts: its bins, and whether their number is only what this launch gives."""

    name: str
    type: ScalarType
    bins: int
    assumption: Assumption | None
    spans: tuple[tuple[int, int], ...]


def propose(subject: Subject) -> Iterator[Proposal]:
    """Yield one rewrite for each number of elements a work-item."""
    scope = Scope.of(subject)
    kernel = subject.analysis.kernel
    if scope is None or facts.opaque(kernel) or not scope.body.children:
        return
    counted = _counted(scope)
    if not counted or sum(it.bins * it.type.size for it in counted) > facts.room(subject):
        return
    several = elements.elements(scope)
    if several is None and facts.synchronises(kernel.body):
        return
    for count in COUNTS if several is not None else (1,):
        if count == 1 and not _all_come(scope):
            continue  # Those who leave would miss the barriers.
        if several is None or count * subject.launch.local_size[0] <= subject.launch.global_size[0]:
            yield _proposal(subject, counted, several or Elements(None), count)


def _all_come(scope: Scope) -> bool:
    """True if all work-items come to the end, or would if one guard did not let some return."""
    returns = [it for it in ir.walk(scope.subject.analysis.kernel.body) if isinstance(it, ir.Return)]
    return not returns or (len(returns) == 1 and _guard(scope) is not None)


def _guard(scope: Scope) -> Node | None:
    """Return the statement `if (…) return;`, if something comes after it."""
    return next((it for it in scope.body.children[:-1] if it.kind == "if" and only_returns(scope, it)), None)


def _proposal(subject: Subject, counted: tuple[_Counted, ...], several: Elements, count: int) -> Proposal:
    scope = Scope.of(subject)
    assert scope is not None, "it was read before"
    names = ", ".join(f"`{it.name}`" for it in counted)
    loaded = {it.buffer for it in facts.accesses(subject.analysis) if it.direction is Direction.LOAD}
    dimensions = len(subject.launch.global_size)
    each = f", {count} elements a work-item" if count > 1 else ""
    return Proposal(
        KIND,
        f"Count {names} in local memory{each}",
        _edits(scope, counted, several, count),
        ("CM101", "CM512"),
        (
            *several.assumptions(subject.launch, count),
            *((flat_groups(range(dimensions)),) if dimensions < 3 else ()),
            *(it.assumption for it in counted if it.assumption is not None),
            *overlaps(subject.analysis.kernel, loaded, {it.name for it in counted}),
        ),
        relaunch=partial(elements.relaunched, count=count) if count > 1 else None,
        host_change=f"launch one work-item for every {count} elements, rounded up to whole work-groups"
        if count > 1
        else None,
        lowers_traffic=False,
        least_gain=0.0,
        by_time=True,
    )


# ---------------------------------------------------------------------------------------------- recognition


def _counted(scope: Scope) -> tuple[_Counted, ...]:
    """Return the global buffers that a kernel does nothing with but to add to them atomically."""
    accesses = facts.accesses(scope.subject.analysis)
    if any(it.buffer == "?" for it in accesses):
        return ()
    found = []
    for name in dict.fromkeys(it.buffer for it in accesses if it.direction is Direction.ATOMIC):
        mine = [it for it in accesses if it.buffer == name]
        one = _one(scope, name, mine)
        if one is not None:
            found.append(one)
    return tuple(found)


def _one(scope: Scope, name: str, accesses: list[Access]) -> _Counted | None:
    kernel = scope.subject.analysis.kernel
    sites = {it.site for it in accesses}
    atomics = [it for it in ir.walk(kernel.body) if isinstance(it, ir.Atomic) and it.site in sites]
    if len(atomics) != len(sites) or any(it.direction is not Direction.ATOMIC for it in accesses):
        return None
    if any(it.op not in _ADDING or is_used(kernel, it) for it in atomics):
        return None
    kinds = {it.type for it in atomics}
    first = accesses[0]
    if (
        len(kinds) != 1
        or first.space is not AddressSpace.GLOBAL
        or any(it.unit != it.size for it in accesses)
    ):
        return None
    (kind,) = kinds
    if kind.is_float or kind.size != 4 or not all(scope.is_typed(it) for it in accesses):
        return None
    spans = tuple(sorted({(it.span.start, it.span.end) for it in atomics}))
    typed = all(as_typed(it.span, scope.subject.path) for it in atomics)
    parameter = [it.span.start for it in kernel.parameters if it.name == name]
    outside = [
        at
        for at in scope.mentions(name)
        if at >= scope.body.start and not any(start <= at < end for start, end in spans)
    ]
    if not typed or not parameter or outside:
        return None
    bins, assumption = _bins(scope, name, accesses)
    return _Counted(name, kind, bins, assumption, spans) if 0 < bins <= MOST_BINS else None


def is_used(kernel: ir.Kernel, atomic: ir.Atomic) -> bool:
    """True if a kernel reads what was there before."""
    return atomic.variable is not None and any(
        isinstance(it, ir.Read) and it.variable is atomic.variable for it in ir.all_expressions(kernel.body)
    )


def _bins(scope: Scope, name: str, accesses: list[Access]) -> tuple[int, Assumption | None]:
    """Return how many elements are counted in: as the indices say, else as the launch does."""
    known = [Facts().interval(it.index) for it in accesses]
    highest = [high for low, high in known if low is not None and low >= 0 and high is not None]
    if len(highest) == len(known) and max(highest) == 0:
        return 1, None
    argument = scope.subject.launch.arguments.get(name)
    count = argument.count if isinstance(argument, BufferArgument) else 0

    def holds(case: Case) -> bool:
        mine = case.launch.arguments.get(name)
        return isinstance(mine, BufferArgument) and mine.count == count

    return count, Assumption(f"{name} has {count} elements", holds)


# --------------------------------------------------------------------------------------------------- writing


def _edits(scope: Scope, counted: tuple[_Counted, ...], several: Elements, count: int) -> tuple[Edit, ...]:
    unit, newline = scope.unit, scope.newline
    lane, lanes, bin_ = scope.fresh("lane"), scope.fresh("lanes"), scope.fresh("bin")
    arrays = {it.name: scope.fresh(f"{it.name}_here") for it in counted}
    start, end = scope.body.children[0].start, scope.body.children[-1].end
    changes = {}
    for one in counted:
        for a, b in one.spans:
            for found in re.finditer(rf"\b{one.name}\b", scope.shown[a:b]):
                changes[a + found.start(), a + found.end()] = arrays[one.name]
    if count > 1:
        body = elements.repeated(scope, scope.rewritten(start, end, changes), count)
    else:
        body = _once(scope, changes)
    before, after = [], []
    for one in counted:
        array = arrays[one.name]
        before.append(f"__local {one.type} {array}[{one.bins}];")
        if one.bins == 1:
            after += [f"if ({lane} == 0)", f"{unit}atomic_add(&{one.name}[0], {array}[0]);"]
            continue
        after += [
            f"for (int {bin_} = {lane}; {bin_} < {one.bins}; {bin_} += {lanes})",
            f"{unit}atomic_add(&{one.name}[{bin_}], {array}[{bin_}]);",
        ]
    cleared = []
    for one in counted:
        array = arrays[one.name]
        if one.bins == 1:
            cleared += [f"if ({lane} == 0)", f"{unit}{array}[0] = 0;"]
        else:
            cleared += [
                f"for (int {bin_} = {lane}; {bin_} < {one.bins}; {bin_} += {lanes})",
                f"{unit}{array}[{bin_}] = 0;",
            ]
    walks = any(it.bins > 1 for it in counted)
    dimensions = len(scope.subject.launch.global_size)
    sizes = " * ".join(f"get_local_size({it})" for it in range(dimensions))
    lines = [
        "// A work-group counts in local memory, and adds its counts to the global ones once.",
        *before,
        f"const int {lane} = {_LANES[dimensions - 1]};",
        *([f"const int {lanes} = {sizes};"] if walks else ()),
        *cleared,
        "barrier(CLK_LOCAL_MEM_FENCE);",
        *body,
        "barrier(CLK_LOCAL_MEM_FENCE);",
        *after,
    ]
    indent = scope.indent(start)
    return (scope.replaced(start, end, f"{newline}{indent}".join(lines)),)


def _once(scope: Scope, changes: Mapping[tuple[int, int], str]) -> list[str]:
    """Return what a work-item does; what follows a guard that lets some return stands under its opposite."""

    def text(a: int, b: int) -> str:
        return scope.rewritten(
            a, b, {at: it for at, it in changes.items() if a <= at[0] and at[1] <= b}
        ).strip()

    first, last, guard = scope.body.children[0], scope.body.children[-1], _guard(scope)
    if guard is None or guard.head is None:
        return [text(first.start, last.end)]
    before, rest = text(first.start, guard.start), text(guard.end, last.end)
    is_one = rest == text(last.start, last.end)
    return [
        *([before] if before else ()),
        f"if ({negated(scope, guard.head)})" + ("" if is_one else " {"),
        scope.unit + deeper(rest, scope.unit),
        *(() if is_one else ("}",)),
    ]
