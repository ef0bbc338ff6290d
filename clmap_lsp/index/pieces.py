"""What a declaration says, in pieces: one for each statement of a block, left alone by edits elsewhere.

All that a piece says counts tokens from its own first one. So a piece that an edit only moves is the very
same object in the next reading, and what is declared in it the same symbols: an edit in a function of a
thousand statements reads one of them. What a unit says as a whole is gathered when somebody asks.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import field
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, TypeVar

from clmap_lsp.dataclass import dataclass
from clmap_lsp.index.model import (
    BuiltinUse,
    Call,
    Edit,
    Expected,
    Fix,
    Issue,
    MemberAccess,
    Need,
    Scope,
    Symbol,
    Use,
)

if TYPE_CHECKING:
    from clmap_lsp.index.colours import PieceNames
    from clmap_lsp.index.types import Qualified

T = TypeVar("T")

Flow = tuple[Symbol | None, tuple[Symbol | None, ...]]
"""An assignment: a symbol (a function: its result), and what its value depends on (`None`: work-items)."""
Context = tuple[object, ...]
_FIRST = itemgetter(0)
_TOKEN = attrgetter("token")


class Key:
    """Tells a piece from others, and is that of a later one where an edit of it leaves what it declares."""

    __slots__ = ("__weakref__",)


MOST_ALONE = 64
"""Tokens that are asked about piece by piece; for more of them all pieces are gone through once."""


@dataclass(slots=True, eq=False)
class Piece:
    """What a statement says, or a declaration outside of functions, without the statements inside of it."""

    n_tokens: int = 0
    key: Key = field(default_factory=Key)
    depth: int = 0
    """How many scopes are around it."""
    symbols: list[Symbol] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    """The tokens behind the declarations of these."""
    uses: list[Use] = field(default_factory=list)
    builtins: list[BuiltinUse] = field(default_factory=list)
    scopes: list[Scope] = field(default_factory=list)
    """Those that it opens, in order; `depth` says which is in which."""
    calls: list[Call] = field(default_factory=list)
    issues: list[Issue] = field(default_factory=list)
    members: list[MemberAccess] = field(default_factory=list)
    expected: list[Expected] = field(default_factory=list)
    needs: list[Need] = field(default_factory=list)
    flow: list[Flow] = field(default_factory=list)
    names: list[Symbol] = field(default_factory=list)
    """What it declares in the scope around it."""
    tags: list[Symbol] = field(default_factory=list)
    """The same for tags."""
    inner: list[tuple[int, Piece]] = field(default_factory=list)
    """The statements inside of it, and where each starts."""
    has_error: bool = False
    """Something in it, or inside, is an error."""
    reading: Reading | None = None
    """What the reading of it followed from; `None` where that is not known well enough to take it again."""
    named: PieceNames | None = None
    """What its tokens name, once somebody has asked."""


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """What the reading of a statement followed from, besides its tokens, and what it led to."""

    context: Context
    """What was open around it."""
    lookups: tuple[tuple[tuple[bool, str], Symbol | None], ...]
    """Names that it asked what is around for (true: tags), and what they were."""
    of_file: tuple[tuple[tuple[bool, str], Symbol | None], ...]
    """Those of them that no scope around says anything of."""
    near: tuple[tuple[tuple[bool, str], str | None], ...]
    """Names that nothing declares (true: types), and which one of the file was perhaps meant."""
    near_of: int
    """The names among which it was looked for (`FileScope.names`)."""
    local_near: tuple[tuple[str, str | None], ...]
    """The same of the names in the scopes around."""
    cases: tuple[int | float | str, ...]
    """The labels that it adds to the `switch` around it."""
    ends: bool
    """Control never comes behind it."""
    was_doubtful: bool
    """What was wrong was not judged."""
    brings_doubt: bool
    """Behind it, what is wrong is not judged."""
    is_judged: bool
    """Something was wrong, or would have been if it had been judged."""


@dataclass(frozen=True, slots=True, eq=False)
class Head:
    """What stands before a function's body, and what it led to: what the root piece held when it was read."""

    symbol: Symbol
    opening: int
    """Of the parameters."""
    opened: int
    """The `{`."""
    parameters: dict[str, Symbol]
    said: Piece
    names: tuple[tuple[bool, str, Symbol], ...]
    lookups: tuple[tuple[tuple[bool, str], Symbol | None], ...]
    near: tuple[tuple[tuple[bool, str], str | None], ...]
    leaves_doubt: bool


