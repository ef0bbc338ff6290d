"""What large uses of macros, and text between directives, became in an earlier reading.

It is put together only where somebody asks. While a person types in a file whose macros make whole functions,
tens of thousands of tokens move at each key, of which an answer needs a few: the parser reads their texts,
which stay, and places are asked for of what a person points at.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import chain, repeat
from operator import add, attrgetter, sub
from sys import intern
from typing import Final, NamedTuple, TypeAlias, overload

from clmap_lsp.source.lexer import Token, Use, text_of

MAX_STEPS = 64
"""Pairs of stretches up to which two moves are made one without the tokens."""


class Step(NamedTuple):
    """How far what stands in a stretch of a file has moved."""

    path: str
    start: int
    end: int
    by: int


class Columns(NamedTuple):
    """Tokens by their fields: those that no edit elsewhere changes are shared by all versions of a text."""

    texts: Sequence[str]
    starts: Sequence[int]
    ends: Sequence[int]
    gaps: Sequence[int]
    paths: Sequence[str]
    uses: Sequence[Use | None]
    painted: Sequence[bool]


class Places(NamedTuple):
    """Where tokens stand: what of them is asked for at each key, without the tokens."""

    starts: Sequence[int]
    lengths: Sequence[int]
    paths: Sequence[str]
    uses: Sequence[Use | None]
    """`None` of what is typed as it is; of the others not which use made them, but that one did."""


_NO_COLUMNS: Final = Columns((), (), (), (), (), (), ())


class Base:
    """Tokens as they were when their columns were made, which all later versions share."""

    __slots__ = ("_lengths", "_order", "columns")

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self._lengths: list[int] | None = None
        self._order: list[tuple[str, int, int]] | None = None

    @property
    def lengths(self) -> list[int]:
        """Of each token the characters that it is typed in, which no move changes."""
        if self._lengths is None:
            self._lengths = list(map(sub, self.columns.ends, self.columns.starts))
        return self._lengths

    def starting(self, path: str, first: int, last: int) -> list[int]:
        """Return the numbers of a file's tokens that start in `[first, last]`, in order of their places."""
        if self._order is None:
            numbers = range(len(self.columns.starts))
            self._order = sorted(zip(self.columns.paths, self.columns.starts, numbers, strict=True))
        order = self._order
        low, high = bisect_left(order, (path, first)), bisect_left(order, (path, last + 1))
        return [number for _, _, number in order[low:high]]


class OneUse:
    """All tokens of macros' bodies were made by this use."""

    __slots__ = ("_use",)

    def __init__(self, use: Use) -> None:
        self._use = use

    def of(self, _: Use) -> Use:
        """Return what the use is now that made a token."""
        return self._use


class MovedUses:
    """The uses that made the tokens, so many characters further on; of each there is one."""

    __slots__ = ("_moved", "by")

    def __init__(self, by: int) -> None:
        self.by = by
        self._moved: dict[Use, Use] = {}

    def of(self, use: Use) -> Use:
        """Return what the use is now that made a token."""
        found = self._moved.get(use)
        if found is None:
            found = self._moved[use] = Use(use.path, use.start + self.by, use.end + self.by)
        return found


_gap_of = attrgetter("gap")
NOT_YET: Final = Token("", 0, 0, 0, "")
"""Stands in a list for each token that is put together when it is asked for."""


