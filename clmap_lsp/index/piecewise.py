"""Reads the statements of blocks as pieces, and takes those of an earlier reading where they still hold.

What the reading of a statement follows from is its tokens, what was open around it, and what the names mean
that it asked for. Where an earlier reading of the same declaration has all of these, its piece is taken as it
is, with the symbols that it declares, so that the statements behind it hold as well.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable
from typing import Any

from clmap_lsp.dataclass import dataclass
from clmap_lsp.index.cursor import FileScope, SyntaxFaultError
from clmap_lsp.index.declarations import DeclarationParser
from clmap_lsp.index.model import CALLABLE, Issue, Kind, Scope, Symbol, Use
from clmap_lsp.index.pieces import Context, Head, Piece, Reading, Unit, moved_call, moved_issue, moved_need
from clmap_lsp.source.difference import difference
from clmap_lsp.source.options import BuildOptions

LOOK_AHEAD = 4
"""Tokens behind what was read that its reading may have looked at; behind a syntax error it is any number.
Behind a statement's `;` or `}`, only `else` says anything of it."""
_NONE: list[Any] = []
"""Stands for all lists of pieces that hold nothing: there are many."""


BLOCK = "block"


class Around:
    """A loop, a `switch` with its labels, or a block of OpenCL 2.0, which neither is left from inside of."""

    __slots__ = ("cases", "word")

    def __init__(self, word: str) -> None:
        self.word = word
        self.cases: set[int | float | str] = set()


@dataclass(slots=True, eq=False)
class Earlier:
    """An earlier reading of a declaration, and which tokens it has in common with the present one."""

    unit: Unit
    shared: int
    """The first so many are the same."""
    tail: int
    """And the last so many."""
    texts: list[str]
    """The present ones."""
    by_start: dict[int, Piece]

    @classmethod
    def of(cls, unit: Unit, before: list[str], texts: list[str]) -> Earlier:
        """Compare the tokens of an earlier reading with the present ones."""
        apart = difference(before, texts)
        return cls(unit, apart.start, len(texts) - apart.new_end, texts, dict(unit.pieces))

    def piece(self, at: int) -> Piece | None:
        """Return the piece of which all tokens, and those behind that were looked at, are still there."""
        found = self.by_start.get(at)
        if found is not None and self._is_whole(at + found.n_tokens):
            return found
        if at >= len(self.texts) - self.tail:
            return self.by_start.get(at - len(self.texts) + self.unit.n_tokens)
        return None

    def _is_whole(self, end: int) -> bool:
        """Tell whether a statement that ends there is as it was."""
        if end > self.shared or self.texts[end - 1] not in (";", "}"):
            return end + LOOK_AHEAD <= self.shared
        return end < self.shared or self.texts[end : end + 1] != ["else"]


