"""Outline, symbols of the workspace, folding, selections, and links on includes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from clmap_lsp.index.model import Kind
from clmap_lsp.index.ranges import Fold, folds, selections
from clmap_lsp.server.app import feature
from clmap_lsp.server.convert import uri_of
from clmap_lsp.server.indexing import Indexed
from clmap_lsp.server.symbols import document_symbols, workspace_symbol

if TYPE_CHECKING:
    from clmap_lsp.server.app import ClmapServer

MAX_FOUND = 500
_SEARCHED = (
    Kind.KERNEL,
    Kind.FUNCTION,
    Kind.STRUCT,
    Kind.UNION,
    Kind.ENUM,
    Kind.TYPEDEF,
    Kind.VARIABLE,
    Kind.MACRO,
)


def register(server: ClmapServer) -> None:
    """Register the handlers."""

    @feature(server, lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL, lsp.DocumentSymbolOptions(label="clmap"))
    async def document_symbol(params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        indexed = await server.indexes.of(params.text_document.uri)
        return [] if indexed is None else document_symbols(indexed)

    @feature(server, lsp.WORKSPACE_SYMBOL)
    async def symbols(params: lsp.WorkspaceSymbolParams) -> list[lsp.WorkspaceSymbol]:
        found: list[tuple[int, lsp.WorkspaceSymbol]] = []
        query = params.query.lower()
        for indexed in await server.indexes.workspace():
            found += _matching(indexed, query)
        found.sort(key=lambda it: (it[0], it[1].name))
        return [it for _, it in found[:MAX_FOUND]]

    @feature(server, lsp.TEXT_DOCUMENT_FOLDING_RANGE)
    async def folding_range(params: lsp.FoldingRangeParams) -> list[lsp.FoldingRange]:
        indexed = await server.indexes.of(params.text_document.uri)
        return [] if indexed is None else [_folding(indexed, it) for it in folds(indexed.index)]

    @feature(server, lsp.TEXT_DOCUMENT_SELECTION_RANGE)
    async def selection_range(params: lsp.SelectionRangeParams) -> list[lsp.SelectionRange]:
        indexed = await server.indexes.of(params.text_document.uri)
        if indexed is None:
            return []
        return [_selection(indexed, it) for it in params.positions]

    @feature(server, lsp.TEXT_DOCUMENT_DOCUMENT_LINK, lsp.DocumentLinkOptions())
    async def document_link(params: lsp.DocumentLinkParams) -> list[lsp.DocumentLink]:
        indexed = await server.indexes.of(params.text_document.uri)
        if indexed is None:
            return []
        return [
            lsp.DocumentLink(indexed.document.range(it.span.start, it.span.end), target=uri_of(it.path))
            for it in indexed.index.includes
            if it.span.path == indexed.index.path and it.path is not None
        ]


def _matching(indexed: Indexed, query: str) -> list[tuple[int, lsp.WorkspaceSymbol]]:
    found: list[tuple[int, lsp.WorkspaceSymbol]] = []
    symbols = [it for _, it in indexed.index.symbols() if it.parent is None and it.is_definition]
    for symbol in (*symbols, *indexed.index.macros):
        if symbol.kind not in _SEARCHED or not symbol.name or not _fits(query, symbol.name.lower()):
            continue
        made = workspace_symbol(indexed, symbol)
        if made is not None:
            found.append(
                (0 if symbol.kind is Kind.KERNEL else 1 if symbol.kind is Kind.FUNCTION else 2, made)
            )
    return found


def _fits(query: str, name: str) -> bool:
    """Tell whether the letters of a query stand in a name in their order."""
    at = 0
    for letter in query:
        at = name.find(letter, at) + 1
        if at == 0:
            return False
    return True


def _folding(indexed: Indexed, it: Fold) -> lsp.FoldingRange:
    start, end = indexed.document.position(it.start), indexed.document.position(it.end)
    return lsp.FoldingRange(start.line, end.line, kind=it.kind)


def _selection(indexed: Indexed, position: lsp.Position) -> lsp.SelectionRange:
    found: lsp.SelectionRange | None = None
    for start, end in reversed(selections(indexed.index, indexed.offset(position))):
        found = lsp.SelectionRange(indexed.document.range(start, end), found)
    if found is None:
        found = lsp.SelectionRange(lsp.Range(position, position))
    return found
