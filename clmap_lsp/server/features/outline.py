"""Outline, symbols of the workspace, folding, selections, and links on includes."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from lsprotocol import types as lsp

from clmap_lsp.index.model import Kind, Symbol
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
        found: dict[tuple[str, int], tuple[_Rank, lsp.WorkspaceSymbol]] = {}
        query = "".join(params.query.lower().split())
        for indexed in await server.indexes.workspace():
            _add_matching(found, indexed, query)
        first = sorted(found.values(), key=lambda it: it[0])[:MAX_FOUND]
        return [it for _, it in first]

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


_Rank: TypeAlias = "tuple[bool, int, int, int, str]"
"""What sorts what is found: those of just that name, kernels, functions, and how well a name fits."""


def _add_matching(
    found: dict[tuple[str, int], tuple[_Rank, lsp.WorkspaceSymbol]], indexed: Indexed, query: str
) -> None:
    """Add the symbols that a query fits; what a header declares once, though many files include it."""
    index = indexed.index
    symbols = [it for _, it in index.symbols() if it.is_definition and _is_searched(it)]
    for symbol in (*symbols, *index.macros):
        rank = _rank(query, symbol) if symbol.name else None
        span = None if rank is None else index.name_span(symbol)
        if rank is None or span is None or (span.path, span.start) in found:
            continue
        made = workspace_symbol(indexed, symbol)
        if made is not None:
            found[span.path, span.start] = rank, made


def _is_searched(symbol: Symbol) -> bool:
    if symbol.kind is Kind.ENUMERATOR:
        return symbol.parent is None or symbol.parent.parent is None
    return symbol.kind in _SEARCHED and symbol.parent is None


def _rank(query: str, symbol: Symbol) -> _Rank | None:
    """Return how far behind a symbol stands; `None` where the query's letters are not in its name."""
    name = symbol.name.lower()
    if not _fits(query, name):
        return None
    kind = 0 if symbol.kind is Kind.KERNEL else 1 if symbol.kind is Kind.FUNCTION else 2
    fit = 0 if name.startswith(query) else 1 if query in name else 2
    return name != query, kind, fit, len(name) if query else 0, symbol.name


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