class PieceParser(DeclarationParser, ABC):
    """Reads statements as pieces."""

    labels: dict[str, Symbol]
    gotos: list[tuple[str, int]]
    around: list[Around]
    """The loops and `switch`es around a statement."""

    def __init__(
        self, texts: list[str], file_scope: FileScope, options: BuildOptions, earlier: Earlier | None = None
    ) -> None:
        super().__init__(texts, file_scope, options)
        self.earlier: Earlier | None = None
        """Set where what stands before the body is as it was."""
        self._earlier = earlier
        if earlier is not None:
            self.unit.far = earlier.unit.far  # It rests on nothing but these names.
        self._cases: list[tuple[int, int | float | str]] = []
        """Labels with the number of the loop or `switch` that they are of."""

    # -------------------------------------------------------------------------------------- statements

    def _piece(self, read: Callable[[], bool]) -> bool:
        """Read a statement, or take it from before; tell whether control never comes behind it."""
        context = self._context()
        known = None if self.earlier is None else self.earlier.piece(self.at)
        if known is not None and known.reading is not None and self._holds(known, known.reading, context):
            return self._take(known, known.reading)
        start, n_cases, n_around = self.at, len(self._cases), len(self.around)
        unsure, doubts, judged, was_doubtful = self.n_unsure, self.n_doubts, self.n_judged, self.is_doubtful
        outer = self.piece, self.piece_start, self.asked, self.asked_near, self.asked_local
        self.open.append((self.piece_start, self.piece))
        piece = self.piece = Piece(depth=len(self.scopes))
        self.piece_start = start
        self.asked, self.asked_near, self.asked_local = {}, {}, {}
        ends = False
        try:
            ends = read()
        except SyntaxFaultError:
            self.n_unsure += 1
            raise
        finally:
            asked, near, local = self.asked, self.asked_near, self.asked_local
            self.piece, self.piece_start, self.asked, self.asked_near, self.asked_local = outer
            self.open.pop()
            self._ask_outside(asked, near, local)
            self.piece.inner.append((start, piece))
            self.piece.has_error |= piece.has_error
            seal(piece, start, self.at)
            self._adopt(piece, start)
            if self.n_unsure == unsure and _is_plain(piece):
                piece.reading = Reading(
                    context,
                    tuple([(key, found) for key, (found, _) in asked.items()]),
                    tuple([(key, found) for key, (found, level) in asked.items() if level < 0]),
                    tuple(near.items()),
                    self.file_scope.names,
                    tuple(local.items()),
                    tuple([it for number, it in self._cases[n_cases:] if number < n_around]),
                    ends,
                    was_doubtful,
                    self.n_doubts > doubts,
                    self.n_judged > judged,
                )
        return ends

    def _context(self) -> Context:
        words = tuple([it.word for it in self.around])
        return self.depth, len(self.scopes), words, tuple(self.controls)

    def _ask_outside(
        self,
        asked: dict[tuple[bool, str], tuple[Symbol | None, int]],
        near: dict[tuple[bool, str], str | None],
        local: dict[str, str | None],
    ) -> None:
        """Note what a statement inside asked for that is not of the present piece itself."""
        depth = self.piece.depth
        for key, it in asked.items():
            if it[1] < depth:
                self.asked.setdefault(key, it)
        self.asked_near.update(near)
        for name, meant in local.items():
            self.asks_local(name, meant)

    def _holds(self, piece: Piece, reading: Reading, context: Context) -> bool:
        """Tell whether an earlier reading of a statement with the same tokens holds here."""
        if reading.context != context or (reading.is_judged and reading.was_doubtful != self.is_doubtful):
            return False
        resolve = self._resolve
        for key, symbol in reading.lookups:
            if resolve(key)[0] is not symbol:
                return False
        if piece.names:
            ordinary = self.scopes[-1][0]
            beside = self.scopes[0][0] if len(self.scopes) == 2 else ordinary
            if any(it.name in ordinary or it.name in beside for it in piece.names):
                return False
        if reading.cases:
            switch = self._switch_around()
            if switch is None or not switch.cases.isdisjoint(reading.cases):
                return False
        return self._means_the_same(reading)

    def _resolve(self, key: tuple[bool, str]) -> tuple[Symbol | None, int]:
        """Return what a name means here, and the number of the scope that says so."""
        is_tag, name = key
        level = len(self.scopes)
        for scope in reversed(self.scopes):
            level -= 1
            found = (scope[1] if is_tag else scope[0]).get(name)
            if found is not None:
                return found, level
        return self.file_scope.get(is_tag, name), -1

    def _means_the_same(self, reading: Reading) -> bool:
        """Tell whether the names that nothing declares are still near to the same ones."""
        if reading.near_of != self.file_scope.names:
            near = self.file_scope.near
            if any(near(name, is_type=is_type) != meant for (is_type, name), meant in reading.near):
                return False
        return all(self.nearest_local(name) == meant for name, meant in reading.local_near)

    def _ask_again(self, reading: Reading) -> None:
        """Note what a statement that was read before asks for."""
        depth, lookups = self.piece.depth, self.unit.lookups
        if depth:
            for key, symbol in reading.lookups:
                _, level = self._resolve(key)
                if level < depth:
                    self.asked.setdefault(key, (symbol, level))
        for key, symbol in reading.of_file:
            if symbol is None or symbol.unit is not self.unit:
                lookups.setdefault(key, symbol)
        if reading.near:
            self.unit.near_of = self.file_scope.names
            self.unit.near.update(reading.near)
            self.asked_near.update(reading.near)
        for name, meant in reading.local_near:
            self.asks_local(name, meant)

    def _adopt(self, piece: Piece, start: int) -> None:
        """Let what a statement declares be what it declared before an edit of it, where that is alike.

        What follows from these symbols holds then.
        """
        if self.earlier is None or start >= self.earlier.shared:
            return
        before = self.earlier.by_start.get(start)
        if before is None or not _declares_alike(before, piece):
            return
        piece.key = before.key
        ours = dict(zip(piece.symbols, before.symbols, strict=True))
        new = tuple.__new__
        piece.symbols = before.symbols
        piece.uses = [new(Use, (at, ours.get(it, it), role)) for at, it, role in piece.uses]
        piece.flow = [
            (it and ours.get(it, it), tuple([other and ours.get(other, other) for other in others]))
            for it, others in piece.flow
        ]
        piece.names = before.symbols
        self.scopes[-1][0].update((it.name, it) for it in before.symbols)

    def _take(self, piece: Piece, reading: Reading) -> bool:
        """Go past a statement that was read before."""
        self._ask_again(reading)
        self.piece.inner.append((self.at, piece))
        self.piece.has_error |= piece.has_error
        for symbol in piece.names:
            self.scopes[-1][0][symbol.name] = symbol
        if reading.cases:
            number = max(at for at, it in enumerate(self.around) if it.word == "switch")
            self.around[number].cases.update(reading.cases)
            self._cases += [(number, it) for it in reading.cases]
        self.n_judged += reading.is_judged
        if reading.brings_doubt:
            self.doubt()
        self.at += piece.n_tokens
        return reading.ends

    def _switch_around(self) -> Around | None:
        return next((it for it in reversed(self.around) if it.word == "switch"), None)

    def _add_case(self, value: int | float | str) -> bool:
        """Note a label of the `switch` around; tell whether it has that label already."""
        number = max((at for at, it in enumerate(self.around) if it.word == "switch"), default=-1)
        if number < 0:
            return False
        cases = self.around[number].cases
        is_known = value in cases
        self.n_unsure += is_known
        cases.add(value)
        self._cases.append((number, value))
        return is_known

    # ------------------------------------------------------------------------------------------- heads

    def _split_head(self, symbol: Symbol, opening: int, *, is_first: bool) -> None:
        """Make what was read up to the `{` of a function a piece, for a later reading."""
        root, parameters = self.piece, self.scopes[0]
        self.piece = self.unit.root = Piece(scopes=[parameters[2]])
        root.scopes.remove(parameters[2])
        self.piece.inner.append((0, root))
        self.piece.has_error = root.has_error
        seal(root, 0, self.at)
        if not is_first or self.n_unsure or root.scopes:
            return
        if any(it.kind not in (*CALLABLE, Kind.PARAMETER) for it in root.symbols):
            return
        self.unit.head = Head(
            symbol,
            opening,
            self.at,
            parameters[0],
            root,
            tuple(self.unit.names),
            tuple(self.unit.lookups.items()),
            tuple(self.unit.near.items()),
            self.is_doubtful,
        )

    def _resumed(self) -> Head | None:
        """Return what stands before the function's body if it is as it was, and go there."""
        earlier = self._earlier
        head = None if earlier is None else earlier.unit.head
        if earlier is None or head is None or head.opened + LOOK_AHEAD > earlier.shared:
            return None
        if any(self.file_scope.get(is_tag, name) is not it for (is_tag, name), it in head.lookups):
            return None
        if any(self.file_scope.near(name, is_type=is_type) != it for (is_type, name), it in head.near):
            return None
        self.earlier = earlier
        self.at = head.opened
        self.unit.lookups.update(head.lookups)
        self.unit.near.update(head.near)
        self.unit.near_of = self.file_scope.names
        self.piece.inner.append((0, head.said))
        self.piece.has_error = head.said.has_error
        self.is_doubtful = head.leaves_doubt
        for is_tag, name, symbol in head.names:
            self.file_scope.put(is_tag, name, symbol)
            self.unit.names.append((is_tag, name, symbol))
        for symbol in head.said.symbols:
            symbol.unit = self.unit
        scope = Scope(head.opening, self.n_tokens, 0, list(head.parameters.values()))
        self.piece.scopes.append(scope)
        self.scopes.append((dict(head.parameters), {}, scope))
        self.unit.head = head
        return head


