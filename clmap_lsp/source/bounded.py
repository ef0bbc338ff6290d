"""Parsing that ends: texts made for it take a parser's recovery the square of their length, or more."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tree_sitter import Parser

if TYPE_CHECKING:
    from tree_sitter import Node, Point, Tree

_PIECE = 1 << 9
"""Bytes that the parser is given at a time. A node's text is asked for in such pieces, too."""
_CHARACTERS_A_STEP = 20
_MAX_STEPS = 200_000
"""Of the parser, a hundred operations each. Programs take 0.02 a character, also with errors; its recovery
tries ever more ways where nothing fits for long, and eight thousand undefined names on end took seconds. Of
13,882 public host files the one that takes most takes half of what it may."""
_MAX_DEPTH = 2_000
"""Brackets that are open at a time in host code: steps take longer with each that is not closed."""
_MAX_HEADS = 500
"""Statements in each other without braces between them, `if (a) if (b)` …: the same holds of them."""
_HEADS = frozenset(("if", "else", "for", "while", "do", "switch"))
_BRACKET = re.compile(r"[()\[\]{}]")
_CONTINUED = re.compile(r"(?:\\\r?\n){500}")
"""Lines without anything that go on in the next one: the grammar of Python takes their square."""


def within_steps(parser: Parser, encoded: bytes, previous: Tree | None = None) -> Tree | None:
    """Parse, unless that takes more steps than any program does."""
    left = min(2_000 + len(encoded) // _CHARACTERS_A_STEP, _MAX_STEPS)

    def is_too_long(_at: int, _has_error: bool) -> bool:
        nonlocal left
        left -= 1
        return left < 0

    def piece(at: int, _: Point) -> bytes:
        return encoded[at : at + _PIECE]

    try:
        if previous is None:
            return parser.parse(piece, progress_callback=is_too_long)
        return parser.parse(piece, previous, progress_callback=is_too_long)
    except ValueError:  # So it says that it was stopped.
        parser.reset()
        return None


def stand_too_deep(texts: Sequence[str]) -> bool:
    """Tell whether statements of OpenCL C stand in each other as deep as no program has them."""
    if sum(map(texts.count, _HEADS)) <= _MAX_HEADS:
        return False
    open_heads, parentheses = 0, 0
    outside = [0]
    for text in texts:
        if text == "(":
            parentheses += 1
        elif text == ")":
            parentheses = max(0, parentheses - 1)
        elif parentheses:
            continue
        elif text in _HEADS:
            open_heads += 1
            if open_heads > _MAX_HEADS:
                return True
        elif text == "{":
            outside.append(open_heads)
        elif text in (";", "}"):
            if text == "}" and len(outside) > 1:
                outside.pop()
            open_heads = outside[-1]
    return False


def host_tree(parser: Parser, text: str) -> Node:
    """Return the syntax tree of host code; an empty one of what nobody wrote.

    The parser is to be the caller's own: one that two threads use at once ends the process.
    """
    tree = None
    if not _is_deep(text) and not _CONTINUED.search(text):
        tree = within_steps(parser, text.encode("utf-8", "replace"))
    return (tree or parser.parse(b"")).root_node


def _is_deep(text: str) -> bool:
    if sum(map(text.count, "([{")) <= _MAX_DEPTH:
        return False
    depth = 0
    for match in _BRACKET.finditer(text):
        if match[0] in "([{":
            depth += 1
            if depth > _MAX_DEPTH:
                return True
        elif depth:
            depth -= 1
    return False
