"""Open documents, and the way between editor positions and offsets.

An editor position is a line and a count of code units in the encoding that client and server agreed on;
everything behind this file counts code points. Lines end as the protocol says: LF, CRLF or CR only.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from urllib.parse import unquote, urlsplit

from lsprotocol import types as lsp

from clmap_lsp.dataclass import dataclass
from clmap_lsp.lazy import lazy_property
from clmap_lsp.server.edited_lines import EditedLines
from clmap_lsp.source.span import SourceFile


@dataclass(frozen=True)
class Document:
    """One version of an open document; an edit makes a new one, so that no reader sees it half made."""

    uri: str
    language_id: str
    version: int
    text: str
    encoding: lsp.PositionEncodingKind = lsp.PositionEncodingKind.Utf16

    @lazy_property
    def path(self) -> str:
        """The file's path, or the URI itself for documents that are no files (untitled, notebooks)."""
        return path_of(self.uri)

    @lazy_property
    def file(self) -> SourceFile:
        """The text with its line index."""
        return SourceFile.of(self.path, self.text)

    def offset(self, position: lsp.Position) -> int:
        """Return the code-point offset of a position; past the end of its line means the line's end."""
        starts = self.file.line_starts
        if position.line >= len(starts):
            return len(self.text)
        start = starts[position.line]
        line = self.file.line(position.line + 1)
        return start + self._column(line, position.character)

    def _column(self, line: str, character: int) -> int:
        """Return how many code points of a line so many units of the client are."""
        if line.isascii() or self.encoding is lsp.PositionEncodingKind.Utf32:
            return min(character, len(line))
        left = character
        for index, char in enumerate(line):
            if left <= 0:
                return index
            left -= _units(char, self.encoding)
        return len(line)

    def position(self, offset: int) -> lsp.Position:
        """Return the position of a code-point offset."""
        place = self.file.position(offset)
        start = self.file.line_starts[place.row - 1]
        before = self.text[start : start + place.column - 1]
        if before.isascii() or self.encoding is lsp.PositionEncodingKind.Utf32:
            return lsp.Position(place.row - 1, len(before))
        return lsp.Position(place.row - 1, sum(_units(char, self.encoding) for char in before))

    def range(self, start: int, end: int) -> lsp.Range:
        """Return the range of a half-open span of code-point offsets."""
        return lsp.Range(self.position(start), self.position(end))

    def changed(self, changes: Sequence[lsp.TextDocumentContentChangeEvent], version: int) -> Document:
        """Return the document after the changes, which apply one after the other."""
        if len(changes) == 1 and isinstance(changes[0], lsp.TextDocumentContentChangePartial):
            start = self.offset(changes[0].range.start)
            end = max(self.offset(changes[0].range.end), start)
            text = self.text[:start] + _without_halves(changes[0].text) + self.text[end:]
            return replace(self, text=text, version=version)
        lines = EditedLines(self.text, self._column)
        for change in changes:
            if isinstance(change, lsp.TextDocumentContentChangePartial):
                lines.replace(change.range, _without_halves(change.text))
            else:
                lines.replace_all(_without_halves(change.text))
        return replace(self, text=lines.text, version=version)


class Documents:
    """The open documents by URI."""

    def __init__(self, encoding: lsp.PositionEncodingKind = lsp.PositionEncodingKind.Utf16) -> None:
        self.encoding = encoding
        self._open: dict[str, Document] = {}
        self._lost: dict[str, Document] = {}

    def __iter__(self) -> Iterator[Document]:
        return iter(tuple(self._open.values()))

    def get(self, uri: str) -> Document | None:
        """Return the open document, if it is open. `%3A` and `:` in URIs are the same."""
        return self._open.get(unquote(uri))

    def open(self, item: lsp.TextDocumentItem) -> Document:
        """Take a document that the editor opened."""
        text = _without_halves(item.text)
        document = Document(item.uri, item.language_id, item.version, text, self.encoding)
        self._open[unquote(item.uri)] = document
        self._lost.pop(unquote(item.uri), None)
        return document

    def change(self, params: lsp.DidChangeTextDocumentParams) -> Document | None:
        """Apply an edit; `None` for a document that is not open (the edit is then ignored)."""
        document = self.get(params.text_document.uri)
        if document is None:
            return None
        document = document.changed(params.content_changes, params.text_document.version)
        self._open[unquote(document.uri)] = document
        return document

    def close(self, uri: str) -> Document | None:
        """Forget a document that the editor closed."""
        self._lost.pop(unquote(uri), None)
        return self._open.pop(unquote(uri), None)

    def lost(self, document: Document) -> None:
        """Note that an editor has a document open whose text is not known."""
        self._lost[unquote(document.uri)] = document

    def found(self, params: lsp.DidChangeTextDocumentParams) -> Document | None:
        """Open a document that was lost, if its whole text comes; `None` otherwise."""
        document = self._lost.get(unquote(params.text_document.uri))
        changes = params.content_changes
        whole = [
            i for i, it in enumerate(changes) if isinstance(it, lsp.TextDocumentContentChangeWholeDocument)
        ]
        if document is None or not whole:
            return None
        document = document.changed(changes[whole[-1] :], params.text_document.version)
        self._open[unquote(document.uri)] = document
        del self._lost[unquote(document.uri)]
        return document


def _without_halves(text: str) -> str:
    """Return a text with halves of surrogate pairs, which JSON can carry and no file, as U+FFFD.

    That takes as many units of UTF-16: places stay where they are.
    """
    return text if text.isascii() else _HALF.sub("\ufffd", text)


_HALF = re.compile("[\ud800-\udfff]")


def _units(char: str, encoding: lsp.PositionEncodingKind) -> int:
    """Return the code units of one code point."""
    if encoding is lsp.PositionEncodingKind.Utf8:
        return len(char.encode("utf-8", "surrogatepass"))
    return 2 if char > "\uffff" and encoding is lsp.PositionEncodingKind.Utf16 else 1


_LONGEST_PATH = 4_000
_LONGEST_NAME = 255
"""In bytes, as file systems have them."""


def path_of(uri: str) -> str:
    """Return the file path of a `file:` URI, and any other URI as it is.

    What no file can be called, for its characters or its length, becomes a name of which no file is asked for
    in vain: editors keep documents under any URI.
    """
    try:
        parts = urlsplit(uri)
    except ValueError:  # Brackets that are no address of a host.
        return _nameable(uri)
    if parts.scheme != "file":
        return _nameable(uri)
    prefix = f"//{parts.netloc}" if parts.netloc and parts.netloc != "localhost" else ""
    if sys.platform == "win32":
        from nturl2path import url2pathname

        return _nameable(prefix + url2pathname(parts.path))
    return _nameable(
        prefix + unquote(parts.path)
    )  # As `urllib.request.url2pathname`, which loads an HTTP client.


def _nameable(path: str) -> str:
    """Return a path that every function of the operating system takes."""
    if path.isascii() and len(path) <= _LONGEST_NAME and "\0" not in path:
        return path
    path = path.encode("utf-8", "replace").decode("utf-8").replace("\0", "\ufffd")
    fits = len(path.encode()) <= _LONGEST_PATH
    if fits and all(len(it.encode()) <= _LONGEST_NAME for it in re.split(r"[/\\]", path)):
        return path
    return "…" + re.sub(r"[/\\]", " ", path[-60:])
