"""Rename, with the reason where it is refused."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams

from clmap_lsp.dataclass import dataclass
from clmap_lsp.index.macro_parameters import MacroParameter, macro_parameter_at
from clmap_lsp.index.model import Kind, Symbol
from clmap_lsp.index.renaming import RenameError, check_name, macro_places_or_refusal, renamable, rename
from clmap_lsp.server.app import feature
from clmap_lsp.server.comment_names import comment_namings
from clmap_lsp.server.features.navigation import occurring_in
from clmap_lsp.server.host_names import host_namings, kernels_named_at, name_in_host
from clmap_lsp.server.indexing import Indexed
from clmap_lsp.source.span import Span

if TYPE_CHECKING:
    from clmap_lsp.server.app import ClmapServer


def register(server: ClmapServer) -> None:
    """Register the handlers."""

    @feature(server, lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    async def prepare_rename(params: lsp.PrepareRenameParams) -> lsp.PrepareRenamePlaceholder | None:
        if (parameter := await _parameter_at(server, params)) is not None:
            return lsp.PrepareRenamePlaceholder(
                parameter[0].places.range(parameter[1].here), parameter[1].name
            )
        try:
            found = await _named_at(server, params)
        except RenameError as error:
            raise JsonRpcInvalidParams(str(error)) from None
        return None if found is None else lsp.PrepareRenamePlaceholder(found.range, found.symbol.name)

    @feature(server, lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    async def rename_symbol(params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
        parameter = await _parameter_at(server, params)
        try:
            if parameter is not None:
                return _renamed_parameter(*parameter, params.new_name)
            found = await _named_at(server, params)
            places = [] if found is None else await _places(server, found, params.new_name)
        except RenameError as error:
            raise JsonRpcInvalidParams(str(error)) from None
        edits: dict[str, list[lsp.TextEdit]] = {}
        for it in places:
            edits.setdefault(it.uri, []).append(lsp.TextEdit(it.range, params.new_name))
        return None if found is None else lsp.WorkspaceEdit(changes=edits)


async def _parameter_at(
    server: ClmapServer, params: lsp.PrepareRenameParams | lsp.RenameParams
) -> tuple[Indexed, MacroParameter] | None:
    indexed = await server.indexes.of(params.text_document.uri)
    if indexed is None:
        return None
    found = macro_parameter_at(indexed.index, indexed.offset(params.position))
    return None if found is None else (indexed, found)


def _renamed_parameter(indexed: Indexed, parameter: MacroParameter, name: str) -> lsp.WorkspaceEdit:
    """Rename a macro's parameter in its directive. Raises: RenameError."""
    check_name(name)
    if name in parameter.others:
        raise RenameError(f"`{name}` stands in the macro already")
    edits = [lsp.TextEdit(indexed.places.range(it), name) for it in parameter.spans]
    return lsp.WorkspaceEdit(changes={indexed.document.uri: edits})


@dataclass(frozen=True, slots=True)
class _Named:
    """What is to be renamed, and where the cursor is on its name."""

    indexed: Indexed
    symbol: Symbol
    range: lsp.Range


async def _named_at(server: ClmapServer, params: lsp.PrepareRenameParams | lsp.RenameParams) -> _Named | None:
    """Return what is named at a position, be it a kernel that host code names. Raises: RenameError."""
    uri = params.text_document.uri
    document, indexed = server.documents.get(uri), await server.indexes.of(uri)
    if document is not None and (place := name_in_host(document, document.offset(params.position))):
        kernels = await kernels_named_at(server, uri, params.position)
        places = {it[0].index.name_span(it[1]) for it in kernels}
        if len(places) > 1:
            raise RenameError(
                f"{len(places)} kernels are named `{kernels[0][1].name}`; rename the one that is meant"
            )
        if kernels:
            return _Named(*kernels[0], document.range(*place))
    if indexed is None:
        return None
    found = renamable(indexed.index, indexed.offset(params.position))
    return _Named(indexed, found.symbol, indexed.document.range(found.start, found.end))


async def _places(server: ClmapServer, named: _Named, name: str) -> list[lsp.Location]:
    """Return where the new name is to stand, each place once. Raises: RenameError."""
    found: dict[tuple[str, int, int], lsp.Location] = {}

    def add(it: lsp.Location) -> None:
        found.setdefault((it.uri, it.range.start.line, it.range.start.character), it)

    is_macro = named.symbol.kind is Kind.MACRO
    occurring = await (_named_alike if is_macro else occurring_in)(server, named.indexed, named.symbol)
    for other, symbol in occurring:
        for it in rename(other.index, symbol, name):
            if it.path.startswith("<"):
                raise RenameError(f"`{symbol.name}` is named in the build options: rename it there")
            add(other.places.location(Span(it.path, it.start, it.end)))
        for span in comment_namings(other.index, symbol):
            add(other.places.location(span))
    await _check_other_meanings(server, named, occurring)
    if named.symbol.kind is Kind.KERNEL:
        for location in await host_namings(server, named.indexed, named.symbol):
            add(location)
    return list(found.values())


async def _named_alike(server: ClmapServer, indexed: Indexed, symbol: Symbol) -> list[tuple[Indexed, Symbol]]:
    """Return the files that know a macro of a name, and share a file that names it."""
    places = macro_places_or_refusal(indexed.index, symbol)
    found = [(indexed, symbol)]
    for other in await server.indexes.reading({it.path for it in places if not it.path.startswith("<")}):
        if other.document.uri != indexed.document.uri:
            macros = [it for it in other.index.macros if it.name == symbol.name]
            found += [(other, it) for it in macros[-1:]]
    return found


def _is_macro_of(symbol: Symbol, name: str) -> bool:
    return symbol.kind is Kind.MACRO and symbol.name == name


async def _check_other_meanings(
    server: ClmapServer, named: _Named, occurring: list[tuple[Indexed, Symbol]]
) -> None:
    """Refuse to change a macro of a header whose text names something else in another file that reads it."""
    own = named.indexed.index.path
    spelled = {(it.path, it.start) for other, symbol in occurring for it in other.index.references(symbol)}
    shared = {it for it in spelled if it[0] != own and not it[0].startswith("<")}
    if not shared:
        return
    known = {other.document.uri: (other, symbol.root) for other, symbol in occurring}
    for again in await server.indexes.reading({path for path, _ in shared}):
        # Where many documents are open an index may have been made anew, with other symbols of these names.
        other, meant = known.get(again.document.uri, (again, None))
        for it in other.index.occurrences:
            is_same = it.symbol.root is meant or (meant is not None and _is_macro_of(it.symbol, meant.name))
            if (it.path, it.start) in shared and not is_same:
                row = other.index.files[it.path].position(it.start).row
                raise RenameError(
                    f"the macro in line {row} of `{PurePath(it.path).name}` names `{it.symbol.name}`, and in "
                    f"`{PurePath(other.document.path).name}` it means another one"
                )
