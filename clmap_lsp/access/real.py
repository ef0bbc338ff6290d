"""Floating-point expressions that an index is computed from, as in `(int)floor(x * scale)`.

Only kernels that convert floating point to integers build them; elsewhere a float is `UNKNOWN_REAL`. They
are evaluated in double precision, so an index that hangs on single-precision rounding may differ by one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

from clmap_lsp.access.polynomial import ZERO, Indirect, Leaf, Op, Operation, Polynomial
from clmap_lsp.dataclass import dataclass

if TYPE_CHECKING:
    from clmap_lsp.access.evaluate import Evaluator

MAX_SIZE: Final = 48
"""Expressions of more nodes than this are not kept."""


@dataclass(frozen=True, slots=True)
class Real:
    """`operation` over its operands; integers stand as polynomials, numbers as floats."""

    operation: str
    operands: tuple[Operand, ...] = ()
    size: int = field(default=1, compare=False)
    digest: bytes = field(init=False, compare=False, repr=False)
    """16 bytes that follow from the expression alone; see `access.shapes`."""
    _hash: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        parts = (self.operation, [_part(it) for it in self.operands])
        digest = blake2b(repr(parts).encode(), digest_size=16).digest()
        object.__setattr__(self, "digest", digest)
        object.__setattr__(self, "_hash", int.from_bytes(digest[:7], "little"))

    def __hash__(self) -> int:
        return self._hash

    @staticmethod
    def of(operation: str, *operands: Operand) -> Real:
        """Return the operation, or the unknown value if an operand is unknown or it grows too large."""
        size = 1 + sum(it.size for it in operands if isinstance(it, Real))
        lost = any(isinstance(it, Real) and it.operation == "unknown" for it in operands)
        if size > MAX_SIZE or lost or operation not in _FUNCTIONS:
            return unknown_from(operands)
        return Real(operation, operands, size)

    @staticmethod
    def choice(condition: Polynomial, if_true: Real, if_false: Real) -> Real:
        """Return the value after a branch."""
        return Real.of("?:", condition, if_true, if_false)

    @property
    def leaves(self) -> frozenset[Leaf]:
        """The symbols it depends on."""
        if not self.operands:
            return frozenset()
        return frozenset().union(*(it.leaves for it in self.operands if isinstance(it, (Real, Polynomial))))

    def evaluate(self, evaluator: Evaluator) -> Any:
        """Return its value, a float or an array of float64."""
        values = [
            it.evaluate(evaluator)
            if isinstance(it, Real)
            else _number(evaluator.sum(it))
            if isinstance(it, Polynomial)
            else it
            for it in self.operands
        ]
        return _FUNCTIONS[self.operation](*values)

    def to_int(self, evaluator: Evaluator) -> Any:
        """Return its value rounded towards zero; raises `OverflowError` for a number that has none.

        In an array such numbers become arbitrary ones: C leaves them undefined, and conditions may leave
        their work-items out.
        """
        import numpy as np

        with np.errstate(all="ignore"):
            value = np.trunc(self.evaluate(evaluator))
            if np.ndim(value):
                return np.asarray(value, dtype=np.int64)
        if not np.isfinite(value):
            raise OverflowError("not finite")
        return int(value)

    def text(self, write: Callable[[Polynomial], str]) -> str:
        """Return it as C text; `write` prints the integers in it."""
        parts = [
            it.text(write) if isinstance(it, Real) else write(it) if isinstance(it, Polynomial) else f"{it:g}"
            for it in self.operands
        ]
        match self.operation, parts:
            case (("int" | "number" | "read"), [only]):
                return only
            case (("+" | "-" | "*" | "/"), [left, right]):
                return f"({left} {self.operation} {right})"
            case "?:", [condition, left, right]:
                return f"({condition} ? {left} : {right})"
            case _:
                return f"{self.operation}({', '.join(parts)})"


def _number(value: Any) -> Any:
    """Return what floating-point functions take: arrays of Python's integers are none of theirs."""
    is_array = not isinstance(value, int | float)
    return value.astype(float) if is_array and value.dtype.kind == "O" else value


Operand = Real | Polynomial | float
UNKNOWN_REAL: Final = Real("unknown")


