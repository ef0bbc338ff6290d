"""The directives of a file and the text between them, cut into tokens when they are asked for.

Much of what a program includes is never looked at: inactive groups, and definitions that nothing reaches.
Finding the directives takes a thirtieth of the time of cutting all of a file.
Source: ISO/IEC 9899:1999, 6.10.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from clmap_lsp.source.difference import difference
from clmap_lsp.source.lexer import (
    CHARACTER,
    COMMENT,
    GAP,
    SPLICE,
    STRING,
    Cut,
    Token,
    cut,
    cut_edited,
    gap_end,
    joined,
    name_at,
)


@dataclass(frozen=True, slots=True)
class _Origin:
    """Where a text comes from; `typed` maps its offsets to the file's where continued lines were joined."""

    path: str
    typed: Callable[[int], int] | None


class Piece:
    """A stretch of a file, from the end of a token, or the file's start, to the end of one or of a gap."""

    __slots__ = ("_at", "_before", "_origin", "_texts", "_tokens", "text")

    def __init__(self, origin: _Origin, text: str, at: int) -> None:
        self.text = text
        self._origin = origin
        self._at = at
        self._tokens: list[Token] | None = None
        self._texts: list[str] | None = None
        self._before: Cut | None = None

    @property
    def tokens(self) -> list[Token]:
        """Return the tokens; the list is not to be changed."""
        if self._tokens is None:
            self._tokens = self._cut(0)
            self._before = None
        return self._tokens

    @property
    def texts(self) -> list[str]:
        """Return the texts of the tokens; the list is not to be changed."""
        if self._texts is None:
            self._texts = [token[0] for token in self.tokens]
        return self._texts

    @property
    def start(self) -> int:
        """Return where the first token starts."""
        return self._typed(self._at + gap_end(self.text, 0))

    def part(self, start: int, end: int) -> Piece:
        """Return the piece between two ends of tokens."""
        return Piece(self._origin, self.text[start:end], self._at + start)

    def _cut(self, start: int) -> list[Token]:
        path, before, at = self._origin.path, self._before, self._at + start
        text = self.text[start:]
        if before is not None:
            return cut_edited(path, text, at, before)
        tokens = cut(path, text, at)
        if self._origin.typed is None:
            return tokens
        return [it._replace(start=self._typed(it.start), end=self._typed(it.end - 1) + 1) for it in tokens]

    def _typed(self, offset: int) -> int:
        return offset if self._origin.typed is None else self._origin.typed(offset)


class Chunk(Piece):
    """Consecutive lines without directives, at least one token. `texts[i]` is the text of `tokens[i]`."""

    __slots__ = ("notes",)

    def __init__(self, origin: _Origin, text: str, at: int) -> None:
        super().__init__(origin, text, at)
        self.notes: dict[object, Any] = {}
        """What was found out about the chunk; those of an included file serve every file that includes it."""

    def follow(self, earlier: Chunk) -> None:
        """Be cut by the tokens of an earlier version, if it was cut."""
        known = earlier._tokens
        self._before = earlier._before if known is None else Cut(earlier.text, earlier._at, known)


class Directive(Piece):
    """One directive: its tokens after `#`, and where it starts (`#`) and ends (before the line end)."""

    __slots__ = ("_name", "meaning")

    def __init__(self, origin: _Origin, text: str, at: int) -> None:
        super().__init__(origin, text, at)
        self._name: str | None = None
        self.meaning: Any = None
        """What was made of it; that of an included file serves every file that includes it."""

    @property
    def name(self) -> str:
        """Return the directive's name; empty for the null directive."""
        if self._name is None:
            self._name = name_at(self.text, 1) or (self.texts[0] if self.tokens else "")
        return self._name

    @property
    def end(self) -> int:
        """Return where the last token ends."""
        return self.tokens[-1].end if self.tokens else self.start + 1

    def _cut(self, start: int) -> list[Token]:
        return super()._cut(start + 1)


@dataclass(frozen=True, slots=True)
class LexedFile:
    """A file as chunks of text and directives, in order."""

    path: str
    text: str = field(repr=False)
    items: list[Chunk | Directive] = field(repr=False)
    is_joined: bool = False