def _declares_alike(before: Piece, now: Piece) -> bool:
    """Tell whether a statement declares variables, and the same ones at the same places as an earlier one."""
    if not now.symbols or len(before.symbols) != len(now.symbols) or before.inner or now.inner:
        return False
    if now.names != now.symbols or before.names != before.symbols:
        return False
    return all(map(_is_alike, before.symbols, now.symbols))


def _is_alike(one: Symbol, other: Symbol) -> bool:
    return (
        one.kind is Kind.VARIABLE
        and other.kind is Kind.VARIABLE
        and (one.name, one.token, one.first, one.storage)
        == (other.name, other.token, other.first, other.storage)
        and (one.type, one.value, type(one.value)) == (other.type, other.value, type(other.value))
        and (one.attributes, one.is_definition, one.parent)
        == (other.attributes, other.is_definition, other.parent)
    )


def _is_plain(piece: Piece) -> bool:
    """Tell whether a statement declares nothing but variables, and what is wrong with it stands in it."""
    if any(it.kind is not Kind.VARIABLE for it in piece.symbols):
        return False
    return all(_stands_in(it, piece.n_tokens) for it in piece.issues)


def _stands_in(issue: Issue, n_tokens: int) -> bool:
    edits = issue.fix.edits if issue.fix is not None else ()
    places = [issue.token, *(it.start for it in edits), *(at for at, _ in issue.notes)]
    return all(0 <= it <= n_tokens for it in places)


