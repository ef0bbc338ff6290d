"""From where host code names a kernel to the kernel, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import TYPE_CHECKING

from clmap_lsp.hosts.uses import name_at, uses_of
from clmap_lsp.index.model import Kind, Symbol
from clmap_lsp.server.convert import Places
from clmap_lsp.server.embedding import host_language
from clmap_lsp.source.span import Span

if TYPE_CHECKING:
    from lsprotocol import types as lsp

    from clmap_lsp.server.app import ClmapServer
    from clmap_lsp.server.documents import Document
    from clmap_lsp.server.indexing import Indexed


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
    found = _kernels(name, await server.indexes.workspace())
    nearest = max((_shared(document, indexed) for indexed, _ in found), default=0)
    return [it for it in found if _shared(document, it[0]) == nearest]


def _kernels(name: str, indexes: Iterable[Indexed]) -> list[tuple[Indexed, Symbol]]:
    found = []
    for it in indexes:
        symbol = it.index.scope.ordinary.get(name)
        if symbol is not None and symbol.kind is Kind.KERNEL:
            found.append((it, it.index.definition(symbol)))
    return found


def _shared(document: Document, indexed: Indexed) -> int:
    """Return how many folders two files have in common, from the root on."""
    mine, other = PurePath(document.path).parent.parts, PurePath(indexed.document.path).parent.parts
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
