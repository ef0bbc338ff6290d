"""Large expansions of macros, kept for the next reading of a file.

While a person types, the same macros are expanded from the same arguments again and again, and of some files
that is nearly all of the work. An expansion is kept with its macro's definition, which the versions of a file
share, and holds as long as every name that was looked at on the way means the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, TypeAlias

from clmap_lsp.dataclass import dataclass
from clmap_lsp.source.lexer import Token, Use
from clmap_lsp.source.made import Made, MovedUses, OneUse, Step

if TYPE_CHECKING:
    from clmap_lsp.source.segments import Segment

LARGE = 256
"""Tokens from which on keeping an expansion saves more than it costs."""
MAX_KEPT = 16
"""Expansions of one macro."""

Key: TypeAlias = tuple[tuple[str, int, int, int], ...]


TYPED: Key = ()
"""Stands for a use where a stretch of a file's text is kept."""


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
    made: Made
    named: Made
    """The tokens that named macros."""
    named_macros: Sequence[str]
    """The names of these macros."""
    names: frozenset[str]
    """All that was looked at, macros or not."""
    meanings: Meanings
    """Of those that were macros."""
    cost: int
    """Tokens that it is charged for."""
    is_stretch: bool = False
    """It is a stretch of a file's text, with uses of macros in it; `use` says where."""

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
        moves = [Step(*it, step) for it, step in sorted(steps.items())]
        uses = MovedUses(by) if self.is_stretch else OneUse(use)
        made, named = self.made.moved(moves, uses), self.named.moved(moves, uses)
        return Expansion(
            use, made, named, self.named_macros, self.names, meanings, self.cost, self.is_stretch
        )


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
