"""Smart constructors of the operations that are not sums of products.

Each returns the simplest polynomial that has the same value for every assignment that `Facts` allows. One
function an operation; the equation that justifies a rewrite stands beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from clmap_lsp.access.facts import Facts
from clmap_lsp.access.polynomial import (
    ONE,
    ZERO,
    Atom,
    Indirect,
    LoopSymbol,
    Monomial,
    Op,
    Operation,
    Polynomial,
    divide,
    operands_of,
    parts_first,
    poly,
)

NO_FACTS: Final = Facts()


def opaque(op: Op, *operands: Polynomial) -> Polynomial:
    """Return the operation as an atom, unsimplified."""
    return Polynomial.of(Operation(op, operands))


# ------------------------------------------------------------------------------------ sums and products


def add(left: Polynomial, right: Polynomial, facts: Facts) -> Polynomial:
    """Return the sum; x/c*c + x%c is x again."""
    return recombined(left + right)


def recombined(value: Polynomial) -> Polynomial:
    """Undo a split into quotient and remainder: m*(x mod c) + m*c*(x div c) = m*x."""
    for monomial, coefficient in value.terms.items():
        for atom in monomial:
            if isinstance(atom, Operation) and atom.op in _REMAINDERS:
                rest = divide(monomial, (atom,))
                quotient = Operation(_REMAINDERS[atom.op], atom.operands)
                joined = _join_quotient(value, rest or (), coefficient, atom, quotient)
                if joined is not None:
                    return recombined(joined)
    return value


_REMAINDERS: Final = {Op.MOD: Op.FLOOR_DIV, Op.REM: Op.TRUNC_DIV}


def _join_quotient(
    value: Polynomial, rest: Monomial, coefficient: int, remainder: Operation, quotient: Operation
) -> Polynomial | None:
    dividend, divisor = remainder.operands
    factor = Polynomial({rest: coefficient})
    parts = factor * divisor * Polynomial.of(quotient)
    if any(value.terms.get(monomial) != it for monomial, it in parts.terms.items()):
        return None
    return value - parts - factor * Polynomial.of(remainder) + factor * dividend


# ------------------------------------------------------------------------------- division and remainder


def floor_div(a: Polynomial, b: Polynomial, facts: Facts) -> Polynomial:
    """Return the quotient rounded down; the divisor is taken to be positive if it is a symbol."""
    divisor = b.value
    if divisor == 1:
        return a
    if divisor is not None and divisor > 0:
        return _floor_div_number(a, divisor, facts)
    if divisor is None and len(b.terms) == 1:
        multiples, rest = _multiples_of(a, b)
        if multiples and (not rest or lies_below(rest, b, facts)):
            return multiples  # (q*b + r) div b = q for 0 <= r < b
    if divisor is None and lies_below(a, b, facts):
        return ZERO
    return opaque(Op.FLOOR_DIV, a, b)


def _floor_div_number(a: Polynomial, divisor: int, facts: Facts) -> Polynomial:
    number = a.value
    if number is not None:
        return Polynomial.constant(number // divisor)
    whole: dict[Monomial, int] = {}
    rest: dict[Monomial, int] = {}
    for monomial, it in a.terms.items():
        if it % divisor == 0:
            whole[monomial] = it // divisor
        elif monomial:
            rest[monomial] = it
        else:  # (q*c + r) div c = q + r div c
            if it // divisor:
                whole[()] = it // divisor
            rest[()] = it % divisor
    quotient, remainder = Polynomial(whole), Polynomial(rest)
    low, high = facts.interval(remainder)
    if low is not None and high is not None and low // divisor == high // divisor:
        return quotient + low // divisor
    atom = remainder.atom
    if isinstance(atom, Operation) and atom.op is Op.FLOOR_DIV and (inner := atom.operands[1].value):
        # (x div a) div b = x div (a*b)
        return quotient + _floor_div_number(atom.operands[0], inner * divisor, facts)
    return quotient + opaque(Op.FLOOR_DIV, remainder, Polynomial.constant(divisor))


def trunc_div(a: Polynomial, b: Polynomial, facts: Facts) -> Polynomial:
    """Return C's quotient, rounded towards zero."""
    divisor = b.value
    if divisor == 0:
        return opaque(Op.TRUNC_DIV, a, b)
    if divisor is not None and divisor < 0:
        return -trunc_div(a, Polynomial.constant(-divisor), facts)
    if facts.is_non_negative(a):
        return floor_div(a, b, facts)
    if divisor is not None and all(it % divisor == 0 for it in a.terms.values()):
        return Polynomial({monomial: it // divisor for monomial, it in a.terms.items()})
    if a.value is not None and divisor is not None:
        return Polynomial.constant(-(-a.value // divisor))
    if divisor is None and len(b.terms) == 1:
        multiples, rest = _multiples_of(a, b)
        if not rest or (facts.is_non_negative(multiples) and lies_below(rest, b, facts)):
            return multiples
    return opaque(Op.TRUNC_DIV, a, b)


def mod(a: Polynomial, b: Polynomial, facts: Facts) -> Polynomial:
    """Return the remainder of `floor_div`."""
    divisor = b.value
    if divisor is not None and divisor > 0:
        return _mod_number(a, divisor, facts)
    if divisor is None and len(b.terms) == 1:
        multiples, rest = _multiples_of(a, b)
        if not rest or lies_below(rest, b, facts):
            return rest
        a = rest if multiples else a
    if divisor is None and lies_below(a, b, facts):
        return a
    return opaque(Op.MOD, a, b)


def _mod_number(a: Polynomial, divisor: int, facts: Facts) -> Polynomial:
    if divisor == 1:
        return ZERO
    rest = {monomial: it for monomial, it in a.terms.items() if it % divisor}
    if rest.get((), 0):
        rest[()] %= divisor
    remainder = Polynomial(rest)
    low, high = facts.interval(remainder)
    if low is not None and high is not None and low // divisor == high // divisor:
        return remainder - divisor * (low // divisor)
    atom = remainder.atom
    if isinstance(atom, Operation) and atom.op is Op.MOD:
        inner = atom.operands[1].value
        if inner is not None and inner % divisor == 0:  # (x mod k*c) mod c = x mod c
            return _mod_number(atom.operands[0], divisor, facts)
    return opaque(Op.MOD, remainder, Polynomial.constant(divisor))


def rem(a: Polynomial, b: Polynomial, facts: Facts) -> Polynomial:
    """Return C's remainder, which has the sign of the dividend."""
    divisor = b.value
    if divisor is not None and divisor < 0:
        return rem(a, Polynomial.constant(-divisor), facts)
    if divisor == 0:
        return opaque(Op.REM, a, b)
    if facts.is_non_negative(a):
        return mod(a, b, facts)
    if divisor is not None and all(it % divisor == 0 for it in a.terms.values()):
        return ZERO
    if a.value is not None and divisor is not None:
        return Polynomial.constant(-(-a.value % divisor))
    if divisor is None and len(b.terms) == 1:
        multiples, rest = _multiples_of(a, b)
        if not rest or (facts.is_non_negative(multiples) and lies_below(rest, b, facts)):
            return rest
    return opaque(Op.REM, a, b)


def _multiples_of(a: Polynomial, b: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Split a into (q, r) with a = q*b + r, for a divisor of one term."""
    ((unit, factor),) = b.terms.items()
    whole: dict[Monomial, int] = {}
    rest: dict[Monomial, int] = {}
    for monomial, it in a.terms.items():
        reduced = divide(monomial, unit)
        if reduced is not None and it % factor == 0:
            whole[reduced] = it // factor
        else:
            rest[monomial] = it
    return Polynomial(whole), Polynomial(rest)


def lies_below(value: Polynomial, bound: Polynomial, facts: Facts) -> bool:
    """True if 0 <= value < bound is proved."""
    if not facts.is_non_negative(value):
        return False
    high = facts.interval(value)[1]
    least = facts.interval(bound)[0]
    if high is not None and least is not None and high < least:
        return True
    match value.atom:
        case Operation(op=Op.MOD, operands=(_, divisor)):
            return divisor == bound
        case LoopSymbol(trip=trip):
            return trip == bound
        case _:
            return False


# --------------------------------------------------------------------------------------- shifts and bits


def shl(a: Polynomial, b: Polynomial, facts: Facts) -> Polynomial:
    """Return a << b."""
    if b.value is not None and 0 <= b.value < 63:
        return a.scaled(1 << b.value)
    if not a:
        return ZERO
    return opaque(Op.SHL, a, b)


def shr(a: Polynomial, b: Polynomial, facts: Facts) -> Polynomial:
    """Return a >> b; an arithmetic shift of a signed value is a floor division."""
    if b.value is not None and 0 <= b.value < 64:
        return floor_div(a, Polynomial.constant(1 << b.value), facts)
    if not a:
        return ZERO
    return opaque(Op.SHR, a, b)


def bit_and(a: Polynomial, b: Polynomial, facts: Facts) -> Polynomial:
    """Return a & b; masks of low bits are remainders, masks of high bits multiples."""
    if a.value is not None:
        a, b = b, a
    mask = b.value
    if mask is None:
        return a if a == b else _ordered(Op.AND, a, b)
    if a.value is not None:
        return Polynomial.constant(a.value & mask)
    if mask == 0:
        return ZERO
    if mask == -1:
        return a
    if mask > 0 and mask & (mask + 1) == 0:
        return mod(a, Polynomial.constant(mask + 1), facts)
    low_bits = (mask & -mask) - 1
    if mask < 0 and -mask & (-mask - 1) == 0:  # ...1110000
        return add(a, -mod(a, Polynomial.constant(-mask), facts), facts)
    high = facts.interval(a)[1]
    filled = mask | low_bits
    if filled & (filled + 1) == 0 and facts.is_non_negative(a) and high is not None and high <= filled:
        return add(a, -mod(a, Polynomial.constant(low_bits + 1), facts), facts)
    return opaque(Op.AND, a, b)


def bit_or(a: Polynomial, b: Polynomial, facts: Facts) -> Polynomial:
    """Return a | b, which is a sum where the operands have no bit in common."""
    if a.value is not None and b.value is not None:
        return Polynomial.constant(a.value | b.value)
    if not a or a == b:
        return b
    if not b:
        return a
    if _disjoint(a, b, facts) or _disjoint(b, a, facts):
        return add(a, b, facts)
    return _ordered(Op.OR, a, b)


def bit_xor(a: Polynomial, b: Polynomial, facts: Facts) -> Polynomial:
    """Return a ^ b, which is a sum where the operands have no bit in common."""
    if a.value is not None and b.value is not None:
        return Polynomial.constant(a.value ^ b.value)
    if a == b:
        return ZERO
    if not a:
        return b
    if not b:
        return a
    if b.value == -1 or a.value == -1:
        return bit_not(a if b.value == -1 else b)
    if _disjoint(a, b, facts) or _disjoint(b, a, facts):
        return add(a, b, facts)
    return _ordered(Op.XOR, a, b)


def bit_not(a: Polynomial) -> Polynomial:
    """Return ~a = -a - 1."""
    return -a - 1


def _disjoint(high: Polynomial, low: Polynomial, facts: Facts) -> bool:
    """True if every coefficient of `high` is a multiple of a power of two above `low`."""
    most = facts.interval(low)[1]
    if most is None or not facts.is_non_negative(low):
        return False
    unit = 1 << most.bit_length()
    return all(it % unit == 0 for it in high.terms.values())


def _ordered(op: Op, a: Polynomial, b: Polynomial) -> Polynomial:
    """Give a commutative operation one form, with a number on the right."""
    if a.value is not None or (b.value is None and b.order < a.order):
        a, b = b, a
    return opaque(op, a, b)


def power(base: Polynomial, exponent: Polynomial) -> Polynomial:
    """Return base to the power of a non-negative exponent."""
    if exponent.value is not None and 0 <= exponent.value <= 8:
        result = ONE
        for _ in range(exponent.value):
            result = result * base
        return result
    return base if base == ONE else opaque(Op.POW, base, exponent)


def is_wrapped(atom: Atom, bits: int) -> bool:
    """True for a value that was wrapped at so many bits or more."""
    return (
        isinstance(atom, Operation)
        and atom.op in (Op.WRAP_UNSIGNED, Op.WRAP_SIGNED)
        and (atom.operands[1].value or 0) >= bits
    )


def wrapped(value: Polynomial, bits: int, signed: bool, facts: Facts) -> Polynomial:
    """Return the value as an integer type of so many bits holds it."""
    low, high = facts.interval(value)
    least = -(1 << (bits - 1)) if signed else 0
    most = (1 << (bits - 1 if signed else bits)) - 1
    if low is not None and high is not None and least <= low and high <= most:
        return value
    number = value.value
    if number is not None:
        number &= (1 << bits) - 1
        return Polynomial.constant(number - (1 << bits) if signed and number >> (bits - 1) else number)
    for monomial, it in value.terms.items():
        if len(monomial) == 1 and is_wrapped(
            monomial[0], bits
        ):  # Once is enough: it is the same modulo 2**bits.
            inner = operands_of(monomial[0])[0].scaled(it)
            return wrapped(value - Polynomial({monomial: it}) + inner, bits, signed, facts)
    if any(abs(it) >> bits for it in value.terms.values()):
        value = Polynomial({m: c for m, it in value.terms.items() if (c := it & ((1 << bits) - 1))})
        return wrapped(value, bits, signed, facts)
    return opaque(Op.WRAP_SIGNED if signed else Op.WRAP_UNSIGNED, value, Polynomial.constant(bits))


# -------------------------------------------------------------------------------- choices and comparisons


def minimum(a: Polynomial, b: Polynomial, facts: Facts) -> Polynomial:
    """Return the smaller value."""
    sign = _sign(b - a, facts)
    if sign is not None:
        return a if sign >= 0 else b
    return _ordered(Op.MIN, a, b)


def maximum(a: Polynomial, b: Polynomial, facts: Facts) -> Polynomial:
    """Return the larger value."""
    sign = _sign(a - b, facts)
    if sign is not None:
        return a if sign >= 0 else b
    return _ordered(Op.MAX, a, b)


def _sign(difference: Polynomial, facts: Facts) -> int | None:
    """Return 0 or 1 where the difference is never negative, -1 where it never is positive."""
    low, high = facts.interval(difference)
    if low is not None and low >= 0:
        return 1
    if high is not None and high <= 0:
        return -1
    return None


def absolute(a: Polynomial, facts: Facts) -> Polynomial:
    """Return the distance from zero."""
    sign = _sign(a, facts)
    if sign is not None:
        return a if sign >= 0 else -a
    return opaque(Op.ABS, a)


def select(condition: Polynomial, if_true: Polynomial, if_false: Polynomial, facts: Facts) -> Polynomial:
    """Return `if_true` where the condition is not zero; what both have in common is taken out."""
    if if_true == if_false:
        return if_true
    decided = truth(condition, facts)
    if decided is not None:
        return if_true if decided else if_false
    shared = {m: c for m, c in if_true.terms.items() if if_false.terms.get(m) == c}
    if if_true.value is None and if_false.value is None and shared:
        common = Polynomial(shared)
        rest = opaque(Op.SELECT, condition, if_true - common, if_false - common)
        return common + rest
    return opaque(Op.SELECT, condition, if_true, if_false)


def truth(condition: Polynomial, facts: Facts) -> bool | None:
    """Return whether a condition always or never holds; `None` if that depends."""
    if condition.value is not None:
        return condition.value != 0
    low, high = facts.interval(condition)
    if (low is not None and low > 0) or (high is not None and high < 0):
        return True
    return None


def less(a: Polynomial, b: Polynomial, facts: Facts) -> Polynomial:
    """Return a < b."""
    low, high = facts.interval(b - a)
    if low is not None and low > 0:
        return ONE
    if high is not None and high <= 0:
        return ZERO
    return opaque(Op.LT, a, b)


def less_equal(a: Polynomial, b: Polynomial, facts: Facts) -> Polynomial:
    """Return a <= b."""
    low, high = facts.interval(b - a)
    if low is not None and low >= 0:
        return ONE
    if high is not None and high < 0:
        return ZERO
    return opaque(Op.LE, a, b)


def equal(a: Polynomial, b: Polynomial, facts: Facts) -> Polynomial:
    """Return a == b."""
    difference = b - a
    if not difference:
        return ONE
    low, high = facts.interval(difference)
    if (low is not None and low > 0) or (high is not None and high < 0):
        return ZERO
    return opaque(Op.EQ, a, b)


def negated(condition: Polynomial) -> Polynomial:
    """Return the condition that holds exactly where this one does not.

    It is kept with the condition: a `switch` asks for that of "none of the first n cases" with every case.
    Does not recurse: such a condition is as deep as there are cases.
    """
    waiting = [condition]
    while waiting:
        it = waiting[-1]
        parts: tuple[Polynomial, ...] = ()
        if it.value is None and it.opposite is None:
            match it.atom:
                case Operation(op=Op.LOGICAL_OR | Op.LOGICAL_AND, operands=operands):
                    parts = operands
        missing = [part for part in parts if part.value is None and part.opposite is None]
        if missing:
            waiting += missing
            continue
        if it.value is None and it.opposite is None:
            it.opposite = _negated(it)
        waiting.pop()
    return _opposite(condition)


def _opposite(condition: Polynomial) -> Polynomial:
    """Return what `negated` has found of a condition."""
    if condition.value is not None:
        return ZERO if condition.value else ONE
    assert condition.opposite is not None
    return condition.opposite


def _negated(condition: Polynomial) -> Polynomial:
    match condition.atom:
        case Operation(op=Op.LT, operands=(a, b)):
            return opaque(Op.LE, b, a)
        case Operation(op=Op.LE, operands=(a, b)):
            return opaque(Op.LT, b, a)
        case Operation(op=Op.EQ, operands=(a, b)):
            return opaque(Op.NE, a, b)
        case Operation(op=Op.NE, operands=(a, b)):
            return opaque(Op.EQ, a, b)
        case Operation(op=Op.LOGICAL_NOT, operands=(a,)):
            return as_truth(a)
        case Operation(op=Op.LOGICAL_OR, operands=(a, b)):
            return both(_opposite(a), _opposite(b))
        case Operation(op=Op.LOGICAL_AND, operands=(a, b)):
            return either(_opposite(a), _opposite(b))
        case _:
            return opaque(Op.EQ, condition, ZERO)


_TRUTHS: Final = frozenset({Op.LT, Op.LE, Op.EQ, Op.NE, Op.LOGICAL_AND, Op.LOGICAL_OR, Op.LOGICAL_NOT})


def is_truth(value: Polynomial) -> bool:
    """True if the value is 0 or 1 by how it is made."""
    atom = value.atom
    return value.value in (0, 1) or (isinstance(atom, Operation) and atom.op in _TRUTHS)


def as_truth(value: Polynomial) -> Polynomial:
    """Return 1 where the value is not zero, else 0."""
    if is_truth(value):
        return value
    if value.value is not None:
        return ONE
    return opaque(Op.NE, value, ZERO)


def both(a: Polynomial, b: Polynomial) -> Polynomial:
    """Return a && b."""
    if a.value is not None:
        return as_truth(b) if a.value else ZERO
    if b.value is not None:
        return as_truth(a) if b.value else ZERO
    return as_truth(a) if a == b else opaque(Op.LOGICAL_AND, a, b)


def either(a: Polynomial, b: Polynomial) -> Polynomial:
    """Return a || b."""
    if a.value is not None:
        return ONE if a.value else as_truth(b)
    if b.value is not None:
        return ONE if b.value else as_truth(a)
    return as_truth(a) if a == b else opaque(Op.LOGICAL_OR, a, b)


# ------------------------------------------------------------------------------------------ substitution

_REBUILD: Final[Mapping[Op, Callable[[Polynomial, Polynomial, Facts], Polynomial]]] = {
    Op.FLOOR_DIV: floor_div,
    Op.TRUNC_DIV: trunc_div,
    Op.MOD: mod,
    Op.REM: rem,
    Op.SHL: shl,
    Op.SHR: shr,
    Op.AND: bit_and,
    Op.OR: bit_or,
    Op.XOR: bit_xor,
    Op.MIN: minimum,
    Op.MAX: maximum,
    Op.LT: less,
    Op.LE: less_equal,
    Op.EQ: equal,
    Op.NE: lambda a, b, facts: negated(equal(a, b, facts)),
    Op.LOGICAL_AND: lambda a, b, _: both(a, b),
    Op.LOGICAL_OR: lambda a, b, _: either(a, b),
    Op.POW: lambda a, b, _: power(a, b),
    Op.PRODUCT: lambda a, b, _: a * b,
}


def rebuilt(op: Op, operands: tuple[Polynomial, ...], facts: Facts = NO_FACTS) -> Polynomial:
    """Return the simplest form of an operation over these operands."""
    if op in _REBUILD:
        return _REBUILD[op](operands[0], operands[1], facts)
    match op:
        case Op.SELECT:
            return select(operands[0], operands[1], operands[2], facts)
        case Op.ABS:
            return absolute(operands[0], facts)
        case Op.BIT_NOT:
            return bit_not(operands[0])
        case Op.LOGICAL_NOT:
            return negated(operands[0])
        case Op.WRAP_UNSIGNED | Op.WRAP_SIGNED:
            return wrapped(operands[0], operands[1].value or 64, op is Op.WRAP_SIGNED, facts)
        case _:
            return opaque(op, *operands)


def substitute(value: Polynomial, by: Mapping[Atom, Polynomial | int], facts: Facts = NO_FACTS) -> Polynomial:
    """Replace atoms, inside operations and load indices too, and simplify again."""
    return _Substitution(by, facts).of(value)


class _Substitution:
    """Replaces atoms by polynomials, in parts that occur more than once only once."""

    def __init__(self, by: Mapping[Atom, Polynomial | int], facts: Facts) -> None:
        self.by = by
        self.facts = facts
        self.leaves = frozenset(key for key in by if not isinstance(key, Operation))
        self.operations = frozenset(key for key in by if isinstance(key, Operation))
        self._replaced: dict[Atom, Polynomial] = {}

    def of(self, value: Polynomial) -> Polynomial:
        """Return the polynomial with the atoms replaced."""
        result = ZERO
        for monomial, coefficient in value.terms.items():
            term = Polynomial.constant(coefficient)
            for atom in monomial:
                term = term * self.of_atom(atom)
            result = result + term
        return recombined(result)

    def of_atom(self, atom: Atom) -> Polynomial:
        """Return what stands in the place of an atom."""
        known = self._replaced.get(atom)
        if known is None:
            for part in parts_first(Polynomial.of(atom), self._is_done):
                self._replaced[part] = self._made(part)
            known = self._replaced.get(atom)
        if known is None:
            known = self._replaced[atom] = self._made(atom)
        return known

    def _is_done(self, atom: Operation | Indirect) -> bool:
        return (
            atom in self._replaced
            or atom in self.by
            or not any(self._is_in(operand) for operand in operands_of(atom))
        )

    def _made(self, atom: Atom) -> Polynomial:
        if atom in self.by:
            return poly(self.by[atom])
        match atom:
            case Operation(op=op, operands=operands, payload=payload):
                if not any(self._is_in(operand) for operand in operands):
                    return poly(atom)
                new = tuple(self.of(operand) for operand in operands)
                return (
                    poly(Operation(op, new, payload)) if payload is not None else rebuilt(op, new, self.facts)
                )
            case Indirect(index=index):
                if not self._is_in(index):
                    return poly(atom)
                return poly(replace(atom, index=self.of(index)))
            case _:
                return poly(atom)

    def _is_in(self, value: Polynomial) -> bool:
        if not self.leaves.isdisjoint(value.leaves):
            return True
        return bool(self.operations) and not self.operations.isdisjoint(value.walk())
