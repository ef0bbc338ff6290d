"""Renames a symbol everywhere, or says why that would be wrong."""

from __future__ import annotations

import re

from clmap_lsp.index import builtins
from clmap_lsp.index.constants import constants
from clmap_lsp.index.cursor import KEYWORDS
from clmap_lsp.index.index import Index, Occurrence
from clmap_lsp.index.model import Kind, Scope, Symbol
from clmap_lsp.index.pieces import Unit
from clmap_lsp.index.renamed import changed_meaning
from clmap_lsp.index.types import TYPE_NAMES
from clmap_lsp.index.unread import UnclearError, inactive_places, left_out_at, macro_places
from clmap_lsp.source.lexer import is_name, joined

_WORD = re.compile(r"[A-Za-z_]\w*")
LONGEST_NAME = 1024
"""What LLVM, and compilers that stand on it, keep of a name."""
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
        if (unread := _macro_at(index, offset)) is not None:
            return unread
        if (left_out := _left_out_at(index, offset)) is not None:
            return left_out
        raise RenameError("there is no name here that can be renamed")
    symbol = found.symbol
    if symbol.kind is Kind.MACRO:
        assert symbol.macro is not None
        if symbol.macro.name_span.path.startswith("<") or not symbol.macro.name_span.path:
            raise RenameError(f"`{symbol.name}` is defined by the build options: rename it there")
    if _is_pasted(index, found):
        raise RenameError(f"`{symbol.name}` is put together by `##` in a macro")
    return found


def _left_out_at(index: Index, offset: int) -> Occurrence | None:
    """Return the name at an offset of lines that conditions leave out, if its renames reach these."""
    found = left_out_at(index, offset)
    if found is None:
        return None
    try:
        places = inactive_places(index, found.symbol)
    except UnclearError as error:
        raise RenameError(str(error)) from None
    return found if any(it.start == found.start for it in places) else None


def _macro_at(index: Index, offset: int) -> Occurrence | None:
    """Return the macro whose name stands at an offset, where it is not defined yet or is left out."""
    start = offset
    while start > 0 and (index.text[start - 1].isalnum() or index.text[start - 1] == "_"):
        start -= 1
    found = _WORD.match(index.text, start)
    if found is None or all(it.name != found[0] for it in index.macros):
        return None
    places = macro_places_or_refusal(index, next(it for it in index.macros if it.name == found[0]))
    return next((it for it in places if it.path == index.path and it.start == start), None)


def _is_pasted(index: Index, it: Occurrence) -> bool:
    """Tell whether a name does not stand in the text, be it cut by the end of a line (`na\\⏎me`)."""
    return not it.is_spelled and joined(index.files[it.path].text[it.start : it.end])[0] != it.symbol.name


def check_name(name: str) -> None:
    """Raise RenameError for what cannot be the name of anything."""
    if len(name) > LONGEST_NAME:
        raise RenameError(f"a name has at most {LONGEST_NAME:,} characters, and this one {len(name):,}")
    if not is_name(name) or not name.isascii():
        raise RenameError(f"`{name}` is not a name: use letters, digits and `_`")
    if name in KEYWORDS or name in TYPE_NAMES:
        raise RenameError(f"`{name}` is a word of OpenCL C")
    if builtins.find(name) is not None or name in constants():
        raise RenameError(f"`{name}` is built into OpenCL C")


def rename(index: Index, symbol: Symbol, name: str) -> list[Occurrence]:
    """Return the places where the name is to be replaced. Raises: RenameError where that would be wrong."""
    check_name(name)
    alike = _alike(index, symbol)
    places = [it for one in alike for it in index.references(one)]
    _check_macros(index, symbol, alike, places)
    _check_conflicts(index, symbol, name)
    if symbol.kind is Kind.MACRO:
        found = macro_places_or_refusal(index, symbol)
    else:
        try:
            found = places + inactive_places(index, symbol)
        except UnclearError as error:
            raise RenameError(str(error)) from None
    why = changed_meaning(index, found, symbol.name, name)
    if why is not None:
        raise RenameError(why)
    return found


def macro_places_or_refusal(index: Index, symbol: Symbol) -> list[Occurrence]:
    """Return every place that names a macro. Raises: RenameError where the name is something else, too."""
    try:
        return macro_places(index, symbol.name)
    except UnclearError as error:
        raise RenameError(str(error)) from None


def _alike(index: Index, symbol: Symbol) -> set[Symbol]:
    """Return what is declared where a symbol is: each use of a macro that holds a function has its own."""
    place = None if symbol.kind is Kind.MACRO else index.typed_name_span(symbol.root)
    token = None if place is None else index.token_of(symbol.root)
    if token is None or token.use is None:
        return {symbol.root}
    named = (it for _, it in index.symbols() if it.name == symbol.name and it.kind is symbol.kind)
    return {symbol.root} | {it.root for it in named if index.typed_name_span(it.root) == place}


