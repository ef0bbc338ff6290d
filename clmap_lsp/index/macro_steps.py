"""How a macro's use expands, one level of macros after the other, as a person would do it on paper."""

from __future__ import annotations

from collections.abc import Sequence

from clmap_lsp.index.describe import expansion
from clmap_lsp.index.index import Index, Occurrence
from clmap_lsp.source.lexer import NO_GAP, Token, cut
from clmap_lsp.source.macros import Expander, Macro, TooManyTokensError, define

MAX_STEPS = 6
MAX_TOKENS = 2_000


def steps(index: Index, found: Occurrence) -> list[str]:
    """Return what the use of a macro becomes with the macros of each level replaced; the last text has none.

    That is the last one alone where the levels cannot be told, as of a macro that was defined anew.
    """
    last = expansion(index, found.path, found.start)
    if last is None:
        return []
    end = next((it.use.end for it in index.tokens if it.use and _starts(it, found)), found.end)
    macros = _defined(index, found)
    tokens = _cut(found.path, index.files[found.path].text[found.start : end])
    texts: list[str] = []
    while len(texts) < MAX_STEPS and (named := {it.text for it in tokens} & macros.keys()):
        try:
            tokens = Expander({it: macros[it] for it in named}, limit=MAX_TOKENS).expand_list(tokens)
        except TooManyTokensError:
            return [last]
        text = "".join((" " if it.gap != NO_GAP and at else "") + it.text for at, it in enumerate(tokens))
        if text in texts:
            break
        texts.append(text)
    return texts if texts and "".join(texts[-1].split()) == "".join(last.split()) else [last]


def _starts(token: Token, found: Occurrence) -> bool:
    return token.use is not None and (token.use.path, token.use.start) == (found.path, found.start)


def _defined(index: Index, found: Occurrence) -> dict[str, Macro]:
    """Return the macros by name, as they are last defined before a place."""
    made: dict[str, Macro] = {}
    for symbol in index.macros:
        it = symbol.macro
        assert it is not None
        if it.span.path == found.path and it.span.start > found.start:
            continue
        head = it.name
        if it.parameters is not None:
            names: Sequence[str] = it.parameters
            if it.is_variadic:
                names = [*names[:-1], "..." if names[-1] == "__VA_ARGS__" else f"{names[-1]}..."]
            head += f"({', '.join(names)})"
        macro = define(_cut(found.path, f"{head} {it.body}"))
        if isinstance(macro, Macro):
            made[it.name] = macro
    return made


def _cut(path: str, text: str) -> list[Token]:
    return [it for it in cut(path, text, 0) if it.text]
