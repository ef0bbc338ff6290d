"""Closed forms for what loops do to variables, and for how often they turn.

A variable's value at the head of turn t is found from its value before the loop and from what one turn makes
of it, `update`, written over `Carried` placeholders. Nothing is guessed: what has no closed form is unknown.
"""

from __future__ import annotations

from typing import Final

from clmap_lsp.access import algebra
from clmap_lsp.access.evaluate import Evaluator, UnknownValueError
from clmap_lsp.access.facts import Facts
from clmap_lsp.access.polynomial import (
    ONE,
    ZERO,
    Atom,
    Carried,
    Indirect,
    LoopSymbol,
    Op,
    Operation,
    Polynomial,
    Unknown,
    poly,
)
from clmap_lsp.dataclass import dataclass

MAX_ENUMERATED_TURNS: Final = 4096


def head_value(
    carried: Carried, start: Polynomial, update: Polynomial, turn: LoopSymbol, facts: Facts
) -> Polynomial | None:
    """Return a variable's value at the head of turn `turn`.

    Args:
        carried: stands for the value at the head of the turn in `update`.
        start: the value before the loop.
        update: the value after one turn; holds no other placeholder.
    Returns: a polynomial over `turn`, or `None` if none is known.
    """
    placeholder = Polynomial.of(carried)
    if update == placeholder:
        return start
    delta = update - placeholder
    if carried not in delta.leaves:
        return _summed(start, delta, turn, facts)
    if carried not in update.leaves:
        return _delayed(start, update, turn, facts)
    narrow = narrowed(carried, update)
    if narrow is not None:
        return _wrapping(carried, start, narrow, turn, facts)
    return _geometric(carried, start, update, turn) or _cyclic(carried, start, update, turn, facts)


@dataclass(frozen=True, slots=True)
class Narrowed:
    """A sum that a variable of fewer than 32 bits takes: `s = (short)(s + c)`."""

    total: Polynomial
    bits: int
    signed: bool

    @property
    def largest(self) -> int:
        """The largest number that the variable holds."""
        return (1 << (self.bits - self.signed)) - 1

    @property
    def least(self) -> int:
        """The least number that it holds."""
        return -(1 << (self.bits - 1)) if self.signed else 0


def narrowed(carried: Carried, update: Polynomial) -> Narrowed | None:
    """Return the sum of a counter and a step that is cut to the counter's own type, if `update` is one."""
    atom = update.atom
    if not isinstance(atom, Operation) or atom.op not in (Op.WRAP_SIGNED, Op.WRAP_UNSIGNED):
        return None
    total, bits = atom.operands
    if bits.value is None or carried in (total - poly(carried)).leaves:
        return None
    return Narrowed(total, bits.value, atom.op is Op.WRAP_SIGNED)


def _wrapping(
    carried: Carried, start: Polynomial, narrow: Narrowed, turn: LoopSymbol, facts: Facts
) -> Polynomial | None:
    """x = (short)(x + c): cutting every sum and cutting the last one give the same modulo 2^bits."""
    total = _summed(start, narrow.total - poly(carried), turn, facts)
    return None if total is None else algebra.wrapped(total, narrow.bits, narrow.signed, facts)


def _delayed(start: Polynomial, update: Polynomial, turn: LoopSymbol, facts: Facts) -> Polynomial:
    """x = f(t) at the end of turn t: before turn t it is f(t - 1), before the first it is the start."""
    earlier = algebra.substitute(update, {turn: poly(turn) - 1}, facts)
    at_first = algebra.substitute(update, {turn: Polynomial.constant(-1)}, facts)
    if at_first == start:
        return earlier
    return algebra.opaque(Op.SELECT, algebra.opaque(Op.EQ, poly(turn), ZERO), start, earlier)


def _summed(start: Polynomial, delta: Polynomial, turn: LoopSymbol, facts: Facts) -> Polynomial | None:
    """x += a + b*t over t turns: a*t + b*t*(t - 1)/2."""
    if turn not in delta.leaves:
        return start + delta * poly(turn) if not _changes(delta) else None
    slope = delta.coefficient(turn)
    if slope is None or turn in slope.leaves or _changes(delta):
        return None
    constant = delta - slope * poly(turn)
    pairs = algebra.floor_div(poly(turn) * (poly(turn) - 1), Polynomial.constant(2), facts)
    return start + constant * poly(turn) + slope * pairs


def _changes(value: Polynomial) -> bool:
    """True if a value that names no turn may still differ between turns."""
    return any(
        isinstance(leaf, Unknown) or (isinstance(leaf, Indirect) and leaf.turns) for leaf in value.leaves
    )