def _part(operand: Operand) -> object:
    match operand:
        case Real():
            return operand.digest
        case Polynomial():
            return operand.shape.digest
        case _:
            return operand


def unknown_from(operands: Sequence[Operand]) -> Real:
    """Return an unknown value that still says which data it was computed from."""
    leaves = frozenset[Leaf]().union(*(it.leaves for it in operands if isinstance(it, (Real, Polynomial))))
    data = sorted((it for it in leaves if isinstance(it, Indirect)), key=lambda it: (it.site, it.lane))
    return Real("unknown", tuple(Polynomial.of(it) for it in data[:4])) if data else UNKNOWN_REAL


def number(value: float) -> Real:
    """Return a constant."""
    return Real("number", (float(value),))


def from_integer(value: Polynomial) -> Real:
    """Return an integer as a real."""
    return Real("int", (value,))


def read(atom: Leaf) -> Real:
    """Return a floating-point argument, or a value read from memory."""
    return Real("read", (Polynomial.of(atom),))


def as_integer(value: Real) -> Polynomial | None:
    """Return the integer that C's conversion gives (towards zero); `None` if the value is unknown."""
    if value.operation == "unknown":
        return None
    if value.operation == "int" and isinstance(value.operands[0], Polynomial):
        return value.operands[0]
    if value.operation == "number" and isinstance(value.operands[0], float):
        number = value.operands[0]
        return Polynomial.constant(int(number)) if math.isfinite(number) else None
    if value.operation == "floor" and (known := _in_parts(value.operands[0])) is not None:
        whole, rest = known
        return whole + math.floor(rest) if math.isfinite(rest) else None
    return Polynomial.of(Operation(Op.TO_INT, _integers_in(value), value))


def _in_parts(value: Operand) -> tuple[Polynomial, float] | None:
    """Return an integer and a number of which a value is the sum, as x and 0.5 of `x + 0.5f`."""
    match value:
        case Real("int", (Polynomial() as whole,)):
            return whole, 0.0
        case Real("number", (float() as number,)):
            return ZERO, number
        case Real("+" | "-" as operation, (left, right)):
            one, two = _in_parts(left), _in_parts(right)
            if one is None or two is None:
                return None
            sign = 1 if operation == "+" else -1
            return one[0] + two[0].scaled(sign), one[1] + sign * two[1]
        case _:
            return None


def _integers_in(value: Real) -> tuple[Polynomial, ...]:
    found: list[Polynomial] = []
    for operand in value.operands:
        if isinstance(operand, Polynomial):
            found.append(operand)
        elif isinstance(operand, Real):
            found.extend(_integers_in(operand))
    return tuple(found)


def _numpy(name: str) -> Callable[..., Any]:
    def call(*values: Any) -> Any:
        import numpy as np

        with np.errstate(all="ignore"):
            return getattr(np, name)(*values)

    return call


def _fma(a: Any, b: Any, c: Any) -> Any:
    return a * b + c


def _clamp(value: Any, low: Any, high: Any) -> Any:
    import numpy as np

    return np.minimum(np.maximum(value, low), high)


def _where(condition: Any, if_true: Any, if_false: Any) -> Any:
    import numpy as np

    return np.where(np.asarray(condition) != 0, if_true, if_false)


_FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "number": lambda value: value,
    "int": lambda value: value,
    "read": lambda value: value,
    "?:": _where,
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _numpy("true_divide"),
    "neg": lambda a: -a,
    "floor": _numpy("floor"),
    "ceil": _numpy("ceil"),
    "trunc": _numpy("trunc"),
    "rint": _numpy("rint"),
    "round": lambda a: _numpy("trunc")(a + _numpy("copysign")(0.5, a)),
    "sqrt": _numpy("sqrt"),
    "fabs": _numpy("abs"),
    "exp2": _numpy("exp2"),
    "log2": _numpy("log2"),
    "pow": _numpy("power"),
    "fmin": _numpy("minimum"),
    "fmax": _numpy("maximum"),
    "min": _numpy("minimum"),
    "max": _numpy("maximum"),
    "fmod": _numpy("fmod"),
    "mad": _fma,
    "fma": _fma,
    "clamp": _clamp,
}
