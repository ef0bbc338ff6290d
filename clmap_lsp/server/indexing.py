"""The index of each document, renewed when its text or a text that it includes changes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, TypeVar

from clmap_lsp.dataclass import dataclass
from clmap_lsp.index.index import Index
from clmap_lsp.index.model import Symbol
from clmap_lsp.interruption import checkpoint
from clmap_lsp.server.convert import Places
from clmap_lsp.server.embedding import INCLUDED_SUFFIXES, OPENCL_SUFFIXES
from clmap_lsp.server.shift import Shift
from clmap_lsp.server.turns import Band, Urgency
from clmap_lsp.source.span import Span
from clmap_lsp.sources import UnreadableError, include_reader, read_source

if TYPE_CHECKING:
    from collections.abc import Callable

    from lsprotocol import types as lsp

    from clmap_lsp.config import Settings
    from clmap_lsp.server.app import ClmapServer
    from clmap_lsp.server.documents import Document
    from clmap_lsp.server.snapshot import Snapshot
    from clmap_lsp.source.options import BuildOptions

T = TypeVar("T")

MAX_WORKSPACE_FILES = 1_000
MAX_WORKSPACE_BYTES = 1 << 20
_SKIPPED = frozenset({"node_modules", "build", "dist", "__pycache__"})


@dataclass(frozen=True, slots=True, eq=False)
class Indexed:
    """One version of a document with its index."""

    document: Document
    index: Index

    @property
    def places(self) -> Places:
        """What turns spans into ranges."""
        return Places(self.document, dict(self.index.files))

    def offset(self, position: lsp.Position) -> int:
        """Return the offset of a position."""
        return self.document.offset(position)


class Indexes:
    """The indexes of documents, the same that analyses use. Reading one goes before all other work."""

    def __init__(self, server: ClmapServer) -> None:
        self._server = server
        self._kept: dict[str, Indexed] = {}
        server.on_snapshot.append(self._analysed)
        self._files: dict[Path, tuple[float, BuildOptions, Index]] = {}
        self._includes = Includes()

    async def of(self, uri: str) -> Indexed | None:
        """Return the index of a document's present text; `None` if it is closed or holds no kernels."""
        document = self._server.documents.get(uri)
        if document is None or not self._server.holds_kernels(document):
            return None
        kept = self._kept.get(document.uri)
        settings = self._server.settings_for(document)
        if kept is not None and kept.document is document and not kept.index.includes:
            return kept
        index = await self.work(Band.REQUEST, lambda: self._read(document, settings))
        return self._keep(Indexed(document, index))

    async def answer(self, uri: str, work: Callable[[Indexed], T]) -> T | None:
        """Return what is made of the index of a document's present text; `None` as `of` does.

        Both are one piece of work: between two, what is less urgent would go on, and slow the second down.
        """
        document = self._server.documents.get(uri)
        if document is None or not self._server.holds_kernels(document):
            return None
        settings = self._server.settings_for(document)

        def both() -> tuple[Indexed, T]:
            kept = self._kept.get(document.uri)
            if kept is None or kept.document is not document or kept.index.includes:
                kept = self._same(Indexed(document, self._read(document, settings)))
            return kept, work(kept)

        indexed, found = await self.work(Band.REQUEST, both)
        self._keep(indexed)
        return found

    def _same(self, indexed: Indexed) -> Indexed:
        """Return what is kept if it is the same: it may have been asked about, and knows more by that."""
        kept = self._kept.get(indexed.document.uri)
        is_same = kept is not None and kept.document is indexed.document and kept.index is indexed.index
        return kept if kept is not None and is_same else indexed

    def _keep(self, indexed: Indexed) -> Indexed:
        found = self._same(indexed)
        if self._server.documents.get(indexed.document.uri) is indexed.document:
            self._kept[indexed.document.uri] = found
        return found

    def _read(self, document: Document, settings: Settings) -> Index:
        """Return a document's index; one that misses a file which was opened since is read anew."""
        engine = self._server.analyses.engine()
        index = engine.index(document, settings)
        missing = {PurePath(it.name).name for it in index.includes if it.path is None}
        if missing and any(PurePath(it.path).name in missing for it in self._server.documents):
            engine.reread(document.path)
            index = engine.index(document, settings)
        return index

    async def last(self, uri: str, position: lsp.Position) -> tuple[Indexed, int, Shift | None] | None:
        """Return an index with the offset of a position in its text, and how that has moved on since.

        It is the last one as long as nothing was edited at the place, else that of the present text.
        """
        document = self._server.documents.get(uri)
        if document is None:
            return None
        kept = self._kept.get(document.uri) or self._of_analysis(document.uri)
        if kept is not None and kept.document is not document:
            shift = Shift.between(kept.document.text, document.text)
            offset = shift.earlier(document.offset(position))
            if offset is not None and not shift.touches(offset - 1, offset + 1):
                return kept, offset, shift
        indexed = await self.of(uri)
        return None if indexed is None else (indexed, indexed.offset(position), None)

    async def sure(self, uri: str, position: lsp.Position) -> tuple[Indexed, Symbol, Shift] | None:
        """Return what is named at a position by the last index, if an edit since cannot have changed that."""
        from clmap_lsp.index.unmoved import means_the_same
        from clmap_lsp.index.unread import left_out_at

        document = self._server.documents.get(uri)
        kept = None if document is None else self._kept.get(document.uri)
        if document is None or kept is None or kept.document is document:
            return None
        shift = Shift.between(kept.document.text, document.text)
        offset = shift.earlier(document.offset(position))
        if offset is None or kept.index.text != kept.document.text:
            return None
        found = kept.index.occurrence_at(offset) or left_out_at(kept.index, offset)
        if found is None or shift.touches(found.start - 1, found.end + 1):
            return None
        if not means_the_same(kept.index, found, shift.apart, document.text):
            return None
        if kept.index.includes:
            settings = self._server.settings_for(document)
            engine = self._server.analyses.engine
            reads_alike = await self.work(Band.REQUEST, lambda: engine().reads_alike(kept.index, settings))
            if not reads_alike or self._server.documents.get(uri) is not document:
                return None
        return kept, found.symbol, shift

    async def work(self, band: Band, work: Callable[[], T]) -> T:
        """Do work in its turn; it is ended where nobody waits for it any more."""
        turns = self._server.turns
        return await turns.outcome(turns.submit(Urgency(band), work))

    def _open_text(self, path: str) -> str | None:
        return next((it.text for it in self._server.documents if it.path == path), None)

    def _analysed(self, snapshot: Snapshot) -> None:
        """Take the index of an analysis, which may have learnt more of how the file is built."""
        document = snapshot.document
        if self._kept.pop(document.uri, None) is not None:
            index = None if snapshot.index is None else snapshot.index()
            if index is not None:
                self._kept[document.uri] = Indexed(document, index)

    def _of_analysis(self, uri: str) -> Indexed | None:
        """Return the index of a document's last analysis, if that is still there."""
        snapshot = self._server.analyses.latest(uri)
        index = None if snapshot is None or snapshot.index is None else snapshot.index()
        return None if snapshot is None or index is None else Indexed(snapshot.document, index)

    def forget(self, uri: str) -> None:
        """Drop what is known of a closed document."""
        self._kept.pop(uri, None)

    # -------------------------------------------------------------------------------------- more files

    async def others(self, indexed: Indexed) -> list[Indexed]:
        """Return the indexes of the other open documents."""
        found = [await self.of(it.uri) for it in self._server.documents if it.uri != indexed.document.uri]
        return [it for it in found if it is not None]

    async def workspace(self) -> list[Indexed]:
        """Return the indexes of the open documents, and of the OpenCL files of the workspace's folders."""
        found = await self._open()
        known = {it.document.path for it in found}
        return found + await self.work(Band.OPENED, lambda: self._on_disk(known))

    async def reading(self, paths: Collection[str]) -> list[Indexed]:
        """Return those of the workspace that read one of these files, by whatever includes."""
        found = await self._open()
        known = {it.document.path for it in found}

        def others() -> list[Indexed]:
            may_read = self._includes.leading_to(self.folders(), paths)
            return self._on_disk(known, may_read)

        found += await self.work(Band.OPENED, others)
        return [it for it in found if not it.index.files.keys().isdisjoint(paths)]

    async def _open(self) -> list[Indexed]:
        found = [await self.of(it.uri) for it in self._server.documents]
        return [it for it in found if it is not None]

    def folders(self) -> list[Path]:
        """Return the folders of the workspace."""
        from clmap_lsp.server.documents import path_of

        workspace = self._server.workspace
        roots = list(workspace.folders) or [it for it in (workspace.root_uri,) if it]
        return [it for it in map(Path, map(path_of, roots)) if it.is_absolute()]

    def _on_disk(self, known: Collection[str], wanted: Collection[Path] | None = None) -> list[Indexed]:
        from clmap_lsp.server.documents import Document

        found: list[Indexed] = []
        for root in self.folders():
            for path in opencl_files(root):
                if str(path) in known or len(found) >= MAX_WORKSPACE_FILES:
                    continue
                if wanted is not None and path not in wanted:
                    continue
                checkpoint()
                document = Document(path.as_uri(), "opencl", 0, "", self._server.documents.encoding)
                settings = self._server.settings_for(document)
                index = self._file_index(path, settings.build, settings.opened)
                if index is not None:
                    text = Document(path.as_uri(), "opencl", 0, index.text, self._server.documents.encoding)
                    found.append(Indexed(text, index))
        return found

    def _file_index(self, path: Path, build: BuildOptions, opened: tuple[str, ...]) -> Index | None:
        from clmap_lsp.index.reading import read_index

        try:
            changed = path.stat().st_mtime
            kept = self._files.get(path)
            if kept is not None and kept[0] == changed and kept[1] == build:
                return kept[2]
            text = read_source(str(path))
        except (OSError, UnreadableError):
            return None
        reader = include_reader(str(path), opened, self._open_text)
        index = read_index(text, str(path), build, read_file=reader)
        self._files[path] = changed, build, index
        return index


