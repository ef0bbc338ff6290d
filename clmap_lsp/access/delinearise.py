"""From one index to coordinates: `y*N + x` is row `y`, column `x` of rows of `N` elements.

The coordinates are affine in work-item ids and loop variables where the index is; their coefficients are the
memory access matrix M, what is left the offset vector o, with index = M * (ids, loop variables) + o.
Source: B. Jang et al., Exploiting Memory Access Patterns to Improve Memory Performance in Data-Parallel
Architectures, IEEE TPDS 22(1), 2011, section 3.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from functools import lru_cache
from itertools import pairwise
from typing import Final

from clmap_lsp.access.facts import Facts
from clmap_lsp.access.polynomial import (
    ONE,
    ZERO,
    Atom,
    Carried,
    Indirect,
    LoopSymbol,
    Monomial,
    Operation,
    Parameter,
    Polynomial,
    Unknown,
    WorkItemSymbol,
    divide,
    global_id,
    group_id,
    leaves_of,
    local_id,
    local_size,
    multiply,
    poly,
    varies_in_launch,
)
from clmap_lsp.access.records import Access
from clmap_lsp.access.wording import Names, atom_words
from clmap_lsp.dataclass import dataclass
from clmap_lsp.interruption import checkpoint
from clmap_lsp.source.ir import WorkItemQuery
from clmap_lsp.source.types import AddressSpace

LEAST_PITCH: Final = 8
"""Without known ranges, smaller numbers than this are taken for strides, not for the length of a row."""


class Role(Enum):
    """What moves along a column of M."""

    THREAD = "thread"
    LOOP = "loop"
    OTHER = "other"
    """Something that is not affine: a quotient, a remainder, a value from memory."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of M."""

    symbol: Atom
    name: str
    role: Role
    step: Polynomial = ONE
    """For loops: by how much the variable changes in a turn; the symbol is the variable."""
    loop: LoopSymbol | None = None

    @property
    def moves_with_loops(self) -> bool:
        """True if its value differs between turns of a loop."""
        return any(isinstance(leaf, (LoopSymbol, Carried)) for leaf in leaves_of(self.symbol))


@dataclass(frozen=True, slots=True)
class Layout:
    """An index as coordinates: index = sum of coordinates times pitches, outermost dimension first.

    `pitches` are in elements; the last is 1.
    """

    coordinates: tuple[Polynomial, ...]
    pitches: tuple[Polynomial, ...]

    @property
    def n_dimensions(self) -> int:
        """How many coordinates there are."""
        return len(self.coordinates)


@dataclass(frozen=True, slots=True)
class Matrix:
    """M and o: `entries[row][column]`, one row a coordinate, one column a symbol."""

    layout: Layout
    columns: tuple[Column, ...]
    entries: tuple[tuple[Polynomial, ...], ...]
    offset: tuple[Polynomial, ...]

    def _part(self, role: Role) -> tuple[tuple[Polynomial, ...], ...]:
        wanted = [at for at, column in enumerate(self.columns) if column.role is role]
        return tuple(tuple(row[at] for at in wanted) for row in self.entries)


# ---------------------------------------------------------------------------------- ids in their best form


def in_global_ids(index: Polynomial, facts: Facts) -> Polynomial:
    """Write `get_group_id(d) * size + get_local_id(d)` as `get_global_id(d)`.

    It is done where it removes the local id: the group id is multiplied by `get_local_size(d)`, or by the
    number that this is in the launch. Without a global offset, as all but a few launches are.
    """
    for dimension in range(3):
        group, local = group_id(dimension), local_id(dimension)
        if group not in index.atoms or local not in index.atoms:
            continue
        candidate = _recombined(index, dimension, facts)
        if candidate is not None:
            index = candidate
    return index


def _recombined(index: Polynomial, dimension: int, facts: Facts) -> Polynomial | None:
    group, local = group_id(dimension), local_id(dimension)
    factor, inner = index.coefficient(group), index.coefficient(local)
    if factor is None or inner is None:
        return None
    sizes = [poly(local_size(dimension)), poly(WorkItemSymbol(WorkItemQuery.ENQUEUED_LOCAL_SIZE, dimension))]
    number = facts.number(sizes[1])
    for size in (*sizes, *(() if number is None else (Polynomial.constant(number),))):
        if factor == inner * size:
            rest = index - factor * poly(group) - inner * poly(local)
            return rest + inner * poly(global_id(dimension))
    return None


