"""From names to declarations, types and uses, and between functions and their callers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

from clmap_lsp.index.index import Index, Occurrence
from clmap_lsp.index.macro_parameters import declared_parameter, macro_parameter_at
from clmap_lsp.index.model import CALLABLE, Kind, Role, Symbol
from clmap_lsp.index.types import Array, Enumeration, Function, Named, Pointer, Qualified, Record
from clmap_lsp.index.unread import left_out_at, unread_places
from clmap_lsp.server.app import feature
from clmap_lsp.server.convert import Places
from clmap_lsp.server.host_names import host_uses, kernels_named_at
from clmap_lsp.server.indexing import Indexed, same_symbol
from clmap_lsp.server.symbols import call_item
from clmap_lsp.source.span import Span

if TYPE_CHECKING:
    from clmap_lsp.server.app import ClmapServer


def register(server: ClmapServer) -> None:
    """Register the handlers."""

    @feature(server, lsp.TEXT_DOCUMENT_DEFINITION)
    async def definition(params: lsp.DefinitionParams) -> list[lsp.Location]:
        if at_once := await _sure_definition(server, params):
            return at_once
        found = await _symbol_at(server, params)
        if found is None:
            named = await kernels_named_at(server, params.text_document.uri, params.position)
            places = [place for indexed, symbol in named for place in _locations(indexed, [symbol])]
            places = places or await _declared_parameter(server, params)
            return places or await _included_file(server, params)
        indexed, symbol = found
        target = indexed.index.definition(symbol)
        if not target.is_definition and (elsewhere := await _defined_elsewhere(server, indexed, symbol)):
            return elsewhere
        return _locations(indexed, _definitions(indexed, target, indexed.offset(params.position)))

    @feature(server, lsp.TEXT_DOCUMENT_DECLARATION)
    async def declaration(params: lsp.DeclarationParams) -> list[lsp.Location]:
        found = await _symbol_at(server, params)
        if found is None:
            return await _declared_parameter(server, params)
        indexed, symbol = found
        return _locations(indexed, indexed.index.declarations(symbol)[:1])

    @feature(server, lsp.TEXT_DOCUMENT_TYPE_DEFINITION)
    async def type_definition(params: lsp.TypeDefinitionParams) -> list[lsp.Location]:
        found = await _symbol_at(server, params)
        if found is None:
            return []
        indexed, symbol = found
        target = _type_symbol(symbol.type)
        return [] if target is None else _locations(indexed, [indexed.index.definition(target)])

    @feature(server, lsp.TEXT_DOCUMENT_REFERENCES)
    async def references(params: lsp.ReferenceParams) -> list[lsp.Location]:
        uri = params.text_document.uri
        found = await _symbol_at(server, params)
        named = [found] if found else await kernels_named_at(server, uri, params.position)
        if not named and (places := await _parameter_places(server, params)):
            return places if params.context.include_declaration else places[1:]
        return await _uses(server, named, params.context.include_declaration)

    @feature(server, lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    async def document_highlight(params: lsp.DocumentHighlightParams) -> list[lsp.DocumentHighlight]:
        found = await _symbol_at(server, params)
        if found is None:
            places = await _parameter_places(server, params)
            return [lsp.DocumentHighlight(it.range, lsp.DocumentHighlightKind.Text) for it in places]
        return _highlights(*found)

    @feature(server, lsp.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY)
    async def prepare(params: lsp.CallHierarchyPrepareParams) -> list[lsp.CallHierarchyItem]:
        found = await _symbol_at(server, params)
        if found is None or found[1].kind not in CALLABLE:
            return []
        item = call_item(found[0], found[0].index.definition(found[1]))
        return [] if item is None else [item]

    @feature(server, lsp.CALL_HIERARCHY_INCOMING_CALLS)
    async def incoming(params: lsp.CallHierarchyIncomingCallsParams) -> list[lsp.CallHierarchyIncomingCall]:
        found = await _item_symbol(server, params.item)
        if found is None:
            return []
        calls: dict[tuple[str, int, int], lsp.CallHierarchyIncomingCall] = {}
        for indexed, symbol in await occurring_in(server, *found):
            for caller, ranges in _callers(indexed, symbol).items():
                if (item := call_item(indexed, caller)) is not None:
                    # What calls it in a header does so in all files that include that.
                    place = item.uri, item.range.start.line, item.range.start.character
                    calls.setdefault(place, lsp.CallHierarchyIncomingCall(item, ranges))
        return list(calls.values())

    @feature(server, lsp.CALL_HIERARCHY_OUTGOING_CALLS)
    async def outgoing(params: lsp.CallHierarchyOutgoingCallsParams) -> list[lsp.CallHierarchyOutgoingCall]:
        found = await _item_symbol(server, params.item)
        if found is None:
            return []
        indexed, symbol = found
        calls: list[lsp.CallHierarchyOutgoingCall] = []
        for callee, ranges in _callees(indexed, symbol).items():
            if (item := call_item(indexed, callee)) is not None:
                calls.append(lsp.CallHierarchyOutgoingCall(item, ranges))
        return calls


async def _uses(
    server: ClmapServer, named: list[tuple[Indexed, Symbol]], with_declarations: bool
) -> list[lsp.Location]:
    """Return every place that names one of these symbols, in host code too."""
    places: dict[tuple[str, int, int], lsp.Location] = {}
    for indexed, symbol in named:
        found = [
            other.places.location(Span(it.path, it.start, it.end))
            for other, its_symbol in await occurring_in(server, indexed, symbol)
            for it in (*other.index.references(its_symbol), *unread_places(other.index, its_symbol))
            if with_declarations or not it.role & Role.DECLARES
        ]
        for it in (*found, *host_uses(server, indexed.document.uri, symbol)):
            places.setdefault((it.uri, it.range.start.line, it.range.start.character), it)
    return list(places.values())


async def _symbol_at(server: ClmapServer, params: Any) -> tuple[Indexed, Symbol] | None:
    indexed = await server.indexes.of(params.text_document.uri)
    if indexed is None:
        return None
    offset = indexed.offset(params.position)
    found = indexed.index.occurrence_at(offset) or left_out_at(indexed.index, offset)
    return None if found is None else (indexed, found.symbol)


async def _declared_parameter(server: ClmapServer, params: Any) -> list[lsp.Location]:
    """Return where the macro's parameter at a position is listed."""
    indexed = await server.indexes.of(params.text_document.uri)
    found = None if indexed is None else declared_parameter(indexed.index, indexed.offset(params.position))
    return [] if indexed is None or found is None else [indexed.places.location(found)]