@dataclass(slots=True, eq=False, weakref_slot=True)
class Unit:
    """What one top-level declaration says. What it says of tokens is asked for when it is read to its end."""

    n_tokens: int
    root: Piece = field(default_factory=Piece)
    """What it says outside of a body's statements; it holds these."""
    names: list[tuple[bool, str, Symbol]] = field(default_factory=list)
    """File-scope names that it declares, in order; true for tags."""
    lookups: dict[tuple[bool, str], Symbol | None] = field(default_factory=dict)
    """File-scope names that it asked for, and what they were."""
    near: dict[tuple[bool, str], str | None] = field(default_factory=dict)
    """Names that nothing declares (true: types), and which name of the file was perhaps meant."""
    near_of: int = 0
    """The names among which it was looked for (`FileScope.names`)."""
    bodies: dict[Symbol, tuple[int, int]] = field(default_factory=dict)
    """Of the functions that it defines: the tokens from `{` to behind `}`."""
    head: Head | None = None
    far: dict[str, set[str]] = field(default_factory=dict)
    """Names that nothing declares, and names of scopes around that cannot have been meant by each."""
    _gathered: dict[str, object] = field(default_factory=dict)

    @property
    def pieces(self) -> list[tuple[int, Piece]]:
        """All pieces with their first tokens, the outer ones before those inside of them."""
        return self._once("pieces", lambda: list(all_pieces(self.root)))

    @property
    def symbols(self) -> list[Symbol]:
        """What it declares, in the order of the text."""

        def gather() -> list[Symbol]:
            placed = [(at + it.token, it) for at, piece in self.pieces for it in piece.symbols]
            placed.sort(key=_FIRST)
            return [it for _, it in placed]

        return self._once("symbols", gather)

    @property
    def uses(self) -> list[Use]:
        """Tokens that name symbols, in order."""

        def gather() -> list[Use]:
            new = tuple.__new__
            found = [
                new(Use, (at + token, symbol, role))
                for at, piece in self.pieces
                for token, symbol, role in piece.uses
            ]
            found.sort(key=_FIRST)
            return found

        return self._once("uses", gather)

    def uses_of(self, tokens: AbstractSet[int]) -> list[Use]:
        """Return what some of the tokens name, in order; where they are few, most pieces are not asked."""
        if "uses" in self._gathered or len(tokens) > MOST_ALONE:
            return [it for it in self.uses if it.token in tokens]
        found: list[Use] = []
        wanted = sorted(tokens)
        waiting = [(0, self.root)]
        while waiting:
            at, piece = waiting.pop()
            found += [Use(at + it, symbol, role) for it, symbol, role in piece.uses if at + it in tokens]
            for start, inner in reversed(piece.inner):
                first = at + start
                following = bisect_left(wanted, first)
                if following < len(wanted) and wanted[following] < first + inner.n_tokens:
                    waiting.append((first, inner))
        return sorted(found, key=_FIRST)

    @property
    def builtins(self) -> list[BuiltinUse]:
        """Tokens that name something built in, in order."""

        def gather() -> list[BuiltinUse]:
            new = tuple.__new__
            found = [
                new(BuiltinUse, (at + token, *rest))
                for at, piece in self.pieces
                for token, *rest in piece.builtins
            ]
            found.sort(key=_FIRST)
            return found

        return self._once("builtins", gather)

    @property
    def scopes(self) -> list[Scope]:
        """The outermost scopes, in order; those inside are in them."""
        return self._once("scopes", lambda: _nested(self.root))

    @property
    def calls(self) -> list[Call]:
        """The calls, in order."""

        def gather() -> list[Call]:
            found = [moved_call(it, at) for at, piece in self.pieces for it in piece.calls]
            return sorted(found, key=attrgetter("name"))

        return self._once("calls", gather)

    @property
    def issues(self) -> list[Issue]:
        """What is wrong, in order; of one token what was found last, last."""

        def gather() -> list[Issue]:
            # What is said of a whole function is said last.
            found = [moved_issue(it, at) for at, piece in self.pieces[1:] for it in piece.issues]
            return sorted([*found, *self.root.issues], key=_TOKEN)

        return self._once("issues", gather)

    @property
    def members(self) -> list[MemberAccess]:
        """The `.` and `->`."""
        return self._once("members", lambda: [*self._moved(lambda it: it.members)])

    def expected_at(self, token: int) -> Qualified | None:
        """Return the type that is wanted of a value that starts at a token; most pieces are not asked."""
        found: Qualified | None = None
        waiting = [(0, self.root)]
        while waiting:
            at, piece = waiting.pop()
            for it in piece.expected:
                if at + it.token == token:
                    found = it.type
            for start, inner in reversed(piece.inner):
                if 0 <= token - at - start <= inner.n_tokens:
                    waiting.append((at + start, inner))
        return found

    @property
    def needs(self) -> list[Need]:
        """What extensions have to be enabled for, in order."""

        def gather() -> list[Need]:
            found = [moved_need(it, at) for at, piece in self.pieces for it in piece.needs]
            return sorted(found, key=_TOKEN)

        return self._once("needs", gather)

    def flow(self) -> Iterator[Flow]:
        """Yield the assignments, in no order."""
        for _, piece in self.pieces:
            yield from piece.flow

    def _moved(self, of: Callable[[Piece], list[T]]) -> Iterator[T]:
        """Yield tuples that begin with a token, from the pieces, as they stand in the unit."""
        for at, piece in self.pieces:
            for it in of(piece):
                yield it._replace(token=it.token + at)  # type: ignore[attr-defined]

    def _once(self, name: str, make: Callable[[], T]) -> T:
        found = self._gathered.get(name)
        if found is None:
            found = self._gathered[name] = make()
        return found  # type: ignore[return-value]


