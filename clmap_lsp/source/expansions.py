"""Large expansions of macros, kept for the next reading of a file.

While a person types, the same macros are expanded from the same arguments again and again, and of some files
that is nearly all of the work. An expansion is kept with its macro's definition, which the versions of a file
share, and holds as long as every name that was looked at on the way means the same.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, TypeAlias

from clmap_lsp.dataclass import dataclass
from clmap_lsp.source.lexer import Token, Use

if TYPE_CHECKING:
    from clmap_lsp.source.segments import Segment

LARGE = 256
"""Tokens from which on keeping an expansion saves more than it costs."""
MAX_KEPT = 16
"""Expansions of one macro."""

Key: TypeAlias = tuple[tuple[str, int, int, int], ...]


def key_of(tokens: list[Token], at: int, end: int) -> Key:
    """Return what a use is told by: its tokens, and where they stand behind its start."""
    start, path = tokens[at].start, tokens[at].path
    if any(it.path != path for it in tokens[at:end]):
        return ()
    return tuple((it.text, it.start - start, it.end - start, it.gap) for it in tokens[at:end])


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a name stood for: what is kept of its macro's definition, and where its body stands."""

    kept: object
    """`None` of the macro, or the segment of one, that keeps this."""
    path: str
    start: int
    end: int


Meanings: TypeAlias = Mapping[str, Meaning]


@dataclass(frozen=True, slots=True)
class Expansion:
    """What a use of a macro became."""

    use: Use
    tokens: list[Token]
    log: list[tuple[Token, str]]
    """Each token that named a macro, with the name."""
    names: frozenset[str]
    """All that was looked at, macros or not."""
    meanings: Meanings
    """Of those that were macros."""
    cost: int
    """Tokens that it is charged for."""

    def now(self, start: int, meanings: Meanings, use: Use | None = None) -> Expansion | None:
        """Return the same expansion of a use that starts at `start`; None where names mean something else.

        Args:
            start: in the file of the earlier use.
            meanings: of those of `names` that are macros now.
            use: what stands for the use in its tokens.
        """
        if meanings.keys() != self.meanings.keys():
            return None
        by = start - self.use.start
        steps = {(self.use.path, self.use.start, self.use.end): by}
        for name, now in meanings.items():
            then = self.meanings[name]
            if then.kept is not now.kept or then.path != now.path:
                return None
            steps[then.path, then.start, then.end] = now.start - then.start
        if not any(steps.values()):
            return self
        use = use or Use(self.use.path, start, self.use.end + by)
        move = _mover(steps, self.use.path, use, by)
        log = zip(move([it for it, _ in self.log]), [name for _, name in self.log], strict=True)
        return Expansion(use, move(self.tokens), list(log), self.names, meanings, self.cost)


def _mover(
    steps: Mapping[tuple[str, int, int], int], path: str, use: Use, by: int
) -> Callable[[list[Token]], list[Token]]:
    """Return what moves tokens by the steps of the stretches that they are typed in."""
    new = tuple.__new__  # Calling the class costs twice as much, and there are tens of thousands.
    if all(step == by and it[0] == path for it, step in steps.items()):
        return lambda tokens: [
            new(Token, (text, start + by, end + by, gap, path, made and use, painted))
            for text, start, end, gap, path, made, painted in tokens
        ]
    stretches = sorted((*it, step) for it, step in steps.items() if step)
    if len(stretches) <= 2:  # What a body holds, and the arguments of its use.
        nowhere = "", 0, 0, 0
        (there, first, last, step), (other, others_first, others_last, others_step), *_ = (
            *stretches,
            nowhere,
            nowhere,
        )
        return lambda tokens: [
            new(Token, (text, start + step, end + step, gap, path, made and use, painted))
            if first <= start < last and path == there
            else new(Token, (text, start + others_step, end + others_step, gap, path, made and use, painted))
            if others_first <= start < others_last and path == other
            else new(Token, (text, start, end, gap, path, made and use, painted))
            for text, start, end, gap, path, made, painted in tokens
        ]

    def moved(token: Token) -> Token:
        text, start, end, gap, path, made, painted = token
        at = bisect_right(stretches, (path, start, 1 << 62)) - 1
        if at >= 0 and stretches[at][0] == path and start < stretches[at][2]:
            start, end = start + stretches[at][3], end + stretches[at][3]
        return new(Token, (text, start, end, gap, path, made and use, painted))

    return lambda tokens: [moved(it) for it in tokens]


class ByUse(dict[Key, Expansion]):
    """What is kept by use; the newest, at the end, are used last."""

    __slots__ = ()

    def keep(self, key: Key, expansion: Expansion) -> None:
        """Keep an expansion, for the oldest."""
        self.pop(key, None)
        if len(self) >= MAX_KEPT:
            del self[next(iter(self))]
        self[key] = expansion


@dataclass(slots=True, eq=False)
class Kept:
    """What was found out about a macro's definition, for each reading of a file that has it."""

    is_large: bool = False
    """Some use of it became large: the next one is kept."""
    by_use: ByUse = field(default_factory=ByUse)
    segments: list[Segment] | None = None
    """Those of a long body, once one was expanded by them."""
    words: frozenset[str] | None = None
    """The texts of the tokens of its body."""
    spelled: str | None = None
    """Its body as one text."""
    beginning: str | None = None