_DIRECTIVE = rf"(\#(?!\#)(?:[^\r\n\"'/\\]+|{STRING}|{CHARACTER}|{COMMENT}|{SPLICE}|[^\r\n])*)?"
_FIRST_LINE = re.compile(GAP + _DIRECTIVE)
# A line is looked at closely only where `#` may follow: else each line of a gap would read the rest of it.
# Each alternative starts with one certain character: so `re` passes over what lies between the fastest way.
_LINE = rf"[ \t\f\v\0\ufeff]*(?=[\#/\\]){GAP}{_DIRECTIVE}"
_LINES = re.compile(rf"{COMMENT}|{STRING}|{CHARACTER}|{SPLICE}|\n{_LINE}|\r{_LINE}")

_KEPT_FILES = 64
_KEPT_CHARACTERS = 8 << 20
"""Where all of a text is cut, its tokens take about 70 bytes a character."""
_UNLIKE = 0.25
"""Versions that differ in more of the text than this are kept both: editors read files whole, and in part."""
_kept: dict[str, tuple[LexedFile, ...]] = {}
"""The last version of each file, or the last two that are unlike; those used last at the end."""


def lex(path: str, text: str) -> LexedFile:
    """Return the chunks and directives of a file; never raises. Its last versions are remembered."""
    known = _kept.pop(path, ())
    before = min(known, key=lambda it: _apart(it.text, text), default=None)
    if before is not None and before.text == text:
        file = before
    else:
        whole, typed = joined(text)
        file = LexedFile(path, text, _items(_Origin(path, typed), whole), typed is not None)
        if before is not None and not before.is_joined and not file.is_joined:
            _share(before.items, file.items)
    if before is not None and (before is file or _apart(before.text, text) <= _UNLIKE * len(text)):
        known = tuple(it for it in known if it is not before)
    _kept[path] = (*known[-1:], file)
    _forget()
    return file


def _apart(old: str, new: str) -> int:
    """Return in how many characters of the new text two texts differ."""
    found = difference(old, new)
    return max(found.new_end, found.old_end) - found.start


def lex_fragment(path: str, text: str) -> list[Token]:
    """Return the tokens of a text in which `#` starts no directive."""
    whole, typed = joined(text)
    return Piece(_Origin(path, typed), whole, 0).tokens


def _forget() -> None:
    """Keep what was used last; at least that."""
    files = list(_kept.items())  # Other threads may add to it.
    size = sum(len(file.text) for _, versions in files for file in versions)
    for at, (path, versions) in enumerate(files[:-1]):
        if len(files) - at <= _KEPT_FILES and size <= _KEPT_CHARACTERS:
            break
        _kept.pop(path, None)
        size -= sum(len(file.text) for file in versions)


def forget(path: str) -> None:
    """Drop what is remembered of a file."""
    _kept.pop(path, None)


def _items(origin: _Origin, text: str) -> list[Chunk | Directive]:
    items: list[Chunk | Directive] = []
    at = 0
    for start, end in (*_directives(text), (len(text), len(text))):
        if gap_end(text, at) < start:
            items.append(Chunk(origin, text[at:start], at))
        if start < end:
            items.append(Directive(origin, text[start:end], start))
        at = end
    return items


def _directives(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each directive starts, and where its line ends."""
    first = _FIRST_LINE.match(text)
    assert first is not None  # All of it may be empty.
    if first.lastindex:
        yield first.span(1)
    for match in _LINES.finditer(text, first.end()):
        if match.lastindex:
            yield match.span(match.lastindex)


def _share(before: list[Chunk | Directive], items: list[Chunk | Directive]) -> None:
    """Take over what an earlier version of a file has in common with it, and how its chunks were cut."""
    at = 0
    for old, new in zip(before, items, strict=False):
        if old.text != new.text or old._at != new._at:
            _follow(old, new)
            break
        items[at] = old
        at += 1
    for old, new in zip(reversed(before[at:]), reversed(items[at:]), strict=False):
        if old.text != new.text:
            break
        _follow(old, new)


def _follow(old: Chunk | Directive, new: Chunk | Directive) -> None:
    if isinstance(old, Chunk) and isinstance(new, Chunk):
        new.follow(old)