class Includes:
    """Which files of a workspace may include which, by the names that stand in quotes or angle brackets."""

    def __init__(self) -> None:
        self._named: dict[Path, tuple[float, frozenset[str]]] = {}

    def leading_to(self, folders: Iterable[Path], paths: Collection[str]) -> set[Path]:
        """Return the files that include one of these, or a file that does."""
        waiting = {it for folder in folders for it in opencl_files(folder, INCLUDED_SUFFIXES)}
        wanted = {PurePath(it).name for it in paths}
        found: set[Path] = set()
        while more := {it for it in waiting if not self._names(it).isdisjoint(wanted)}:
            checkpoint()
            found |= more
            waiting -= more
            wanted = {it.name for it in more}
        return found

    def _names(self, path: Path) -> frozenset[str]:
        try:
            changed = path.stat().st_mtime
            kept = self._named.get(path)
            if kept is None or kept[0] != changed:
                kept = changed, frozenset(_QUOTED_FILE.findall(read_source(str(path))))
                self._named[path] = kept
        except (OSError, UnreadableError):
            return frozenset()
        return kept[1]


_QUOTED_FILE = re.compile(r'(?:["<]|["<][^"<>\n]{0,300}[/\\])([^"<>/\\\s]{1,200})[">]')


def opencl_files(folder: Path, suffixes: Collection[str] = OPENCL_SUFFIXES) -> Iterator[Path]:
    """Yield the files below a folder with these suffixes; links to folders are not followed."""
    waiting = [folder]
    n_seen = 0
    while waiting and n_seen < 20 * MAX_WORKSPACE_FILES:
        try:
            entries = sorted(waiting.pop().iterdir())
        except OSError:
            continue
        for it in entries:
            n_seen += 1
            if it.name.startswith(".") or it.name in _SKIPPED or it.is_symlink():
                continue
            if it.is_dir():
                waiting.append(it)
            elif it.suffix.lower() in suffixes and it.stat().st_size <= MAX_WORKSPACE_BYTES:
                yield it


def same_symbol(one: Index, symbol: Symbol, other: Index) -> Symbol | None:
    """Return the symbol of another index that is declared at the same place: in a file that both read."""
    places = {_key(one.typed_name_span(it)) for it in one.declarations(symbol)} - {None}
    shared = {it for it in places if it is not None and it[0] in other.files}
    if not shared:
        return None
    candidates = (it.symbol for it in other.occurrences if (it.path, it.start) in shared)
    return next(candidates, None)


def _key(span: Span | None) -> tuple[str, int] | None:
    return None if span is None else (span.path, span.start)