def in_loop_variables(
    index: Polynomial, loops: Iterable[LoopSymbol]
) -> tuple[Polynomial, dict[LoopSymbol, Atom]]:
    """Write turns as the author's variables where these start at the same value for all work-items.

    Returns: the index, and for each loop the symbol that stands for it: the variable or the turn.
    """
    symbols: dict[LoopSymbol, Atom] = {}
    for loop in loops:
        symbols[loop] = loop
        if loop.start is None or loop.step is None or varies_in_launch(loop.start):
            continue
        if loop.step == ONE and not loop.start:
            continue
        factor = index.coefficient(loop)
        per_unit = None if factor is None else factor.exact_quotient(loop.step)
        if factor is None or per_unit is None:
            continue
        variable = Carried(loop.name, loop.identity)
        index = index - factor * poly(loop) + per_unit * (poly(variable) - loop.start)
        symbols[loop] = variable
    return index, symbols


# ----------------------------------------------------------------------------------------------- pitches


@dataclass(frozen=True, slots=True)
class _Term:
    """`coefficient` * `uniform` * `varying`."""

    coefficient: int
    uniform: Monomial
    varying: Monomial


def delinearise(index: Polynomial, facts: Facts, shared: frozenset[Monomial] = frozenset()) -> Layout:
    """Find the rows of a linear index.

    A product of parameters (or sizes) that multiplies something that varies is the pitch of a dimension; so
    is a number that leaves room for everything with smaller multipliers. Terms that do not vary belong to the
    largest pitch that they are a multiple of.

    Args:
        shared: pitches that other accesses of the array show; see `shared_pitches`.
    """
    terms = [_term(monomial, it) for monomial, it in index.terms.items()]
    uniforms = {
        term.uniform for term in terms if term.uniform and term.varying and not _strides(term.varying)
    }
    if uniforms <= shared:
        uniforms |= shared
    chain = sorted(uniforms, key=lambda it: (-len(it), _monomial_words(it)))
    parts: list[dict[Monomial, int]] = [{} for _ in range(len(chain) + 1)]
    for term in terms:
        at = _dimension_of(term, chain)
        unit = chain[at] if at < len(chain) else ()
        rest = divide(term.uniform, unit)
        assert rest is not None  # `_dimension_of` chose a pitch that divides the term
        monomial = multiply(rest, term.varying)
        parts[at][monomial] = parts[at].get(monomial, 0) + term.coefficient
    coordinates = [Polynomial({m: c for m, c in part.items() if c}) for part in parts]
    pitches = [Polynomial({unit: 1}) for unit in chain] + [ONE]
    coordinates, pitches = _with_components(coordinates, pitches, facts)
    return _with_numeric_rows(coordinates, pitches, facts)


def shared_pitches(indices: Iterable[Polynomial]) -> frozenset[Monomial]:
    """Return the symbolic pitches of an array that its indices show together.

    A product of parameters that multiplies something that varies is one; so is one of which some index adds
    and another subtracts a multiple, as in a[x - W] and a[x + W]. Empty where they do not nest.
    """
    found: set[Monomial] = set()
    signs: dict[Monomial, set[bool]] = {}
    for index in indices:
        for monomial, it in index.terms.items():
            term = _term(monomial, it)
            if term.uniform and term.varying:
                if not _strides(term.varying):
                    found.add(term.uniform)
            elif term.uniform:
                signs.setdefault(term.uniform, set()).add(it > 0)
    found.update(monomial for monomial, seen in signs.items() if len(seen) == 2)
    ordered = sorted(found, key=len)
    nested = all(divide(b, a) is not None for a, b in pairwise(ordered))
    return frozenset(found) if nested else frozenset()


def _term(monomial: Monomial, coefficient: int) -> _Term:
    uniform = tuple(atom for atom in monomial if not _varies(atom))
    rest = divide(monomial, uniform)
    return _Term(coefficient, uniform, () if rest is None else rest)


@lru_cache(maxsize=512)  # What it keeps may depend on thousands of symbols.
def _varies(atom: Atom) -> bool:
    """True for what differs between work-items, groups or turns."""
    match atom:
        case Parameter():
            return False
        case Carried() | LoopSymbol():
            return True
        case _:
            return any(_leaf_varies(leaf) for leaf in leaves_of(atom))


def _leaf_varies(leaf: Atom) -> bool:
    match leaf:
        case WorkItemSymbol(query=query):
            return query not in _UNIFORM_QUERIES
        case Carried() | LoopSymbol():
            return True
        case Unknown(varies=varies):
            return varies
        case Indirect(index=index, turns=turns):
            return bool(turns) or any(_varies(atom) for atom in index.atoms)
        case _:
            return False


_UNIFORM_QUERIES: Final = frozenset(
    {
        WorkItemQuery.WORK_DIM,
        WorkItemQuery.GLOBAL_SIZE,
        WorkItemQuery.LOCAL_SIZE,
        WorkItemQuery.ENQUEUED_LOCAL_SIZE,
        WorkItemQuery.NUM_GROUPS,
        WorkItemQuery.GLOBAL_OFFSET,
        WorkItemQuery.SUB_GROUP_SIZE,
        WorkItemQuery.MAX_SUB_GROUP_SIZE,
        WorkItemQuery.NUM_SUB_GROUPS,
        WorkItemQuery.ENQUEUED_NUM_SUB_GROUPS,
    }
)


