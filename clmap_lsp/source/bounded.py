"""Parsing that ends: texts made for it take a parser's recovery the square of their length, or more."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tree_sitter import Parser

if TYPE_CHECKING:
    from tree_sitter import Node, Point, Tree

_PIECE = 1 << 9
"""Bytes that the parser is given at a time. A node's text is asked for in pieces, too."""
_WHOLE_END = 16
"""With fewer bytes left a piece is all of them: one that begins with a character must hold that character."""
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


_LENGTHS = (*range(_WHOLE_END), *(1 << power for power in range(4, _PIECE.bit_length())))


class _Buffers:
    """What pieces of a text are handed over in, a buffer a length.

    py-tree-sitter never lets go of an object that its reader was given (0.26.1, `parser_read_wrapper`):
    slices of the text would stay for good, each time that it is parsed, and with each the memory around it.
    The parser is done with a piece when it asks for the next one.
    """

    def __init__(self) -> None:
        self._by_length = {it: bytearray(it) for it in _LENGTHS}

    def filled(self, encoded: bytes, at: int) -> bytearray:
        """Return a piece of a text: a power of two bytes, so that there are few buffers, or what is left."""
        length = min(_PIECE, max(0, len(encoded) - at))
        if length >= _WHOLE_END:
            length = 1 << (length.bit_length() - 1)
        buffer = self._by_length[length]
        buffer[:] = encoded[at : at + length]
        return buffer


_FREE = [_Buffers()]
"""Those that no parse has: one may be interrupted by another thread's."""


def _free_buffers() -> _Buffers:
    try:
        return _FREE.pop()
    except IndexError:
        return _Buffers()


def within_steps(parser: Parser, encoded: bytes, previous: Tree | None = None) -> Tree | None:
    """Parse, unless that takes more steps than any program does."""
    left = min(2_000 + len(encoded) // _CHARACTERS_A_STEP, _MAX_STEPS)
    buffers: _Buffers | None
    buffers = taken = _free_buffers()

    def is_too_long(_at: int, _has_error: bool) -> bool:
        nonlocal left
        left -= 1
        return left < 0

    def piece(at: int, _: Point) -> bytes | bytearray:
        # Later a node's text is asked for in `bytes`, which are let go of.
        return encoded[at : at + _PIECE] if buffers is None else buffers.filled(encoded, at)

    try:
        if previous is None:
            return parser.parse(piece, progress_callback=is_too_long)
        return parser.parse(piece, previous, progress_callback=is_too_long)
    except ValueError:  # So it says that it was stopped.
        parser.reset()
        return None
    finally:
        buffers = None
        _FREE.append(taken)


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
