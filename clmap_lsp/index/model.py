"""What the index holds: symbols, their uses, scopes, calls and problems, by the numbers of tokens.

A translation unit is read declaration by declaration; what one says is a `Unit`. Everything in it counts
tokens from the declaration's first one, so that a unit stays what it is when text before it changes. Inside
of it, what a statement says is a `Piece` (`pieces.py`), for which the same holds.

What owns points at what it owns; the way back is weak, so that a reading goes with its last reference.
"""

from __future__ import annotations

from dataclasses import field
from enum import Enum, IntFlag
from typing import TYPE_CHECKING, NamedTuple
from weakref import ReferenceType, ref

from clmap_lsp.dataclass import dataclass
from clmap_lsp.index.types import Qualified
from clmap_lsp.source.ir import Severity
from clmap_lsp.source.span import Span

if TYPE_CHECKING:
    from clmap_lsp.index.pieces import Key, Unit
    from clmap_lsp.source.macros import Macro


class Kind(Enum):
    """What a name stands for."""

    KERNEL = "kernel"
    FUNCTION = "function"
    PARAMETER = "parameter"
    VARIABLE = "variable"
    STRUCT = "struct"
    UNION = "union"
    ENUM = "enum"
    ENUMERATOR = "enumerator"
    MEMBER = "member"
    TYPEDEF = "typedef"
    LABEL = "label"
    MACRO = "macro"
    MACRO_PARAMETER = "macro parameter"


CALLABLE = (Kind.KERNEL, Kind.FUNCTION)
TAGS = (Kind.STRUCT, Kind.UNION, Kind.ENUM)


class Role(IntFlag):
    """What a use does with the symbol."""

    DECLARES = 1
    DEFINES = 2
    READS = 4
    WRITES = 8
    CALLS = 16
    NAMES = 32
    """A type's name, a label, a member in an offset: neither read nor written."""


@dataclass(slots=True, eq=False, weakref_slot=True)
class Symbol:
    """One declaration of a name. Two symbols are equal only if they are the same object."""

    name: str
    kind: Kind
    type: Qualified | None
    token: int
    """The number of the name's token in its piece, as for all that counts tokens here."""
    first: int
    """The first token of the declaration."""
    end: int
    """The token behind the declaration's last one, as long as it is being read: later, `Piece.ends` tells."""
    is_definition: bool = True
    previous: Symbol | None = None
    """An earlier declaration of the same thing."""
    value: int | float | None = None
    """Of a constant, where it is known."""
    storage: str | None = None
    is_initialised: bool = False
    """Of a variable: its declaration gives it a value."""
    parameters: tuple[Symbol, ...] = ()
    attributes: tuple[tuple[str, str], ...] = ()
    bits: int | None = None
    aligned: int | None = None
    body: tuple[int, int] | None = None
    """Of a record or enumeration: the tokens from `{` to behind `}`. Of functions, `Unit.bodies` tells."""
    is_varying: bool = False
    """Of a variable: its value may differ between the work-items of a group."""
    macro: MacroDefinition | None = None
    overloads: Symbol | None = None
    """Another function of the name, declared before, that takes other arguments."""
    members: list[Symbol] | None = None
    """Of a struct or union that this defines."""
    _unit: ReferenceType[Unit] | None = field(default=None, init=False, repr=False)
    _piece: ReferenceType[Key] | None = field(default=None, init=False, repr=False)
    _parent: ReferenceType[Symbol] | None = field(default=None, init=False, repr=False)

    @property
    def unit(self) -> Unit | None:
        """The unit that was being read when it was declared: a later one may have taken it over."""
        return None if self._unit is None else self._unit()

    @unit.setter
    def unit(self, unit: Unit) -> None:
        self._unit = ref(unit)

    @property
    def piece(self) -> Key | None:
        """What it is declared in (`Piece.key`); `None` as long as that is being read."""
        return None if self._piece is None else self._piece()

    @piece.setter
    def piece(self, piece: Key) -> None:
        self._piece = ref(piece)

    @property
    def parent(self) -> Symbol | None:
        """The function, record or enumeration that it belongs to."""
        return None if self._parent is None else self._parent()

    @parent.setter
    def parent(self, parent: Symbol | None) -> None:
        self._parent = None if parent is None else ref(parent)

    @property
    def root(self) -> Symbol:
        """The first declaration of the same thing."""
        found = self
        while found.previous is not None:
            found = found.previous
        return found


@dataclass(frozen=True, slots=True)
class MacroDefinition:
    """A `#define`: where its name and the whole directive stand, and its text."""

    name: str
    name_span: Span
    span: Span
    parameters: tuple[str, ...] | None
    is_variadic: bool
    read: Macro
    """As the preprocessor has it."""

    @property
    def body(self) -> str:
        """Its body as one text; spelling a long one takes as long as expanding it."""
        return self.read.spelled

    @property
    def beginning(self) -> str:
        """The first of its body, as lists show it."""
        return self.read.beginning


class Use(NamedTuple):
    """A token that names a symbol."""

    token: int
    symbol: Symbol
    role: Role


class BuiltinUse(NamedTuple):
    """A token that names a built-in function, type or constant; `text` is a call's signature where known."""

    token: int
    name: str
    text: str | None = None
    is_varying: bool = False
    type: Qualified | None = None


@dataclass(slots=True)
class Scope:
    """Tokens in which names are seen, from where each is declared."""

    start: int
    end: int
    depth: int = 0
    """How many scopes are around it."""
    symbols: list[Symbol] = field(default_factory=list)
    tags: list[Symbol] = field(default_factory=list)
    inner: list[Scope] = field(default_factory=list)


@dataclass(slots=True)
class Call:
    """A call as written: the tokens of its name, brackets and commas; `end` is behind its last token."""

    name: int
    opening: int
    commas: list[int]
    end: int
    callee: Symbol | str | None
    """A symbol, the name of a built-in, or `None`."""
    arguments: list[Qualified | None] = field(default_factory=list)
    function: Symbol | None = None
    """The function that it stands in."""
    varying: list[bool] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the tokens `[start, end)` by a text; where they are none, insert behind token `start - 1`.

    A text that ends in a blank goes before token `start`, a directive on a line before it.
    """

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """What mends a problem."""

    title: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Issue:
    """Something wrong in a unit, in clang's words where clang has any.

    It stands at token `token`, or right behind the token before where `is_behind` is set.
    """

    code: str
    severity: Severity
    message: str
    token: int
    end: int
    is_behind: bool = False
    fix: Fix | None = None
    notes: tuple[tuple[int, str], ...] = ()
    name: str | None = None
    """The name that it is about, where each name is reported once."""


class MemberAccess(NamedTuple):
    """The token of a `.` or `->`, and the type of what stands before it."""

    token: int
    type: Qualified
    is_arrow: bool


class Expected(NamedTuple):
    """From this token on a value of a type is wanted: completion ranks by it."""

    token: int
    type: Qualified


@dataclass(frozen=True, slots=True)
class Need:
    """What an extension has to be enabled for before this token."""

    token: int
    extension: str
    what: str
    severity: Severity = Severity.WARNING
