"""The directives of a file and the text between them, cut into tokens when they are asked for.

Much of what a program includes is never looked at: inactive groups, and definitions that nothing reaches.
Finding the directives takes a thirtieth of the time of cutting all of a file.
Source: ISO/IEC 9899:1999, 6.10.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import field
from typing import Any

from clmap_lsp.dataclass import dataclass
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
    moved,
    name_at,
)
from clmap_lsp.source.segments import Segment, followed, segments_of


@dataclass(frozen=True, slots=True)
class _Origin:
    """Where a text comes from; `typed` maps its offsets to the file's where continued lines were joined."""

    path: str
    typed: Callable[[int], int] | None


class Piece:
    """A stretch of a file, from the end of a token, or the file's start, to the end of one or of a gap."""

    __slots__ = ("_at", "_before", "_origin", "_same", "_texts", "_tokens", "text")
    _first = 0
    """Where in its text the tokens begin."""

    def __init__(self, origin: _Origin, text: str, at: int) -> None:
        self.text = text
        self._origin = origin
        self._at = at
        self._tokens: list[Token] | None = None
        self._texts: list[str] | None = None
        self._before: Cut | None = None
        self._same: tuple[list[Token], int] | None = None

    @property
    def tokens(self) -> list[Token]:
        """Return the tokens; the list is not to be changed."""
        if self._tokens is None:
            if self._same is not None:
                self._tokens = moved(*self._same)
            else:
                self._tokens = self._cut(self._first)
            self._before = self._same = None
        return self._tokens

    def token(self, number: int) -> Token:
        """Return one of the tokens; that moves no others."""
        same = self._same
        if self._tokens is None and same is not None:
            return moved([same[0][number]], same[1])[0]
        return self.tokens[number]

    @property
    def n_tokens(self) -> int:
        """Return how many tokens there are."""
        same = self._same
        return len(self.tokens if same is None else same[0])

    def be_moved(self, earlier: Piece, by: int) -> None:
        """Take the tokens of a piece that is typed alike elsewhere, if it was cut."""
        if earlier._tokens is not None:
            self._same = earlier._tokens, by
        elif earlier._same is not None:
            self._same = earlier._same[0], earlier._same[1] + by

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

    def is_like(self, other: Piece, end: int) -> bool:
        """Tell whether a piece of another version of the file is the same; up to `end` the two are alike."""
        if self.text != other.text or self._at != other._at:
            return False
        return self._typed(self._at + len(self.text)) <= end

    def follow(self, earlier: Piece) -> None:
        """Be cut by the tokens of an earlier version, if it was cut."""
        if self._origin.typed is not None or earlier._origin.typed is not None:
            return
        self._before = earlier.as_cut()

    def as_cut(self) -> Cut | None:
        """Return how it was cut, or, if it was not, how the version before it was."""
        first = self._first
        if self._tokens is not None:
            return Cut(self.text[first:], self._at + first, self._tokens)
        if self._same is not None:
            tokens, by = self._same
            return Cut(self.text[first:], self._at + first - by, tokens)
        return self._before

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

    __slots__ = ("_divided", "_stretches", "is_known", "notes")

    def __init__(self, origin: _Origin, text: str, at: int) -> None:
        super().__init__(origin, text, at)
        self.notes: dict[object, Any] = {}
        """What was found out about the chunk; those of an included file serve every file that includes it."""
        self.is_known = False
        """An earlier version of the file has it, or had it before an edit."""
        self._stretches: list[Segment] | None = None
        self._divided: tuple[list[Segment], Cut] | None = None
        """The stretches of an earlier version that was edited."""

    def be_moved(self, earlier: Piece, by: int) -> None:
        """Take over what was found out about a chunk that is typed alike elsewhere."""
        super().be_moved(earlier, by)
        if isinstance(earlier, Chunk):
            self.is_known = self._origin.typed is None
            self._stretches, self._divided = earlier._stretches, earlier._divided

    def follow(self, earlier: Piece) -> None:
        """Take over how an earlier version was cut, and divided into stretches."""
        super().follow(earlier)
        if self._before is not None and isinstance(earlier, Chunk):
            self.is_known = True
            if earlier._stretches is None:
                self._divided = earlier._divided
            elif (cut := earlier.as_cut()) is not None:
                self._divided = earlier._stretches, cut

    @property
    def stretches(self) -> list[Segment]:
        """Return the stretches that it is expanded by; those that an edit left alone are the earlier ones."""
        if self._stretches is None:
            if self._divided is None:
                self._stretches = segments_of(self.tokens)
            else:
                self._stretches = followed(*self._divided, Cut(self.text, self._at, self.tokens))
                self._divided = None
        return self._stretches


