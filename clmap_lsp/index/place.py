"""What stands before a place in a text: whether it is code at all, and what kind of word may begin there."""

from __future__ import annotations

import re

from clmap_lsp.source.lexer import COMMENT
from clmap_lsp.source.vocabulary import KERNEL_WORDS, STATEMENT_KEYWORDS

# Literals that are being typed have no end yet: they reach to the end of the line.
_HIDDEN = re.compile(rf'{COMMENT}|"(?:[^"\\\r\n]|\\[^\r\n])*+"?|\'(?:[^\'\\\r\n]|\\[^\r\n])*+\'?')
_NUMBER = re.compile(r"(?<![\w$.)\]])\.?\d[\w.]*\Z")
_ASSIGNMENTS = ("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=")
_COMPARISONS = ("<", ">", "<=", ">=", "==", "!=", "&&", "||", "?")
_ARITHMETIC = ("+", "-", "*", "/", "%", "&", "|", "^", "~", "!", "<<", ">>")
_BEFORE_VALUES = frozenset(("return", "case", "(", "[", ",", *_ASSIGNMENTS, *_COMPARISONS, *_ARITHMETIC))
"""Tokens behind which a value stands, and no statement."""


def is_code(text: str, at: int) -> bool:
    """Tell whether a name that starts at an offset, or before it, is in no comment, literal or number."""
    line = text[max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1 : at]
    return _NUMBER.search(line) is None and not _is_hidden(text, at)


def _is_hidden(text: str, at: int) -> bool:
    for it in _HIDDEN.finditer(text):
        if it.start() >= at:
            return False
        if at < it.end():
            return True
        if at == it.end():
            return not _is_closed(it[0])
    return False


def _is_closed(hidden: str) -> bool:
    """Tell whether what was found ends by its own mark, and not with the line or the text."""
    if hidden.startswith("//"):
        return False
    mark = "*/" if hidden.startswith("/*") else hidden[0]
    return len(hidden) >= 2 * len(mark) and hidden.endswith(mark)


def can_begin(word: str, before: str | None, *, in_function: bool) -> bool:
    """Tell whether a keyword may follow a token; `None` stands for the start of the file."""
    if word in KERNEL_WORDS:
        return not in_function and before not in _BEFORE_VALUES
    if word in STATEMENT_KEYWORDS:
        return in_function and before not in _BEFORE_VALUES
    return True
