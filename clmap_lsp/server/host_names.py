"""From where host code names a kernel to the kernel, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from clmap_lsp.hosts.kernels import kernels_in
from clmap_lsp.hosts.uses import name_at, uses_of
from clmap_lsp.index.model import Kind, Symbol
from clmap_lsp.index.renaming import RenameError
from clmap_lsp.interruption import checkpoint
from clmap_lsp.reading import walk
from clmap_lsp.server.convert import Places, uri_of
from clmap_lsp.server.documents import Document
from clmap_lsp.server.embedding import host_language, kernel_text
from clmap_lsp.server.turns import Band
from clmap_lsp.source.embedded import LANGUAGES
from clmap_lsp.source.span import Span
from clmap_lsp.sources import UnreadableError, read_source
from clmap_lsp.workspace import scope_of

if TYPE_CHECKING:
    from clmap_lsp.hosts.naming import Naming
    from clmap_lsp.server.app import ClmapServer
    from clmap_lsp.server.indexing import Indexed

MAX_HOST_FILES = 20_000
"""Files of a workspace that are looked at."""
MAX_HOST_BYTES = 2 << 20
"""Longer ones are generated."""


async def kernels_named_at(
    server: ClmapServer, uri: str, position: lsp.Position
) -> list[tuple[Indexed, Symbol]]:
    """Return the kernels that a host file names at a position: its own, else the nearest of the workspace."""
    document = server.documents.get(uri)
    if document is None or host_language(document) is None:
        return []
    place = name_at(document.text, document.offset(position), document.path)
    if place is None:
        return []
    name = document.text[place[0] : place[1]]
    own = await server.indexes.of(uri)
    if own is not None and (found := _kernels(name, [own])):
        return found
    if own is None and _has_kernel(document, name):
        return []  # It means its own, which nobody wants looked at.
    return _nearest(document.path, _kernels(name, await server.indexes.workspace()))


def name_in_host(document: Document, offset: int) -> tuple[int, int] | None:
    """Return where a name stands at an offset of a host file as a kernel's would."""
    return None if host_language(document) is None else name_at(document.text, offset, document.path)


def _has_kernel(document: Document, name: str) -> bool:
    """Tell whether a host file's strings hold a kernel of this name."""
    return any(it.name == name for it in kernels_in(kernel_text(document)))


def _kernels(name: str, indexes: Iterable[Indexed]) -> list[tuple[Indexed, Symbol]]:
    found = []
    for it in indexes:
        symbol = it.index.scope.ordinary.get(name)
        if symbol is not None and symbol.kind is Kind.KERNEL:
            found.append((it, it.index.definition(symbol)))
    return found


def _nearest(path: str, kernels: list[tuple[Indexed, Symbol]]) -> list[tuple[Indexed, Symbol]]:
    """Return those of several kernels that a host file means: the ones with which it shares most folders."""
    shared = [_shared(path, indexed.document.path) for indexed, _ in kernels]
    return [it for it, n in zip(kernels, shared, strict=True) if n == max(shared)]


def _shared(path: str, other_path: str) -> int:
    """Return how many folders two files have in common, from the root on."""
    mine, other = PurePath(path).parent.parts, PurePath(other_path).parent.parts
    return next(
        (at for at, (a, b) in enumerate(zip(mine, other, strict=False)) if a != b), min(len(mine), len(other))
    )


def host_uses(server: ClmapServer, uri: str, symbol: Symbol) -> list[lsp.Location]:
    """Return where host code names a kernel of a document: files that launch its kernels, and open ones."""
    if symbol.kind is not Kind.KERNEL:
        return []
    return [
        places.location(Span(path, start, end))
        for path, text, places in _host_texts(server, uri)
        for start, end in uses_of(symbol.name, text, path)
    ]


