"""A text after a rename, read again: whether each name means what it did.

Which tokens `##` puts together, what conditions choose and what would hide what shows surely there alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import zip_longest

from clmap_lsp.index.index import Index, Occurrence
from clmap_lsp.index.model import Kind

MAX_TOKENS = 400_000
"""Of a longer text it is not read again: a person would wait for seconds."""


def changed_meaning(index: Index, places: Iterable[Occurrence], old: str, new: str) -> str | None:
    """Return why a rename of these places would change what something means; `None` where it would not."""
    from clmap_lsp.index.reading import read_index

    if len(index.tokens) > MAX_TOKENS:
        return None
    texts = _renamed(index, places, new)
    own = texts.get(index.path, index.text)

    def read_file(path: str) -> str | None:
        file = index.files.get(path)
        return texts.get(path) or (None if file is None else file.text)

    after = read_index(own, index.path, index.options, read_file=read_file)
    for at, (was, now) in enumerate(zip_longest(index.texts, after.texts)):
        if was == now or (was == old and now == new):
            continue
        if was is not None and now is not None and was[0] == now[0] == '"':
            continue  # `#` made a text of the name, which follows it.
        if was is None or old not in was:
            return f"macros or conditions would make something else of the text if `{old}` had another name"
        return f"a macro in line {_row(index, at)} puts `{was}` together of `{old}` by `##`"
    for (was_at, was_meant), (now_at, now_meant) in zip_longest(
        _meanings(index), _meanings(after), fillvalue=(0, 0)
    ):
        if (was_at, was_meant) != (now_at, now_meant):
            row = _row(index, min(was_at, now_at) or max(was_at, now_at))
            return f"in line {row} a name would mean something else than now"
    return None


def _renamed(index: Index, places: Iterable[Occurrence], new: str) -> dict[str, str]:
    """Return the texts of the files that are edited."""
    edits: dict[str, set[tuple[int, int]]] = {}
    for it in places:
        if it.path in index.files:
            edits.setdefault(it.path, set()).add((it.start, it.end))
    texts: dict[str, str] = {}
    for path, spans in edits.items():
        text, parts, at = index.files[path].text, list[str](), 0
        for start, end in sorted(spans):
            parts += (text[at:start], new)
            at = end
        texts[path] = "".join([*parts, text[at:]])
    return texts


def _meanings(index: Index) -> list[tuple[int, int]]:
    """Return of each use the number of its token and that of the declaration that it means."""
    declared: dict[int, int] = {}
    found: list[tuple[int, int]] = []
    for placed in index.units:
        for use in placed.unit.uses:
            at, root = placed.start + use.token, use.symbol.root
            if use.symbol.kind is not Kind.MACRO:
                found.append((at, declared.setdefault(id(root), at)))
    return sorted(found)


def _row(index: Index, at: int) -> int:
    """Return the line of a token as typed, that of the macro's use where one made it."""
    token = index.tokens[min(at, len(index.tokens) - 1)]
    path, start = (token.path, token.start) if token.use is None else (token.use.path, token.use.start)
    return index.files[path].position(start).row