class Made:
    """Tokens that were made of a use of a macro, or stand in a stretch of a file with uses in it.

    Args:
        tokens: these; `NOT_YET` where a part of them was taken from an earlier reading.
        taken: these parts.
    """

    __slots__ = ("_base", "_is_searched", "_steps", "_taken", "_tokens", "_uses", "count")

    def __init__(self, tokens: list[Token], taken: Taken = ()) -> None:
        self.count = len(tokens)
        self._tokens: list[Token] | None = tokens
        self._taken = taken
        self._base: Base | None = None
        self._steps: Sequence[Step] = ()
        self._uses: OneUse | MovedUses = _AS_THEY_WERE
        self._is_searched = False

    @property
    def tokens(self) -> list[Token]:
        """The tokens; not to be changed."""
        if self._tokens is None:
            assert self._base is not None
            self._tokens = _put_together(self._base.columns, self._steps, self._uses)
        if self._taken:
            fill(self._tokens, self._taken)
            self._taken = ()
        return self._tokens

    @property
    def texts(self) -> Sequence[str]:
        """The tokens' texts."""
        if self._base is None and self._tokens is not None:
            return texts_of(self._tokens, self._taken)
        return self._columned.columns.texts

    @property
    def gaps(self) -> Sequence[int]:
        """What stands before each token."""
        return list(map(_gap_of, self.tokens)) if self._base is None else self._base.columns.gaps

    def token(self, at: int) -> Token:
        """Return one of the tokens."""
        if self._tokens is not None or self._base is None:
            return self.tokens[at]
        base = self._base.columns
        start, path = base.starts[at], base.paths[at]
        by = _step(self._steps, path, start)
        made = base.uses[at]
        use = None if made is None else self._uses.of(made)
        return Token(
            base.texts[at], start + by, base.ends[at] + by, base.gaps[at], path, use, base.painted[at]
        )

    def starting(self, path: str, first: int, last: int) -> list[int]:
        """Return the numbers of a file's tokens that start in `[first, last]`, each once, in any order."""
        if self._base is None and not self._is_searched:
            self._is_searched = True  # To put them in order pays off where somebody asks again.
            return [at for at, it in enumerate(self.tokens) if first <= it.start <= last and it.path == path]
        base = self._columned
        steps = [it for it in self._steps if it.path == path] or [Step(path, 0, 1 << 62, 0)]
        found: list[int] = []
        for it in steps:
            low, high = max(first - it.by, it.start), min(last - it.by, it.end - 1)
            found += base.starting(path, low, high) if low <= high else ()
        return found

    @property
    def places(self) -> Places:
        """Where the tokens stand."""
        base, columns = self._columned, self._columned.columns
        starts = _now(columns, columns.starts, self._steps) if self._steps else columns.starts
        return Places(starts, base.lengths, columns.paths, columns.uses)

    @property
    def _columned(self) -> Base:
        if self._base is None:
            self._base = Base(_columns_of(self.tokens))
        return self._base

    def moved(self, steps: Sequence[Step], uses: OneUse | MovedUses) -> Made:
        """Return the same tokens after edits elsewhere.

        Args:
            steps: of all stretches that the tokens are typed in, in order.
            uses: what the uses are then that made them.
        """
        found = Made.__new__(Made)
        found.count, found._taken, found._tokens, found._uses = self.count, (), None, uses
        found._base, found._steps, found._is_searched = self._columned, joined(steps), True
        if self._steps and len(self._steps) * len(found._steps) <= MAX_STEPS:
            found._steps = _one_after_another(self._steps, found._steps)
            if isinstance(uses, MovedUses) and isinstance(self._uses, MovedUses):
                found._uses = MovedUses(self._uses.by + uses.by)
        elif self._steps:
            found._base = Base(_columns_of(self.tokens))
        return found


_AS_THEY_WERE: Final = MovedUses(0)
"""Stands where tokens were not moved yet."""

Taken: TypeAlias = Sequence[tuple[int, Made]]
"""Parts of a list of tokens that are put together when asked for, and from which token on each stands."""


def fill(tokens: list[Token], taken: Taken) -> None:
    """Put the parts of a list of tokens where they belong."""
    for start, made in taken:
        tokens[start : start + made.count] = made.tokens


def texts_of(tokens: list[Token], taken: Taken) -> list[str]:
    """Return the texts of tokens, without putting together what is not yet."""
    texts: list[str] = []
    for start, made in taken:
        texts += map(text_of, tokens[len(texts) : start])
        texts += made.texts
    texts += map(text_of, tokens[len(texts) :])
    return texts


def joined(steps: Sequence[Step]) -> list[Step]:
    """Return steps in order, with those that follow each other and are equally long as one."""
    found: list[Step] = []
    for it in steps:
        if found and (found[-1].path, found[-1].by) == (it.path, it.by):
            found[-1] = Step(it.path, found[-1].start, max(found[-1].end, it.end), it.by)
        else:
            found.append(it)
    return found


def _one_after_another(first: Sequence[Step], then: Sequence[Step]) -> list[Step]:
    """Return the steps that lead where two moves do, one after the other."""
    found: list[Step] = []
    for one in first:
        for other in then:
            start, end = max(one.start, other.start - one.by), min(one.end, other.end - one.by)
            if one.path == other.path and start < end:
                found.append(Step(one.path, start, end, one.by + other.by))
    return joined(sorted(found))


def _columns_of(tokens: list[Token]) -> Columns:
    if not tokens:
        return _NO_COLUMNS
    texts, *others = zip(*tokens, strict=True)
    # There are few words: where each is one object, whoever goes over all texts finds them in the cache.
    return Columns(list(map(intern, texts)), *others)


def _put_together(columns: Columns, steps: Sequence[Step], made: OneUse | MovedUses) -> list[Token]:
    if not columns.paths:
        return []
    starts, ends = _now(columns, columns.starts, steps), _now(columns, columns.ends, steps)
    uses = [None if it is None else made.of(it) for it in columns.uses]
    now = columns._replace(starts=starts, ends=ends, uses=uses)
    # To put tokens together from columns takes half of the time that taking each apart does.
    return list(map(tuple.__new__, repeat(Token), zip(*now, strict=True)))