def _check_macros(index: Index, symbol: Symbol, alike: set[Symbol], places: list[Occurrence]) -> None:
    for it in places:
        if _is_pasted(index, it):
            row = index.files[it.path].position(it.start).row
            raise RenameError(f"a macro in line {row} puts `{symbol.name}` together by `##`")
    meant: dict[tuple[str, int], set[Symbol]] = {}
    for placed in index.units:
        for use in placed.unit.uses:
            token = index.tokens[placed.start + use.token]
            if token.use is not None:
                meant.setdefault((token.path, token.start), set()).add(use.symbol.root)
    for (path, start), symbols in meant.items():
        if symbol.root in symbols and not symbols <= alike:
            row = index.files[path].position(start).row
            raise RenameError(
                f"the macro in line {row} names `{symbol.name}`, and elsewhere it means another one"
            )


def _check_conflicts(index: Index, symbol: Symbol, name: str) -> None:
    if name in {it.name for it in (*index.macros, *(symbol for _, symbol in index.macro_uses))}:
        raise RenameError(f"`{name}` is a macro here")
    if any(it.issue.name == name and it.issue.code == "undefined-name" for it in index.issues):
        raise RenameError(f"`{name}` is used here, and nothing defines it: the host may")
    if symbol.kind is Kind.MEMBER:
        if any(it.name == name and it.parent is symbol.parent for _, it in index.symbols()):
            raise RenameError(f"the type has a member `{name}` already")
        return
    if symbol.kind is Kind.MACRO:
        is_taken = any(it.name == name for _, it in index.symbols())
    elif symbol.kind is Kind.LABEL:
        labels = (it for placed, it in index.symbols() if placed.unit is index.unit_of(symbol))
        is_taken = any(it.name == name and it.kind is Kind.LABEL for it in labels)
    elif symbol.parent is None or symbol.kind in _FILE_SCOPE:
        others = (it for _, it in index.symbols() if it.name == name and it.kind is not Kind.MEMBER)
        is_taken = any(it.parent is None or it.kind in _FILE_SCOPE for it in others) or any(
            _is_hidden(index, placed.unit, placed.unit.scopes, symbol, name) for placed in index.units
        )
    else:
        unit = index.unit_of(symbol)
        is_taken = unit is not None and _is_taken(index, unit, symbol, name)
    if is_taken:
        raise RenameError(f"`{name}` is declared already, where `{symbol.name}` is used")


def _is_taken(index: Index, unit: Unit, symbol: Symbol, name: str) -> bool:
    """Tell whether another meaning of a name and a variable of a function would get into each other's way."""
    around = _around(unit.scopes, symbol)
    if not around:
        return False
    own = around[-1]
    # The parameters of a function and what its body declares first may not share a name.
    beside = around[:2] + around[0].inner[:1] if own in (*around[:2], *around[0].inner[:1]) else [own]
    if any(it.name == name for scope in beside for it in scope.symbols):
        return True
    inside = set(_within(own))
    declared = index.number_in_unit(symbol) or 0
    for use in unit.uses:
        if use.symbol.name == name and own.start <= use.token < own.end and use.symbol not in inside:
            is_value = use.symbol.kind not in (Kind.MEMBER, Kind.LABEL, Kind.STRUCT, Kind.UNION, Kind.ENUM)
            if is_value and use.token > declared:
                return True
    return _is_hidden(index, unit, own.inner, symbol, name)


def _is_hidden(index: Index, unit: Unit, scopes: list[Scope], symbol: Symbol, name: str) -> bool:
    """Tell whether something in these scopes would hide a symbol of this name where it is used."""
    uses = [it.token for it in unit.uses if it.symbol.root is symbol.root]
    waiting = list(scopes)
    while waiting and uses:
        scope = waiting.pop()
        hiding = [index.number_in_unit(it) or 0 for it in scope.symbols if it.name == name]
        if hiding and any(min(hiding) < at < scope.end for at in uses):
            return True
        waiting += scope.inner
    return False


def _around(scopes: list[Scope], symbol: Symbol) -> list[Scope]:
    """Return the scopes around a symbol's declaration, outermost first; the last one holds it."""
    for scope in scopes:
        if any(it is symbol for it in scope.symbols):
            return [scope]
        if inner := _around(scope.inner, symbol):
            return [scope, *inner]
    return []


def _within(scope: Scope) -> list[Symbol]:
    found = list(scope.symbols)
    for inner in scope.inner:
        found += _within(inner)
    return found
