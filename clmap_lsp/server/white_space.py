"""What two texts of the same code differ in: the white space and comments between tokens, no more."""

from __future__ import annotations

from collections.abc import Iterator

from clmap_lsp.dataclass import dataclass
from clmap_lsp.source.difference import difference
from clmap_lsp.source.lexer import NEW_LINE, Token, cut


@dataclass(frozen=True, slots=True)
class Change:
    """A stretch of a text, and what stands there instead."""

    start: int
    end: int
    text: str


def changes(before: str, after: str) -> list[Change] | None:
    """Return what makes one text the other, gap by gap; `None` if they are not the same code.

    Small changes leave what an editor ties to places (cursor, folds, breakpoints) where it is.
    """
    old, new = cut("", before, 0), cut("", after, 0)
    if [it.text for it in old] != [it.text for it in new]:
        return None
    if any((was.gap == NEW_LINE) != (now.gap == NEW_LINE) for was, now in _bound(old, new)):
        return None
    return list(_differing(before, after, old, new))


def _bound(old: list[Token], new: list[Token]) -> Iterator[tuple[Token, Token]]:
    """Yield the tokens to whose meaning it matters whether they start a line.

    These are what stands in or right behind a directive, and what follows a quote that nothing closes: to a
    compiler that is text to the end of its line.
    """
    is_bound = False
    for was, now in zip(old, new, strict=True):
        if was.text == "#" or is_bound:
            yield was, now
        if was.gap == NEW_LINE:
            is_bound = was.text == "#"
        is_bound = is_bound or was.text in ('"', "'")


def _differing(before: str, after: str, old: list[Token], new: list[Token]) -> Iterator[Change]:
    at = now_at = 0
    ends = [(it.start, it.end) for it in old], [(it.start, it.end) for it in new]
    for (start, end), (now_start, now_end) in zip(
        [*ends[0], (len(before), 0)], [*ends[1], (len(after), 0)], strict=True
    ):
        gap, wanted = before[at:start], after[now_at:now_start]
        if gap != wanted:
            apart = difference(gap, wanted)
            yield Change(at + apart.start, at + apart.old_end, wanted[apart.start : apart.new_end])
        at, now_at = end, now_end
