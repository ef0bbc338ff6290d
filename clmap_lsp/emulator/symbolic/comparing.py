"""Comparisons over a whole box: true, false, an array of both, or a reason to split the box."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from clmap_lsp.emulator.symbolic.control import SplitError, SplitTurnsError
from clmap_lsp.emulator.symbolic.integers import is_int64, settled, spread_out
from clmap_lsp.emulator.symbolic.recurring import key_of
from clmap_lsp.emulator.symbolic.rows import Mask, simplified
from clmap_lsp.emulator.symbolic.space import GROUP_DIMENSIONS, Space, dims_of
from clmap_lsp.emulator.symbolic.values import (
    Condition,
    Sym,
    bounds,
    dense_shape,
    exact_bounds,
    numbers,
    subtract,
    tightened,
)
from clmap_lsp.source.ir import CompareOp
from clmap_lsp.source.types import ScalarType

_SHIFT = {CompareOp.LT: 0, CompareOp.LE: -1, CompareOp.GT: -1, CompareOp.GE: 0}
"""left op right is (d + shift < 0), negated for > and >=, with d = left - right."""


def compare(op: CompareOp, left: Sym, right: Sym, scalar: ScalarType, space: Space) -> Condition:
    """Compare two integers of type `scalar`; an array always holds both answers.

    (A branch or loop that an array of one answer said nobody takes would be walked all the same.)

    Raises: SplitError if the answer is uniform in parts of the box.
    """
    one, two = settled(left, scalar, space), settled(right, scalar, space)
    if one is None or two is None:
        return _by_number(op, left, right, scalar, space)
    difference = subtract(one, two)
    if op in (CompareOp.EQ, CompareOp.NE):
        return _equals(difference, op is CompareOp.EQ, space)
    if not (one.is_uniform and two.is_uniform) and not all(_fits(it, space) for it in (one, two, difference)):
        return _by_number(op, left, right, scalar, space)
    return _negative(difference, _SHIFT[op], op in (CompareOp.LT, CompareOp.LE), space)


def _negative(difference: Sym, shift: int, wanted: bool, space: Space) -> Condition:
    shifted = Sym(
        difference.const + shift, difference.coefs, difference.array, difference.low, difference.high
    )
    for known in (bounds, exact_bounds):
        least, most = known(shifted, space.counts)
        if most < 0:
            return wanted
        if least >= 0:
            return not wanted
        shifted = tightened(shifted)
    return _mask(shifted, np.less, wanted, space)


def _equals(difference: Sym, wanted: bool, space: Space) -> Condition:
    for known in (bounds, exact_bounds):
        least, most = known(difference, space.counts)
        if most < 0 or least > 0:
            return not wanted
        if least == most == 0:
            return wanted
        difference = tightened(difference)
    return _mask(difference, np.equal, wanted, space)


def _mask(value: Sym, relation: np.ufunc, wanted: bool, space: Space) -> Mask:
    """Return for whom a value is in a relation to 0, or is not. Raises: SplitError, SplitTurnsError."""
    plain = key_of(value, space.counts)
    key = None if plain is None else (plain, relation, wanted)
    if key is not None and (known := space.masks.found.get(key)) is not None:
        return known
    _split_if_worthwhile(value, space)
    holds = relation(spread_out(value, space), 0)
    return space.masks.keep(key, simplified(holds if wanted else np.logical_not(holds)))


def _split_if_worthwhile(difference: Sym, space: Space) -> None:
    """Cut where the sign of the difference becomes the same for all lanes."""
    dims = dims_of(difference)
    if dense_shape(difference, dims, space.counts) <= space.budget.mask_cells:
        return
    for dimension, coef in sorted(difference.coefs, key=lambda it: -space.counts[it[0]]):
        if dimension < GROUP_DIMENSIONS:
            cuts = sign_cuts(difference, dimension, coef, space.counts)
            if cuts:
                raise SplitError(dimension, cuts)
        elif not space.budget.mask_cells:
            cuts = sign_cuts(difference, dimension, coef, space.counts)
            if cuts:
                raise SplitTurnsError(dimension, cuts[0])


def sign_cuts(difference: Sym, dimension: int, coef: int, counts: Sequence[int]) -> tuple[int, ...]:
    """Return where, along one dimension, the steps begin and end in which both signs (or 0) occur.

    With the other parts in [low, high], step t is undecided while low + coef t <= 0 <= high + coef t.
    """
    n = counts[dimension]
    rest = Sym(
        difference.const,
        tuple(it for it in difference.coefs if it[0] != dimension),
        difference.array,
        difference.low,
        difference.high,
    )
    low, high = bounds(rest, counts)
    if coef > 0:
        first, last = -(high // coef), (-low) // coef
    else:
        first, last = -((-low) // -coef), high // -coef
    return tuple(sorted({it for it in (first, last + 1) if 0 < it < n}))


def _fits(value: Sym, space: Space) -> bool:
    """Tell whether every number of a value, and the one below it, can stand in an int64 array."""
    least, _ = bounds(value, space.counts)
    return is_int64(value, space) and least > -(1 << 63)


def _by_number(op: CompareOp, left: Sym, right: Sym, scalar: ScalarType, space: Space) -> Condition:
    """Compare 64-bit numbers one by one, where their difference may not be one."""
    kind = np.int64 if scalar.is_signed else np.uint64
    one = np.ascontiguousarray(spread_out(left, space)).view(kind)
    two = np.ascontiguousarray(spread_out(right, space)).view(kind)
    match op:
        case CompareOp.LT:
            return simplified(one < two)
        case CompareOp.LE:
            return simplified(one <= two)
        case CompareOp.GT:
            return simplified(one > two)
        case CompareOp.GE:
            return simplified(one >= two)
        case CompareOp.EQ:
            return simplified(one == two)
        case CompareOp.NE:
            return simplified(one != two)


def first_false(op: CompareOp, difference: Sym, dimension: int, space: Space) -> tuple[int, int] | None:
    """Return the least and greatest turn, over lanes and groups, at which `difference op 0` becomes false.

    `difference` is affine in the turn (`dimension`); `None` if it never becomes false or is not monotone.
    """
    coef = dict(difference.coefs).get(dimension, 0)
    array = difference.array
    if coef == 0 or (array is not None and array.ndim >= dimension + 2):
        return None
    rest = Sym(
        difference.const,
        tuple(it for it in difference.coefs if it[0] != dimension),
        difference.array,
        difference.low,
        difference.high,
    )
    low, high = bounds(tightened(rest), space.counts)
    match op:
        case CompareOp.LT if coef > 0:
            return _ceil(-high, coef), _ceil(-low, coef)
        case CompareOp.LE if coef > 0:
            return -high // coef + 1, -low // coef + 1
        case CompareOp.GT if coef < 0:
            return _ceil(low, -coef), _ceil(high, -coef)
        case CompareOp.GE if coef < 0:
            return low // -coef + 1, high // -coef + 1
        case CompareOp.NE if low == high and low % coef == 0 and -low // coef > 0:
            return -low // coef, -low // coef
        case _:
            return None


def _ceil(value: int, by: int) -> int:
    return -(-value // by)


def values_of(condition: Condition) -> Sym | None:
    """Return a condition as the int 0 or 1 that C makes of it; `None` if it is unknown."""
    if isinstance(condition, bool):
        return Sym(int(condition))
    if isinstance(condition, np.ndarray):
        return Sym(0, (), condition.astype(np.int64), 0, 1)
    return None


def truth(value: Sym, space: Space) -> Condition:
    """Return `value != 0`."""
    if value.array is not None and not value.coefs and value.low >= 0 and value.high <= 1:
        return simplified(numbers(value, space.counts) != 0)
    return _equals(value, False, space)
