"""Data transformation rules (T, t) of one array instance: Algorithm 2 of the paper.

The transformed array holds the element of index v at T v + t, so that the instance's access M i + o becomes
T M i + (T o + t), whose last component is the target's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import gcd
from typing import TYPE_CHECKING

from clmap_lsp.access.polynomial import ZERO, Polynomial
from clmap_lsp.dataclass import dataclass
from clmap_lsp.hierarchy.instances import numbers_of

if TYPE_CHECKING:
    from clmap_lsp.hierarchy.instances import ColumnKey, Instance, Row

    Numbers = Mapping[ColumnKey, int]


@dataclass(frozen=True, slots=True)
class Target:
    """The row c, and its offset, that the last dimension of every vectorised array shall have."""

    row: Row
    offset: Polynomial


@dataclass(frozen=True, slots=True)
class Relation:
    """How a row of an instance goes over into the target: row = scale * target + others * their rows."""

    dimension: int
    scale: int
    others: tuple[Fraction, ...]
    """One number a dimension; nonzero where an overlap is taken away."""

    @property
    def is_overlap(self) -> bool:
        """True if more than the target's loops move the row."""
        return any(self.others)


@dataclass(frozen=True)
class Rule:
    """What is done to the data behind one instance. `matrix` is T, `shift` is t, in elements."""

    instance: Instance
    relation: Relation
    matrix: tuple[tuple[Fraction, ...], ...]
    shift: tuple[Polynomial, ...]
    """A polynomial for each dimension; only the last differs from zero. Where `scale` is not ±1 it is to be
    divided by the absolute value of `scale`, which `divisor` says."""
    divisor: int
    patterns: tuple[str, ...]
    """The instance's classes with regard to the target."""
    steps: tuple[str, ...]
    """The transformations, in the words of the paper's Table 3; empty where none is needed."""

    @property
    def moves_data(self) -> bool:
        """True if elements have to be copied to other places; a shift is an offset to the pointer only."""
        return any(not it.startswith("shifting") for it in self.steps)


def relate(instance: Instance, target: Row, wanted: Numbers | None) -> Relation | None:
    """Return how a row of an instance relates to the target row; the last dimension is preferred.

    `None` where no row does: data-dependent rows, other loops, overlaps that no other dimension explains.

    Args:
        wanted: the target's row in numbers (`numbers_of`), which is asked about many instances.
    """
    if instance.is_random:
        return None
    dimensions = [len(instance.rows) - 1, *range(len(instance.rows) - 1)]
    for dimension in dimensions:
        scale = _multiple(instance.rows[dimension], instance.numbers[dimension], target, wanted)
        if scale:
            return Relation(dimension, scale, (Fraction(0),) * len(instance.rows))
    if wanted is None:
        return None
    for dimension in dimensions:
        found = _overlap(instance, dimension, wanted)
        if found is not None:
            return found
    return None


def rule_for(instance: Instance, relation: Relation, target: Target, extent: Polynomial | None) -> Rule:
    """Return T and t for an instance.

    Args:
        extent: how many values the target's index takes, if it is known: the offset of a walk that runs
            backwards from the last of them is part of reversing, not a shift.
    """
    n, at = len(instance.rows), relation.dimension
    size, sign = abs(relation.scale), 1 if relation.scale > 0 else -1
    unit = [[Fraction(int(i == j)) for j in range(n)] for i in range(n)]
    last = [Fraction(sign, size) * ((1 if j == at else 0) - relation.others[j]) for j in range(n)]
    order = list(range(n))
    order[at], order[-1] = order[-1], order[at]
    matrix = [unit[j] for j in order[:-1]] + [last]
    # T o, times `size` so that it stays an integer polynomial where `others` are integers.
    moved = instance.offset[at]
    for j, factor in enumerate(relation.others):
        if factor:
            moved = moved - _scaled(instance.offset[j], factor)
    shift = target.offset.scaled(size) - moved.scaled(sign)
    patterns, steps = _names(instance, relation, moved, target, extent)
    return Rule(
        instance,
        relation,
        tuple(tuple(row) for row in matrix),
        (*([ZERO] * (n - 1)), shift),
        size,
        patterns,
        steps,
    )


