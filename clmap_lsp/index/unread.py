"""Where names stand that a reading of a file does not look up: directives, lines that conditions leave out.

A rename that forgot them would break an include guard, or the build with other options.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clmap_lsp.index.index import Index, Occurrence
from clmap_lsp.index.model import CALLABLE, Kind, Role, Symbol
from clmap_lsp.index.place import is_code
from clmap_lsp.index.sight import locals_at
from clmap_lsp.source.lexer import Token, is_name, words
from clmap_lsp.source.pieces import Chunk, Directive, lex
from clmap_lsp.source.vocabulary import STATEMENT_KEYWORDS


class UnclearError(Exception):
    """A name may mean something else there; the text says where."""


def macro_places(index: Index, name: str) -> list[Occurrence]:
    """Return every place that names a macro, whichever of its definitions counts there.

    Raises: UnclearError where the name is something else, too.
    """
    known = {(it.path, it.start): it for it in index.occurrences if it.symbol.name == name}
    macros = [it for it in known.values() if it.symbol.kind is Kind.MACRO]
    if not macros:
        return []
    if any(it.symbol.kind not in (Kind.MACRO, Kind.MEMBER) for it in known.values()):
        unread = [it for it in _words(index, name, macros[0].symbol) if (it.path, it.start) not in known]
        if unread:
            raise UnclearError(_where(index, unread[0], name))
        return macros
    found = {(it.path, it.start): it for it in macros}
    for it in _words(index, name, macros[0].symbol):
        if (it.path, it.start) not in known:
            found.setdefault((it.path, it.start), it)
    return list(found.values())


def _words(index: Index, name: str, symbol: Symbol) -> Iterator[Occurrence]:
    """Yield the places of a word in the files that were read, but where it is a macro's parameter."""
    for path, file in index.files.items():
        if path.startswith("<") or name not in file.text:
            continue
        before = ""
        for item in lex(path, file.text).items:
            tokens = item.tokens
            if isinstance(item, Directive) and item.name == "define" and _is_parameter(tokens, name):
                continue
            for token in tokens:
                if token.text == name and before not in (".", "->"):
                    yield _occurrence(token, symbol)
                before = token.text


def _is_parameter(define: list[Token], name: str) -> bool:
    """Tell whether a `#define` has a parameter of a name."""
    texts = [it.text for it in define]
    if len(define) < 3 or texts[2] != "(" or define[2].gap != 0 or ")" not in texts:
        return False
    return name in texts[3 : texts.index(")")]


def inactive_places(index: Index, symbol: Symbol) -> list[Occurrence]:
    """Return the places of a name in lines that conditions leave out, where it is in sight.

    Raises: UnclearError where the name may mean something else there.
    """
    name, is_member = symbol.name, symbol.kind is Kind.MEMBER
    first, last = _in_sight(index, symbol)
    spans = [it for it in index.inactive if it.start < last and it.end > first]
    if not spans or not any(name in index.text[it.start : it.end] for it in spans):
        return []
    found: list[Occurrence] = []
    before = ""
    for item in lex(index.path, index.text).items:
        for token in item.tokens:
            is_left_out = any(it.start <= token.start < it.end for it in spans)
            if token.text == name and is_left_out and (before in (".", "->")) == is_member:
                found.append(_occurrence(token, symbol))
            before = token.text if isinstance(item, Chunk) else ""
    if found and _means_another(index, symbol):
        raise UnclearError(_where(index, found[0], name))
    return found


def unread_places(index: Index, symbol: Symbol) -> list[Occurrence]:
    """Return the places of a name that a reading does not look up, where it means nothing else."""
    try:
        if symbol.kind is not Kind.MACRO:
            return inactive_places(index, symbol)
        known = {(it.path, it.start) for it in index.occurrences if it.symbol.name == symbol.name}
        return [it for it in macro_places(index, symbol.name) if (it.path, it.start) not in known]
    except UnclearError:
        return []


