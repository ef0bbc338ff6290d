"""The top-level items of a file's text, found without cutting it into tokens or expanding macros.

Header libraries define hundreds of functions and tables of which a kernel uses a few. Leaving the others out
before expansion keeps a file that includes a megabyte of them interactive.
"""

from __future__ import annotations

from clmap_lsp.dataclass import dataclass
from clmap_lsp.lazy import lazy_pattern, lazy_property
from clmap_lsp.source.lexer import CHARACTER, COMMENT, STRING, gap_end, words, words_at
from clmap_lsp.source.pieces import Chunk, Piece
from clmap_lsp.source.vocabulary import KERNEL_WORDS


@dataclass(frozen=True)
class Item:
    """An item of a chunk; `name` is set for a function, prototype or table that may go.

    `is_open` says that the item goes on in the next chunk.
    """

    piece: Piece
    name: str | None
    is_open: bool = False

    @lazy_property
    def words(self) -> frozenset[str]:
        """Return what the item is made of."""
        return frozenset(words(self.piece.text))


@dataclass(frozen=True, slots=True)
class State:
    """What is open where a chunk starts: how many braces, and whether inside an item at all."""

    depth: int = 0
    inside: bool = False


def outline(chunk: Chunk, state: State) -> tuple[list[Item], State]:
    """Return the items of a chunk, and the state behind it."""
    known: tuple[list[Item], State] | None = chunk.notes.get(state)
    if known is None:
        known = chunk.notes[state] = _outline(chunk, state)
    return known


def _outline(chunk: Chunk, state: State) -> tuple[list[Item], State]:
    text = chunk.text
    depth = state.depth
    items: list[Item] = []
    start = 0
    name: str | None = None
    continues = state.inside
    parens = 0
    for match in _MARKS.finditer(text):
        mark, end = match[0], match.end()
        if mark == "{":
            if depth == 0 and not continues and name is None:
                name = _definition(words(text[start : end - 1]))
            depth += 1
        elif mark == "}":
            depth = max(depth - 1, 0)
            if depth == 0 and not _goes_on(words_at(text, end, 2), name):
                items.append(Item(chunk.part(start, end), name))
                start, name, continues = end, None, False
        elif mark == "(":
            parens += 1
        elif mark == ")":
            parens = max(parens - 1, 0)
        elif depth == 0 and parens == 0 and mark == ";":
            if name is None and not continues:
                name = _prototype(words(text[start : end - 1]))
            items.append(Item(chunk.part(start, end), name))
            start, name, continues = end, None, False
    if gap_end(text, start) < len(text):
        items.append(Item(chunk.part(start, len(text)), name, True))
        return items, State(depth, True)
    return items, State(depth, False)


# Each alternative starts with one certain character: so `re` passes over what lies between the fastest way.
_MARKS = lazy_pattern(rf"{COMMENT}|{STRING}|{CHARACTER}|\{{|\}}|\(|\)|;")


def _goes_on(following: list[str], name: str | None) -> bool:
    """Tell whether an item goes on behind a closed brace: tables and structs end with `;`."""
    if name is not None:
        return following[:1] == [";"]
    return bool(following) and (following[0] in (";", ",", "*", "[", "=") or _is_declarator(following))


def _is_declarator(following: list[str]) -> bool:
    """Tell whether `name ;` follows, as in `struct {...} name;`."""
    return following[0].isidentifier() and following[1:] in ([";"], ["["], [","])


def _definition(head: list[str]) -> str | None:
    """Name the function or table whose body opens behind `head`, if it may be left out."""
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


def _prototype(head: list[str]) -> str | None:
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
