"""Bodies of long macros, and text between directives, in segments, each expanded for itself and kept.

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
from clmap_lsp.source.lexer import Cut, Token, text_of

SMALLEST = 160
"""Tokens: shorter segments cost more than they save."""
_MARKS = frozenset({"(", ")", ";"})


@dataclass(slots=True, eq=False)
class Segment:
    """A stretch of a macro's body, of so many tokens, and what uses of the macro made of it.

    Of one in the text between directives, what it became is kept by `TYPED`.
    """

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


def followed(earlier: list[Segment], old: Cut, new: Cut) -> list[Segment]:
    """Return the segments of an edited body or chunk; those that the edit leaves alone are the earlier ones.

    They stay where they end, also behind a `(` that is not closed yet: only what is edited is divided anew. A
    use of a macro that is open at the end of a segment is noticed when that is expanded.
    """
    apart = difference(old.text, new.text)
    by = len(new.text) - len(old.text)
    n_more = len(new.tokens) - len(old.tokens)
    found: list[Segment] = []
    at = done = 0
    for it in earlier:
        start, behind = old.tokens[at].start - old.at, old.tokens[at + it.n_tokens - 1].end - old.at
        is_before, is_behind = behind <= apart.start, start >= apart.old_end
        now, moved = (at + n_more, by) if is_behind else (at, 0)
        if (is_before or is_behind) and done <= now and _is_same(old, at, new, now, it.n_tokens, moved):
            found += segments_of(new.tokens[done:now]) if done < now else ()
            found.append(it)
            done = now + it.n_tokens
        at += it.n_tokens
    return found + (segments_of(new.tokens[done:]) if done < len(new.tokens) else [])


def _is_same(old: Cut, before: int, new: Cut, now: int, count: int, by: int) -> bool:
    """Tell whether a segment of the earlier body stands in the new one, so many characters on."""
    end = now + count
    if end > len(new.tokens) or old.tokens[before].start - old.at + by != new.tokens[now].start - new.at:
        return False
    if end < len(new.tokens) and new.tokens[end].text == "##":
        return False
    return _are_alike(old.tokens, before, new.tokens, now, count, count)


def _are_alike(old: list[Token], before: int, new: list[Token], now: int, count: int, n_old: int) -> bool:
    if count != n_old or old[before].gap != new[now].gap:
        return False
    ours, theirs = new[now : now + count], old[before : before + count]
    return list(map(text_of, ours)) == list(map(text_of, theirs))
