"""The index of one file: from places to symbols and back."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from pathlib import PurePath

from clmap_lsp.dataclass import dataclass
from clmap_lsp.index.cursor import FileScope
from clmap_lsp.index.extensions import enabled_at, missing
from clmap_lsp.index.model import BuiltinUse, Edit, Fix, Issue, Kind, Role, Symbol
from clmap_lsp.index.pieces import Key, Piece, Unit
from clmap_lsp.lazy import lazy_property
from clmap_lsp.source.ir import Problem, Severity
from clmap_lsp.source.lexer import Token
from clmap_lsp.source.made import Tokens
from clmap_lsp.source.normalise import span_of_token
from clmap_lsp.source.options import BuildOptions
from clmap_lsp.source.span import SourceFile, Span

_REACHES = (64, 1_100, 1 << 30)
"""Characters before a place in which tokens are looked for, one reach after the other; names have no more
than the second."""


def _is_host(path: str) -> bool:
    from clmap_lsp.source.embedded import is_host

    return is_host(path)


def _holds(span: Span, path: str, offset: int) -> bool:
    return span.path == path and span.start <= offset <= span.end


@dataclass(frozen=True, slots=True)
class PlacedUnit:
    """A declaration and its tokens in the file. `is_cut`: its closing brace is missing."""

    start: int
    end: int
    unit: Unit
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class Include:
    """An `#include`: where what it names is typed, and the path of what was found."""

    span: Span
    name: str
    path: str | None


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A place that names a symbol. In a macro's body it stands for what the macro's use made of it."""

    path: str
    start: int
    end: int
    symbol: Symbol
    role: Role
    use: tuple[str, int, int] | None = None
    """Where the macro is used that this text came out of."""
    is_spelled: bool = True
    """Whether the text at the place is the symbol's name; not so where `##` made it."""


@dataclass(frozen=True, slots=True)
class PlacedIssue:
    """Something wrong, with its place as typed."""

    issue: Issue
    span: Span
    unit: PlacedUnit


