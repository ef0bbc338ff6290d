"""Built-in functions that indices are made with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from clmap_lsp.access import algebra
from clmap_lsp.access.facts import Facts
from clmap_lsp.access.polynomial import ZERO, Op, Polynomial
from clmap_lsp.access.real import Real, unknown_from
from clmap_lsp.source.types import ScalarKind, ScalarType

_REAL_NAMES: Final = {
    "floor": ("floor", 1),
    "ceil": ("ceil", 1),
    "trunc": ("trunc", 1),
    "rint": ("rint", 1),
    "round": ("round", 1),
    "sqrt": ("sqrt", 1),
    "native_sqrt": ("sqrt", 1),
    "half_sqrt": ("sqrt", 1),
    "fabs": ("fabs", 1),
    "exp2": ("exp2", 1),
    "native_exp2": ("exp2", 1),
    "log2": ("log2", 1),
    "native_log2": ("log2", 1),
    "pow": ("pow", 2),
    "pown": ("pow", 2),
    "powr": ("pow", 2),
    "native_powr": ("pow", 2),
    "fmin": ("fmin", 2),
    "fmax": ("fmax", 2),
    "min": ("min", 2),
    "max": ("max", 2),
    "fmod": ("fmod", 2),
    "native_divide": ("/", 2),
    "mad": ("mad", 3),
    "fma": ("fma", 3),
    "clamp": ("clamp", 3),
}


def real_builtin(name: str, arguments: Sequence[Real]) -> Real:
    """Return a floating-point function of one lane."""
    known = _REAL_NAMES.get(name)
    if known is None or known[1] != len(arguments):
        return unknown_from(arguments)
    return Real.of(known[0], *arguments)


def integer_builtin(
    name: str, arguments: Sequence[Polynomial], kind: ScalarType, facts: Facts
) -> Polynomial | None:
    """Return an integer function of one lane; `None` for one that is not known.

    Source: OpenCL C Specification 3.0, section 6.15.3 (integer functions) and 6.15.6 (`select`).
    """
    match name, arguments:
        case "min", [a, b]:
            return algebra.minimum(a, b, facts)
        case "max", [a, b]:
            return algebra.maximum(a, b, facts)
        case "clamp", [a, low, high]:
            return algebra.minimum(algebra.maximum(a, low, facts), high, facts)
        case "abs", [a]:
            return algebra.absolute(a, facts)
        case "abs_diff", [a, b]:
            return algebra.absolute(a - b, facts)
        case "mul24", [a, b]:
            return a * b
        case "mad24", [a, b, c]:
            return algebra.add(a * b, c, facts)
        case "mul_hi", [a, b] if kind.bits <= 32:
            return algebra.floor_div(a * b, Polynomial.constant(1 << kind.bits), facts)
        case "add_sat", [a, b]:
            return _saturated(a + b, kind, facts)
        case "sub_sat", [a, b]:
            return _saturated(a - b, kind, facts)
        case "mad_sat", [a, b, c]:
            return _saturated(a * b + c, kind, facts)
        case "hadd", [a, b]:
            return algebra.floor_div(a + b, Polynomial.constant(2), facts)
        case "rhadd", [a, b]:
            return algebra.floor_div(a + b + 1, Polynomial.constant(2), facts)
        case "select", [if_false, if_true, condition]:
            return algebra.select(algebra.as_truth(condition), if_true, if_false, facts)
        case "bitselect", [a, b, mask] if mask.value is not None:
            kept = algebra.bit_and(a, Polynomial.constant(~mask.value), facts)
            return algebra.bit_or(kept, algebra.bit_and(b, mask, facts), facts)
        case "popcount", [a]:
            return algebra.opaque(Op.POPCOUNT, algebra.wrapped(a, min(kind.bits, 32), False, facts))
        case "clz", [a]:
            return algebra.opaque(Op.CLZ, a, Polynomial.constant(kind.bits))
        case _:
            return None


def _saturated(value: Polynomial, kind: ScalarType, facts: Facts) -> Polynomial:
    """Hold a value inside its type; of large types only the end at 0 is modelled."""
    if kind.kind is ScalarKind.UNSIGNED:
        value = algebra.maximum(value, ZERO, facts)
    if kind.bits >= 32:
        return value
    high = (1 << (kind.bits - (1 if kind.is_signed else 0))) - 1
    low = -(1 << (kind.bits - 1)) if kind.is_signed else 0
    raised = algebra.maximum(value, Polynomial.constant(low), facts)
    return algebra.minimum(raised, Polynomial.constant(high), facts)
