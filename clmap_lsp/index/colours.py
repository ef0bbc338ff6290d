"""What is said of a name to colour it, and of all names of a declaration, kept with its pieces.

At each key that is asked of thousands of names; of most of them it is what it was.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from operator import itemgetter
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

from clmap_lsp.dataclass import dataclass
from clmap_lsp.index import builtins
from clmap_lsp.index.model import Kind, Role, Symbol
from clmap_lsp.index.pieces import Piece, Unit
from clmap_lsp.index.types import TYPE_NAMES, Array, Pointer, base_of, is_const, space_of
from clmap_lsp.source.types import AddressSpace

Colour: TypeAlias = tuple[str, tuple[str, ...]]
"""A type and its modifiers."""
Word: TypeAlias = tuple[int, Colour]
"""How long a name is, and what is said of it."""
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
DEFINED = _DECLARES | _DEFINES
_colours: WeakKeyDictionary[Symbol, dict[tuple[int, bool], Colour]] = WeakKeyDictionary()
"""By what is done with a symbol and whether it differs between work-items: most symbols outlive an edit."""


def coloured(symbol: Symbol, role: int, is_varying: bool) -> Colour:
    """Return a name's type and modifiers."""
    known = _colours.get(symbol)
    if known is None:
        known = _colours[symbol] = {}
    found = known.get((role, is_varying))
    if found is None:
        found = _KINDS[symbol.kind], _modifiers(symbol, role, is_varying)
        known[role, is_varying] = found
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


def builtin_colour(name: str, is_varying: bool) -> Colour:
    """Return the type and modifiers of something built in."""
    if name in TYPE_NAMES:
        return "type", ("defaultLibrary",)
    if builtins.find(name) is not None:
        return "function", ("defaultLibrary", "workItemDependent") if is_varying else ("defaultLibrary",)
    if name.isupper() or name.startswith(("CLK_", "M_", "memory_")):
        return "macro", ("defaultLibrary", "readonly")
    return "property", ("defaultLibrary",)


# ------------------------------------------------------------------------------------ of declarations


@dataclass(slots=True, eq=False)
class PieceNames:
    """What the tokens of a piece name, each once; tokens count from the first of the piece."""

    tokens: list[int]
    lengths: list[int]
    """Of the names."""
    named: list[tuple[Symbol, int]]
    """Of the first tokens, with what is done with the symbol."""
    built_in: list[Word]
    """Of the others."""
    symbols: frozenset[Symbol]
    varying: frozenset[Symbol] | None = None
    words: list[Word] = field(default_factory=list)
    """What is said of the tokens if these of the symbols differ between work-items."""

    @classmethod
    def of(cls, piece: Piece) -> PieceNames:
        """Return what a piece names."""
        named: dict[int, tuple[Symbol, int]] = {}
        for token, symbol, role in piece.uses:
            done = role._value_
            before = named.get(token)
            if before is not None and before[0] is symbol:
                named[token] = symbol, before[1] | done
            elif before is None and symbol.name:
                named[token] = symbol, done
        built_in = {
            it.token: (len(it.name), builtin_colour(it.name, it.is_varying))
            for it in piece.builtins
            if it.token not in named
        }
        lengths = [*(len(it.name) for it, _ in named.values()), *(it for it, _ in built_in.values())]
        symbols = frozenset(it for it, _ in named.values())
        return cls([*named, *built_in], lengths, [*named.values()], [*built_in.values()], symbols)

    def said(self, varying: frozenset[Symbol]) -> list[Word]:
        """Return what is said of each token."""
        here = self.symbols & varying
        if here != self.varying:
            self.varying = here
            self.words = [(len(it.name), coloured(it, done, it in here)) for it, done in self.named]
            self.words += self.built_in
        return self.words


@dataclass(slots=True, eq=False)
class Names:
    """What the tokens of a declaration name, in any order."""

    parts: list[PieceNames]
    pick: Callable[[Sequence[Any]], tuple[Any, ...]]
    """Takes from what there is of each token of the declaration what is of these."""
    spelled: tuple[int, ...]
    """How long the names are, as their tokens are unless `##` made these."""
    symbols: frozenset[Symbol]
    varying: frozenset[Symbol] | None = None
    words: list[Word] = field(default_factory=list)

    @classmethod
    def of(cls, unit: Unit) -> Names:
        """Return what a declaration names."""
        tokens: list[int] = []
        parts: list[PieceNames] = []
        for at, piece in unit.pieces:
            if piece.uses or piece.builtins:
                names = piece.named
                if names is None:
                    names = piece.named = PieceNames.of(piece)
                parts.append(names)
                tokens += [at + it for it in names.tokens]
        spelled = [it for part in parts for it in part.lengths]
        return cls(parts, _picker(tokens), tuple(spelled), frozenset().union(*[it.symbols for it in parts]))

    def said(self, varying: frozenset[Symbol]) -> list[Word]:
        """Return what is said of each token."""
        here = self.symbols & varying
        if here != self.varying:
            self.varying = here
            self.words = [word for part in self.parts for word in part.said(here)]
        return self.words


def names_of(unit: Unit) -> Names:
    """Return what a declaration names; it is worked out once."""
    found = _names.get(unit)
    if found is None:
        found = _names[unit] = Names.of(unit)
    return found


_names: WeakKeyDictionary[Unit, Names] = WeakKeyDictionary()


def _picker(places: list[int]) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
    """Return what takes the items at some places, without a loop of ours."""
    if len(places) > 1:
        return itemgetter(*places)
    return lambda it: tuple([it[place] for place in places])
