"""Implicit conversions that lose part of a value, in clang's words (-Wconversion).

Left out is what every kernel does and what loses nothing in practice: numbers of work-items and sizes, which
have 64 bits, made `int`; integers made `float`; signs; constants that a compiler converts once, unless their
value changes.
"""

from __future__ import annotations

import math

from clmap_lsp.index.compatible import Value
from clmap_lsp.index.types import (
    Named,
    Pointer,
    Qualified,
    base_of,
    decayed,
    is_integer,
    scalar_of,
    spelled,
)
from clmap_lsp.source.types import ScalarKind, ScalarType

_SIZES = frozenset({"size_t", "ptrdiff_t", "intptr_t", "uintptr_t"})
_TRUTHS = frozenset({"==", "!=", "<", ">", "<=", ">=", "&&", "||"})


def narrowed(target: Qualified, value: Value) -> str | None:
    """Return what is lost where a value is converted to a type; `None` where nothing is, or may be."""
    wanted, given = base_of(target), base_of(decayed(value.type))
    if not isinstance(wanted, ScalarType) or wanted.kind is ScalarKind.VOID or wanted.name == "bool":
        return None
    source = scalar_of(given)
    if source is None or source.kind is ScalarKind.VOID:
        return None
    if value.constant is not None:
        return _changed(wanted, target, value)
    said = _lost(source, wanted, value)
    if said is None:
        return None
    names = f"'{spelled(Qualified(decayed(value.type).base))}' to '{spelled(Qualified(target.base))}'"
    return f"implicit conversion {said}: {names}"


def _lost(source: ScalarType, wanted: ScalarType, value: Value) -> str | None:
    """Return what the conversion of a value that is no constant loses."""
    if source.is_float and wanted.is_integer:
        return "turns floating-point number into integer"
    if source.is_float and wanted.is_float and source.bits > wanted.bits:
        return "loses floating-point precision"
    if source.is_integer and wanted.is_integer and source.bits > wanted.bits:
        is_held = value.most is not None and value.most < 1 << wanted.bits
        if not is_held and not (source.bits == 64 and is_size(value)):
            return "loses integer precision"
    return None


def _changed(wanted: ScalarType, target: Qualified, value: Value) -> str | None:
    """Return how a constant's value changes."""
    constant = value.constant
    assert constant is not None
    if not wanted.is_integer:
        return None
    least = -(1 << (wanted.bits - 1))  # `uchar x = -1` is a way to write 255.
    if not math.isfinite(constant):
        return None
    whole = int(constant)
    if whole == constant and least <= whole < 1 << wanted.bits:
        return None
    kept = whole & ((1 << wanted.bits) - 1)
    if wanted.is_signed and kept >> (wanted.bits - 1):
        kept -= 1 << wanted.bits
    source = spelled(Qualified(decayed(value.type).base))
    said = f"implicit conversion from '{source}' to '{spelled(Qualified(target.base))}' changes value"
    return f"{said} from {constant} to {kept}"


def is_size(value: Value) -> bool:
    """Tell whether a value has at most 32 bits but for sizes and numbers of work-items in it."""
    if value.is_size or value.constant is not None:
        return True
    base = value.type.base
    if isinstance(base, Named) and base.name in _SIZES:
        return True
    scalar = scalar_of(base_of(value.type))
    return scalar is not None and scalar.is_integer and scalar.bits <= 32


def is_distance(operator: str, left: Value, right: Value) -> bool:
    """Tell whether an operation counts the elements between two pointers."""
    if operator != "-":
        return False
    operands = (base_of(decayed(left.type)), base_of(decayed(right.type)))
    return all(isinstance(it, Pointer) for it in operands)


def most_of(operator: str, left: Value, right: Value, type_: Qualified) -> int | None:
    """Return the most that an operation on integers can give, if it is never negative."""
    if operator in _TRUTHS:
        return 1
    if not is_integer(base_of(type_)):
        return None
    a, b = _most(left), _most(right)
    found: int | None = None
    match operator:
        case "&":
            found = min((it for it in (a, b) if it is not None), default=None)
        case "%" if a is not None and isinstance(right.constant, int) and right.constant > 0:
            found = min(a, right.constant - 1)
        case ">>" if a is not None and isinstance(right.constant, int) and 0 <= right.constant < 64:
            found = a >> right.constant
        case "/" if a is not None:
            divisor = right.constant if isinstance(right.constant, int) else 1
            found = a // max(divisor, 1)
        case "+" if a is not None and b is not None:
            found = a + b
        case "*" if a is not None and b is not None:
            found = a * b
        case "|" | "^" if a is not None and b is not None:
            found = (1 << max(a, b).bit_length()) - 1
        case "<<" if a is not None and isinstance(right.constant, int) and 0 <= right.constant < 64:
            found = a << right.constant
        case "?" if a is not None and b is not None:
            return max(a, b)
    base = base_of(type_)
    return found if found is None or not isinstance(base, ScalarType) or found < 1 << base.bits else None


def _most(value: Value) -> int | None:
    if isinstance(value.constant, int):
        return value.constant if value.constant >= 0 else None
    if value.most is not None:
        return value.most
    scalar = scalar_of(base_of(decayed(value.type)))
    if scalar is None or not scalar.is_integer or scalar.is_signed:
        return None
    return (1 << scalar.bits) - 1
