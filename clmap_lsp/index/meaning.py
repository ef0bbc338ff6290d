"""What each name means, for colouring: kind, address space, whether it differs between work-items."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import NamedTuple

from clmap_lsp.index.colours import DEFINED, Colour, Word, builtin_colour, coloured, names_of
from clmap_lsp.index.index import Index, PlacedUnit
from clmap_lsp.index.model import Role, Symbol
from clmap_lsp.index.uniformity import varying_symbols
from clmap_lsp.source.made import Places

TYPES = (
    *("function", "variable", "parameter", "property", "type", "struct", "enum", "enumMember", "macro"),
    *("label", "comment"),
)
MODIFIERS = (
    *("declaration", "definition", "readonly", "defaultLibrary", "kernel"),
    *("global", "local", "constant", "private", "generic"),
    *("workItemDependent", "uniform", "inactive"),
)


class Meaning(NamedTuple):
    """A stretch of the text, its type and its modifiers, as `TYPES` and `MODIFIERS` list them."""

    start: int
    end: int
    type: str
    modifiers: tuple[str, ...] = ()


class Said(NamedTuple):
    """Where stretches of the text start that something is said of, and how long each is and what that is."""

    starts: list[int]
    words: list[Word]


def meanings(index: Index) -> list[Meaning]:
    """Return what the names of the file mean, in order and without overlaps."""
    found = zip(*said(index), strict=True)
    return [Meaning(start, start + length, *colour) for start, (length, colour) in found]


def said(index: Index) -> Said:
    """Return the same as it is kept: where each name starts, and what is said of it.

    This is asked at each key, of thousands of names: what each declaration says is kept with it.
    """
    varying, places = varying_symbols(index), index.tokens.places()
    plain, others = _plainly_said(index, places, varying)
    found = _named(index, places, others, varying)
    if not plain.keys().isdisjoint(found):  # Several uses of macros make something of one place.
        plain, found = {}, _named(index, places, index.units, varying)
    plain.update(found)
    _add_macros(plain, index)
    starts = sorted(plain)
    return _with_inactive(index, starts, list(map(plain.__getitem__, starts)))


def _plainly_said(
    index: Index, places: Places, varying: frozenset[Symbol]
) -> tuple[dict[int, Word], Sequence[PlacedUnit]]:
    """Return what is said of names that are typed as they are, and the declarations that are not so alone."""
    own, (starts, lengths, paths, made) = index.path, places
    first_of: list[int] = []
    words: list[Word] = []
    others: list[PlacedUnit] = []
    for placed in index.units:
        known, here = names_of(placed.unit), slice(placed.start, placed.end)
        if not (count := len(known.spelled)):
            continue
        pick = known.pick
        is_plain = pick(made[here]).count(None) == count and pick(paths[here]).count(own) == count
        at = pick(starts[here]) if is_plain and pick(lengths[here]) == known.spelled else ()
        if len(set(at)) == count:
            first_of += at
            words += known.said(varying)
        else:  # `##` made some of it, or macros more than one of what is typed once.
            others.append(placed)
    found = dict(zip(first_of, words, strict=True))
    return (found, others) if len(found) == len(words) else ({}, index.units)


def _named(
    index: Index, places: Places, units: Sequence[PlacedUnit], varying: frozenset[Symbol]
) -> dict[int, Word]:
    """Return by its start what is said of each name that some declarations have in the file.

    As `Index.occurrences` has it, in a part of the time.
    """
    own = index.path
    starts, lengths, paths, made = places
    found: dict[int, tuple[int, Symbol, int]] = {}
    from_macros: set[int] = set()
    for placed in units:
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
            found[start] = lengths[at], symbol, done
    words: dict[int, Word] = {}
    said: dict[tuple[Symbol, int], Colour] = {}
    for start, (length, symbol, done) in found.items():
        if length != len(symbol.name):
            continue  # `##` made it.
        colour = said.get((symbol, done))  # Most are used many times in one way.
        if colour is None:
            colour = said[symbol, done] = coloured(symbol, done, symbol in varying)
        words[start] = length, colour
    _add_builtins(words, index, places, units)
    return words


def _add_builtins(words: dict[int, Word], index: Index, places: Places, units: Sequence[PlacedUnit]) -> None:
    """Add what is built in and named in declarations as they are typed."""
    own = index.path
    starts, lengths, paths, made = places
    known = frozenset(words)
    for placed in units:
        for use in placed.unit.builtins:
            at = placed.start + use.token
            if made[at] is None and paths[at] == own and starts[at] not in known:
                words[starts[at]] = lengths[at], builtin_colour(use.name, use.is_varying)


def _add_macros(words: dict[int, Word], index: Index) -> None:
    """Add the names of macros, where they are defined and used."""
    own = index.path
    places: dict[int, tuple[int, Symbol, int]] = {}
    for symbol in index.macros:
        assert symbol.macro is not None
        span = symbol.macro.name_span
        if span.path == own:
            places[span.start] = span.end, symbol, DEFINED
    reads = Role.READS.value
    for token, symbol in index.macro_uses:
        if token.path == own:
            places[token.start] = token.end, symbol, reads
    for start, (end, symbol, done) in places.items():
        if end - start == len(symbol.name):
            words[start] = end - start, coloured(symbol, done, is_varying=False)
        else:
            words.pop(start, None)


def _with_inactive(index: Index, starts: list[int], words: list[Word]) -> Said:
    """Return what is said of names with the lines that conditions leave out between them."""
    text = index.text
    lines: list[tuple[int, Word]] = []
    for span in index.inactive:
        at = span.start
        while at < span.end:
            end = text.find("\n", at, span.end)
            end = span.end if end < 0 else end
            content = text[at:end]
            if content.strip():
                start = at + len(content) - len(content.lstrip())
                lines.append((start, (at + len(content.rstrip()) - start, _INACTIVE)))
            at = end + 1
    if not lines:
        return Said(starts, words)
    every = sorted([*zip(starts, words, strict=True), *lines], key=itemgetter(0))
    return Said([start for start, _ in every], [word for _, word in every])


_INACTIVE: Colour = ("comment", ("inactive",))