class Directive(Piece):
    """One directive: its tokens after `#`, and where it starts (`#`) and ends (before the line end)."""

    __slots__ = ("_name", "earlier", "edited", "meaning")
    _first = 1

    def __init__(self, origin: _Origin, text: str, at: int) -> None:
        super().__init__(origin, text, at)
        self._name: str | None = None
        self.meaning: Any = None
        """What was made of it; that of an included file serves every file that includes it."""
        self.earlier: Any = None
        """What was made of it where it was typed before."""
        self.edited: tuple[Any, str, int] | None = None
        """What was made of it before an edit of it, and its text and place then."""

    def be_moved(self, earlier: Piece, by: int) -> None:
        """Take over what was found out about a directive that is typed alike elsewhere."""
        super().be_moved(earlier, by)
        if isinstance(earlier, Directive):
            self._name = earlier._name
            self.earlier = earlier.earlier if earlier.meaning is None else earlier.meaning

    def follow(self, earlier: Piece) -> None:
        """Take over how an earlier version was cut, and what was made of it."""
        super().follow(earlier)
        if self._before is not None and isinstance(earlier, Directive):
            self.edited = (earlier.meaning, earlier.text, earlier._at) if earlier.meaning else earlier.edited

    @property
    def at(self) -> int:
        """Return where its text starts."""
        return self._at

    @property
    def name(self) -> str:
        """Return the directive's name; empty for the null directive."""
        if self._name is None:
            self._name = name_at(self.text, 1) or (self.texts[0] if self.tokens else "")
        return self._name

    @property
    def end(self) -> int:
        """Return where the last token ends."""
        return self.token(-1).end if self.n_tokens else self.start + 1


@dataclass(frozen=True, slots=True)
class LexedFile:
    """A file as chunks of text and directives, in order."""

    path: str
    text: str = field(repr=False)
    items: list[Chunk | Directive] = field(repr=False)


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
        file = LexedFile(path, text, _items(path, typed, whole))
        if before is not None:
            _share(before, file)
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


def _items(path: str, typed: Callable[[int], int] | None, text: str) -> list[Chunk | Directive]:
    items: list[Chunk | Directive] = []
    plain, glued = _Origin(path, None), _Origin(path, typed)

    def place(start: int, end: int) -> tuple[_Origin, str, int]:
        """Of most pieces no lines were joined: such are where they are typed."""
        if typed is None:
            return plain, text[start:end], start
        first = typed(start)
        is_plain = typed(end) - first == end - start
        return (plain, text[start:end], first) if is_plain else (glued, text[start:end], start)

    at = 0
    for start, end in (*_directives(text), (len(text), len(text))):
        if gap_end(text, at) < start:
            items.append(Chunk(*place(at, start)))
        if start < end:
            items.append(Directive(*place(start, end)))
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


def _share(before: LexedFile, file: LexedFile) -> None:
    """Take over what an earlier version of a file has in common with it, and how its pieces were cut."""
    apart = difference(before.text, file.text)
    old_items, items = before.items, file.items
    at = 0
    for old, new in zip(old_items, items, strict=False):
        if not old.is_like(new, apart.start):
            _follow(old, new)
            break
        items[at] = old
        if isinstance(old, Chunk):
            old.is_known = old._origin.typed is None
        at += 1
    by = len(file.text) - len(before.text)
    for old, new in zip(reversed(old_items[at:]), reversed(items[at:]), strict=False):
        if old.text != new.text or new.start < apart.new_end:
            _follow(old, new)
            break
        new.be_moved(old, by)


def _follow(old: Chunk | Directive, new: Chunk | Directive) -> None:
    if isinstance(old, Chunk) == isinstance(new, Chunk):
        new.follow(old)