def _host_texts(server: ClmapServer, uri: str) -> Iterator[tuple[str, str, Places]]:
    open_paths = set()
    for document in server.documents:
        if host_language(document) is not None:
            open_paths.add(document.path)
            yield document.path, document.text, Places(document, {})
    snapshot = server.latest(uri)
    if snapshot is not None:
        places = Places(snapshot.document, dict(snapshot.host_files))
        for path, file in snapshot.host_files.items():
            if path not in open_paths:
                yield path, file.text, places


# ----------------------------------------------------------------------------------------------- renaming


async def host_namings(server: ClmapServer, indexed: Indexed, kernel: Symbol) -> list[lsp.Location]:
    """Return every place of the workspace's host code, open or not, that names a kernel.

    Raises: RenameError where a place may name it, or something else.
    """
    name = kernel.name
    named = await server.indexes.work(Band.REQUEST, lambda: list(_namings(server, indexed, name)))
    kernels = _kernels(name, await server.indexes.workspace()) if named else []
    found: list[lsp.Location] = []
    doubts: list[str] = []
    for document, places in named:
        is_its_own = document.uri == indexed.document.uri
        meant = [(indexed, kernel)] if is_its_own else _nearest(document.path, kernels)
        others = [it for it in meant if not _is_same(it, (indexed, kernel))]
        if meant and len(others) == len(meant):
            continue
        file = document.file
        for it in places:
            row = file.position(it.start).row
            doubt = f"it may mean the kernel of {others[0][0].document.path}" if others else it.doubt
            if doubt:
                doubts.append(f"{PurePath(document.path).name}:{row} ({doubt})")
            else:
                found.append(lsp.Location(document.uri, document.range(it.start, it.end)))
    if doubts:
        more = f" and {len(doubts) - 3} more" if len(doubts) > 3 else ""
        raise RenameError(
            f"host code names `{name}` where it is not certain that the kernel is meant; "
            f"change by hand first: {', '.join(doubts[:3])}{more}"
        )
    return found


def _is_same(one: tuple[Indexed, Symbol], other: tuple[Indexed, Symbol]) -> bool:
    """Tell whether two files see the same kernel."""
    places = [indexed.index.name_span(symbol) for indexed, symbol in (one, other)]
    return None not in places and places[0] == places[1]


def _namings(server: ClmapServer, indexed: Indexed, name: str) -> Iterator[tuple[Document, list[Naming]]]:
    """Yield the host files that name a kernel or may do so; not those with a kernel of their own."""
    from clmap_lsp.hosts.naming import namings  # Its parsers are slow to load, and not needed to start.

    for document in _documents_with(server, indexed, name):
        checkpoint()
        if document.uri != indexed.document.uri and _has_kernel(document, name):
            continue
        if places := list(namings(name, document.text, document.path)):
            yield document, places


def _documents_with(server: ClmapServer, indexed: Indexed, word: str) -> Iterator[Document]:
    """Yield the host files that hold a word: open ones, those that launch, and those of the workspace."""
    seen = {it.path for it in server.documents}
    yield from (it for it in server.documents if host_language(it) and word in it.text)
    snapshot = server.latest(indexed.document.uri)
    launching = () if snapshot is None else snapshot.host_files
    on_disk = (it for root in server.indexes.folders() for it in host_files(root))
    for path in (*launching, *on_disk):
        if path in seen:
            continue
        seen.add(path)
        checkpoint()
        try:
            text = read_source(path)
        except (OSError, UnreadableError):
            continue
        if word in text:
            yield Document(uri_of(path), "", 0, text, server.documents.encoding)


def host_files(folder: Path) -> Iterator[str]:
    """Yield the host files below a folder, as many as are looked at."""
    for n_seen, it in enumerate(walk(str(folder), LANGUAGES, scope_of(str(folder)))):
        if n_seen >= MAX_HOST_FILES:
            return
        if not it.refused and Path(it.path).stat().st_size <= MAX_HOST_BYTES:
            yield it.path
