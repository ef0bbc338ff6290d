"""Whether a type that nothing defines is one of integers: its variables are ids, subscripts, or have bits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from clmap_lsp.source.lexer import is_name

_MOST_PLACES = 48
_FAR = 3_000
"""Tokens that are looked at behind a declaration; what comes later says the same mostly."""
_OF_INTEGERS = frozenset(("%", "<<", ">>", "|", "^", "~", "%=", "<<=", ">>=", "|=", "^=", "&="))


def is_counted_with(texts: Sequence[str], places: Iterable[int]) -> bool:
    """Tell whether variables of the type that stands at some places are used as integers."""
    return any(_casts_id(texts, at) or _declares_integer(texts, at) for at in islice(places, _MOST_PLACES))


def _casts_id(texts: Sequence[str], at: int) -> bool:
    """Tell `(T)get_global_id(0)`."""
    around = texts[max(at - 1, 0) : at + 3]
    return len(around) == 4 and around[0] == "(" and around[2] == ")" and _is_query(around[3])


def _is_query(text: str) -> bool:
    return text.startswith("get_") and text.removeprefix("get_").partition("_")[0] in (
        "global",
        "local",
        "group",
        "num",
        "sub",
    )


def _declares_integer(texts: Sequence[str], at: int) -> bool:
    name = texts[at + 1] if at + 1 < len(texts) else ""
    if not is_name(name):
        return False
    if texts[at + 2 : at + 3] == ["="] and _is_query(texts[at + 3] if at + 3 < len(texts) else ""):
        return True
    return any(_is_integer_at(texts, it) for it in _uses(texts, name, at + 2))


def _uses(texts: Sequence[str], name: str, start: int) -> Iterator[int]:
    """Yield where a name stands between its declaration and the end of its block or function."""
    depth, brackets, is_parameter = 0, 0, False
    for at in range(start, min(start + _FAR, len(texts))):
        match texts[at]:
            case "(":
                brackets += 1
            case ")":
                is_parameter |= brackets == 0
                brackets -= 1
            case "{":
                depth += 1
            case "}":
                depth -= 1
                if depth < 0 or (depth == 0 and is_parameter):
                    return
            case text if text == name:
                yield at


def _is_integer_at(texts: Sequence[str], at: int) -> bool:
    """Tell whether the variable at a place is a whole subscript, or an operand of what only integers have."""
    before, behind = texts[at - 1], texts[at + 1] if at + 1 < len(texts) else ""
    return (before == "[" and behind == "]") or before in _OF_INTEGERS or behind in _OF_INTEGERS
