"""The top-level items of a file's text, found without expanding macros.

Header libraries define hundreds of functions and tables of which a kernel uses a few. Leaving the others out
before expansion keeps a file that includes a megabyte of them interactive.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from clmap_lsp.source.lexer import Chunk
from clmap_lsp.source.vocabulary import KERNEL_WORDS


@dataclass(frozen=True, slots=True)
class Item:
    """Tokens `[start, end)` of a chunk; `name` is set for a function, prototype or table that may go.

    `is_open` says that the item goes on in the next chunk.
    """

    start: int
    end: int
    name: str | None
    is_open: bool = False
    words: frozenset[str] = frozenset()
    """What an item that may go is made of."""


@dataclass(frozen=True, slots=True)
class State:
    """What is open where a chunk starts: how many braces, and whether inside an item at all."""

    depth: int = 0
    inside: bool = False


def outline(chunk: Chunk, state: State) -> tuple[list[Item], State]:
    """Return the items of a chunk, and the state behind it."""
    known: tuple[list[Item], State] | None = chunk.notes.get(state)
    if known is None:
        known = chunk.notes[state] = _outline(chunk.texts, state)
    return known


def _outline(texts: list[str], state: State) -> tuple[list[Item], State]:
    depth = state.depth
    items: list[Item] = []
    start = 0
    name: str | None = None
    continues = state.inside
    parens = 0
    for index in _structure(texts):
        text = texts[index]
        if text == "{":
            if depth == 0 and not continues and name is None:
                name = _definition(texts, start, index)
            depth += 1
        elif text == "}":
            depth = max(depth - 1, 0)
            if depth == 0 and not _goes_on(texts, index + 1, name):
                items.append(_item(texts, start, index + 1, name))
                start, name, continues = index + 1, None, False
        elif text == "(":
            parens += 1
        elif text == ")":
            parens = max(parens - 1, 0)
        elif depth == 0 and parens == 0:
            if name is None and not continues:
                name = _prototype(texts, start, index)
            items.append(_item(texts, start, index + 1, name))
            start, name, continues = index + 1, None, False
    if start < len(texts):
        items.append(Item(start, len(texts), name, True, frozenset(texts[start:])))
        return items, State(depth, True)
    return items, State(depth, False)


def _item(texts: list[str], start: int, end: int, name: str | None) -> Item:
    return Item(start, end, name, False, frozenset() if name is None else frozenset(texts[start:end]))


def _structure(texts: list[str]) -> Iterator[int]:
    return (index for index, text in enumerate(texts) if text in _STRUCTURE)


_STRUCTURE = frozenset("{}();")


def _goes_on(texts: list[str], at: int, name: str | None) -> bool:
    """Tell whether an item goes on behind a closed brace: tables and structs end with `;`."""
    if name is not None:
        return texts[at : at + 1] == [";"]
    return at < len(texts) and (texts[at] in (";", ",", "*", "[", "=") or _is_declarator(texts, at))


def _is_declarator(texts: list[str], at: int) -> bool:
    """Tell whether `name ;` follows, as in `struct {...} name;`."""
    return texts[at].isidentifier() and texts[at + 1 : at + 2] in ([";"], ["["], [","])


def _definition(texts: list[str], start: int, brace: int) -> str | None:
    """Name the function or table whose body opens at `brace`, if it may be left out."""
    head = texts[start:brace]
    if len(head) < 3 or head[0] == "typedef" or not KERNEL_WORDS.isdisjoint(head):
        return None
    if any("KERNEL" in it for it in head if it.isupper()):
        return None
    if head[-1] == ")":
        return _function_name(head)
    if head[-1] == "=":
        at = len(head) - 2
        while at > 0 and head[at] == "]":
            while at > 0 and head[at] != "[":
                at -= 1
            at -= 1
        return head[at] if at > 0 and head[at].isidentifier() else None
    return None


def _prototype(texts: list[str], start: int, semicolon: int) -> str | None:
    head = texts[start:semicolon]
    if len(head) < 4 or head[-1] != ")" or head[0] == "typedef" or "=" in head:
        return None
    return _function_name(head) if KERNEL_WORDS.isdisjoint(head) else None


def _function_name(head: list[str]) -> str | None:
    """Return the name before the last parentheses of a function's head."""
    depth = 0
    for at in range(len(head) - 1, 0, -1):
        depth += (head[at] == ")") - (head[at] == "(")
        if depth == 0:
            # A name alone before `(` is a macro use, not a function's head.
            return head[at - 1] if at > 1 and head[at - 1].isidentifier() else None
    return None
