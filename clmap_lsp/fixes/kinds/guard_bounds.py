"""Guard accesses outside their buffers.

Either the work-items beyond the data leave (`if (i >= n) return;`), or the access itself is tested. A bound
is taken only from the kernel's own scalar parameters, where the launch shows which one it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING

from clmap_lsp.access.polynomial import ONE, Parameter, global_id
from clmap_lsp.access.records import Access, Direction
from clmap_lsp.emulator.result import Fault, FaultKind
from clmap_lsp.fixes import facts
from clmap_lsp.fixes.model import Proposal
from clmap_lsp.fixes.scope import Scope
from clmap_lsp.launch.model import BufferArgument
from clmap_lsp.source import ir
from clmap_lsp.source.types import PointerType, ScalarType

if TYPE_CHECKING:
    from clmap_lsp.findings import Edit
    from clmap_lsp.fixes.model import Subject
    from clmap_lsp.fixes.outline import Node

KIND = "guard-bounds"
NEEDS = "an access outside a buffer that the emulator saw, and a parameter that says where the buffer ends"
_KINDS = (FaultKind.OUT_OF_BOUNDS_READ, FaultKind.OUT_OF_BOUNDS_WRITE)


def propose(subject: Subject) -> Iterator[Proposal]:
    """Yield the guards that may cure the out-of-bounds accesses that the emulator saw."""
    if subject.emulation is None:
        return
    faults = [
        it for it in subject.emulation.faults if it.kind in _KINDS and it.space in ("global", "constant")
    ]
    scope = Scope.of(subject) if faults else None
    if scope is None:
        return
    sites = _sites(scope, faults)
    leaving = list(_leaving(scope, sites))
    for title, edits in (*leaving, *_tested(scope, sites)):
        yield Proposal(
            KIND,
            title,
            edits,
            ("CM301",),
            sites=frozenset(it.site for it in sites),
            cures=faults[0].kind,
            # Bounds between which nothing decides are all offered: a person must choose.
            choice=title if len(leaving) > 1 else KIND,
            lowers_traffic=False,
        )


def _sites(scope: Scope, faults: Sequence[Fault]) -> list[Access]:
    spans = {it.span for it in faults}
    return [it for it in facts.accesses(scope.subject.analysis) if it.span in spans and scope.is_typed(it)]


def _integers(scope: Scope) -> dict[str, int]:
    """Return the integer parameters with their values on the launch."""
    found = {}
    for parameter in scope.subject.analysis.kernel.parameters:
        value = scope.subject.launch.scalar(parameter.name)
        if isinstance(parameter.type, ScalarType) and parameter.type.is_integer and isinstance(value, int):
            found[parameter.name] = value
    return found


# -------------------------------------------------------------------------------------------- leaving early


def _leaving(scope: Scope, sites: Sequence[Access]) -> Iterator[tuple[str, tuple[Edit, ...]]]:
    """Let the work-items of each dimension that is longer than a parameter leave before the first access."""
    kernel, launch = scope.subject.analysis.kernel, scope.subject.launch
    if not sites or facts.synchronises(kernel.body):
        return  # A work-item that left would miss the barrier.
    first = min(facts.accesses(scope.subject.analysis), key=lambda it: it.span.start).span
    place = scope.top_level(first.start, first.end)
    if place is None:
        return
    names = scope.names_at(place.start, sites[0].names)
    choices: list[list[tuple[int, str] | None]] = []
    for dimension, size in enumerate(launch.global_size):
        bounds = [name for name, value in _integers(scope).items() if 0 < value < size]
        choices.append([*((dimension, it) for it in bounds)] or [None])
    ranked = sorted(product(*choices), key=lambda it: _unlikely(it, sites))
    for chosen in (it for it in ranked if _unlikely(it, sites) == _unlikely(ranked[0], sites)):
        tests = [f"{names[global_id(it[0])]} >= {it[1]}" for it in chosen if it is not None]
        if tests:
            condition = " || ".join(tests)
            lines = [f"if ({condition})", f"{scope.unit}return;"]
            yield f"Leave if {condition}", (scope.before(place, lines),)


def _unlikely(chosen: Sequence[tuple[int, str] | None], sites: Sequence[Access]) -> tuple[int, int]:
    """Rank bounds of dimensions, likeliest first: where sizes are equal, the launch shows no difference.

    The pitch of rows bounds the columns (`y * w + x`: x by w) and nothing else; no bound is used twice.
    """
    columns, pitches = set(), set()
    for dimension, step in ((d, it.index.coefficient(global_id(d))) for it in sites for d in range(3)):
        if step == ONE:
            columns.add(dimension)
        elif step is not None and isinstance(step.atom, Parameter):
            pitches.add(step.atom.name)
    used = [it for it in chosen if it is not None]
    wrong = sum((dimension in columns) != (name in pitches) for dimension, name in used) if pitches else 0
    return wrong, len(used) - len({name for _, name in used})


# ------------------------------------------------------------------------------------------ testing accesses


def _tested(scope: Scope, sites: Sequence[Access]) -> Iterator[tuple[str, tuple[Edit, ...]]]:
    """Test each access: stores under an `if`, loads that give 0 outside."""
    edits = []
    for access in sites:
        condition = _condition(scope, access)
        edit = None if condition is None else _under(scope, access, condition)
        if edit is None:
            return
        edits.append(edit)
    if edits:
        names = ", ".join(sorted({f"`{it.buffer}`" for it in sites}))
        yield f"Test accesses of {names} against their bounds", tuple(dict.fromkeys(edits))


def _condition(scope: Scope, access: Access) -> str | None:
    """Return the test that the index is inside the buffer, whose length some parameters give."""
    argument = scope.subject.launch.arguments.get(access.buffer)
    text = scope.source(access.span)
    if not isinstance(argument, BufferArgument) or not text.startswith(f"{access.buffer}["):
        return None
    parameter = next(it for it in scope.subject.analysis.kernel.parameters if it.name == access.buffer)
    same = isinstance(parameter.type, PointerType) and parameter.type.pointee == access.type
    length = _length(scope, argument.count)
    if length is None or not same:
        return None
    index = text[len(access.buffer) + 1 : -1]
    below = f"{index} < {length}"
    return f"{index} >= 0 && {below}" if "-" in index else below


def _length(scope: Scope, count: int) -> str | None:
    """Return the parameter, or the product of two, that is the count on the launch."""
    values = _integers(scope)
    for name, value in values.items():
        if value == count:
            return name
    for a, b in product(values.items(), repeat=2):
        if a[1] * b[1] == count and a[1] > 1 and b[1] > 1:
            return f"{a[0]} * {b[0]}"
    return None


def _under(scope: Scope, access: Access, condition: str) -> Edit | None:
    path = scope.body.path(access.span.start, access.span.end)
    statement = path[-1]
    if access.direction is Direction.LOAD and statement.kind == "simple":
        if statement.start == access.span.start:
            return None  # A compound assignment also stores.
        text = scope.source(access.span)
        return scope.replaced(access.span.start, access.span.end, f"({condition} ? {text} : 0)")
    if access.direction is Direction.STORE and statement.kind == "simple" and not _declares(scope, statement):
        return scope.replaced(statement.start, statement.start, f"if ({condition}) ")
    return None


def _declares(scope: Scope, node: Node) -> bool:
    return any(
        isinstance(it, ir.Declare) and not it.variable.is_temporary and node.holds(it.span.start, it.span.end)
        for it in ir.walk(scope.subject.analysis.kernel.body)
    )
