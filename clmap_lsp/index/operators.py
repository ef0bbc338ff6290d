"""The operators of C, and what constants come to."""

from __future__ import annotations

import re
from functools import lru_cache

from clmap_lsp.index.types import (
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    LONG,
    UINT,
    ULONG,
    UNKNOWN,
    Qualified,
)
from clmap_lsp.source.types import ScalarType

PRECEDENCE = {
    "||": 1,
    "&&": 2,
    "|": 3,
    "^": 4,
    "&": 5,
    **dict.fromkeys(("==", "!="), 6),
    **dict.fromkeys(("<", ">", "<=", ">="), 7),
    **dict.fromkeys(("<<", ">>"), 8),
    **dict.fromkeys(("+", "-"), 9),
    **dict.fromkeys(("*", "/", "%"), 10),
}
ASSIGNMENTS = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="})
UNARY = frozenset({"+", "-", "!", "~", "*", "&", "++", "--"})
POSTFIX = frozenset({"[", "(", ".", "->", "++", "--"})
MEASURES = frozenset({"sizeof", "_Alignof", "__alignof__", "__alignof", "vec_step"})
AFTER_OPERAND = (
    frozenset(PRECEDENCE) | ASSIGNMENTS | POSTFIX | {")", "]", "}", ",", ";", ":", "?", "", "{"}
) - {"{"}
NUMBER = re.compile(r"\.?\d")
_SUFFIXES = re.compile(r"(?i)(?<=[\da-f.])(u?l{0,2}u?)\Z")


def folded(operator: str, a: int | float, b: int | float, base: object) -> int | float | None:
    """Return the value of an operation in a type; `None` where it has none."""
    try:
        match operator:
            case "+":
                found: int | float = a + b
            case "-":
                found = a - b
            case "*":
                found = a * b
            case "/" if isinstance(a, int) and isinstance(b, int):
                found = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            case "/":
                found = a / b
            case "%" if isinstance(a, int) and isinstance(b, int):
                found = abs(a) % abs(b) * (-1 if a < 0 else 1)
            case "<<":
                found = int(a) << (int(b) & 63)
            case ">>":
                found = int(a) >> (int(b) & 63)
            case "&":
                found = int(a) & int(b)
            case "|":
                found = int(a) | int(b)
            case "^":
                found = int(a) ^ int(b)
            case "&&":
                found = int(bool(a and b))
            case "||":
                found = int(bool(a or b))
            case "==":
                found = int(a == b)
            case "!=":
                found = int(a != b)
            case "<":
                found = int(a < b)
            case ">":
                found = int(a > b)
            case "<=":
                found = int(a <= b)
            case ">=":
                found = int(a >= b)
            case _:
                return None
    except (ZeroDivisionError, OverflowError, TypeError, ValueError):
        return None
    return wrapped(found, base)


def wrapped(value: int | float, base: object) -> int | float | None:
    """Return a value as a type holds it."""
    if not isinstance(base, ScalarType):
        return None
    if base.is_float:
        return float(value)
    try:
        number = int(value)
    except (OverflowError, ValueError):
        return None
    if base.name == "bool":
        return int(bool(value))
    number &= (1 << base.bits) - 1
    return number - (1 << base.bits) if base.is_signed and number >> (base.bits - 1) else number


@lru_cache(maxsize=4096)
def literal(text: str) -> tuple[Qualified, int | float | None]:
    """Return the type and value of a number as written."""
    lower = text.lower()
    is_hexadecimal = lower.startswith("0x")
    is_float = "p" in lower if is_hexadecimal else ("." in lower or "e" in lower)
    if is_float or (not is_hexadecimal and lower[-1] in "fh"):
        type_ = FLOAT if lower[-1] == "f" else HALF if lower[-1] == "h" else DOUBLE
        digits = lower.rstrip("fhl")
        try:
            return type_, float.fromhex(digits) if is_hexadecimal else float(digits)
        except (ValueError, OverflowError):
            return type_, None
    match = _SUFFIXES.search(lower)
    suffix = match[1] if match is not None else ""
    digits = lower[: len(lower) - len(suffix)]
    try:
        value = int(digits, 8) if digits.startswith("0") and digits.isdecimal() else int(digits, 0)
    except ValueError:
        return UNKNOWN, None
    if value >> 64:
        return ULONG, None  # No type holds it.
    return _integer_type(value, suffix, is_decimal=not digits.startswith("0")), value


_INTEGER = re.compile(r"(?i)(?:0x[\da-f]+|0b[01]+|\d+)(?:u(?:ll?)?|ll?u?)?\Z")
_REAL = re.compile(
    r"(?i)(?:(?:\d++\.\d*+|\.\d++)(?:e[-+]?\d++)?|\d++e[-+]?\d++"
    r"|0x(?:[\da-f]++\.?[\da-f]*+|\.[\da-f]++)p[-+]?\d++)[fhl]?\Z"
)
_DIGITS = re.compile(r"(?i)0x[\da-f.]*(?:p[-+]?\d*)?|0b\d*|\d*\.?\d*(?:e[-+]?\d+)?")


@lru_cache(maxsize=4096)
def number_fault(text: str) -> str | None:
    """Say what is wrong with a number as written; `None` where nothing is."""
    if _INTEGER.match(text):
        octal = re.match(r"0(\d+)", text)
        bad = next((it for it in octal[1] if it in "89"), None) if octal is not None else None
        return None if bad is None else f"invalid digit '{bad}' in octal constant"
    if _REAL.match(text):
        return None
    if text[:2] in ("0b", "0B") and (bad := next((it for it in text[2:] if it in "23456789"), None)):
        return f"invalid digit '{bad}' in binary constant"
    match = _DIGITS.match(text)
    digits = match[0] if match is not None else ""
    kind = "floating" if "." in digits or "e" in digits.lower().removeprefix("0x") else "integer"
    suffix = text[len(digits) :] or text[1:]
    return f"invalid suffix '{suffix}' on {kind} constant"


def _integer_type(value: int, suffix: str, *, is_decimal: bool) -> Qualified:
    if "u" in suffix:
        return ULONG if "l" in suffix or value >> 32 else UINT
    if "l" not in suffix:
        if value < 1 << 31:
            return INT
        if value < 1 << 32 and not is_decimal:
            return UINT
    return LONG if value < 1 << 63 else ULONG
