"""From text to `Index`: preprocess, split into declarations, read those that are new."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from itertools import compress, count, pairwise

from clmap_lsp import defaults
from clmap_lsp.index import builtins
from clmap_lsp.index.begun import begun_anew
from clmap_lsp.index.cursor import FileScope
from clmap_lsp.index.heads import ends_old_parameter
from clmap_lsp.index.index import Include, Index, PlacedUnit
from clmap_lsp.index.model import Kind, MacroDefinition, Symbol
from clmap_lsp.index.pieces import Unit
from clmap_lsp.index.piecewise import Earlier
from clmap_lsp.index.statements import read_unit
from clmap_lsp.index.types import TYPE_NAMES, Enumeration, Record
from clmap_lsp.interruption import checkpoint
from clmap_lsp.source.collector import paused_collector
from clmap_lsp.source.lexer import NEW_LINE, Token, is_name
from clmap_lsp.source.macros import Macro
from clmap_lsp.source.made import Tokens
from clmap_lsp.source.options import BuildOptions, is_cpp
from clmap_lsp.source.parse import MAX_CHARACTERS, Prepared, prepare
from clmap_lsp.source.preprocess import PRAGMA, MacroLog
from clmap_lsp.source.span import SourceFile, Span
from clmap_lsp.source.vocabulary import ATTRIBUTE_WORDS, KERNEL_WORDS

_PLAIN = BuildOptions()
SMALLEST_EDITED = 6
"""Tokens of a declaration from which on it is read by statements, as the shortest functions have: so its
symbol stays, which all that call it follow from."""
_LONGEST_ATTRIBUTE = 100
"""Tokens."""
_NEVER_A_KERNELS = frozenset(TYPE_NAMES.keys() - {"void"}) | {
    *("struct", "union", "enum", "typedef", "unsigned", "signed"),
}
_MARKS = frozenset({"{", "}", ";", *KERNEL_WORDS})


def read_index(
    text: str,
    path: str,
    options: BuildOptions = _PLAIN,
    *,
    read_file: Callable[[str], str | None] | None = None,
    previous: Index | None = None,
    beside: Index | None = None,
    prepared: Prepared | None = None,
) -> Index:
    """Return the index of a file with what it includes. Never raises on text.

    Args:
        text: the file as typed.
        path: its name; includes are looked up beside it.
        options: what `clBuildProgram` would get.
        read_file: returns the text of a path, or `None` where there is no such file.
        previous: an earlier index of the file. Declarations that an edit leaves alone, with the names that
            they ask for, are taken from it.
        beside: the last index of a part of the file, or, for one of a part, that of the whole, for the same.
        prepared: the file preprocessed, if somebody has done that already.
    """
    if len(text) > MAX_CHARACTERS:
        text = ""
    if prepared is None:
        prepared = prepare(text, path, options, read_file)
    with paused_collector():
        source, log = prepared.source, prepared.log
        if source.files[path].text != text:
            source.files[path] = SourceFile.of(path, text)
        texts = source.texts
        presumed = "CLC++" if is_cpp(path, options.standard) else presumed_standard(texts)
        read_as = replace(options, standard=options.standard or presumed)
        known = previous.kept if previous is not None and previous.read_as == read_as else {}
        also = beside.kept if beside is not None and beside.read_as == read_as else {}
        is_other = read_as.is_cpp
        edited = _Edited(
            [it for it in (previous, beside) if it is not None and it.read_as == read_as and not is_other]
        )
        units, kept, scope = _units(source.tokens, texts, read_as, known, also, edited)
        macros, macro_uses = _macros(log)
        return Index(
            path,
            options,
            read_as,
            source.files,
            source.tokens,
            texts,
            units,
            scope,
            macros,
            macro_uses,
            tuple(Include(span, name, found) for span, name, found in log.includes),
            tuple(source.inactive),
            tuple(source.problems),
            kept,
        )


def presumed_standard(texts: list[str]) -> str:
    """Return the OpenCL C version of a program whose build does not say: 2.0 if it needs that."""
    is_likely_1_2 = _any_of_2_0().isdisjoint(texts)  # One look at all of the tokens is enough for most files.
    needs_2_0 = not is_likely_1_2 and (
        not builtins.only_from_2_0().isdisjoint(texts) or _has_words_of_2_0(texts)
    )
    return "CL2.0" if needs_2_0 else defaults.STANDARD


_WORDS_OF_2_0 = frozenset({"generic", "__generic", "pipe", "read_write", "__read_write"})


@cache
def _any_of_2_0() -> frozenset[str]:
    return builtins.only_from_2_0() | _WORDS_OF_2_0


def _has_words_of_2_0(texts: list[str]) -> bool:
    """Tell whether `generic` and its like stand before a word, as no variable of these names does."""
    return any(text in _WORDS_OF_2_0 and is_name(following) for text, following in pairwise(texts))


# ------------------------------------------------------------------------------------------------- units

_Kept = dict[str, list[Unit]]


def _units(
    tokens: Tokens,
    texts: list[str],
    options: BuildOptions,
    known: Mapping[str, list[Unit]],
    also: Mapping[str, list[Unit]],
    edited: _Edited,
) -> tuple[list[PlacedUnit], _Kept, FileScope]:
    scope = FileScope()
    kept: _Kept = {}
    waiting = {key: deque(units) for key, units in known.items()}
    beside: dict[str, deque[Unit]] = {}
    _forget_definitions(known)
    placed: list[PlacedUnit] = []
    taken: set[Unit] = set()  # What is beside may be among what is known.
    for start, end, is_cut in _declarations(tokens.gaps(), texts, is_cpp=options.is_cpp):
        checkpoint()
        part = texts[start:end]
        key = "\0".join(part)
        unit = _reused(waiting.get(key), scope, taken)
        if unit is None and key in also:
            unit = _reused(beside.setdefault(key, deque(also[key])), scope, taken)
        if unit is None:
            earlier = edited.of(part, taken)
            if earlier is not None:
                taken.add(earlier.unit)
            unit = read_unit(part, scope, options, earlier)
        else:
            for is_tag, name, symbol in unit.names:
                scope.put(is_tag, name, symbol)
                if symbol.members is not None:
                    _define(symbol)
        taken.add(unit)
        kept.setdefault(key, []).append(unit)
        placed.append(PlacedUnit(start, end, unit, is_cut))
    return placed, kept, scope


class _Edited:
    """Finds the earlier reading of a declaration that an edit has changed, by what stands before its body."""

    def __init__(self, indexes: list[Index]) -> None:
        self._indexes = indexes
        self._by_head: dict[str, list[tuple[Index, PlacedUnit]]] | None = None

    def of(self, texts: list[str], taken: set[Unit]) -> Earlier | None:
        """Return the earlier reading of a function; none that was taken for another one."""
        if len(texts) < SMALLEST_EDITED or "{" not in texts:
            return None
        found = self._known().get("\0".join(texts[: texts.index("{")]), ())
        for index, placed in found:
            if placed.unit not in taken:
                return Earlier.of(placed.unit, index.texts[placed.start : placed.end], texts)
        return None

    def _known(self) -> dict[str, list[tuple[Index, PlacedUnit]]]:
        if self._by_head is None:
            self._by_head = {}
            for index in self._indexes:
                for placed in index.units:
                    if placed.unit.head is not None and placed.unit.n_tokens >= SMALLEST_EDITED:
                        opened = index.texts.index("{", placed.start)
                        key = "\0".join(index.texts[placed.start : opened])
                        self._by_head.setdefault(key, []).append((index, placed))
        return self._by_head


def _forget_definitions(known: Mapping[str, list[Unit]]) -> None:
    """Let structs that were declared before they were defined be undefined until their definition comes."""
    for units in known.values():
        for unit in units:
            for is_tag, _, symbol in unit.names:
                if is_tag and not symbol.is_definition:
                    _define(symbol)


def _define(symbol: Symbol) -> None:
    base = symbol.type.base if symbol.type is not None else None
    if isinstance(base, Record | Enumeration):
        base.symbol = symbol


def _reused(candidates: deque[Unit] | None, scope: FileScope, taken: set[Unit]) -> Unit | None:
    """Return an earlier reading of the same text for which the names around mean the same.

    Those that are taken leave the candidates: one text may stand in a file thousands of times.
    """
    while candidates and candidates[0] in taken:
        candidates.popleft()
    for at, unit in enumerate(candidates or ()):
        if (
            unit not in taken
            and all(scope.get(is_tag, name) is symbol for (is_tag, name), symbol in unit.lookups.items())
            and _means_the_same(unit, scope)
        ):
            assert candidates is not None
            del candidates[at]
            return unit
    return None


def _means_the_same(unit: Unit, scope: FileScope) -> bool:
    """Tell whether the names that nothing declares are still near to the same names of the file."""
    if unit.near and unit.near_of != scope.names:
        if any(scope.near(name, is_type=is_type) != it for (is_type, name), it in unit.near.items()):
            return False
        unit.near_of = scope.names
    return True


def _declarations(gaps: list[int], texts: list[str], *, is_cpp: bool) -> Iterator[tuple[int, int, bool]]:
    """Yield the first token of each top-level declaration, that behind its last, and whether it was cut off.

    A kernel that starts a line inside of braces, or of a declaration that is half written, ends what is open
    there: what follows should not suffer.
    """
    start = depth = 0
    is_body = False
    for at in compress(count(), map(_MARKS.__contains__, texts)):
        text = texts[at]
        if text == "{":
            if depth == 0:
                for first in () if is_cpp else begun_anew(gaps, texts, start, at):
                    yield start, first, False
                    start = first
                is_body = _opens_body(texts, start, at)
            depth += 1
        elif text == "}":
            depth -= 1
            if depth <= 0:
                is_stray = depth < 0
                depth = 0
                if is_body or is_stray:
                    yield start, at + 1, False
                    start = at + 1
        elif text == ";":
            if depth == 0 and not ends_old_parameter(texts, start, at):
                for first in () if is_cpp else begun_anew(gaps, texts, start, at):
                    yield start, first, False
                    start = first
                yield start, at + 1, False
                start = at + 1
        elif not is_cpp and gaps[at] == NEW_LINE:
            first = _head_start(texts, at)
            if depth == 0:
                if _is_unfinished(texts[start:first]):
                    yield start, first, False
                    start = first
                continue
            if texts[first - 1] not in (";", "}", "{"):
                continue
            if texts[start] == "extern":
                depth = 0
            else:
                yield start, first, True
                start, depth = first, 0
    if start < len(texts):
        yield start, len(texts), depth > 0


def _is_unfinished(texts: list[str]) -> bool:
    """Tell whether a kernel cannot be part of what stands before it.

    That is an initialiser, brackets that are not closed, or a type: kernels return nothing.
    """
    if not texts or texts[0] in ATTRIBUTE_WORDS:
        return False
    if "=" in texts or texts.count("(") > texts.count(")"):
        return True
    return texts[-1] not in (")", "}") and any(it in _NEVER_A_KERNELS for it in texts)


def _head_start(texts: list[str], at: int) -> int:
    """Return where the attributes and pragmas before a kernel start."""
    while at > 0:
        if texts[at - 1].startswith(PRAGMA):
            at -= 1
        elif texts[at - 1] == ")" and (opening := _opening(texts, at - 1)) > 0:
            if texts[opening - 1] not in ATTRIBUTE_WORDS:
                break
            at = opening - 1
        else:
            break
    return at


def _opening(texts: list[str], closing: int) -> int:
    """Return the `(` for a `)`; -1 where there is none near."""
    depth = 0
    for at in range(closing, max(closing - _LONGEST_ATTRIBUTE, -1), -1):
        depth += (texts[at] == ")") - (texts[at] == "(")
        if depth == 0:
            return at
    return -1


def _opens_body(texts: list[str], start: int, at: int) -> bool:
    """Tell whether the `{` at `at` opens a function's body."""
    if texts[start] == "extern" and at == start + 2:
        return False
    before = at - 1
    if before > start and texts[before] == ";":
        return True  # Of a head that has the types of its parameters behind their names.
    while before > start and texts[before] == ")":
        depth = 0
        opening = before
        while opening > start:
            depth += (texts[opening] == ")") - (texts[opening] == "(")
            if depth == 0:
                break
            opening -= 1
        if texts[opening - 1] not in ("__attribute__", "__attribute"):
            return opening > start and not _holds_block(texts[start:opening])
        before = opening - 2
    return texts[before] == ")"


