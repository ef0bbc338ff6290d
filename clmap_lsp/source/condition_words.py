"""What the words of an `#if` stand for before it is evaluated: `defined`, `__has_include`, and macros.

Source: ISO/IEC 9899:1999, 6.10.1; ISO/IEC 9899:2024, 6.10.2 (`__has_include`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from clmap_lsp.source.lexer import Token, is_name
from clmap_lsp.source.macros import Expander, Macro

_ALWAYS_DEFINED = frozenset({"__has_include", "__has_builtin", "__has_extension", "__has_feature"})

HasFile = Callable[[list[Token]], bool]
"""Tells whether there is the file that the words in the parentheses of `__has_include` name."""
IsDefined = Callable[[Token], bool]
"""Tells whether a name is that of a macro."""


def is_defined(token: Token, macros: Mapping[str, Macro]) -> bool:
    """Tell whether a name is that of a macro."""
    return token.text in macros or token.text in _ALWAYS_DEFINED


def condition_words(words: list[Token], expander: Expander, has_file: HasFile) -> list[Token]:
    """Return the words of a condition with every question in them answered and every macro expanded.

    A `defined` that comes out of a macro is undefined in C; compilers take it as written.
    Raises: TooManyTokensError.
    """
    known = partial(is_defined, macros=expander.macros)
    expanded = expander.expand_list(answered(words, known, has_file))
    if any(token.text == "defined" for token in expanded):
        return answered(expanded, known)
    return expanded


def answered(words: list[Token], known: IsDefined, has_file: HasFile | None = None) -> list[Token]:
    """Replace `defined`, and `__has_include` where files can be asked for, by 1 or 0."""
    found: list[Token] = []
    at = 0
    while at < len(words):
        token = words[at]
        at += 1
        if token.text == "defined":
            operand, at = _operand(words, at)
            token = token._replace(text=str(int(operand is not None and known(operand))))
        elif token.text == "__has_include" and has_file is not None:
            end = next((i for i in range(at, len(words)) if words[i].text == ")"), len(words))
            token = token._replace(text=str(int(has_file(words[at + 1 : end]))))
            at = end + 1
        found.append(token)
    return found


def _operand(words: list[Token], at: int) -> tuple[Token | None, int]:
    """Return the name that `defined` asks for, in parentheses or not, and the index behind it."""
    if at < len(words) and words[at].text == "(":
        name = words[at + 1] if at + 1 < len(words) else None
        end = at + 2
        if end < len(words) and words[end].text == ")":
            end += 1
        return (name if name is not None and is_name(name.text) else None), end
    if at < len(words) and is_name(words[at].text):
        return words[at], at + 1
    return None, at