def _now(columns: Columns, places: Sequence[int], steps: Sequence[Step]) -> Sequence[int]:
    """Return the starts of tokens, or their ends, as they are after these steps."""
    if not columns.paths:
        return places
    path = columns.paths[0]
    if columns.paths.count(path) < len(columns.paths):
        by_each = [
            _step(steps, path, start) for path, start in zip(columns.paths, columns.starts, strict=True)
        ]
        return list(map(add, places, by_each))
    steps = [it for it in steps if it.path == path]
    if len(steps) == 1:
        by = steps[0].by
        return [it + by for it in places] if by else places
    for it in steps:
        first, last, by = it.start, it.end, it.by
        if by:  # Of one edit there is one such stretch: all behind it.
            then = zip(places, columns.starts, strict=True)
            places = [now + by if first <= start < last else now for now, start in then]
    return places


def _step(steps: Sequence[Step], path: str, start: int) -> int:
    """Return how far what starts at a place moves."""
    at = bisect_right(steps, (path, start, 1 << 62, 0)) - 1
    it = steps[at] if at >= 0 else None
    return it.by if it is not None and it.path == path and start < it.end else 0


def _places_of(tokens: list[Token]) -> Places:
    if not tokens:
        return Places((), (), (), ())
    _, starts, ends, _, paths, uses, _ = zip(*tokens, strict=True)
    return Places(starts, list(map(sub, ends, starts)), paths, uses)


class Tokens(Sequence[Token]):
    """The tokens of a file; what was taken from an earlier reading is put together when asked for."""

    __slots__ = ("_is_whole", "_starts", "_taken", "_tokens")

    def __init__(self, tokens: list[Token], taken: Taken = ()) -> None:
        self._tokens = tokens
        self._taken = taken
        self._starts = [start for start, _ in taken]
        self._is_whole = not taken

    def all(self) -> list[Token]:
        """Return all of them, for loops that go over them; not to be changed."""
        if not self._is_whole:
            fill(self._tokens, self._taken)
            self._is_whole = True
        return self._tokens

    def places(self) -> Places:
        """Return where all of them stand; those that are put together when asked for stay as they are."""
        parts: list[Places] = []
        at = 0
        for start, made in () if self._is_whole else self._taken:
            parts += (_places_of(self._tokens[at:start]), made.places)
            at = start + made.count
        parts.append(_places_of(self._tokens[at:]))
        every = chain.from_iterable
        return Places(
            list(every(it.starts for it in parts)),
            list(every(it.lengths for it in parts)),
            list(every(it.paths for it in parts)),
            list(every(it.uses for it in parts)),
        )

    def gaps(self) -> list[int]:
        """Return what stands before each of them, which no edit elsewhere changes."""
        found: list[int] = []
        for start, made in () if self._is_whole else self._taken:
            found += map(_gap_of, self._tokens[len(found) : start])
            found += made.gaps
        found += map(_gap_of, self._tokens[len(found) :])
        return found

    def starting(self, path: str, first: int, last: int, start: int, end: int) -> list[int]:
        """Return the numbers among `[start, end)` of the tokens of a file that start in `[first, last]`."""
        found: list[int] = []
        tokens, at = self._tokens, start
        parts = self._taken[max(bisect_right(self._starts, start) - 1, 0) :]
        for part, made in (*parts, (end, None)):
            found += [
                number
                for number, (_, place, _, _, there, _, _) in enumerate(tokens[at : min(part, end)], at)
                if first <= place <= last and there == path
            ]
            if made is None or part >= end:
                break
            low, high = start - part, end - part
            found += [part + it for it in made.starting(path, first, last) if low <= it < high]
            at = max(at, part + made.count)
        return found

    def __len__(self) -> int:
        return len(self._tokens)

    def __iter__(self) -> Iterator[Token]:
        return iter(self.all())

    @overload
    def __getitem__(self, at: int) -> Token: ...
    @overload
    def __getitem__(self, at: slice) -> list[Token]: ...
    def __getitem__(self, at: int | slice) -> Token | list[Token]:
        if isinstance(at, slice):
            return self._part(at)
        found = self._tokens[at]
        if found is NOT_YET:
            at = at if at >= 0 else at + len(self._tokens)
            start, made = self._taken[bisect_right(self._starts, at) - 1]
            return made.token(at - start)
        return found

    def _part(self, at: slice) -> list[Token]:
        start, end, step = at.indices(len(self._tokens))
        if self._is_whole or step != 1:
            return self.all()[at]
        first = max(bisect_right(self._starts, start) - 1, 0)
        fill(self._tokens, self._taken[first : bisect_right(self._starts, max(end - 1, 0))])
        return self._tokens[start:end]
