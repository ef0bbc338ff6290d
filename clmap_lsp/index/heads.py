"""Heads of functions as C had them before prototypes: `int f(a, b) int a; float b; { ... }`."""

from __future__ import annotations

from collections.abc import Sequence

from clmap_lsp.index.types import TYPE_NAMES
from clmap_lsp.source.lexer import is_name
from clmap_lsp.source.vocabulary import ATTRIBUTE_WORDS

_LONGEST = 400
"""Tokens."""
_BETWEEN = frozenset({",", ";", "*", "[", "]"})


def is_old_head(texts: Sequence[str], opened: int) -> bool:
    """Tell whether the `(` at a token begins a list of names, with their types before a body behind it."""
    at = opened + 1
    while at + 1 < len(texts) and _is_plain_name(texts[at]) and texts[at + 1] == ",":
        at += 2
    if at + 2 >= len(texts) or not _is_plain_name(texts[at]) or texts[at + 1] != ")":
        return False
    first = at + 2
    if not is_name(texts[first]) or texts[first] in ATTRIBUTE_WORDS:
        return False
    for number in range(first, min(first + _LONGEST, len(texts))):
        text = texts[number]
        if text == "{":
            return texts[number - 1] == ";"
        if not (is_name(text) or text in _BETWEEN or text.isdecimal()):
            return False
    return False


def ends_old_parameter(texts: Sequence[str], start: int, at: int) -> bool:
    """Tell whether the `;` at a token ends the type of a parameter in the head that begins at `start`."""
    if texts[at - 1] == ")" or at - start > _LONGEST:
        return False
    opened = next((it for it in range(start + 2, at) if texts[it] == "("), None)
    return opened is not None and is_name(texts[opened - 1]) and is_old_head(texts, opened)


def _is_plain_name(text: str) -> bool:
    return is_name(text) and text not in TYPE_NAMES
