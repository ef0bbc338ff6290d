"""The parameters of macros: names that mean something in one `#define` only, and that no reading looks up."""

from __future__ import annotations

from clmap_lsp.dataclass import record
from clmap_lsp.index.index import Index
from clmap_lsp.index.model import Symbol
from clmap_lsp.index.place import is_code
from clmap_lsp.source.lexer import Token, cut
from clmap_lsp.source.span import Span


@record(frozen=True, slots=True)
class MacroParameter:
    """A parameter of a macro, and where it stands: in the list first, then in the body."""

    macro: Symbol
    name: str
    spans: tuple[Span, ...]
    here: Span
    """The one that was asked for."""
    others: frozenset[str]
    """The other words of the directive."""


def declared_parameter(index: Index, offset: int) -> Span | None:
    """Return where the macro's parameter is listed that is named at an offset of the file.

    Without a look at the body's tokens, which may be thousands that move while a person types before them.
    """
    for symbol in index.macros:
        definition = symbol.macro
        if definition is None or definition.parameters is None or definition.span.path != index.path:
            continue
        start = definition.name_span.end
        if not start < offset <= definition.span.end:
            continue
        name = _word_at(index.text, offset)
        if name not in definition.parameters or not is_code(index.text, offset):
            return None
        head = cut(index.path, index.text[start : definition.read.place[1] or definition.span.end], start)
        return next((_span(it) for it in head if it.text == name), None)
    return None


def macro_parameter_at(index: Index, offset: int) -> MacroParameter | None:
    """Return the macro's parameter that is named at an offset of the file, or right before it."""
    for symbol in index.macros:
        definition = symbol.macro
        if definition is None or definition.parameters is None or definition.span.path != index.path:
            continue
        if not definition.name_span.end < offset <= definition.span.end:
            continue
        if _word_at(index.text, offset) not in definition.parameters:
            return None  # To look at the tokens of a long body would take longer than all else.
        start = definition.name_span.end
        body = definition.read.body  # It was cut already, and may be long.
        tokens = [
            *cut(index.path, index.text[start : body[0].start if body else definition.span.end], start),
            *body,
        ]
        named = [it for it in tokens if it.start <= offset <= it.end and it.text in definition.parameters]
        if not named:
            return None
        name = named[-1].text
        spans = tuple(_span(it) for it in tokens if it.text == name)
        others = frozenset(it.text for it in tokens) - {name}
        return MacroParameter(symbol, name, spans, _span(named[-1]), others)
    return None


def _word_at(text: str, offset: int) -> str:
    start = end = offset
    while start > 0 and (text[start - 1].isalnum() or text[start - 1] in "_$"):
        start -= 1
    while end < len(text) and (text[end].isalnum() or text[end] in "_$"):
        end += 1
    return text[start:end]


def _span(token: Token) -> Span:
    return Span(token.path, token.start, token.end)