_WORD = re.compile(r"[A-Za-z_]\w*")
_CONDITION = re.compile(r"[ \t]*#[ \t]*(?:if|elif|ifdef|ifndef|elifdef|elifndef|undef)\b")


def left_out_word(index: Index, offset: int) -> tuple[str, int, int] | None:
    """Return the word at an offset of a line that conditions leave out; no member, no directive's."""
    if not any(it.path == index.path and it.start <= offset <= it.end for it in index.inactive):
        return None
    text = index.text
    start = offset
    while start > 0 and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    word = _WORD.match(text, start)
    line = text[text.rfind("\n", 0, start) + 1 : start]
    if word is None or line.lstrip().startswith("#") or line.rstrip().endswith((".", "->")):
        return None
    return (word[0], start, word.end()) if is_code(text, start) else None


def left_out_at(index: Index, offset: int) -> Occurrence | None:
    """Return what a name would mean in lines that conditions leave out, if they were read."""
    found = left_out_word(index, offset)
    if found is None:
        return _unread_condition(index, offset)
    if _is_declared_there(index, *found[:2]):
        return None
    name, start, end = found
    token = index.token_at(start)
    placed = None if token is None else index.unit_at(token)
    symbol: Symbol | None = None
    if placed is not None and token is not None:
        local = locals_at(index, placed, token - placed.start + 1)
        symbol = next((it for it in local if it.name == name), None)
    symbol = symbol or next((it for it in reversed(index.macros) if it.name == name), None)
    symbol = symbol or index.scope.get(False, name) or index.scope.get(True, name)
    return None if symbol is None else Occurrence(index.path, start, end, symbol, Role.READS)


def _unread_condition(index: Index, offset: int) -> Occurrence | None:
    """Return the macro that a condition asks about which nobody has to evaluate: another one held before."""
    text = index.text
    first = text.rfind("\n", 0, offset) + 1
    if _CONDITION.match(text, first) is None or not is_code(text, offset):
        return None
    start = offset
    while start > first and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    word = _WORD.match(text, start)
    macros = () if word is None else [it for it in index.macros if it.name == word[0]]
    before = [it for it in macros if it.macro is not None and it.macro.span.start < start]
    return Occurrence(index.path, start, word.end(), before[-1], Role.READS) if word and before else None


def _is_declared_there(index: Index, name: str, at: int) -> bool:
    """Tell whether these lines seem to declare a name themselves: a type stands before it."""
    for span in index.inactive:
        if span.path == index.path and span.start <= at <= span.end:
            texts = words(index.text[span.start : at + len(name)])
            before = [texts[number - 1] for number, it in enumerate(texts) if it == name and number]
            return any(_is_type(it) for it in before)
    return False


def _is_type(text: str) -> bool:
    return is_name(text) and text not in STATEMENT_KEYWORDS


def _in_sight(index: Index, symbol: Symbol) -> tuple[int, int]:
    """Return the stretch of the file in which a name can be meant."""
    around = symbol.parent
    while around is not None and around.kind not in CALLABLE:
        around = around.parent
    span = None if around is None or symbol.kind is Kind.MEMBER else index.full_span(around)
    return (0, len(index.text)) if span is None or span.path != index.path else (span.start, span.end)


def _means_another(index: Index, symbol: Symbol) -> bool:
    """Tell whether something else has the name that may be meant in the same places."""
    is_local = symbol.parent is not None and symbol.kind is not Kind.MEMBER
    return any(
        it.name == symbol.name
        and it.root is not symbol.root
        and (it.kind is Kind.MEMBER) == (symbol.kind is Kind.MEMBER)
        and (not is_local or placed.unit is index.unit_of(symbol))
        for placed, it in index.symbols()
    )


def _occurrence(token: Token, symbol: Symbol) -> Occurrence:
    return Occurrence(token.path, token.start, token.end, symbol, Role.READS)


def _where(index: Index, it: Occurrence, name: str) -> str:
    row = index.files[it.path].position(it.start).row
    return f"`{name}` stands in line {row}, which is left out here, and may mean something else there"
