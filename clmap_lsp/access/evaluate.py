"""Values of polynomials for given values of their symbols, one at a time or for arrays of work-items.

Arrays are int64. Where a number on the way does not fit, the same is computed once more with Python's
integers, and the result has to fit: what lies beyond 64 bits at last is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from clmap_lsp.access.polynomial import (
    Atom,
    Indirect,
    Op,
    Operation,
    Polynomial,
    Unknown,
    parts_first,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Value = int | NDArray[np.int64]

Environment = Mapping[Atom, "Value"]
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1
TOO_LARGE = Unknown("it is computed with numbers beyond 64 bits", 0)


class UnknownValueError(Exception):
    """A polynomial depends on something that has no value here; `atom` says on what."""

    def __init__(self, atom: Atom) -> None:
        super().__init__(f"no value for {atom}")
        self.atom = atom


class Loader(Protocol):
    """What a load read: called with the atom and the elements of its index."""

    def __call__(self, load: Indirect, index: Value) -> Value:
        """Return the value read at `index`, of the index's shape."""


def evaluate(value: Polynomial, environment: Environment, load: Loader | None = None) -> Value:
    """Return the value of a polynomial, as C computes it without overflow.

    Args:
        environment: for each symbol a number, or an array; all arrays broadcast together.
        load: gives the values of `Indirect` atoms that are not in `environment`.
    Returns: a number of 64 bits if everything that it depends on is one, else an int64 array.
    Raises: UnknownValueError if a symbol has no value, or if the value is beyond 64 bits.
    """
    return Evaluator(environment, load)(value)


class Evaluator:
    """Evaluates several polynomials over one environment and computes common parts once."""

    takes_all = False
    """Whether numbers of any size can stand in its arrays."""

    def __init__(self, environment: Environment, load: Loader | None = None) -> None:
        self.environment = environment
        self.load = load
        self._atoms: dict[Atom, Value] = {}

    def __call__(self, value: Polynomial) -> Value:
        """Return the value of a polynomial; raises `UnknownValueError`."""
        try:
            result = self.sum(value)
        except OverflowError:
            return self._in_64_bits(value)
        if isinstance(result, int) and not _LEAST <= result <= _MOST:
            raise UnknownValueError(TOO_LARGE)
        return result

    def _in_64_bits(self, value: Polynomial) -> Value:
        import numpy as np

        try:
            result = _Exact(self.environment, self.load).sum(value)
            fitting = np.asarray(result, dtype=np.int64)
        except OverflowError:
            raise UnknownValueError(TOO_LARGE) from None
        return result if isinstance(result, int) else fitting

    def sum(self, value: Polynomial) -> Value:
        """Return the value of a part of what is evaluated; raises `OverflowError` where it does not fit."""
        total: Value = 0
        for monomial, coefficient in value.terms.items():
            if not _LEAST <= coefficient <= _MOST and not self.takes_all:
                raise OverflowError("a coefficient beyond 64 bits")
            term: Value = coefficient
            for atom in monomial:
                term = term * self.atom(atom)
            total = total + term
        return total

    def atom(self, atom: Atom) -> Value:
        """Return the value of one atom."""
        known = self.environment.get(atom)
        if known is not None:
            return known
        computed = self._atoms.get(atom)
        if computed is None:
            for part in parts_first(Polynomial.of(atom), self._is_known):
                self._atoms[part] = self._compute(part)
            computed = self._atoms.get(atom)
            if computed is None:
                raise UnknownValueError(atom)
        return computed

    def _is_known(self, atom: Atom) -> bool:
        return atom in self._atoms or atom in self.environment

    def _compute(self, atom: Atom) -> Value:
        match atom:
            case Operation(payload=payload) if payload is not None:
                result: Value = payload.to_int(self)
                return result
            case Operation(op=op, operands=operands):
                values = [self.sum(operand) for operand in operands]
                if all(isinstance(it, int) for it in values):
                    return _on_numbers(op, values)
                return self._on_arrays(op, values)
            case Indirect(index=index) if self.load is not None:
                return self.load(atom, self.sum(index))
            case _:
                raise UnknownValueError(atom)

    def _on_arrays(self, op: Op, values: list[Any]) -> Value:
        return _on_arrays(op, values)


class _Exact(Evaluator):
    """Evaluates with Python's integers in arrays of objects: slower by far, and nothing is too large."""

    takes_all = True

    def atom(self, atom: Atom) -> Value:
        import numpy as np

        value = super().atom(atom)
        return value if isinstance(value, int) else np.asarray(value).astype(object)

    def _on_arrays(self, op: Op, values: list[Any]) -> Value:
        import numpy as np

        computed: Value = np.vectorize(_NUMBERS[op], otypes=[object])(*values)
        return computed