def seal(piece: Piece, start: int, end: int) -> None:
    """Let what was said of a piece, by tokens of the declaration, count from its own first token."""
    piece.n_tokens = end - start
    new = tuple.__new__
    piece.ends = [it.end - start for it in piece.symbols] or _NONE
    for symbol in piece.symbols:
        symbol.piece = piece.key
        symbol.token -= start
        symbol.first -= start
        if symbol.body is not None:
            symbol.body = symbol.body[0] - start, symbol.body[1] - start
        for parameter in symbol.parameters:
            if parameter.piece is None and not parameter.name:
                parameter.piece = piece.key
                parameter.token -= start
                parameter.first -= start
    for scope in piece.scopes:
        scope.start -= start
        scope.end -= start
    piece.uses = [new(Use, (at - start, symbol, role)) for at, symbol, role in piece.uses] or _NONE
    piece.builtins = [it._replace(token=it.token - start) for it in piece.builtins] or _NONE
    piece.members = [it._replace(token=it.token - start) for it in piece.members] or _NONE
    piece.expected = [it._replace(token=it.token - start) for it in piece.expected] or _NONE
    piece.calls = [moved_call(it, -start) for it in piece.calls] or _NONE
    piece.issues = [moved_issue(it, -start) for it in piece.issues] or _NONE
    piece.needs = [moved_need(it, -start) for it in piece.needs] or _NONE
    piece.inner = [(at - start, it) for at, it in piece.inner] or _NONE
    piece.symbols = piece.symbols or _NONE
    piece.scopes = piece.scopes or _NONE
    piece.flow = piece.flow or _NONE
    piece.names = piece.names or _NONE
    piece.tags = piece.tags or _NONE
