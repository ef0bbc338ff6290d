"""Edits of a text: checked, applied, shown."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from clmap_lsp.findings import Edit
from clmap_lsp.source.span import Span


class OverlapError(ValueError):
    """Two edits touch the same text."""


def apply(text: str, edits: Iterable[Edit], path: str) -> str:
    """Return `text`, the content of `path`, with the edits of that file made.

    Insertions at one place are made in the order given.

    Raises: OverlapError; ValueError if an edit reaches outside the text.
    """
    mine = [it for it in edits if it.span.path == path]
    order = sorted(range(len(mine)), key=lambda at: (mine[at].span.start, mine[at].span.end, at))
    parts: list[str] = []
    at = 0
    for index in order:
        span = mine[index].span
        if not 0 <= span.start <= span.end <= len(text):
            raise ValueError(f"an edit of {span.start} to {span.end} in a text of {len(text)} characters")
        if span.start < at:
            raise OverlapError(f"two edits touch the text at {span.start}")
        parts += (text[at : span.start], mine[index].text)
        at = span.end
    return "".join([*parts, text[at:]])


class Relocation:
    """Where the text of a file stands after edits of it."""

    def __init__(self, edits: Iterable[Edit], path: str) -> None:
        self._edits = sorted(
            (it for it in edits if it.span.path == path), key=lambda it: (it.span.start, it.span.end)
        )
        self._path = path
        self._new: list[tuple[int, int]] = []
        moved = 0
        for it in self._edits:
            start = it.span.start + moved
            self._new.append((start, start + len(it.text)))
            moved += len(it.text) - (it.span.end - it.span.start)

    def after(self, span: Span) -> Span | None:
        """Return where a span is afterwards; `None` where an edit changes text inside it."""
        if span.path != self._path:
            return Span(span.path, span.start, span.end)
        moved = 0
        for it in self._edits:
            if it.span.end <= span.start:
                moved += len(it.text) - (it.span.end - it.span.start)
            elif it.span.start < span.end:
                return None
        return Span(span.path, span.start + moved, span.end + moved)

    def is_new(self, span: Span) -> bool:
        """Tell whether a span of the text afterwards holds text that an edit wrote."""
        mine = span.path == self._path
        return mine and any(start < span.end and span.start < end for start, end in self._new)


def insert(path: str, at: int, text: str) -> Edit:
    """Return an edit that inserts text."""
    return Edit(Span(path, at, at), text)


def replace(span: Span, text: str) -> Edit:
    """Return an edit that replaces a span, which must be as typed (not out of a macro)."""
    return Edit(Span(span.path, span.start, span.end), text)


def indent_of(text: str, at: int) -> str:
    """Return the white space that starts the line of an offset."""
    start = text.rfind("\n", 0, at) + 1
    line = text[start:at] if text[start:at].strip() == "" else text[start : text.find("\n", start)]
    return line[: len(line) - len(line.lstrip())]


def unified_diff(path: str, before: str, after: str) -> str:
    """Return the change of a file as a unified diff that `patch` takes; empty where nothing changed."""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), path, path, n=3
    )
    return "".join(it if it.endswith("\n") else f"{it}\n\\ No newline at end of file\n" for it in lines)
