"""Places in files as typed.

Invariant: every span that leaves the source room points into a file as its author typed it, through
macros and includes. Offsets are Unicode code points, 0-based; rows and columns are 1-based.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import field
from itertools import accumulate, count
from operator import add
from typing import Any, Protocol

from clmap_lsp.dataclass import dataclass, record

_LINE_END = re.compile(r"\r\n?|\n")


@record(frozen=True, slots=True, eq=False)
class Span:
    """A half-open range `[start, end)` of code points in the file `path`.

    `definition` is set where the text came out of a macro: `path, start, end` is then the place of the
    outermost use in the file that is being read, and `definition` the place inside the macro's body.
    """

    path: str
    start: int
    end: int
    definition: Span | None = None

    def cover(self, other: Span) -> Span:
        """Return the smallest span of this file that covers both; `self` where the files differ."""
        if other.path != self.path:
            return self
        if self.definition is None and self.start <= other.start and other.end <= self.end:
            return self
        return Span(self.path, min(self.start, other.start), max(self.end, other.end))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Span):
            return NotImplemented
        here, there = (self.path, self.start, self.end), (other.path, other.start, other.end)
        return here == there and self.definition == other.definition

    def __hash__(self) -> int:
        return hash((self.path, self.start, self.end, self.definition))


class Places(Protocol):
    """What finds out where a piece of another text is typed."""

    def between(self, start: int, end: int) -> Span:
        """Return the smallest span of what is printed at `[start, end)`."""
        ...


class LazySpan(Span):
    """A span that is found out when it is first looked at. Of a file's spans, few ever are.

    `at` is the range `[at[0], at[1])` of the other text; it is no part of what a span is equal by.
    """

    __slots__ = ("_places", "at")

    def __init__(self, places: Places, at: tuple[int, int]) -> None:
        """Take what knows the place of `[at[0], at[1])`."""
        self._places: Places | None = places
        self.at = at

    @classmethod
    def known(cls, at: tuple[int, int], span: Span) -> LazySpan:
        """Return a span that is known already, with its place in the other text."""
        made = cls.__new__(cls)
        made._places, made.at = None, at
        made._become(span)
        return made

    def _become(self, span: Span) -> None:
        put = object.__setattr__
        put(self, "path", span.path)
        put(self, "start", span.start)
        put(self, "end", span.end)
        put(self, "definition", span.definition)

    def __getattr__(self, name: str) -> Any:
        # Called for what is not set yet. Threads that meet here find the same.
        places = self._places
        if places is not None:
            self._become(places.between(*self.at))
            self._places = None  # The tokens of a text that was edited since need not stay.
        return object.__getattribute__(self, name)

    def __repr__(self) -> str:
        return repr(Span(self.path, self.start, self.end, self.definition))

    def __reduce__(self) -> tuple[type[Span], tuple[object, ...]]:
        return Span, (self.path, self.start, self.end, self.definition)


@dataclass(frozen=True, slots=True)
class Position:
    """A 1-based row and column, in code points."""

    row: int
    column: int


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file as typed, with its line starts.

    A line ends at LF, CRLF or CR, as in the Language Server Protocol; form feeds and Unicode
    separators do not end lines.
    """

    path: str
    text: str
    line_starts: Sequence[int] = field(repr=False, compare=False)

    @classmethod
    def of(cls, path: str, text: str) -> SourceFile:
        """Index the lines of `text`."""
        return cls(path, text, array("I", _line_starts(text)))

    def position(self, offset: int) -> Position:
        """Return the 1-based place of a code-point offset; offsets past the end give the end."""
        offset = max(0, min(offset, len(self.text)))
        row = bisect_right(self.line_starts, offset)
        return Position(row, offset - self.line_starts[row - 1] + 1)

    def offset(self, row: int, column: int) -> int:
        """Return the offset of a 1-based place, held inside the line."""
        if row > len(self.line_starts):
            return len(self.text)
        start = self.line_starts[max(row, 1) - 1]
        end = self.line_starts[row] if row < len(self.line_starts) else len(self.text)
        return min(start + max(column, 1) - 1, end)

    def line(self, row: int) -> str:
        """Return the text of a 1-based row without its line end."""
        start = self.line_starts[row - 1]
        end = self.line_starts[row] if row < len(self.line_starts) else len(self.text)
        return self.text[start:end].rstrip("\r\n")


def _line_starts(text: str) -> list[int]:
    starts = [0]
    if "\r" not in text:
        lines = text.split("\n")
        starts += map(add, accumulate(map(len, lines[:-1])), count(1))
        return starts
    starts += (it.end() for it in _LINE_END.finditer(text))
    return starts
