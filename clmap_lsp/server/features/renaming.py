"""Rename, with the reason where it is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams

from clmap_lsp.index.renaming import RenameError, renamable, rename
from clmap_lsp.server.app import feature
from clmap_lsp.server.features.navigation import occurring_in
from clmap_lsp.source.span import Span

if TYPE_CHECKING:
    from clmap_lsp.server.app import ClmapServer


def register(server: ClmapServer) -> None:
    """Register the handlers."""

    @feature(server, lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    async def prepare_rename(params: lsp.PrepareRenameParams) -> lsp.PrepareRenamePlaceholder | None:
        indexed = await server.indexes.of(params.text_document.uri)
        if indexed is None:
            return None
        try:
            found = renamable(indexed.index, indexed.offset(params.position))
        except RenameError as error:
            raise JsonRpcInvalidParams(str(error)) from None
        return lsp.PrepareRenamePlaceholder(indexed.document.range(found.start, found.end), found.symbol.name)

    @feature(server, lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    async def rename_symbol(params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
        indexed = await server.indexes.of(params.text_document.uri)
        if indexed is None:
            return None
        edits: dict[str, dict[tuple[int, int], lsp.TextEdit]] = {}
        try:
            found = renamable(indexed.index, indexed.offset(params.position))
            for other, symbol in await occurring_in(server, indexed, found.symbol):
                for it in rename(other.index, symbol, params.new_name):
                    if it.path.startswith("<"):
                        raise RenameError(f"`{symbol.name}` is named in the build options: rename it there")
                    location = other.places.location(Span(it.path, it.start, it.end))
                    edit = lsp.TextEdit(location.range, params.new_name)
                    edits.setdefault(location.uri, {})[it.start, it.end] = edit
        except RenameError as error:
            raise JsonRpcInvalidParams(str(error)) from None
        return lsp.WorkspaceEdit(changes={uri: list(its.values()) for uri, its in edits.items()})
