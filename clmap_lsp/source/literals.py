"""Numbers and characters as typed, with the types that C gives them.

Source: OpenCL C Specification 3.0, section 6.3; ISO/IEC 9899:1999, section 6.4.4.
"""

from __future__ import annotations

import re
from functools import lru_cache

from clmap_lsp.source.constants import Number, round_float
from clmap_lsp.source.strings import unescape
from clmap_lsp.source.types import DOUBLE, FLOAT, HALF, INT, LONG, UINT, ULONG, ScalarType

_NUMBER = re.compile(
    r"""(?P<body>0[xX][0-9a-fA-F]*+(?:\.[0-9a-fA-F]*+)?(?:[pP][+-]?\d++)?
        |0[bB][01]++
        |(?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d++)?)
        (?P<suffix>[a-zA-Z]*+)$""",
    re.VERBOSE,
)


@lru_cache(maxsize=4096)
def parse_number(text: str) -> tuple[Number, ScalarType] | None:
    """Return the value and type of a numeric literal, `None` if it is none."""
    match = _NUMBER.match(text.strip())
    if match is None:
        return None
    body, suffix = match["body"], match["suffix"].lower()
    is_hex = body[:2].lower() == "0x"
    is_float = "." in body or ("p" in body.lower() if is_hex else "e" in body.lower())
    try:
        if is_float or (suffix in ("f", "h") and not is_hex):
            return _floating(body, suffix, is_hex)
        return _integer(body, suffix)
    except (ValueError, OverflowError):
        return None


def _floating(body: str, suffix: str, is_hex: bool) -> tuple[Number, ScalarType] | None:
    types = {"": DOUBLE, "f": FLOAT, "h": HALF, "l": DOUBLE}
    type_ = types.get(suffix)
    if type_ is None:
        return None
    value = float.fromhex(body) if is_hex else float(body)
    return round_float(value, type_.bits), type_


def _integer(body: str, suffix: str) -> tuple[Number, ScalarType] | None:
    if suffix not in ("", "u", "l", "ul", "lu", "ll", "ull", "llu"):
        return None
    prefix = body[:2].lower()
    is_decimal = prefix not in ("0x", "0b") and (body == "0" or not body.startswith("0"))
    if prefix == "0x":
        value = int(body[2:], 16)
    elif prefix == "0b":
        value = int(body[2:], 2)
    else:
        value = int(body) if is_decimal else int(body, 8)
    if value >> 64:
        return None  # No type holds it.
    return value, _integer_type(value, suffix, is_decimal)


def _integer_type(value: int, suffix: str, is_decimal: bool) -> ScalarType:
    candidates = (INT, UINT, LONG, ULONG)
    for type_ in candidates:
        if "u" in suffix and type_.is_signed:
            continue
        if "l" in suffix and type_.bits < 64:
            continue
        if is_decimal and "u" not in suffix and type_ is UINT:
            continue
        limit = 1 << (type_.bits - (1 if type_.is_signed else 0))
        if value < limit:
            return type_
    return ULONG


def parse_character(text: str) -> int:
    """Return the value of a character literal, which is a signed char widened to int."""
    body = text[text.index("'") + 1 : text.rindex("'")]
    data = unescape(body)
    value = data[-1] if data else 0
    return value - 256 if value > 127 else value
