"""A text that many edits are made in, one after the other, each in the time that its own lines take.

Replacing a word everywhere sends an edit for each place: with the text copied and its lines counted for every
one of them, twenty thousand in 140 KB took half a minute, during which nobody was answered.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from lsprotocol import types as lsp

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")

Column = Callable[[str, int], int]
"""Gives the code points of a line that so many of the client's units are."""


class EditedLines:
    """A text as its lines with their ends. The last line has none, and may be empty."""

    def __init__(self, text: str, column: Column) -> None:
        self._column = column
        self._lines = _lines_of(text)

    @property
    def text(self) -> str:
        """The text as it is by now."""
        return "".join(self._lines)

    def replace_all(self, text: str) -> None:
        """Begin anew with another text."""
        self._lines = _lines_of(text)

    def replace(self, span: lsp.Range, text: str) -> None:
        """Replace what lies between two places; places past the end of a line mean its end."""
        lines = self._lines
        first, start = self._place(span.start)
        last, end = max((first, start), self._place(span.end))
        is_at_end = last == len(lines) - 1
        new = lines[first][:start] + text + lines[last][end:]
        if first and new.startswith("\n") and lines[first - 1].endswith("\r"):
            first -= 1
            new = lines[first] + new  # The two are one end of a line now.
        pieces = _lines_of(new)
        if not is_at_end:
            pieces.pop()  # Behind the end that the last line still has, the next one starts.
        lines[first : last + 1] = pieces

    def _place(self, position: lsp.Position) -> tuple[int, int]:
        if position.line >= len(self._lines):
            return len(self._lines) - 1, len(self._lines[-1])
        line = self._lines[position.line].rstrip("\r\n")
        return position.line, self._column(line, position.character)


def _lines_of(text: str) -> list[str]:
    lines = _LINE.findall(text)
    if len(lines) > 1 and lines[-1] == "" and not lines[-2].endswith(("\r", "\n")):
        lines.pop()  # The pattern also fits the empty end behind a line without one.
    return lines
