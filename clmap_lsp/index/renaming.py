"""Renames a symbol everywhere, or says why that would be wrong."""

from __future__ import annotations

from clmap_lsp.index import builtins
from clmap_lsp.index.constants import constants
from clmap_lsp.index.cursor import KEYWORDS
from clmap_lsp.index.index import Index, Occurrence
from clmap_lsp.index.model import Kind, Scope, Symbol
from clmap_lsp.index.types import TYPE_NAMES
from clmap_lsp.source.lexer import is_name

_FILE_SCOPE = (Kind.KERNEL, Kind.FUNCTION, Kind.TYPEDEF, Kind.STRUCT, Kind.UNION, Kind.ENUM, Kind.ENUMERATOR)


class RenameError(Exception):
    """A symbol cannot be renamed; the text says why."""


def renamable(index: Index, offset: int) -> Occurrence:
    """Return what is named at an offset. Raises: RenameError where it cannot be renamed."""
    found = index.occurrence_at(offset)
    if found is None:
        builtin = index.builtin_at(offset)
        if builtin is not None:
            raise RenameError(f"`{builtin[1].name}` is part of OpenCL C")
        raise RenameError("there is no name here that can be renamed")
    symbol = found.symbol
    if symbol.kind is Kind.MACRO:
        assert symbol.macro is not None
        if symbol.macro.name_span.path.startswith("<") or not symbol.macro.name_span.path:
            raise RenameError(f"`{symbol.name}` is defined by the build options: rename it there")
    if not found.is_spelled:
        raise RenameError(f"`{symbol.name}` is put together by `##` in a macro")
    return found


def rename(index: Index, symbol: Symbol, name: str) -> list[Occurrence]:
    """Return the places where the name is to be replaced. Raises: RenameError where that would be wrong."""
    if not is_name(name) or not name.isascii():
        raise RenameError(f"`{name}` is not a name: use letters, digits and `_`")
    if name in KEYWORDS or name in TYPE_NAMES:
        raise RenameError(f"`{name}` is a word of OpenCL C")
    if builtins.find(name) is not None or name in constants():
        raise RenameError(f"`{name}` is built into OpenCL C")
    places = list(index.references(symbol))
    _check_macros(index, symbol, places)
    _check_conflicts(index, symbol, name)
    return places


def _check_macros(index: Index, symbol: Symbol, places: list[Occurrence]) -> None:
    for it in places:
        if not it.is_spelled:
            row = index.files[it.path].position(it.start).row
            raise RenameError(f"a macro in line {row} puts `{symbol.name}` together by `##`")
    meant: dict[tuple[str, int], set[Symbol]] = {}
    for placed in index.units:
        for use in placed.unit.uses:
            token = index.tokens[placed.start + use.token]
            if token.use is not None:
                meant.setdefault((token.path, token.start), set()).add(use.symbol.root)
    for (path, start), symbols in meant.items():
        if symbol.root in symbols and len(symbols) > 1:
            row = index.files[path].position(start).row
            raise RenameError(
                f"the macro in line {row} names `{symbol.name}`, and elsewhere it means another one"
            )


def _check_conflicts(index: Index, symbol: Symbol, name: str) -> None:
    if name in {it.name for it in index.macros}:
        raise RenameError(f"`{name}` is a macro here")
    if symbol.kind is Kind.MEMBER:
        if any(it.name == name and it.parent is symbol.parent for _, it in index.symbols()):
            raise RenameError(f"the type has a member `{name}` already")
        return
    if symbol.kind is Kind.MACRO:
        taken = any(it.name == name for _, it in index.symbols())
    elif symbol.parent is None or symbol.kind in _FILE_SCOPE:
        taken = any(it.name == name and it.kind is not Kind.MEMBER for _, it in index.symbols())
    else:
        taken = _is_seen(index, symbol, name)
    if taken:
        raise RenameError(f"`{name}` is declared already, where `{symbol.name}` is used")


def _is_seen(index: Index, symbol: Symbol, name: str) -> bool:
    """Tell whether the name means something in the function of a variable, or is used there from outside."""
    unit = symbol.unit
    if unit is None:
        return False
    own = next((it for it in unit.scopes if _holds(it, symbol)), None)
    if own is None:
        return False
    return any(it.name == name for it in _within(own)) or any(
        use.symbol.name == name and own.start <= use.token < own.end and use.symbol.kind is not Kind.MEMBER
        for use in unit.uses
    )


def _holds(scope: Scope, symbol: Symbol) -> bool:
    return any(it is symbol for it in _within(scope))


def _within(scope: Scope) -> list[Symbol]:
    found = list(scope.symbols)
    for inner in scope.inner:
        found += _within(inner)
    return found
