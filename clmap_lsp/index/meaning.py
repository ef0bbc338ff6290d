"""What each name means, for colouring: kind, address space, whether it differs between work-items."""

from __future__ import annotations

from collections.abc import Container, Iterator
from operator import itemgetter
from typing import NamedTuple
from weakref import WeakKeyDictionary

from clmap_lsp.index import builtins
from clmap_lsp.index.index import Index
from clmap_lsp.index.model import Kind, Role, Symbol
from clmap_lsp.index.types import (
    TYPE_NAMES,
    Array,
    Pointer,
    base_of,
    is_const,
    space_of,
)
from clmap_lsp.index.uniformity import varying_symbols
from clmap_lsp.source.made import Places
from clmap_lsp.source.types import AddressSpace

TYPES = (
    *("function", "variable", "parameter", "property", "type", "struct", "enum", "enumMember", "macro"),
    *("label", "comment"),
)
MODIFIERS = (
    *("declaration", "definition", "readonly", "defaultLibrary", "kernel"),
    *("global", "local", "constant", "private", "generic"),
    *("workItemDependent", "uniform", "inactive"),
)
_KINDS = {
    Kind.KERNEL: "function",
    Kind.FUNCTION: "function",
    Kind.PARAMETER: "parameter",
    Kind.VARIABLE: "variable",
    Kind.STRUCT: "struct",
    Kind.UNION: "struct",
    Kind.ENUM: "enum",
    Kind.ENUMERATOR: "enumMember",
    Kind.MEMBER: "property",
    Kind.TYPEDEF: "type",
    Kind.LABEL: "label",
    Kind.MACRO: "macro",
    Kind.MACRO_PARAMETER: "parameter",
}


_DECLARES, _DEFINES = Role.DECLARES.value, Role.DEFINES.value


class Meaning(NamedTuple):
    """A stretch of the text, its type and its modifiers, as `TYPES` and `MODIFIERS` list them."""

    start: int
    end: int
    type: str
    modifiers: tuple[str, ...] = ()


def meanings(index: Index) -> list[Meaning]:
    """Return what the names of the file mean, in order and without overlaps."""
    varying, places = varying_symbols(index), index.tokens.places()
    found: dict[int, Meaning] = {}
    said: dict[tuple[Symbol, int], _Colour] = {}
    new = tuple.__new__  # Calling the class costs four times as much, and there are thousands.
    for start, (end, symbol, role) in _named(index, places).items():
        if end - start != len(symbol.name):
            continue  # `##` made it.
        known = said.get((symbol, role))  # Most are used many times in one way.
        if known is None:
            known = said[symbol, role] = _coloured(symbol, role, symbol in varying)
        found[start] = new(Meaning, (start, end, *known))
    found.update(_builtins(index, places, found))
    ordered = [found[it] for it in sorted(found)]
    return list(_with_inactive(index, ordered))


_Colour = tuple[str, tuple[str, ...]]
_colours: WeakKeyDictionary[Symbol, dict[tuple[int, bool], _Colour]] = WeakKeyDictionary()
"""By what is done with a symbol and whether it differs between work-items: most symbols outlive an edit."""


def _coloured(symbol: Symbol, role: int, is_varying: bool) -> _Colour:
    """Return a name's type and modifiers."""
    known = _colours.get(symbol)
    if known is None:
        known = _colours[symbol] = {}
    found = known.get((role, is_varying))
    if found is None:
        found = _KINDS[symbol.kind], _modifiers(symbol, role, is_varying)
        known[role, is_varying] = found
    return found


def _builtins(index: Index, places: Places, known: Container[int]) -> dict[int, Meaning]:
    """Return by their starts what is built in and named in the file as typed."""
    own = index.path
    starts, lengths, paths, made = places
    found: dict[int, Meaning] = {}
    for placed in index.units:
        for use in placed.unit.builtins:
            at = placed.start + use.token
            if made[at] is None and paths[at] == own and starts[at] not in known:
                start = starts[at]
                meaning = _builtin(start, start + lengths[at], use.name, use.is_varying)
                if meaning is not None:
                    found[start] = meaning
    return found


def _named(index: Index, places: Places) -> dict[int, tuple[int, Symbol, int]]:
    """Return by the start of each name of the file its end, what it names, and what is done with it.

    As `Index.occurrences` has it, in a part of the time: this is asked at each key.
    """
    own = index.path
    starts, lengths, paths, made = places
    found: dict[int, tuple[int, Symbol, int]] = {}
    from_macros: set[int] = set()
    for placed in index.units:
        first = placed.start
        for token, symbol, role in placed.unit.uses:
            at = first + token
            if paths[at] != own or not symbol.name:
                continue
            start = starts[at]
            done = role._value_  # To join the flags themselves takes ten times as long.
            before = found.get(start)
            if before is not None:
                if before[1] is symbol:
                    if done & ~before[2]:
                        found[start] = before[0], symbol, before[2] | done
                    continue
                if start not in from_macros:
                    continue
                from_macros.discard(start)
            if made[at] is not None:
                from_macros.add(start)
            found[start] = start + lengths[at], symbol, done
    for symbol in index.macros:
        assert symbol.macro is not None
        span = symbol.macro.name_span
        if span.path == own:
            found[span.start] = span.end, symbol, _DECLARES | _DEFINES
    for token_, symbol in index.macro_uses:
        if token_.path == own:
            found[token_.start] = token_.end, symbol, Role.READS.value
    return found


def _modifiers(symbol: Symbol, role: int, is_varying: bool) -> tuple[str, ...]:
    words: list[str] = []
    if role & _DECLARES:
        words.append("definition" if role & _DEFINES else "declaration")
    if symbol.kind is Kind.KERNEL:
        words.append("kernel")
    if symbol.kind in (Kind.VARIABLE, Kind.PARAMETER) and symbol.type is not None:
        words.append(_space(symbol))
        if is_const(symbol.type):
            words.append("readonly")
        words.append("workItemDependent" if is_varying else "uniform")
    return tuple(words)


def _space(symbol: Symbol) -> str:
    """Return the address space of a variable, or of what it points to."""
    assert symbol.type is not None
    base = base_of(symbol.type)
    space = space_of(symbol.type)
    if isinstance(base, Pointer):
        space = space_of(base.pointee)
    elif isinstance(base, Array) and space is None:
        space = AddressSpace.PRIVATE
    return (space or AddressSpace.PRIVATE).value


def _builtin(start: int, end: int, name: str, is_varying: bool) -> Meaning | None:
    if name in TYPE_NAMES:
        return Meaning(start, end, "type", ("defaultLibrary",))
    if builtins.find(name) is not None:
        words = ("defaultLibrary", "workItemDependent") if is_varying else ("defaultLibrary",)
        return Meaning(start, end, "function", words)
    if name.isupper() or name.startswith(("CLK_", "M_", "memory_")):
        return Meaning(start, end, "macro", ("defaultLibrary", "readonly"))
    return Meaning(start, end, "property", ("defaultLibrary",))


def _with_inactive(index: Index, ordered: list[Meaning]) -> Iterator[Meaning]:
    """Yield the meanings with the lines that conditions leave out between them."""
    text = index.text
    lines: list[Meaning] = []
    for span in index.inactive:
        at = span.start
        while at < span.end:
            end = text.find("\n", at, span.end)
            end = span.end if end < 0 else end
            content = text[at:end]
            if content.strip():
                start = at + len(content) - len(content.lstrip())
                lines.append(Meaning(start, at + len(content.rstrip()), "comment", ("inactive",)))
            at = end + 1
    yield from sorted((*ordered, *lines), key=itemgetter(0)) if lines else ordered