def all_pieces(root: Piece) -> Iterator[tuple[int, Piece]]:
    """Yield a piece and those inside of it, with their first tokens, the outer ones first."""
    waiting = [(0, root)]
    while waiting:
        at, piece = waiting.pop()
        yield at, piece
        if piece.inner:
            waiting += [(at + start, it) for start, it in reversed(piece.inner)]


def _nested(root: Piece) -> list[Scope]:
    """Return the scopes of all pieces one in the other, each with what its statements declare."""
    outermost: list[Scope] = []
    around: list[Scope] = []

    def open_(scope: Scope, at: int) -> None:
        made = Scope(scope.start + at, scope.end + at, scope.depth, list(scope.symbols), list(scope.tags))
        while around and around[-1].depth >= made.depth:
            around.pop()
        (around[-1].inner if around else outermost).append(made)
        around.append(made)

    def put(piece: Piece, at: int) -> None:
        scopes = iter([(it.start, it) for it in piece.scopes])
        following = next(scopes, None)
        for start, inner in piece.inner:
            while following is not None and following[0] <= start:
                open_(following[1], at)
                following = next(scopes, None)
            if inner.names or inner.tags or inner.scopes or inner.inner:
                depth = inner.depth
                while around and around[-1].depth >= depth:
                    around.pop()
                if around:
                    around[-1].symbols += inner.names
                    around[-1].tags += inner.tags
                put(inner, at + start)
        while following is not None:
            open_(following[1], at)
            following = next(scopes, None)

    put(root, 0)
    return outermost


def moved_call(it: Call, by: int) -> Call:
    """Return a call as it stands some tokens further on."""
    if by == 0:
        return it
    commas = [comma + by for comma in it.commas]
    made = Call(it.name + by, it.opening + by, commas, it.end + by, it.callee, it.arguments, it.function)
    made.varying = it.varying
    return made


def moved_need(it: Need, by: int) -> Need:
    """Return what an extension is needed for as it stands some tokens further on."""
    return Need(it.token + by, it.extension, it.what, it.severity) if by else it


def moved_issue(it: Issue, by: int) -> Issue:
    """Return something wrong as it stands some tokens further on."""
    if by == 0:
        return it
    fix = it.fix
    if fix is not None:
        fix = Fix(fix.title, tuple([Edit(e.start + by, e.end + by, e.text) for e in fix.edits]))
    notes = tuple([(at + by, said) for at, said in it.notes]) if it.notes else ()
    return Issue(
        it.code, it.severity, it.message, it.token + by, it.end + by, it.is_behind, fix, notes, it.name
    )