def _names(
    instance: Instance, relation: Relation, offset: Polynomial, target: Target, extent: Polynomial | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    n = len(instance.rows)
    patterns: list[str] = []
    steps: list[str] = []
    if relation.scale < 0:
        patterns.append("reverse linear")
        steps.append("reversing")
    if abs(relation.scale) > 1:
        patterns.append("non-unit stride")
        steps.append(f"gather of stride {abs(relation.scale)}")
    if relation.is_overlap:
        patterns.append("overlapping")
        steps.append("overlap")
    if relation.dimension != n - 1:
        # Along the target's loop the array is walked down its dimension: a stride of a row or more.
        if "non-unit stride" not in patterns:
            patterns.append("non-unit stride")
        steps.append(f"dimension switch ({n}D)")
    if relation.scale < 0 and extent is not None:
        rest = offset - (extent - 1).scaled(abs(relation.scale)) - target.offset
    else:
        rest = offset - target.offset.scaled(abs(relation.scale))
    if rest and not (relation.scale < 0 and extent is None):
        patterns.append("shifted")
        steps.append("shifting")
    return tuple(patterns) or ("linear",), tuple(steps)


# --------------------------------------------------------------------------------------------------- rows


def primitive(row: Row) -> Row | None:
    """Return the shortest row in a row's direction, its first entry positive; `None` for a row of zeros."""
    if not row:
        return None
    numbers = numbers_of(row)
    if numbers is None:
        return row
    common = gcd(*numbers.values())
    first = numbers[min(numbers, key=str)]
    common = common if first > 0 else -common
    return {key: Polynomial.constant(number // common) for key, number in _items(row, numbers)}


def _items(row: Row, numbers: Numbers) -> list[tuple[ColumnKey, int]]:
    return [(key, numbers[key]) for key in row]


def _multiple(row: Row, mine: Numbers | None, target: Row, theirs: Numbers | None) -> int:
    """Return s with row = s * target; 0 if there is none. Rows with parameters must be equal."""
    if not row or row.keys() != target.keys():
        return 0
    if mine is None or theirs is None:
        return int(row == target)
    key = next(iter(mine))
    scale, rest = divmod(mine[key], theirs[key])
    return scale if not rest and all(it == scale * theirs[key] for key, it in mine.items()) else 0


def _overlap(instance: Instance, dimension: int, wanted: Numbers) -> Relation | None:
    """Take the other rows' loops away from a row: Y[i][i + j] is Y[i][j] with each row moved by i."""
    row = instance.numbers[dimension]
    if row is None or len(row) <= len(wanted) or not row.keys() >= wanted.keys():
        return None
    others = [(j, it) for j, it in enumerate(instance.numbers) if j != dimension]
    usable = [(j, it) for j, it in others if it]
    rows: list[Numbers] = [row, wanted, *(it for _, it in usable)]
    keys: list[ColumnKey] = sorted({key for it in rows for key in it}, key=str)
    vectors = [wanted, *(it for _, it in usable)]
    solution = solve([[Fraction(it.get(key, 0)) for it in vectors] for key in keys], _column(row, keys))
    if solution is None or not solution[0] or solution[0].denominator != 1:
        return None
    if any(it.denominator != 1 for it in solution[1:]):
        return None
    factors = [Fraction(0)] * len(instance.rows)
    for (j, _), factor in zip(usable, solution[1:], strict=True):
        factors[j] = factor
    return Relation(dimension, int(solution[0]), tuple(factors))


def _column(row: Numbers, keys: Sequence[ColumnKey]) -> list[Fraction]:
    return [Fraction(row.get(key, 0)) for key in keys]


def solve(rows: list[list[Fraction]], right: list[Fraction]) -> list[Fraction] | None:
    """Return a solution of a linear system by elimination, free unknowns 0; `None` if there is none."""
    table = [[*row, value] for row, value in zip(rows, right, strict=True)]
    n_unknowns = len(rows[0]) if rows else 0
    pivots: list[int] = []
    at = 0
    for column in range(n_unknowns):
        found = next((r for r in range(at, len(table)) if table[r][column]), None)
        if found is None:
            continue
        table[at], table[found] = table[found], table[at]
        head = table[at][column]
        table[at] = [it / head for it in table[at]]
        for r in range(len(table)):
            if r != at and table[r][column]:
                factor = table[r][column]
                table[r] = [a - factor * b for a, b in zip(table[r], table[at], strict=True)]
        pivots.append(column)
        at += 1
    if any(row[-1] for row in table[at:]):
        return None
    solution = [Fraction(0)] * n_unknowns
    for row, column in zip(table, pivots, strict=False):
        solution[column] = row[-1]
    return solution


def _scaled(value: Polynomial, factor: Fraction) -> Polynomial:
    return value.scaled(int(factor))