@dataclass(eq=False)
class Index:
    """What a file, with its includes, declares and uses."""

    path: str
    options: BuildOptions
    read_as: BuildOptions
    """The options with the OpenCL C version that was presumed where they say none."""
    files: Mapping[str, SourceFile]
    tokens: Tokens = field(repr=False)
    texts: list[str] = field(repr=False)
    units: list[PlacedUnit] = field(repr=False)
    scope: FileScope = field(repr=False)
    macros: list[Symbol] = field(repr=False)
    macro_uses: list[tuple[Token, Symbol]] = field(repr=False)
    includes: tuple[Include, ...]
    inactive: tuple[Span, ...]
    problems: tuple[Problem, ...]
    """What the preprocessor found wrong."""
    kept: Mapping[str, list[Unit]] = field(repr=False)
    """The units by their text, for the next reading."""

    @property
    def text(self) -> str:
        """The file as typed."""
        return self.files[self.path].text

    # ----------------------------------------------------------------------------------------- places

    @lazy_property
    def _places(self) -> dict[Key, tuple[PlacedUnit, int, Piece]]:
        """Where each piece is: in which unit, and from which of its tokens on."""
        return {piece.key: (placed, at, piece) for placed in self.units for at, piece in placed.unit.pieces}

    def _place_of(self, symbol: Symbol) -> tuple[PlacedUnit, int, Piece] | None:
        """Return where the piece is that declares a symbol; `None` for one that this index has not."""
        piece = symbol.piece
        return None if piece is None else self._places.get(piece)

    def unit_of(self, symbol: Symbol) -> Unit | None:
        """Return the unit of this index that declares a symbol."""
        place = self._place_of(symbol)
        return None if place is None else place[0].unit

    def number_in_unit(self, symbol: Symbol) -> int | None:
        """Return the number of a symbol's name among the tokens of its unit."""
        place = self._place_of(symbol)
        return None if place is None else place[1] + symbol.token

    def token_of(self, symbol: Symbol) -> Token | None:
        """Return the token that names a symbol where it is declared."""
        place = self._place_of(symbol)
        return None if place is None else self.tokens[place[0].start + place[1] + symbol.token]

    def name_span(self, symbol: Symbol) -> Span | None:
        """Return where a symbol is named: in a macro's body, the use of the macro."""
        if symbol.macro is not None:
            return symbol.macro.name_span if symbol.macro.name_span.path in self.files else None
        token = self.token_of(symbol)
        return None if token is None else span_of_token(token)

    def typed_name_span(self, symbol: Symbol) -> Span | None:
        """Return where a symbol's name is typed, be it in a macro's body."""
        if symbol.macro is not None:
            return self.name_span(symbol)
        token = self.token_of(symbol)
        return None if token is None else Span(token.path, token.start, token.end)

    def full_span(self, symbol: Symbol) -> Span | None:
        """Return where the whole declaration stands."""
        if symbol.macro is not None:
            return symbol.macro.span if symbol.macro.span.path in self.files else None
        declared = self._declared(symbol)
        return None if declared is None else self.cover(*declared)

    def _declared(self, symbol: Symbol) -> tuple[int, int] | None:
        """Return the tokens that declare a symbol, with a function's body; the last number is that behind."""
        place = self._place_of(symbol)
        if place is None:
            return None
        start = place[0].start + place[1]
        body = place[0].unit.bodies.get(symbol)
        if body is not None:
            return start + symbol.first, place[0].start + body[1]
        ends = (end for it, end in zip(place[2].symbols, place[2].ends, strict=True) if it is symbol)
        return start + symbol.first, start + max(next(ends, 0), symbol.first + 1)

    def is_declared_by(self, symbol: Symbol, first: int, last: int) -> bool:
        """Tell whether a stretch of the file holds a part of what declares a symbol, or a macro for it."""
        declared = None if symbol.macro is not None else self._declared(symbol)
        span = self.full_span(symbol) if declared is None else self.cover(*declared)
        if span is not None and span.path == self.path and span.start <= last and span.end >= first:
            return True
        return declared is not None and bool(self.tokens.starting(self.path, first, last, *declared))

    def cover(self, first: int, end: int) -> Span:
        """Return the place of the tokens `[first, end)`, in the file of the first."""
        span = span_of_token(self.tokens[first])
        at = min(end, len(self.tokens)) - 1
        while at > first:
            last = span_of_token(self.tokens[at])
            if last.path == span.path and last.end > span.start:
                return Span(span.path, span.start, last.end)
            at -= 1
        return span

    def token_at(self, offset: int) -> int | None:
        """Return the number of the last token that starts at or before an offset of the file.

        Within the definition of a macro it is the last one that a use of it makes of what is typed there.
        """
        own = self.path
        for macro in self.macros:
            span = None if macro.macro is None else macro.macro.span
            if span is not None and _holds(span, own, offset):
                return self._made_at(macro, span.start, offset)
        return self._last_of(0, len(self.tokens), 0, offset, is_made=False)

    def _made_at(self, macro: Symbol, first: int, offset: int) -> int | None:
        """Return the number of the last token that uses of a macro make of its body up to an offset."""
        for placed in reversed(self._made_by([macro])):
            found = self._last_of(placed.start, placed.end, first, offset, is_made=True)
            if found is not None:
                return found
        return self._last_of(0, len(self.tokens), first, offset, is_made=True)

    def _last_of(self, start: int, end: int, first: int, offset: int, *, is_made: bool) -> int | None:
        """Return the number among `[start, end)` of the last token up to an offset, from another one on.

        Those are meant that are typed in this file: in macros' bodies (`is_made`), or else outside of them.
        """
        for reach in _REACHES:
            numbers = self.tokens.starting(self.path, max(first, offset - reach), offset, start, end)
            tokens = [(self.tokens[it], it) for it in numbers]
            if is_made:
                places = [(it.start, at) for it, at in tokens if it.use and it.use.path == self.path]
            else:
                places = [(it.start, at) for it, at in tokens if it.use is None]
            if places or offset - reach <= first:
                return max(places)[1] if places else None
        return None

    def unit_at(self, token: int) -> PlacedUnit | None:
        """Return the declaration that a token belongs to."""
        at = bisect_right(self.units, token, key=lambda it: it.start) - 1
        if at < 0 or token >= self.units[at].end:
            return None
        return self.units[at]

    # ------------------------------------------------------------------------------------- occurrences

    @lazy_property
    def occurrences(self) -> list[Occurrence]:
        """Every place that names a symbol, each once, in the order of files and offsets."""
        return self._occurring(self.units, self.macros, self.macro_uses)

    def _occurring(
        self,
        units: Iterable[PlacedUnit],
        macros: Iterable[Symbol],
        uses: Iterable[tuple[Token, Symbol]],
        offset: int | None = None,
    ) -> list[Occurrence]:
        found: dict[tuple[str, int], Occurrence] = {}
        for placed in units:
            start, end = placed.start, placed.end
            here = None if offset is None else self._starting_near(start, end, offset)
            if here is not None and not here:
                continue
            tokens = self.tokens[start:end] if here is None else []
            named = placed.unit.uses if here is None else placed.unit.uses_of({it - start for it in here})
            for use in named:
                if not use.symbol.name:
                    continue
                token = tokens[use.token] if here is None else self.tokens[start + use.token]
                if offset is not None and not token.start <= offset <= token.end:
                    continue
                made = token.use
                key = token.path, token.start
                before = found.get(key)
                if before is not None and before.symbol is use.symbol:
                    if use.role & ~before.role:
                        found[key] = Occurrence(
                            before.path,
                            before.start,
                            before.end,
                            before.symbol,
                            before.role | use.role,
                            before.use,
                            before.is_spelled,
                        )
                    continue
                if before is not None and before.use is None:
                    continue
                found[key] = Occurrence(
                    token.path,
                    token.start,
                    token.end,
                    use.symbol,
                    use.role,
                    None if made is None else (made.path, made.start, made.end),
                    token.end - token.start == len(use.symbol.name),
                )
        for symbol in macros:
            definition = symbol.macro
            assert definition is not None
            span = definition.name_span
            role = Role.DECLARES | Role.DEFINES
            found[span.path, span.start] = Occurrence(span.path, span.start, span.end, symbol, role)
        for token, symbol in uses:
            key = token.path, token.start
            found[key] = Occurrence(token.path, token.start, token.end, symbol, Role.READS)
        return sorted(found.values(), key=lambda it: (it.path, it.start))

    def _starting_near(self, start: int, end: int, offset: int) -> set[int]:
        """Return the numbers among `[start, end)` of the tokens that an offset of this file may lie in."""
        for reach in _REACHES[:2]:
            found = self.tokens.starting(self.path, offset - reach, offset, start, end)
            if found:  # Then no token that starts before these goes on to the offset.
                return set(found)
        return set()

    def occurrence_at(self, offset: int) -> Occurrence | None:
        """Return what is named at an offset of the file, or right before it."""
        here = self._near(offset)
        starts = [it.start for it in here]
        at = bisect_right(starts, offset) - 1
        return here[at] if at >= 0 and offset <= here[at].end else None

    def _near(self, offset: int) -> list[Occurrence]:
        """Return places in the file that name symbols, at least those that an offset lies in.

        While a person types, asking for all of them would cost more than all else that an answer needs.
        """
        macros = [
            it for it in self.macros if it.macro is not None and _holds(it.macro.span, self.path, offset)
        ]
        units = self._made_by(macros) if macros else self._holding(self.path, offset)
        uses = [
            it for it in self.macro_uses if it[0].path == self.path and it[0].start <= offset <= it[0].end
        ]
        named = [
            it for it in macros if it.macro is not None and _holds(it.macro.name_span, self.path, offset)
        ]
        if not macros:
            return self._occurring_here(units, [], uses, offset)
        for placed in reversed(units):  # Where several uses make something of the place, the last one counts.
            if found := self._occurring_here([placed], named, uses, offset):
                return found
        numbers = self._starting_near(0, len(self.tokens), offset)
        others = {it.start: it for it in map(self.unit_at, numbers) if it is not None}
        return self._occurring_here([others[it] for it in sorted(others)], named, uses, offset)

    def _occurring_here(
        self,
        units: Iterable[PlacedUnit],
        macros: Iterable[Symbol],
        uses: Iterable[tuple[Token, Symbol]],
        offset: int,
    ) -> list[Occurrence]:
        found = self._occurring(units, macros, uses, offset)
        return [it for it in found if it.path == self.path]

    def _holding(self, path: str, offset: int) -> list[PlacedUnit]:
        """Return the declarations that an offset of a file may lie in."""
        return [
            placed
            for placed, (there, start, end) in zip(self.units, self._unit_places, strict=True)
            if (there == path and start <= offset <= end) or (there == "" and path == self.path)
        ]

    @lazy_property
    def _unit_places(self) -> list[tuple[str, int, int]]:
        """Where each declaration stands: file, start and end; no file where an `#include` stands in it."""
        found: list[tuple[str, int, int]] = []
        for it in self.units:
            if it.start >= it.end:
                found.append(("", 1, 0))
                continue
            first, last = span_of_token(self.tokens[it.start]), span_of_token(self.tokens[it.end - 1])
            found.append((first.path if first.path == last.path else "", first.start, last.end))
        return found

    def _made_by(self, macros: list[Symbol]) -> list[PlacedUnit]:
        """Return declarations that uses of macros are part of, those in other macros' bodies included.

        What a body names, its uses say, wherever they are. One that begins with an argument may be missing.
        """
        bodies = [
            (it.macro.span.path, it.macro.span.start, it.macro.span.end, it)
            for it in self.macros
            if it.macro is not None
        ]
        waiting, known, units = list(macros), set(macros), set[PlacedUnit]()
        while waiting:
            one = waiting.pop()
            for token, symbol in self.macro_uses:
                if symbol is not one:
                    continue
                around = [
                    it for path, start, end, it in bodies if path == token.path and start <= token.start < end
                ]
                if not around:
                    units.update(self._holding(token.path, token.start))
                waiting += [it for it in around if it not in known]
                known.update(around)
        return sorted(units, key=lambda it: it.start)

    @lazy_property
    def builtin_uses(self) -> list[tuple[Token, BuiltinUse]]:
        """The places that name something built in, in the order of the text."""
        tokens = self.tokens.all()
        return [
            (tokens[placed.start + use.token], use) for placed in self.units for use in placed.unit.builtins
        ]

    def builtin_at(self, offset: int) -> tuple[Token, BuiltinUse] | None:
        """Return the built-in function, type or constant that is named at an offset."""
        return next(
            (
                (token, use)
                for token, use in self.builtin_uses
                if token.path == self.path and token.start <= offset <= token.end and token.use is None
            ),
            None,
        )

    # ----------------------------------------------------------------------------------------- symbols

    @lazy_property
    def _groups(self) -> dict[Symbol, list[Symbol]]:
        groups: dict[Symbol, list[Symbol]] = {}
        for placed in self.units:
            for symbol in placed.unit.symbols:
                groups.setdefault(symbol.root, []).append(symbol)
        return groups

    def declarations(self, symbol: Symbol) -> list[Symbol]:
        """Return every declaration of the same thing, in order."""
        if symbol.kind is Kind.MACRO:
            return [symbol]
        return self._groups.get(symbol.root, [symbol])

    def definition(self, symbol: Symbol) -> Symbol:
        """Return the definition of what a symbol declares; where there is none, its first declaration."""
        if symbol.is_definition and symbol.kind is not Kind.MACRO:
            return symbol  # A host file may hold several programs that define the same names.
        found = self.declarations(symbol)
        return next((it for it in found if it.is_definition), found[0])

    def references(self, symbol: Symbol) -> Iterator[Occurrence]:
        """Yield every place that names the same thing."""
        if symbol.kind is Kind.MACRO:
            yield from (it for it in self.occurrences if it.symbol is symbol)
            return
        root = symbol.root
        yield from (it for it in self.occurrences if it.symbol.root is root)

    def symbols(self) -> Iterator[tuple[PlacedUnit, Symbol]]:
        """Yield every symbol with its unit."""
        for placed in self.units:
            for symbol in placed.unit.symbols:
                yield placed, symbol

    # ------------------------------------------------------------------------------------------ issues

    @lazy_property
    def issues(self) -> list[PlacedIssue]:
        """What is wrong, in the order of the text; of those about one name only the first."""
        found: list[PlacedIssue] = []
        seen: set[tuple[str, str]] = set()
        for at, placed in enumerate(self.units):
            for issue in map(self._declared_below, sorted(placed.unit.issues, key=lambda it: it.token)):
                is_at_end = placed.start + issue.token >= placed.end - 1
                if (
                    placed.is_cut
                    and is_at_end
                    and issue.message == "expected '}'"
                    and at + 1 < len(self.units)
                ):
                    continue
                if issue.name is not None and (issue.severity is not Severity.ERROR):
                    key = issue.code, issue.name
                    if key in seen:
                        continue
                    seen.add(key)
                found.append(PlacedIssue(issue, self._issue_span(placed, issue), placed))
            if placed.is_cut and at + 1 < len(self.units):
                found.append(self._unclosed(placed, self.units[at + 1]))
        found += self._missing_extensions()
        return sorted(found, key=lambda it: it.unit.start + it.issue.token)

    def _declared_below(self, issue: Issue) -> Issue:
        """Return what is wrong with a name that is declared behind its use, if nothing was said of that."""
        if issue.code != "undefined-name" or issue.name is None or self.read_as.is_cpp:
            return issue
        symbol = self.scope.get(False, issue.name)
        span = None if symbol is None else self.name_span(symbol)
        if span is None:
            return issue
        row = self.files[span.path].position(span.start).row
        where = "" if span.path == self.path else f" of '{PurePath(span.path).name}'"
        said = f"{issue.message.partition(';')[0]}; '{issue.name}' is declared below, in line {row}{where}"
        return replace(issue, code="declared-below", severity=Severity.ERROR, message=said, fix=None)

    def _missing_extensions(self) -> Iterator[PlacedIssue]:
        """Yield the first use of each extension that no pragma enables before it."""
        needing = [it for it in self.units if it.unit.needs]
        if not needing:
            return
        enabled = enabled_at(self.texts)
        told: set[str] = set()
        for placed in needing:
            for need in placed.unit.needs:
                if need.extension not in told and not enabled(need.extension, placed.start + need.token):
                    told.add(need.extension)
                    issue = missing(need)
                    yield PlacedIssue(issue, self._issue_span(placed, issue), placed)

    def _unclosed(self, placed: PlacedUnit, following: PlacedUnit) -> PlacedIssue:
        """Return what is wrong where a `}` is missing: a compiler sees it at the next kernel."""
        end = placed.end - placed.start
        fix = Fix("Insert '}' before the kernel", (Edit(end, end, "\n}\n"),))
        said = "expected expression; a '}' is missing before this kernel"
        issue = Issue("syntax-error", Severity.ERROR, said, end, end + 1, fix=fix)
        return PlacedIssue(issue, span_of_token(self.tokens[following.start]), placed)

    def _issue_span(self, placed: PlacedUnit, issue: Issue) -> Span:
        first = placed.start + issue.token
        is_at_end = issue.message == "expected '}'" and first >= len(self.tokens) - 1
        if is_at_end and not _is_host(self.path):
            end = len(self.files[self.path].text)
            return Span(self.path, end, end)
        if issue.is_behind and first > 0:
            before = span_of_token(self.tokens[first - 1])
            return Span(before.path, before.end, before.end)
        if first >= len(self.tokens):
            last = span_of_token(self.tokens[-1])
            return Span(last.path, last.end, last.end)
        return self.cover(first, max(placed.start + issue.end, first + 1))
