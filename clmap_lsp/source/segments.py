"""Bodies of long macros in segments, which are expanded each for itself and kept.

While a person types in the body of a macro that makes a whole function, all of it but a statement is as it
was. A segment ends in a `;` outside of parentheses: there no use of another macro is open, so that what a
body becomes is what its segments become, one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from itertools import compress, count

from clmap_lsp.dataclass import dataclass
from clmap_lsp.source.difference import difference
from clmap_lsp.source.expansions import ByUse
from clmap_lsp.source.lexer import Token, text_of

SMALLEST = 160
"""Tokens: shorter segments cost more than they save."""
_MARKS = frozenset({"(", ")", ";"})


@dataclass(slots=True, eq=False)
class Segment:
    """A stretch of a macro's body, of so many tokens, and what uses of the macro made of it."""

    n_tokens: int
    by_use: ByUse = field(default_factory=ByUse)


def segments_of(body: list[Token]) -> list[Segment]:
    """Return the segments of a body, new ones."""
    ends = [*_ends(body), len(body)]
    return [Segment(end - start) for start, end in zip([0, *ends], ends, strict=False)]


def _ends(body: list[Token]) -> Iterator[int]:
    """Yield behind which tokens a segment ends and another begins."""
    texts = list(map(text_of, body))
    start = depth = 0
    for at in compress(count(), map(_MARKS.__contains__, texts)):
        depth += (texts[at] == "(") - (texts[at] == ")")
        end = at + 1
        if depth or texts[at] != ";" or end - start < SMALLEST or end == len(texts):
            continue
        if texts[end] != "##" and texts[at - 1] not in ("#", "##"):
            yield end
            start = end


@dataclass(frozen=True, slots=True)
class Defined:
    """A macro's body, and the text and place of the directive that it is of."""

    text: str
    at: int
    body: list[Token]


def followed(earlier: list[Segment], old: Defined, new: Defined) -> list[Segment]:
    """Return the segments of an edited body; those that the edit leaves alone are the earlier ones."""
    apart = difference(old.text, new.text)
    by = len(new.text) - len(old.text)
    known: dict[int, tuple[Segment, int]] = {}
    at = 0
    for it in earlier:
        known[old.body[at].start - old.at] = it, at
        at += it.n_tokens
    found = segments_of(new.body)
    at = 0
    for number, it in enumerate(found):
        end = at + it.n_tokens
        start, behind = new.body[at].start - new.at, new.body[end - 1].end - new.at
        place = start if behind <= apart.start else start - by if start >= apart.new_end else None
        segment, before = known.get(place, (it, 0)) if place is not None else (it, 0)
        if segment is not it and _are_alike(old.body, before, new.body, at, it.n_tokens, segment.n_tokens):
            found[number] = segment
        at = end
    return found


def _are_alike(old: list[Token], before: int, new: list[Token], now: int, count: int, n_old: int) -> bool:
    if count != n_old or old[before].gap != new[now].gap:
        return False
    ours, theirs = new[now : now + count], old[before : before + count]
    return list(map(text_of, ours)) == list(map(text_of, theirs))