def _strides(varying: Monomial) -> bool:
    """True for turns of a loop that starts at each work-item's own place: they stride over one dimension."""
    return any(
        isinstance(atom, LoopSymbol) and atom.start is not None and varies_in_launch(atom.start)
        for atom in varying
    )


def _dimension_of(term: _Term, chain: list[Monomial]) -> int:
    if term.varying and term.uniform in chain:
        return chain.index(term.uniform)
    if term.varying and not term.uniform:
        return len(chain)
    for at, unit in enumerate(chain):
        if divide(term.uniform, unit) is not None:
            return at
    return len(chain)


def _monomial_words(monomial: Monomial) -> str:
    return "*".join(sorted(atom_words(atom) for atom in monomial))


def _with_components(
    coordinates: list[Polynomial], pitches: list[Polynomial], facts: Facts
) -> tuple[list[Polynomial], list[Polynomial]]:
    """Split (y*W + x)*4 + c: all of two or more dimensions is a multiple of 4, but for the component c."""
    if len(coordinates) < 2:
        return coordinates, pitches
    outer = [it for part in coordinates[:-1] for m, it in part.terms.items() if m]
    inner = [it for m, it in coordinates[-1].terms.items() if m]
    components = _common_divisor(outer)
    if components < 2 or not inner:
        return coordinates, pitches
    last = coordinates[-1]
    whole = Polynomial({m: it for m, it in last.terms.items() if m and it % components == 0})
    rest = last - whole
    low, high = facts.interval(rest - rest.offset)
    if not whole or low is None or high is None or high - low >= components:
        return coordinates, pitches
    carry = (
        (rest.offset + low) // components if (rest.offset + low) % components + high - low < components else 0
    )
    scaled = [Polynomial({m: it // components for m, it in part.terms.items()}) for part in coordinates[:-1]]
    if any(it % components for part in coordinates[:-1] for it in part.terms.values()):
        return coordinates, pitches
    column = Polynomial({m: it // components for m, it in whole.terms.items()}) + carry
    factor = Polynomial.constant(components)
    return (
        [*scaled, column, rest - components * carry],
        [*(pitch * factor for pitch in pitches[:-1]), factor, ONE],
    )


def _common_divisor(numbers: list[int]) -> int:
    from math import gcd

    return gcd(*numbers) if numbers else 0


def _with_numeric_rows(coordinates: list[Polynomial], pitches: list[Polynomial], facts: Facts) -> Layout:
    """Split a single coordinate by numbers that are the length of a row: y*512 + x.

    Where parameters give rows already, a number is a tile's width, as in r*N + i*16 + lc.
    """
    if len(coordinates) > 1:
        return Layout(tuple(coordinates), tuple(pitches))
    last = coordinates.pop()
    pitches.pop()
    while True:
        pitch = _numeric_pitch(last, facts)
        if pitch is None:
            break
        rows, last = _divided(last, pitch)
        coordinates.append(rows)
        pitches.append(Polynomial.constant(pitch))
    return Layout((*coordinates, last), (*pitches, ONE))


def _numeric_pitch(part: Polynomial, facts: Facts) -> int | None:
    multipliers = {m: it for m, it in part.terms.items() if m}
    if len(multipliers) < 2:
        return None
    candidates = sorted({abs(it) for m, it in multipliers.items() if not _strides(m)} - {1}, reverse=True)
    best: tuple[int, int, int] | None = None
    for pitch in candidates:
        rows, columns = _divided(part, pitch)
        moving = Polynomial({m: it for m, it in columns.terms.items() if m})
        if not moving or not any(rows.terms.get(m) for m in multipliers):
            continue
        if not _fits(moving, pitch, facts):
            continue
        untidy = sum(1 for m in moving.terms if m in rows.terms)
        negative = sum(1 for it in moving.terms.values() if it < 0)
        rank = (untidy, negative, -pitch)
        if best is None or rank < best:
            best = rank
    return None if best is None else -best[2]


def _divided(part: Polynomial, pitch: int) -> tuple[Polynomial, Polynomial]:
    """Return (q, r) with part = pitch*q + r and every coefficient of r nearest to zero."""
    rows: dict[Monomial, int] = {}
    columns: dict[Monomial, int] = {}
    for monomial, it in part.terms.items():
        quotient = (2 * it + pitch) // (2 * pitch)
        if quotient:
            rows[monomial] = quotient
        if it - quotient * pitch:
            columns[monomial] = it - quotient * pitch
    return Polynomial(rows), Polynomial(columns)


def _fits(moving: Polynomial, pitch: int, facts: Facts) -> bool:
    low, high = facts.interval(moving)
    if low is not None and high is not None:
        return high - low < pitch
    return pitch >= LEAST_PITCH and all(abs(it) * 2 <= pitch for it in moving.terms.values())


# -------------------------------------------------------------------------------------------- the matrix


def matrix_of(
    access: Access, n_dimensions: int, facts: Facts, shared: frozenset[Monomial] = frozenset()
) -> Matrix:
    """Return M and o of an access.

    Args:
        n_dimensions: those of the launch, for the columns of ids that the index does not use.
        shared: pitches that other accesses of the array show.
    """
    checkpoint()
    index = in_global_ids(access.index, facts)
    index, symbols = in_loop_variables(index, access.loops)
    layout = _from_subscripts(access, facts, symbols) or delinearise(index, facts, shared)
    columns = [
        *_thread_columns(access, layout, n_dimensions),
        *_loop_columns(access, symbols),
        *_other_columns(layout, access.names),
    ]
    entries, offset = [], []
    for coordinate in layout.coordinates:
        row, rest = _row(coordinate, columns)
        entries.append(row)
        offset.append(rest)
    return Matrix(layout, tuple(columns), tuple(entries), tuple(offset))


def _from_subscripts(access: Access, facts: Facts, symbols: dict[LoopSymbol, Atom]) -> Layout | None:
    """Take the dimensions that the source writes, as in `t[ly][lx]`.

    Steps of one length are one dimension: those of `p += y * N` and `p[x]` are the sum in `p[y * N + x]`.
    """
    steps: dict[int, Polynomial] = {}
    for it in access.subscripts:
        steps[it.stride] = steps.get(it.stride, ZERO) + it.index
    if len(steps) < 2 or any(stride % access.unit for stride in steps):
        return None
    if list(steps) != sorted(steps, reverse=True):
        return None  # A pointer to elements that is moved by smaller ones first: rows are not spelt.
    rest = access.offset - sum((index * stride for stride, index in steps.items()), ZERO)
    if rest.value is None or rest.value % access.unit:
        return None
    coordinates = [in_loop_variables(in_global_ids(it, facts), symbols)[0] for it in steps.values()]
    pitches = [Polynomial.constant(it // access.unit) for it in steps]
    if pitches[-1] != ONE or rest:
        coordinates.append(Polynomial.constant(rest.value // access.unit))
        pitches.append(ONE)
    return Layout(tuple(coordinates), tuple(pitches))


def _thread_columns(access: Access, layout: Layout, n_dimensions: int) -> list[Column]:
    used = frozenset(atom for coordinate in layout.coordinates for atom in coordinate.atoms)
    columns: list[Column] = []
    for dimension in reversed(range(3)):
        named = [
            symbol
            for symbol in (global_id(dimension), group_id(dimension), local_id(dimension))
            if symbol in used
        ]
        if not named and dimension < n_dimensions:
            is_local = access.space is AddressSpace.LOCAL
            named = [local_id(dimension) if is_local else global_id(dimension)]
        columns.extend(Column(symbol, symbol.name, Role.THREAD) for symbol in named)
    return columns


def _loop_columns(access: Access, symbols: dict[LoopSymbol, Atom]) -> list[Column]:
    columns = []
    for loop in access.loops:
        symbol = symbols[loop]
        is_variable = symbol is not loop or (loop.step == ONE and loop.start == ZERO)
        name = loop.name if is_variable else f"iterations of {loop.name}"
        step = loop.step if is_variable and loop.step is not None else ONE
        columns.append(Column(symbol, name, Role.LOOP, step, loop))
    return columns


def _other_columns(layout: Layout, names: Names) -> list[Column]:
    found: dict[Atom, Column] = {}
    for coordinate in layout.coordinates:
        for monomial in coordinate.terms:
            for atom in monomial:
                if isinstance(atom, (Operation, Indirect, Unknown)) and _varies(atom) and atom not in found:
                    found[atom] = Column(atom, atom_words(atom, names), Role.OTHER)
    return list(found.values())


def _row(coordinate: Polynomial, columns: list[Column]) -> tuple[tuple[Polynomial, ...], Polynomial]:
    """Return the coefficients of the columns' symbols, and what is left."""
    position = {column.symbol: at for at, column in enumerate(columns)}
    terms: list[dict[Monomial, int]] = [{} for _ in columns]
    rest: dict[Monomial, int] = {}
    for monomial, it in coordinate.terms.items():
        varying = [atom for atom in monomial if _varies(atom)]
        at = position.get(varying[0]) if len(varying) == 1 else None
        if at is None:
            rest[monomial] = it
        else:
            terms[at][tuple(atom for atom in monomial if atom != varying[0])] = it
    return tuple(Polynomial(it) if it else ZERO for it in terms), Polynomial(rest)