def _holds_block(head: list[str]) -> bool:
    """Tell `constant Sum add = ^int(int a)` from the head of a function."""
    return "^" in head and "=" in head


# ------------------------------------------------------------------------------------------------ macros


def _macros(log: MacroLog) -> tuple[list[Symbol], list[tuple[Token, Symbol]]]:
    """Return the macros as symbols, and their uses as typed."""
    symbols: dict[int, Symbol] = {}
    found: list[Symbol] = []
    latest: dict[str, Symbol] = {}
    for macro, name, span in log.definitions:
        definition = MacroDefinition(
            macro.name,
            Span(name.path, name.start, name.end),
            span,
            macro.parameters,
            macro.is_variadic,
            macro,
        )
        symbol = Symbol(macro.name, Kind.MACRO, None, 0, 0, 0, macro=definition)
        symbol.previous = latest.get(macro.name)
        latest[macro.name] = symbol
        symbols[id(macro)] = symbol
        found.append(symbol)
    uses: dict[tuple[str, int], tuple[Token, Symbol]] = {}
    for token, macro in log.uses:
        known = symbols.get(id(macro))
        if known is None and macro.dynamic is None:
            known = symbols[id(macro)] = _predefined(macro)
        if known is not None:
            uses.setdefault((token.path, token.start), (token, known))
    for macro, _, _ in log.definitions:
        if macro.words.isdisjoint(latest):
            continue
        parameters = macro.parameters or ()
        for token in macro.body:
            other = latest.get(token.text)
            if other is not None and token.text not in parameters:
                uses.setdefault((token.path, token.start), (token, other))
    return found, list(uses.values())


def _predefined(macro: Macro) -> Symbol:
    """Return the symbol of a macro that build options or the compiler define."""
    first = macro.body[0] if macro.body else None
    place = Span("", 0, 0) if first is None else Span(first.path, first.start, first.end)
    definition = MacroDefinition(macro.name, place, place, macro.parameters, macro.is_variadic, macro)
    return Symbol(macro.name, Kind.MACRO, None, 0, 0, 0, macro=definition)