async def _parameter_places(server: ClmapServer, params: Any) -> list[lsp.Location]:
    """Return where the macro's parameter at a position stands, in the list of parameters first."""
    indexed = await server.indexes.of(params.text_document.uri)
    if indexed is None:
        return []
    found = macro_parameter_at(indexed.index, indexed.offset(params.position))
    return [] if found is None else [indexed.places.location(it) for it in found.spans]


def _definitions(indexed: Indexed, target: Symbol, offset: int) -> list[Symbol]:
    """Return what F12 goes to: in the body of a macro, each definition of a macro that its uses may meet."""
    index = indexed.index
    if target.macro is None:
        return [target]
    others = [it for it in index.macros if it.name == target.name]
    directives = (it.macro.span for it in index.macros if it.macro is not None)
    is_in_body = any(it.path == index.path and it.start <= offset <= it.end for it in directives)
    is_name = any(
        it.macro is not None
        and it.macro.name_span.path == index.path
        and it.macro.name_span.start <= offset <= it.macro.name_span.end
        for it in others
    )
    return others if others and is_in_body and not is_name else [target]


async def _sure_definition(server: ClmapServer, params: Any) -> list[lsp.Location]:
    """Return the definition of a name by the last index while somebody types elsewhere, if that is sure."""
    known = await server.indexes.sure(params.text_document.uri, params.position)
    if known is None:
        return []
    indexed, symbol, shift = known
    target = indexed.index.definition(symbol)
    if sum(it.name == symbol.name for it in indexed.index.macros) > 1:
        return []
    place = indexed.index.name_span(target)
    present = server.documents.get(params.text_document.uri)
    if present is None or place is None or place.path.startswith("<") or not target.is_definition:
        return []
    is_here = place.path == indexed.index.path
    if place.path not in indexed.index.files or (is_here and shift.touches(place.start - 1, place.end + 1)):
        return []
    places = Places(indexed.document, dict(indexed.index.files), present, shift)
    return [places.location(Span(place.path, place.start, place.end))]


async def _included_file(server: ClmapServer, params: Any) -> list[lsp.Location]:
    """Return the file that the `#include` at a position names."""
    indexed = await server.indexes.of(params.text_document.uri)
    if indexed is None:
        return []
    offset = indexed.offset(params.position)
    for it in indexed.index.includes:
        is_here = it.span.path == indexed.index.path and it.span.start <= offset <= it.span.end
        if is_here and it.path is not None:
            return [indexed.places.location(Span(it.path, 0, 0))]
    return []


async def _defined_elsewhere(server: ClmapServer, indexed: Indexed, symbol: Symbol) -> list[lsp.Location]:
    """Return where a function is defined that this file only declares: in other files of the program.

    Programs of one workspace may each have one: those of the same type go before all others.
    """
    if symbol.kind not in CALLABLE:
        return []
    found = [
        (other, target)
        for other in await server.indexes.workspace()
        if (target := other.index.scope.ordinary.get(symbol.name)) is not None
        and target.kind in CALLABLE
        and target.is_definition
    ]
    alike = [it for it in found if it[1].type == symbol.type]
    return [place for other, target in alike or found for place in _locations(other, [target])]


