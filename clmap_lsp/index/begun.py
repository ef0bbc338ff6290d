"""Where a declaration begins although the one before it is not finished: somebody is typing that.

What is typed at the top of a file would else be read as the beginning of the next declaration, and all that
follows from that be read anew at each key.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clmap_lsp.index.cursor import (
    FUNCTION_WORDS,
    QUALIFIER_WORDS,
    SIZE_WORDS,
    SPECIFIER_WORDS,
    STORAGE_WORDS,
    TAG_WORDS,
)
from clmap_lsp.index.types import TYPE_NAMES
from clmap_lsp.source.lexer import NEW_LINE, is_name
from clmap_lsp.source.vocabulary import ATTRIBUTE_WORDS

_LONGEST = 400
"""Tokens of a head that are looked at."""
_STARTS = (SPECIFIER_WORDS | TYPE_NAMES.keys()) - ATTRIBUTE_WORDS
_FIRST = (STORAGE_WORDS - {"register", "auto"}) | (FUNCTION_WORDS - {"__extension__"})
"""Words that begin a declaration of a file, and stand in no list of parameters."""
_TYPES = SIZE_WORDS | TYPE_NAMES.keys()


def begun_anew(gaps: Sequence[int], texts: Sequence[str], start: int, end: int) -> Iterator[int]:
    """Yield where new declarations begin, at starts of lines, between the start of one and its `{` or `;`."""
    depth = 0
    for at in range(start, min(end, start + _LONGEST)):
        text = texts[at]
        depth += (text == "{") - (text == "}")
        is_start = at > start and depth == 0 and text in _STARTS and gaps[at] == NEW_LINE
        if is_start and _is_another(texts, start, at):
            yield at
            start = at


def _is_another(texts: Sequence[str], start: int, at: int) -> bool:
    """Tell whether a word that begins a declaration cannot go on with what begins at `start`."""
    before = texts[start:at]
    word, last = texts[at], before[-1]
    has_value = "=" in before
    if before.count("(") > before.count(")"):
        if word in _FIRST or (word in TAG_WORDS and "{" in texts[at + 1 : at + 3]):
            return True
        # In an expression, `)` or `*` follows a type.
        return has_value and word in _TYPES and is_name(texts[at + 1]) and texts[at + 1] not in _STARTS
    if has_value:
        return True
    if last in (")", ";"):
        return False
    if last in _TYPES and word in _FIRST:
        return word == "typedef" or not _TYPES.isdisjoint(texts[at + 1 : at + 4])
    if last in _TYPES:
        return word in TAG_WORDS or (word in _TYPES and not {last, word} <= SIZE_WORDS)
    if last in SPECIFIER_WORDS:
        return False
    if not is_name(last):
        return word not in QUALIFIER_WORDS or last != "*"
    if len(before) == 1 or not _TYPES.isdisjoint(before[:-1]):
        return len(before) > 1 or word not in QUALIFIER_WORDS
    return before[-2] in TAG_WORDS and word not in QUALIFIER_WORDS
