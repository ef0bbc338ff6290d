"""Store a buffer by columns where neighbouring work-items walk down them.

Element `[r][c]` of H rows of W goes to `[c][r]`: what was a row apart is then side by side. Whoever fills or
reads the buffer must lay it out so too, which makes this the last resort, and never one that is taken
unasked. Of buffers with more dimensions the last two change places, which needs no more than their pitches.

The new index is written from the row and the column that the old one is made of, where both stay within the
array; where the author's text does not show them, the old index is taken apart by `/` and `%`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING

from clmap_lsp.access.delinearise import delinearise, shared_pitches
from clmap_lsp.access.environment import uniform_environment
from clmap_lsp.access.evaluate import UnknownValueError, evaluate
from clmap_lsp.access.facts import Facts
from clmap_lsp.access.polynomial import (
    ONE,
    Carried,
    LoopSymbol,
    Op,
    Operation,
    Parameter,
    Polynomial,
    WorkItemSymbol,
    divide,
    varies_in_launch,
)
from clmap_lsp.dataclass import dataclass
from clmap_lsp.fixes import facts, gain
from clmap_lsp.fixes.assumptions import Assumption, Case, not_shared, unique
from clmap_lsp.fixes.model import Proposal
from clmap_lsp.fixes.parameters import TypedParameter, pointer_parameters
from clmap_lsp.fixes.scope import Scope, spelt, tidy, tight
from clmap_lsp.launch.contents import buffer_contents
from clmap_lsp.launch.model import BufferArgument, Fill
from clmap_lsp.source.ir import WorkItemQuery as Query
from clmap_lsp.source.types import AddressSpace, PointerType, ScalarType

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clmap_lsp.access.polynomial import Atom
    from clmap_lsp.access.records import Access
    from clmap_lsp.findings import Edit
    from clmap_lsp.fixes.model import Subject
    from clmap_lsp.launch.model import Launch
    from clmap_lsp.source.ir import Variable

KIND = "transpose-buffer"
NEEDS = "a buffer whose rows neighbours walk down, reached by subscripts only, with a known number of rows"
WASTEFUL = 1.5
"""Times the ideal from which an access is worth it."""
GAIN = 1.1
"""It must lower the traffic by as many times: a layout is not changed for less."""
MOST_BYTES = 64 << 20
"""Of a buffer that is laid out otherwise to test the rewrite."""
_SIZE_OF = {
    Query.GLOBAL_ID: Query.GLOBAL_SIZE,
    Query.LOCAL_ID: Query.LOCAL_SIZE,
    Query.GROUP_ID: Query.NUM_GROUPS,
}


@dataclass(frozen=True, slots=True)
class _Shape:
    """Rows and their length, and for more than two dimensions the pitch of what holds the rows."""

    rows: Polynomial
    width: Polynomial
    plane: Polynomial | None

    def numbers(self, launch: Launch) -> tuple[int, int] | None:
        """Return rows and width on a launch; `None` where they are not known or none."""
        rows, width = _number(self.rows, launch), _number(self.width, launch)
        return (rows, width) if rows is not None and width is not None and rows > 0 < width else None


@dataclass(frozen=True, slots=True)
class _Part:
    """An index taken apart: `outer + row * width + column`."""

    outer: Polynomial
    row: Polynomial
    column: Polynomial


@dataclass(frozen=True, slots=True)
class _Plan:
    parameter: Variable
    element: int
    shape: _Shape
    edits: tuple[Edit, ...]
    assumptions: tuple[Assumption, ...]
    sites: frozenset[int]

    @property
    def name(self) -> str:
        return self.parameter.name

    @property
    def text(self) -> str:
        """Where the host finds an element."""
        rows, width = spelt(self.shape.rows, {}) or "", spelt(self.shape.width, {})
        return f"`{self.name}` of {rows} rows of {width}, element [r][c] at [c * {tight(rows)} + r]"

    def repacked(self, launch: Launch) -> Launch:
        """Return a launch with the buffer's elements where the rewritten kernel looks for them."""
        argument, sizes = launch.arguments.get(self.name), self.shape.numbers(launch)
        if not isinstance(argument, BufferArgument) or sizes is None:
            return launch
        data = buffer_contents(argument, self.parameter.type, limit_bytes=MOST_BYTES)
        planes = _planes(data, self.element, *sizes)
        text = planes.swapaxes(1, 2).tobytes().decode("latin-1")
        made = replace(argument, fill=Fill.BYTES, count=len(text) // self.element, text=text)
        return replace(launch, arguments={**launch.arguments, self.name: made})

    def restored(
        self, launch: Launch, buffers: Mapping[str, NDArray[np.uint8]]
    ) -> Mapping[str, NDArray[np.uint8]]:
        """Return the buffers with this one's elements where they were."""
        sizes = self.shape.numbers(launch)
        if sizes is None or self.name not in buffers:
            return buffers
        rows, width = sizes
        planes = _planes(buffers[self.name], self.element, width, rows)
        return {**buffers, self.name: planes.swapaxes(1, 2).reshape(-1).copy()}


def propose(subject: Subject) -> Iterator[Proposal]:
    """Yield one rewrite for all buffers of rows that neighbours walk down, and one for each."""
    scope = Scope.of(subject)
    if scope is None or facts.opaque(subject.analysis.kernel):
        return
    plans = [it for it in (_plan(scope, each) for each in pointer_parameters(scope)) if it is not None]
    if len(plans) > 1:
        yield _proposal(plans)
    for plan in plans:
        yield _proposal([plan])


def _proposal(plans: Sequence[_Plan]) -> Proposal:
    names = ", ".join(f"`{it.name}`" for it in plans)
    return Proposal(
        KIND,
        f"Store {names} by columns",
        tuple(edit for it in plans for edit in it.edits),
        ("CM101", "CM102", "CM103", "CM502"),
        unique(assumed for it in plans for assumed in it.assumptions),
        sites=frozenset(site for it in plans for site in it.sites),
        repack=lambda _, after: reduce(lambda made, it: it.repacked(made), plans, after),
        restore=lambda launch, buffers: reduce(lambda made, it: it.restored(launch, made), plans, buffers),
        host_change="wherever they are used, lay out by columns: " + "; ".join(it.text for it in plans),
        least_gain=GAIN,
        least_faster=gain.LEAST_ELSEWHERE,
        choice=KIND,
    )


def _planes(data: NDArray[np.uint8], element: int, rows: int, width: int) -> NDArray[np.uint8]:
    """Return a buffer as (planes, rows, columns, bytes of an element); zeros fill the last plane."""
    import numpy as np

    plane = rows * width * element
    whole = np.zeros(max(-(-data.size // plane), 1) * plane, np.uint8)
    whole[: data.size] = data
    return whole.reshape(-1, rows, width, element)


def _number(value: Polynomial, launch: Launch) -> int | None:
    try:
        return int(evaluate(value, uniform_environment(launch)))
    except (UnknownValueError, ArithmeticError, ValueError):
        return None


# -------------------------------------------------------------------------------------------- recognition


def _plan(scope: Scope, parameter: TypedParameter) -> _Plan | None:
    variable, kind = parameter.variable, parameter.variable.type
    argument = scope.subject.launch.arguments.get(variable.name)
    if not isinstance(kind, PointerType) or kind.space is not AddressSpace.GLOBAL:
        return None
    if not facts.plain_element(kind.pointee) or not isinstance(argument, BufferArgument):
        return None
    if argument.sides or argument.element or argument.fill is Fill.NOINIT:
        return None
    everything = facts.accesses(scope.subject.analysis)
    accesses = [it for it in everything if it.buffer == variable.name]
    if any(it.buffer == "?" for it in everything) or not all(_is_element(scope, it, kind) for it in accesses):
        return None
    worst = max(accesses, key=lambda it: _excess(scope, it), default=None)
    uses = None if worst is None else _uses(scope, variable.name, parameter.end, accesses)
    if worst is None or uses is None or _excess(scope, worst) < WASTEFUL:
        return None
    for shape in _shapes(scope, worst, accesses):
        written = _written(scope, variable.name, shape, accesses, uses)
        if written is not None:
            edits, assumed = written
            alone = not_shared(variable.name)
            sites = frozenset(it.site for it in accesses)
            return _Plan(variable, kind.pointee.size, shape, edits, (*assumed, alone), sites)
    return None


def _is_element(scope: Scope, access: Access, kind: PointerType) -> bool:
    """True if an access is typed as one element of the buffer."""
    return (
        access.type == kind.pointee
        and access.unit == access.size == kind.pointee.size
        and not access.volatile
        and scope.is_typed(access)
    )


def _excess(scope: Scope, access: Access) -> float:
    found = scope.subject.analysis.access_at(access.site)
    return 0.0 if found is None or found.per_request is None else found.per_request.excess


def _uses(
    scope: Scope, name: str, declared: int, accesses: Sequence[Access]
) -> dict[int, tuple[int, int]] | None:
    """Return where each access's index stands, by where the access does; `None` for any other use."""
    starts = {it.span.start for it in accesses}
    if {it for it in scope.mentions(name) if it >= declared} != starts:
        return None
    found = {it: scope.subscripts(it + len(name), 1) for it in starts}
    if any(it is None or scope.has_effects(*it[0]) for it in found.values()):
        return None
    return {at: it[0] for at, it in found.items() if it is not None}


def _shapes(scope: Scope, worst: Access, accesses: Sequence[Access]) -> Iterator[_Shape]:
    """Yield the shapes that a buffer may have, as the kernel's text can say them."""
    known = Facts(group_size=scope.subject.analysis.kernel.attributes.reqd_work_group_size)
    indices = [facts.unwrapped(it.index) for it in accesses if it.known]
    layout = delinearise(facts.unwrapped(worst.index), known, shared_pitches(indices))
    if worst.unknown is not None:
        return
    width = layout.pitches[-2] if layout.n_dimensions > 1 else _only_step(facts.unwrapped(worst.index))
    if width is None or len(width.terms) != 1 or width.value == 1 or spelt(width, {}) is None:
        return
    if layout.n_dimensions > 2:
        rows = layout.pitches[-3].exact_quotient(width)
        if rows is not None and spelt(rows, {}) is not None:
            yield _Shape(rows, width, layout.pitches[-3])
        return
    for rows in _row_counts(scope, width, accesses):
        yield _Shape(rows, width, None)


def _only_step(index: Polynomial) -> Polynomial | None:
    """Return how far apart neighbours are whose rows the kernel touches at one column only."""
    steps = {factor for monomial, factor in index.terms.items() if monomial}
    return Polynomial.constant(steps.pop()) if len(steps) == 1 and min(steps) > 1 else None


def _row_counts(scope: Scope, width: Polynomial, accesses: Sequence[Access]) -> Iterator[Polynomial]:
    """Yield what the number of rows may be: what rows stay below, then a parameter that makes the length."""
    found: list[Polynomial] = []
    for access in accesses:
        row = _part(scope, access, _Shape(ONE, width, None)).row
        found += (
            bound + (row - it) for it, bound in _bounds(scope, access) if not varies_in_launch(row - it)
        )
        for atom in row.atoms:
            if isinstance(atom, LoopSymbol) and atom.trip is not None:
                found.append(row - Polynomial.of(atom) + atom.trip)
            elif isinstance(atom, WorkItemSymbol) and atom.query in _SIZE_OF:
                size = Polynomial.of(WorkItemSymbol(_SIZE_OF[atom.query], atom.dimension))
                found.append(row - Polynomial.of(atom) + size)
    launch = scope.subject.launch
    found += (it for it in _integers(scope) if _number(it, launch) == _length(launch, accesses[0], width))
    for it in dict.fromkeys(found):
        if not varies_in_launch(it) and spelt(it, {}) is not None and (_number(it, launch) or 0) > 0:
            yield it


def _integers(scope: Scope) -> Iterator[Polynomial]:
    for it in scope.subject.analysis.kernel.parameters:
        if isinstance(it.type, ScalarType) and not it.type.is_float:
            yield Polynomial.of(Parameter(it.name))


def _length(launch: Launch, access: Access, width: Polynomial) -> int | None:
    """Return how many rows the launch's buffer has."""
    argument, columns = launch.arguments.get(access.buffer), _number(width, launch)
    return -(-argument.count // columns) if isinstance(argument, BufferArgument) and columns else None


def _part(scope: Scope, access: Access, shape: _Shape) -> _Part:
    """Return an index taken apart so that its column stays within the row, if that can be told.

    Of `i * n + (n - 1 - k)` the terms alone say row `i + 1`, column `-1 - k`.
    """
    found = _taken_apart(access.index, shape)
    several = [
        replace(found, row=found.row - it, column=found.column + shape.width * it) for it in (0, 1, -1)
    ]
    for part in several:
        if not _unsure(scope, access, part.column, shape.width):
            return part
    here = _here(scope)
    fits = (
        it for it in several if all(a.holds(here) for a in _unsure(scope, access, it.column, shape.width))
    )
    return next(fits, found)


def _taken_apart(index: Polynomial, shape: _Shape) -> _Part:
    index = facts.unwrapped(index)
    outer, rest = (Polynomial({}), index) if shape.plane is None else _divided(index, shape.plane)
    row, column = _divided(rest, shape.width)
    return _Part(outer, row, column)


def _divided(index: Polynomial, by: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Return (q, r) with index = q * by + r: terms that are multiples go to q, numbers are rounded down."""
    ((unit, factor),) = by.terms.items()
    quotient: dict[tuple[Atom, ...], int] = {}
    rest: dict[tuple[Atom, ...], int] = {}
    for monomial, coefficient in index.terms.items():
        inner = divide(monomial, unit)
        times = coefficient // factor if inner is not None else 0
        if monomial and coefficient % factor and (coefficient < 0 or unit != ()):
            times = 0
        if inner is not None and times:
            quotient[inner] = quotient.get(inner, 0) + times
        if left := coefficient - times * factor:
            rest[monomial] = left
    return Polynomial(quotient), Polynomial(rest)


def _bounds(scope: Scope, access: Access) -> Iterator[tuple[Polynomial, Polynomial]]:
    """Yield (value, bound) of the conditions around an access, of loops too, that say `value < bound`."""
    tested = (it for it in access.loops if facts.tests_first(scope.subject, it))
    turns = (it.condition for it in tested if it.condition is not None)
    for condition in facts.conjuncts((*access.guard, *turns)):
        match condition.atom:
            case Operation(op=Op.LT, operands=(left, right)):
                yield left, right
            case Operation(op=Op.LE, operands=(left, right)):
                yield left, right + ONE
            case _:
                pass


# ------------------------------------------------------------------------------------------------ writing


def _written(
    scope: Scope, name: str, shape: _Shape, accesses: Sequence[Access], uses: Mapping[int, tuple[int, int]]
) -> tuple[tuple[Edit, ...], tuple[Assumption, ...]] | None:
    """Return the edits of all indices and what they assume; `None` where one cannot be written."""
    edits: dict[tuple[int, int], Edit] = {}
    assumed: list[Assumption] = []
    for access in accesses:
        start, end = uses[access.span.start]
        part = _part(scope, access, shape)
        text = _index(scope, access, shape, part)
        inside = None if text is None else _inside(scope, access, shape, part)
        if text is None or inside is None:
            if shape.plane is not None:
                return None
            text, inside = _by_remainder(scope.text[start:end], name, shape)
            if not all(it.holds(_here(scope)) for it in inside):
                return None
        assumed += inside
        edits[start, end] = scope.replaced(start, end, _spaced(text, scope.text[start:end]))
    return tuple(edits.values()), unique(assumed)


def _spaced(text: str, like: str) -> str:
    """Return an index with or without spaces around products, as the author writes them."""
    return re.sub(r" ?([*/%]) ?", r"\1" if re.search(r"\S[*/%]\S", like) else r" \1 ", text)


def _index(scope: Scope, access: Access, shape: _Shape, part: _Part) -> str | None:
    """Return the index of the element's new place, from its row and column."""
    if facts.stepped_before(scope.subject.analysis.kernel, access):
        return None
    names = dict(scope.names_at(access.span.start, access.names))
    for atom, name in access.names.items():
        if isinstance(atom, (LoopSymbol, Carried)):
            names[atom] = name
    rows = spelt(shape.rows, {})
    outer = "" if shape.plane is None else spelt(part.outer * shape.plane, names)
    row, column = spelt(part.row, names), spelt(part.column, names)
    if row is None or column is None or outer is None or rows is None or access.unknown is not None:
        return None
    moved = f"{tight(column)} * {tight(rows)} + {tight(row) if row.startswith('-') else row}"
    if column == "0":
        moved = row
    return tidy(moved if outer in ("", "0") else f"{outer} + {moved}")


def _inside(scope: Scope, access: Access, shape: _Shape, part: _Part) -> list[Assumption] | None:
    """Return what must hold so that row and column are those of the array; `None` if it does not here."""
    found: list[Assumption] = []
    if facts.unwrapped(access.index) != access.index:
        found.append(_is_short(access.buffer, shape))
    for value, bound in ((part.row, shape.rows), (part.column, shape.width)):
        for it in _unsure(scope, access, value, bound):
            if not it.holds(_here(scope)):
                return None
            found.append(it)
    return found


def _unsure(scope: Scope, access: Access, value: Polynomial, bound: Polynomial) -> list[Assumption]:
    """Return what must hold for a value to be in [0, bound), as far as the kernel does not say so."""
    both = _not_negative(scope, access, value), _below(scope, access, value, bound)
    return [it for it in both if it is not None]


def _is_short(name: str, shape: _Shape) -> Assumption:
    """Return the assumption that a buffer is so short that no unsigned index of it can have wrapped."""

    def holds(case: Case) -> bool:
        sizes = shape.numbers(case.launch)
        return sizes is not None and sizes[0] * sizes[1] < 1 << 32

    return Assumption(f"{name} has less than 2^32 elements", holds)


def _here(scope: Scope) -> Case:
    return Case(scope.subject.launch, scope.subject.options)


def _not_negative(scope: Scope, access: Access, value: Polynomial) -> Assumption | None:
    """Return the assumption that a value is not negative; `None` where that is known."""
    if _known(scope).is_non_negative(value):
        return None
    for low, high in _bounds(scope, access):  # -1 < x + 1 says that x + 2 is not negative.
        same = high - high.offset == value - value.offset
        if same and low.value is not None and low.value + 1 + value.offset - high.offset >= 0:
            return None
        if _known(scope).is_non_negative(value - (high - low - ONE)):  # As large as what is known to be none.
            return None

    def holds(case: Case) -> bool:
        least, _ = Facts(case.launch).interval(value)
        return least is not None and least >= 0

    return Assumption(f"{access.text(value)} >= 0", holds)


def _below(scope: Scope, access: Access, value: Polynomial, bound: Polynomial) -> Assumption | None:
    """Return the assumption that a value stays below a bound; `None` where that is known."""
    if (value, bound) in tuple(_bounds(scope, access)):
        return None
    atom = value.atom
    if isinstance(atom, LoopSymbol) and atom.trip == bound and facts.tests_first(scope.subject, atom):
        return None
    if (
        isinstance(atom, WorkItemSymbol)
        and atom.query in (Query.LOCAL_ID, Query.GROUP_ID)
        and bound.atom == WorkItemSymbol(_SIZE_OF[atom.query], atom.dimension)
    ):
        return None
    least, _ = _known(scope).interval(bound)
    _, most = _known(scope).interval(value)
    if least is not None and most is not None and most < least:
        return None
    room = bound - value
    known = (ONE, *(high - low for low, high in _bounds(scope, access)))  # None of them is less than one.
    if any(_known(scope).is_non_negative(room - it) for it in known):
        return None

    def holds(case: Case) -> bool:
        end = _number(bound, case.launch)
        _, highest = Facts(case.launch).interval(value)
        return end is not None and highest is not None and highest < end

    return Assumption(f"{access.text(value)} < {access.text(bound)}", holds)


def _known(scope: Scope) -> Facts:
    return Facts(group_size=scope.subject.analysis.kernel.attributes.reqd_work_group_size)


def _by_remainder(index: str, name: str, shape: _Shape) -> tuple[str, list[Assumption]]:
    """Return the index of the new place from the old one, whatever that is, and that the array ends there."""
    rows, width = tight(spelt(shape.rows, {}) or ""), tight(spelt(shape.width, {}) or "")

    def holds(case: Case) -> bool:
        argument, sizes = case.launch.arguments.get(name), shape.numbers(case.launch)
        count = getattr(argument, "count", None)
        return sizes is not None and count is not None and count <= sizes[0] * sizes[1]

    index = tight(index)
    text = f"{index} % {width} * {rows} + {index} / {width}"
    return text, [Assumption(f"{name} has {rows} * {width} elements", holds)]