def _locations(indexed: Indexed, symbols: Iterable[Symbol]) -> list[lsp.Location]:
    spans = (indexed.index.name_span(it) for it in symbols)
    return [
        indexed.places.location(it)
        for it in spans
        if it is not None and it.path in indexed.index.files and not it.path.startswith("<")
    ]


def _type_symbol(type_: Qualified | None) -> Symbol | None:
    """Return what declares a type: a typedef, a record, through pointers and arrays."""
    while type_ is not None:
        match type_.base:
            case Named(symbol=symbol) | Record(symbol=symbol) | Enumeration(symbol=symbol):
                return symbol
            case Pointer(pointee=inner) | Array(element=inner) | Function(result=inner):
                type_ = inner
            case _:
                return None
    return None


async def occurring_in(server: ClmapServer, indexed: Indexed, symbol: Symbol) -> list[tuple[Indexed, Symbol]]:
    """Return the files that name a symbol: this one, and others that read a file which declares it."""
    found = [(indexed, symbol)]
    spans = map(indexed.index.typed_name_span, indexed.index.declarations(symbol))
    declaring = {it.path for it in spans if it is not None and not it.path.startswith("<")}
    if declaring == {indexed.index.path} and not _is_seen_by_others(symbol):
        return found
    for other in await server.indexes.reading(declaring):
        if other.document.uri != indexed.document.uri:
            its = same_symbol(indexed.index, symbol, other.index)
            if its is not None:
                found.append((other, its))
    return found


def _is_seen_by_others(symbol: Symbol) -> bool:
    """Tell whether a file that includes the declaration can name it: it is not within a function."""
    around = symbol.parent
    while around is not None and around.kind not in CALLABLE:
        around = around.parent
    return around is None and symbol.kind is not Kind.LABEL


def _highlights(indexed: Indexed, symbol: Symbol) -> list[lsp.DocumentHighlight]:
    index = indexed.index
    every = (*index.references(symbol), *unread_places(index, symbol))
    here = sorted((it for it in every if it.path == index.path), key=lambda it: it.start)
    return [_highlight(indexed, it) for it in here]


def _highlight(indexed: Indexed, it: Occurrence) -> lsp.DocumentHighlight:
    kind = lsp.DocumentHighlightKind.Text
    if it.role & (Role.WRITES | Role.DEFINES) and it.symbol.kind in (
        Kind.VARIABLE,
        Kind.PARAMETER,
        Kind.MEMBER,
    ):
        kind = lsp.DocumentHighlightKind.Write
    elif it.role & (Role.READS | Role.CALLS):
        kind = lsp.DocumentHighlightKind.Read
    return lsp.DocumentHighlight(indexed.document.range(it.start, it.end), kind)


# ------------------------------------------------------------------------------------------------- calls


async def _item_symbol(server: ClmapServer, item: lsp.CallHierarchyItem) -> tuple[Indexed, Symbol] | None:
    data = item.data if isinstance(item.data, dict) else {}
    indexed = await server.indexes.of(str(data.get("uri", item.uri)))
    if indexed is None:
        return None
    named = [it for _, it in indexed.index.symbols() if it.kind in CALLABLE and it.name == item.name]

    def is_there(symbol: Symbol) -> bool:
        span = indexed.index.name_span(symbol)
        place = None if span is None else indexed.places.location(span)
        return place is not None and (place.uri, place.range) == (item.uri, item.selection_range)

    symbol = next(filter(is_there, named), named[0] if named else None)
    return None if symbol is None else (indexed, symbol)


def _callers(indexed: Indexed, symbol: Symbol) -> dict[Symbol, list[lsp.Range]]:
    return _calls(indexed, lambda function, callee: function if callee is symbol.root else None)


def _callees(indexed: Indexed, symbol: Symbol) -> dict[Symbol, list[lsp.Range]]:
    index = indexed.index
    return _calls(
        indexed, lambda function, callee: index.definition(callee) if function.root is symbol.root else None
    )


def _calls(indexed: Indexed, chosen: Any) -> dict[Symbol, list[lsp.Range]]:
    index: Index = indexed.index
    found: dict[Symbol, list[lsp.Range]] = {}
    for placed in index.units:
        for call in placed.unit.calls:
            if call.function is None or not isinstance(call.callee, Symbol):
                continue
            other = chosen(call.function, call.callee.root)
            if other is not None:
                span = index.cover(placed.start + call.name, placed.start + call.name + 1)
                around = index.name_span(call.function)
                if around is not None and span.path == around.path:
                    found.setdefault(other, []).append(indexed.places.range(span))
    return found
