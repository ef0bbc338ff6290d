"""The parts of expressions around a place, for selecting more and more: operand, argument, value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clmap_lsp.source.lexer import Token, is_name

_CLOSED_BY = {"(": ")", "[": "]", "{": "}"}
_OPENED_BY = {close: open_ for open_, close in _CLOSED_BY.items()}
_ASSIGNS = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="})
MOST_LISTS = 16
"""Lists in each other whose elements are selected; each is looked for from its middle to its ends."""
_ENDS = frozenset({";", "{", "}"})


def expression_ranges(tokens: Sequence[Token], offset: int) -> list[tuple[int, int]]:
    """Return the stretches of text that are parts of an expression around an offset.

    Args:
        tokens: those of the file as typed, in order.
    """
    at = next((number for number, it in enumerate(tokens) if it.start <= offset <= it.end), None)
    if (
        at is not None
        and at + 1 < len(tokens)
        and tokens[at + 1].start == offset
        and not _is_operand(tokens[at])
    ):
        at += 1
    if at is None:
        return []
    places = [*_operands(tokens, at), *_items(tokens, at), *_values(tokens, at)]
    return [(tokens[first].start, tokens[last].end) for first, last in places if first <= last]


def _is_operand(token: Token) -> bool:
    return is_name(token.text) or token.text[0].isdigit() or token.text[0] in ".\"'"


def _operands(tokens: Sequence[Token], at: int) -> Iterator[tuple[int, int]]:
    """Yield a name with what is before its `.`, then with one subscript, call or member more each time."""
    if not is_name(tokens[at].text):
        return
    first = last = at
    while first > 1 and tokens[first - 1].text in (".", "->"):
        first = _operand_start(tokens, first - 2)
        yield first, last
    while last + 1 < len(tokens):
        text = tokens[last + 1].text
        if text in ("[", "("):
            last = _closing(tokens, last + 1)
        elif text in (".", "->") and last + 2 < len(tokens):
            last += 2
        else:
            return
        yield first, last


def _operand_start(tokens: Sequence[Token], at: int) -> int:
    """Return where the operand starts that ends in a token."""
    while at > 0 and tokens[at].text in (")", "]"):
        at = _opening(tokens, at) - 1
    return max(at, 0)


def _items(tokens: Sequence[Token], at: int) -> Iterator[tuple[int, int]]:
    """Yield the elements of lists around a token that commas divide, the innermost first."""
    end = at
    for _ in range(MOST_LISTS):
        first, last = _edge(tokens, at, -1), _edge(tokens, end, 1)
        if first < 0 or last >= len(tokens):
            return
        yield first + 1, last - 1
        opened = first if tokens[first].text in _CLOSED_BY else _around(tokens, first)
        if opened < 0 or tokens[opened].text == "{":
            return
        at, end = opened, _closing(tokens, opened)


def _edge(tokens: Sequence[Token], at: int, step: int) -> int:
    """Return the comma, bracket or end of a statement next to a token on its level."""
    inner, outer = (_OPENED_BY, _CLOSED_BY) if step < 0 else (_CLOSED_BY, _OPENED_BY)
    depth = 0
    at += step
    while 0 <= at < len(tokens):
        text = tokens[at].text
        if depth == 0 and (text in outer or text in (",", ";")):
            return at
        depth += (text in inner) - (text in outer)
        at += step
    return at


def _around(tokens: Sequence[Token], at: int) -> int:
    """Return the bracket that opens around a token; -1 where none does in its statement."""
    depth = 0
    for number in range(at - 1, -1, -1):
        text = tokens[number].text
        if depth == 0 and text in _ENDS:
            return number if text == "{" else -1
        depth += (text in _OPENED_BY) - (text in _CLOSED_BY)
        if depth < 0:
            return number
    return -1


def _values(tokens: Sequence[Token], at: int) -> Iterator[tuple[int, int]]:
    """Yield what is assigned in the statement of a token, and the statement without its `;`."""
    first = at
    while first > 0 and tokens[first - 1].text not in _ENDS:
        first -= 1
    last = at
    while last + 1 < len(tokens) and tokens[last + 1].text not in _ENDS:
        last += 1
    if last + 1 >= len(tokens) or tokens[last + 1].text != ";":
        return
    assigned = next((it for it in range(first, at) if tokens[it].text in _ASSIGNS), None)
    if assigned is not None:
        yield assigned + 1, last
    yield first, last


def _closing(tokens: Sequence[Token], at: int) -> int:
    depth = 0
    for number in range(at, len(tokens)):
        depth += (tokens[number].text in _CLOSED_BY) - (tokens[number].text in _OPENED_BY)
        if depth == 0:
            return number
    return at


def _opening(tokens: Sequence[Token], at: int) -> int:
    depth = 0
    for number in range(at, -1, -1):
        depth += (tokens[number].text in _OPENED_BY) - (tokens[number].text in _CLOSED_BY)
        if depth == 0:
            return number
    return at