def _geometric(
    carried: Carried, start: Polynomial, update: Polynomial, turn: LoopSymbol
) -> Polynomial | None:
    """x *= c, x <<= k, x >>= k, x /= c."""
    factor = update.coefficient(carried)
    if (
        factor is not None
        and not (update - factor * poly(carried))
        and not _varies_with(factor, carried, turn)
    ):
        exponent = poly(turn)
        shift = _log2(factor.value)
        if shift is not None:
            return _shifted(Op.SHL, start, exponent.scaled(shift))
        return start * algebra.power(factor, exponent)
    atom = update.atom
    if not isinstance(atom, Operation) or len(atom.operands) < 2 or atom.operands[0] != poly(carried):
        return None
    if _varies_with(atom.operands[1], carried, turn):
        return None
    shift = _log2(atom.operands[1].value)
    match atom.op:
        case Op.FLOOR_DIV if shift is not None:
            return _shifted(Op.SHR, start, poly(turn).scaled(shift))
        case Op.FLOOR_DIV | Op.TRUNC_DIV:
            return algebra.opaque(atom.op, start, algebra.power(atom.operands[1], poly(turn)))
        case Op.SHR | Op.SHL:
            return _shifted(atom.op, start, atom.operands[1] * poly(turn))
        case _:
            return None


def _shifted(op: Op, start: Polynomial, by: Polynomial) -> Polynomial:
    return start if not start else algebra.opaque(op, start, by)


def _cyclic(
    carried: Carried, start: Polynomial, update: Polynomial, turn: LoopSymbol, facts: Facts
) -> Polynomial | None:
    """x = c - x, x ^= c, x = (x + d) % n."""
    parity = algebra.mod(poly(turn), Polynomial.constant(2), facts)
    if update.coefficient(carried) == Polynomial.constant(-1):
        other = update + poly(carried) - start
        if not _varies_with(other, carried, turn):
            return start + parity * (other - start)
        return None
    atom = update.atom
    if not isinstance(atom, Operation):
        return None
    match atom.op, atom.operands:
        case Op.XOR, (a, b):
            mask = b if a == poly(carried) else a if b == poly(carried) else None
            if mask is None or _varies_with(mask, carried, turn):
                return None
            return algebra.bit_xor(start, mask * parity, facts)
        case ((Op.MOD | Op.REM), (inner, divisor)):
            step = inner - poly(carried)
            if _varies_with(step, carried, turn) or _varies_with(divisor, carried, turn):
                return None
            if algebra.lies_below(start, divisor, facts):
                return algebra.mod(start + step * poly(turn), divisor, facts)
            return None
        case _:
            return None


def _varies_with(value: Polynomial, carried: Carried, turn: LoopSymbol) -> bool:
    leaves = value.leaves
    return carried in leaves or turn in leaves or _changes(value)


def _log2(value: int | None) -> int | None:
    if value is None or value < 2 or value & (value - 1):
        return None
    return value.bit_length() - 1


# ---------------------------------------------------------------------------------------------- trip count


def conjuncts(condition: Polynomial) -> tuple[Polynomial, ...]:
    """Return the parts of `a && b && …`."""
    atom = condition.atom
    if isinstance(atom, Operation) and atom.op is Op.LOGICAL_AND:
        return conjuncts(atom.operands[0]) + conjuncts(atom.operands[1])
    return () if condition == ONE else (condition,)


def trip_count(condition: Polynomial, turn: LoopSymbol, tests_first: bool, facts: Facts) -> Polynomial | None:
    """Return how many turns a loop makes, where positive, if it goes on while `condition` holds.

    Parts of the condition that do not depend on the turn are left to the guard.
    """
    if condition == ZERO:
        return ZERO if tests_first else ONE
    counts = []
    for part in conjuncts(condition):
        if turn not in part.leaves:
            continue
        one = _trips_of(part, turn, facts)
        if one is None:
            return None
        counts.append(one)
    if not counts:
        return None
    fewest = counts[0]
    for one in counts[1:]:
        fewest = algebra.minimum(fewest, one, facts)
    return fewest if tests_first else algebra.maximum(fewest, ONE, facts)


def _trips_of(part: Polynomial, turn: LoopSymbol, facts: Facts) -> Polynomial | None:
    if part.leaves == {turn}:
        number = _enumerated(part, turn)
        if number is not None:
            return Polynomial.constant(number)
    atom = part.atom
    if not isinstance(atom, Operation) or len(atom.operands) != 2:
        return None
    left, right = atom.operands
    match atom.op:
        case Op.LT:
            return _until_zero(right - left, turn, facts) or _doubling(left, right, turn, facts)
        case Op.LE:
            return _until_zero(right - left + 1, turn, facts) or _doubling(left, right + 1, turn, facts)
        case Op.NE:
            difference = right - left
            slope = difference.coefficient(turn)
            if slope is not None and (slope.value or 0) > 0:
                difference = -difference
            return _until_zero(difference, turn, facts) or (
                _doubling(right, left, turn, facts) if not right else None
            )
        case _:
            return None