def _on_numbers(op: Op, values: list[Any]) -> int:
    return int(_NUMBERS[op](*values))


def _floor_div(a: int, b: int) -> int:
    return a // b if b else 0


def _trunc_div(a: int, b: int) -> int:
    if not b:
        return 0
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def _power(a: int, b: int) -> int:
    if b > 64 and not -1 <= a <= 1:
        raise OverflowError("a power beyond 64 bits")
    return int(a ** max(b, 0))


_NUMBERS: Mapping[Op, Callable[..., int]] = {
    Op.FLOOR_DIV: _floor_div,
    Op.TRUNC_DIV: _trunc_div,
    Op.MOD: lambda a, b: a - b * _floor_div(a, b),
    Op.REM: lambda a, b: a - b * _trunc_div(a, b),
    Op.SHL: lambda a, b: a << (b & 63),
    Op.SHR: lambda a, b: a >> (b & 63),
    Op.AND: lambda a, b: a & b,
    Op.OR: lambda a, b: a | b,
    Op.XOR: lambda a, b: a ^ b,
    Op.BIT_NOT: lambda a: ~a,
    Op.MIN: min,
    Op.MAX: max,
    Op.ABS: abs,
    Op.SELECT: lambda condition, a, b: a if condition else b,
    Op.POW: _power,
    Op.PRODUCT: lambda a, b: a * b,
    Op.LT: lambda a, b: a < b,
    Op.LE: lambda a, b: a <= b,
    Op.EQ: lambda a, b: a == b,
    Op.NE: lambda a, b: a != b,
    Op.LOGICAL_AND: lambda a, b: a != 0 and b != 0,
    Op.LOGICAL_OR: lambda a, b: a != 0 or b != 0,
    Op.LOGICAL_NOT: lambda a: a == 0,
    Op.WRAP_UNSIGNED: lambda a, bits: a & ((1 << bits) - 1),
    Op.WRAP_SIGNED: _signed,
    Op.POPCOUNT: lambda a: (a & 0xFFFFFFFFFFFFFFFF).bit_count(),
    Op.CLZ: lambda a, bits: bits - (a & ((1 << bits) - 1)).bit_length(),
}


def _on_arrays(op: Op, values: list[Any]) -> NDArray[np.int64]:
    import numpy as np

    arrays = [np.asarray(it, dtype=np.int64) for it in values]
    with np.errstate(divide="ignore", invalid="ignore"):
        result = _array_operation(op, arrays)
    return np.asarray(result, dtype=np.int64)


def _array_operation(op: Op, values: list[NDArray[np.int64]]) -> Any:
    import numpy as np

    a = values[0]
    b = values[1] if len(values) > 1 else a
    match op:
        case Op.FLOOR_DIV:
            return np.floor_divide(a, b)
        case Op.TRUNC_DIV:
            return np.sign(a) * np.sign(b) * np.floor_divide(np.abs(a), np.abs(b))
        case Op.MOD:
            return np.where(b == 0, a, np.mod(a, b))
        case Op.REM:
            return np.where(b == 0, a, np.fmod(a, b))
        case Op.SHL:
            return np.left_shift(a, b & 63)
        case Op.SHR:
            return np.right_shift(a, b & 63)
        case Op.AND:
            return a & b
        case Op.OR:
            return a | b
        case Op.XOR:
            return a ^ b
        case Op.BIT_NOT:
            return ~a
        case Op.MIN:
            return np.minimum(a, b)
        case Op.MAX:
            return np.maximum(a, b)
        case Op.ABS:
            return np.abs(a)
        case Op.SELECT:
            return np.where(a != 0, b, values[2])
        case Op.WRAP_UNSIGNED | Op.WRAP_SIGNED:
            return _array_wrapped(a, int(b), op is Op.WRAP_SIGNED)
        case Op.PRODUCT:
            return a * b
        case Op.LOGICAL_AND:
            return (a != 0) & (b != 0)
        case Op.LOGICAL_OR:
            return (a != 0) | (b != 0)
        case Op.LOGICAL_NOT:
            return a == 0
        case Op.LT:
            return a < b
        case Op.LE:
            return a <= b
        case Op.EQ:
            return a == b
        case Op.NE:
            return a != b
        case _:
            return np.vectorize(_NUMBERS[op], otypes=[np.int64])(*(it.astype(object) for it in values))


def _array_wrapped(a: NDArray[np.int64], bits: int, signed: bool) -> Any:
    """Wrap sums of products, which are right modulo 2 to the power 64 whatever their size."""
    if signed:
        return (a << (64 - bits)) >> (64 - bits)
    if bits < 64:
        return a & ((1 << bits) - 1)
    if (a < 0).any():
        raise OverflowError("an unsigned number of 64 bits")
    return a
