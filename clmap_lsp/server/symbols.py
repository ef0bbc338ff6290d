"""Symbols of the index as LSP knows them."""

from __future__ import annotations

from lsprotocol import types as lsp

from clmap_lsp.index.describe import function_signature
from clmap_lsp.index.model import CALLABLE, Kind, Symbol
from clmap_lsp.index.types import Enumeration, Record, spelled
from clmap_lsp.server.indexing import Indexed

KINDS = {
    Kind.KERNEL: lsp.SymbolKind.Event,
    Kind.FUNCTION: lsp.SymbolKind.Function,
    Kind.PARAMETER: lsp.SymbolKind.Variable,
    Kind.VARIABLE: lsp.SymbolKind.Variable,
    Kind.STRUCT: lsp.SymbolKind.Struct,
    Kind.UNION: lsp.SymbolKind.Struct,
    Kind.ENUM: lsp.SymbolKind.Enum,
    Kind.ENUMERATOR: lsp.SymbolKind.EnumMember,
    Kind.MEMBER: lsp.SymbolKind.Field,
    Kind.TYPEDEF: lsp.SymbolKind.Class,
    Kind.LABEL: lsp.SymbolKind.Key,
    Kind.MACRO: lsp.SymbolKind.Constant,
}
"""A kernel is an event: it has a sign of its own in the editor, and begins something."""


def document_symbols(indexed: Indexed) -> list[lsp.DocumentSymbol]:
    """Return the outline of a document: kernels first, then the rest, each in the order of the text."""
    index = indexed.index
    found: list[tuple[int, lsp.DocumentSymbol]] = []
    seen: set[Symbol] = set()
    for _, symbol in index.symbols():
        is_top = _is_of_nothing(symbol) if symbol.kind is Kind.ENUMERATOR else symbol.parent is None
        if not is_top or symbol.kind in (Kind.MEMBER, Kind.PARAMETER) or not symbol.name:
            continue
        if symbol in seen:
            continue
        seen.add(symbol)
        made = _document_symbol(indexed, symbol)
        if made is not None:
            found.append((0 if symbol.kind is Kind.KERNEL else 1, made))
    for macro in index.macros:
        made = _document_symbol(indexed, macro)
        if made is not None:
            found.append((2, made))
    found.sort(key=lambda it: it[0])
    return [it[1] for it in found]


def _is_of_nothing(enumerator: Symbol) -> bool:
    """Tell whether the enumeration that an enumerator is of has no name that it could stand below."""
    of = enumerator.parent
    base = of.type.base if of is not None and of.type is not None else None
    is_inner = enumerator.unit is not None and bool(enumerator.unit.scopes)
    return isinstance(base, Enumeration) and not base.name and not base.alias and not is_inner


def _document_symbol(indexed: Indexed, symbol: Symbol) -> lsp.DocumentSymbol | None:
    index = indexed.index
    name, full = index.name_span(symbol), index.full_span(symbol)
    if name is None or full is None or name.path != index.path or full.path != index.path:
        return None
    start, end = min(full.start, name.start), max(full.end, name.end)
    return lsp.DocumentSymbol(
        symbol.name,
        KINDS[symbol.kind],
        indexed.document.range(start, end),
        indexed.document.range(name.start, name.end),
        detail=_detail(symbol),
        children=[
            made
            for it in _inner(indexed, symbol)
            if it.name and _is_within(indexed, it, start, end) and (made := _document_symbol(indexed, it))
        ],
    )


def _is_within(indexed: Indexed, symbol: Symbol, start: int, end: int) -> bool:
    """Tell whether a symbol is declared in a stretch of the file: `struct node;` has no members there."""
    name, full = indexed.index.name_span(symbol), indexed.index.full_span(symbol)
    return name is not None and full is not None and start <= min(name.start, full.start) and full.end <= end


def _detail(symbol: Symbol) -> str:
    if symbol.macro is not None:
        return symbol.macro.beginning
    if symbol.kind in CALLABLE:
        return function_signature(symbol).replace(f" {symbol.name}(", " (", 1)
    if symbol.kind is Kind.ENUMERATOR:
        return f"= {symbol.value}"
    base = symbol.type.base if symbol.type is not None else None
    if isinstance(base, Record):
        return base.keyword
    return "" if symbol.type is None else spelled(symbol.type)


def _inner(indexed: Indexed, symbol: Symbol) -> list[Symbol]:
    """Return what is declared within something: members, enumerators, variables of a function."""
    unit = indexed.index.unit_of(symbol)
    if unit is None:
        return []
    inner: list[Symbol] = []
    base = symbol.type.base if symbol.type is not None else None
    if symbol.kind in (Kind.STRUCT, Kind.UNION) or (
        symbol.kind is Kind.TYPEDEF and isinstance(base, Record) and not base.name
    ):
        inner = base.members or [] if isinstance(base, Record) else []
    elif symbol.kind is Kind.ENUM or (symbol.kind is Kind.TYPEDEF and isinstance(base, Enumeration)):
        of = symbol if symbol.kind is Kind.ENUM or not isinstance(base, Enumeration) else base.symbol
        named = symbol.kind is Kind.TYPEDEF and isinstance(base, Enumeration) and bool(base.name)
        inner = [] if named else [it for it in unit.symbols if it.kind is Kind.ENUMERATOR and it.parent is of]
    elif symbol.kind in CALLABLE and symbol in unit.bodies:
        inner = [it for it in unit.symbols if it.parent is symbol and it.name]
    return inner


def workspace_symbol(indexed: Indexed, symbol: Symbol) -> lsp.WorkspaceSymbol | None:
    """Return a symbol for a search in all files, those included that a file of OpenCL C reads."""
    span = indexed.index.name_span(symbol)
    if span is None or span.path.startswith("<"):
        return None
    return lsp.WorkspaceSymbol(
        indexed.places.location(span), symbol.name, KINDS[symbol.kind], container_name=_detail(symbol)[:80]
    )


def call_item(indexed: Indexed, symbol: Symbol) -> lsp.CallHierarchyItem | None:
    """Return a function as an item of the call hierarchy."""
    name, full = indexed.index.name_span(symbol), indexed.index.full_span(symbol)
    if name is None or full is None or name.path != full.path:
        return None
    places = indexed.places
    location = places.location(full)
    return lsp.CallHierarchyItem(
        symbol.name,
        KINDS[symbol.kind],
        location.uri,
        location.range,
        places.range(name),
        detail=_detail(symbol),
        data={"uri": indexed.document.uri},
    )