def _enumerated(condition: Polynomial, turn: LoopSymbol) -> int | None:
    """Count by trying, where the condition depends on nothing but the turn."""
    line = _line(condition, turn)
    if line is not None:
        found = _turns_of(*line)
        return found if found is not None and found < MAX_ENUMERATED_TURNS else None
    try:
        for number in range(MAX_ENUMERATED_TURNS):
            if not Evaluator({turn: number})(condition):
                return number
    except (UnknownValueError, OverflowError):
        return None
    return None


def _line(condition: Polynomial, turn: LoopSymbol) -> tuple[int, int] | None:
    """Return (a, b) of a condition that is `a + b * turn > 0`; `None` for any other."""
    atom = condition.atom
    if not isinstance(atom, Operation) or atom.op not in (Op.LT, Op.LE):
        return None
    difference = atom.operands[1] - atom.operands[0] + (1 if atom.op is Op.LE else 0)
    slope = difference.coefficient(turn)
    if slope is None or slope.value is None:
        return None
    first = (difference - slope * poly(turn)).value
    return None if first is None else (first, slope.value)


def _turns_of(first: int, slope: int) -> int | None:
    """Return how often `first + slope * turn` is positive before it is not; `None` if it always is."""
    if first <= 0:
        return 0
    return -(-first // -slope) if slope < 0 else None


def _until_zero(difference: Polynomial, turn: LoopSymbol, facts: Facts) -> Polynomial | None:
    """Turns while d0 - s*t > 0 for s > 0: ceil(d0 / s). A symbolic step is taken to be positive."""
    slope = difference.coefficient(turn)
    if slope is None or not slope:
        return None
    step = -slope
    first = difference - slope * poly(turn)
    low, high = facts.interval(step)
    if (high is not None and high <= 0) or (low is None and any(it < 0 for it in step.terms.values())):
        return None
    if step == ONE:
        return first
    return algebra.floor_div(first + step - 1, step, facts)


def _doubling(left: Polynomial, right: Polynomial, turn: LoopSymbol, facts: Facts) -> Polynomial | None:
    """Turns while a << k*t < n, or while c < a >> k*t."""
    up, down = left.atom, right.atom
    sixty_four = Polynomial.constant(64)
    if isinstance(up, Operation) and up.op is Op.SHL and turn not in right.leaves:
        first, shift = up.operands
        least = first.value
        rate = _rate(shift, turn)
        if least is None or least < 1 or rate is None:
            return None
        # a << k*t < n  iff  2**(k*t) <= (n - 1) div a
        most = algebra.floor_div(right - 1, Polynomial.constant(least), facts)
        bits = sixty_four - algebra.opaque(Op.CLZ, algebra.maximum(most, ZERO, facts), sixty_four)
        return algebra.floor_div(bits + (rate - 1), Polynomial.constant(rate), facts)
    if isinstance(down, Operation) and down.op is Op.SHR and turn not in left.leaves:
        first, shift = down.operands
        threshold, rate = left.value, _rate(shift, turn)
        if threshold is None or threshold < 0 or rate is None:
            return None
        # c < a >> k*t  iff  1 <= (a div (c + 1)) >> k*t
        most = algebra.floor_div(first, Polynomial.constant(threshold + 1), facts)
        bits = sixty_four - algebra.opaque(Op.CLZ, algebra.maximum(most, ZERO, facts), sixty_four)
        return algebra.floor_div(bits + (rate - 1), Polynomial.constant(rate), facts)
    return None


def _rate(shift: Polynomial, turn: LoopSymbol) -> int | None:
    factor = shift.coefficient(turn)
    if factor is None or factor.value is None or factor.value < 1 or shift != factor * poly(turn):
        return None
    return factor.value


def induction(head: Polynomial, turn: LoopSymbol) -> tuple[Polynomial, Polynomial] | None:
    """Return (start, step) of a value that is linear in the turn."""
    step = head.coefficient(turn)
    if step is None or not step:
        return None
    return head - step * poly(turn), step


def bound_of(condition: Polynomial, turn: LoopSymbol) -> Polynomial | None:
    """Return the side of a comparison that does not change with the turn."""
    for part in conjuncts(condition):
        atom: Atom | None = part.atom
        if isinstance(atom, Operation) and len(atom.operands) == 2:
            still = [operand for operand in atom.operands if turn not in operand.leaves]
            if len(still) == 1:
                return still[0]
    return None
