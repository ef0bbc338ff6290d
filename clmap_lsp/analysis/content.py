"""What a kernel's analysis depends on, and how its results move with the text.

A kernel's IR follows from the preprocessed text of its function and of the helpers that went into it, and
from what that text names (see `source.reuse`). As long as these stay, an edit elsewhere, or in a comment,
only moves the kernel: its results are kept and their places are taken from the new IR.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from clmap_lsp.source import ir

if TYPE_CHECKING:
    from clmap_lsp.access.polynomial import LoopSymbol
    from clmap_lsp.access.records import Access
    from clmap_lsp.source.program import Program
    from clmap_lsp.source.span import Span

ContentKey = tuple[str, int, object]


class ProgramContent:
    """The keys of one program's kernels."""

    def __init__(self, program: Program) -> None:
        self._cache = program.cache
        self._environment = 0 if program.cache is None else hash(program.cache.environment)

    def key(self, kernel: ir.Kernel) -> ContentKey:
        """Return what the kernel's IR follows from; of a program that was not read, the kernel itself."""
        built = None if self._cache is None else self._cache.kernels.get(kernel.name)
        if self._cache is None or built is None:
            return kernel.name, 0, kernel
        parts = tuple([self._cache.keys[it.function.name] for it in built.parts])
        return kernel.name, self._environment, hash(parts)


class Moved:
    """Gives the places and variables of `now` to accesses that were derived from `before`.

    Both kernels have the same content, so lowering made the same sites and the same variables in one order.
    """

    def __init__(self, before: ir.Kernel, now: ir.Kernel) -> None:
        self._now = now
        self._spans = site_spans(now)
        old, new = _variables(before), _variables(now)
        self._variables = dict(zip(old, new, strict=True)) if len(old) == len(new) else {}
        self._loops = dict(zip(_loops(before), _loops(now), strict=False))

    def access(self, access: Access) -> Access:
        """Return an access at its new place."""
        root = access.root
        return dataclasses.replace(
            access,
            span=self._spans.get(access.site, access.span),
            frames=self._now.frames.get(access.site, access.frames),
            root=None if root is None else self._variables.get(root, root),
            loops=tuple([self._loop(it) for it in access.loops]),
        )

    def _loop(self, loop: LoopSymbol) -> LoopSymbol:
        now = self._loops.get(loop.span) if loop.span is not None else None
        return loop if now is None else dataclasses.replace(loop, span=now)


def _loops(kernel: ir.Kernel) -> list[Span]:
    return [it.span for it in ir.walk(kernel.body) if isinstance(it, ir.Loop)]


def _variables(kernel: ir.Kernel) -> tuple[ir.Variable, ...]:
    return (*kernel.parameters, *kernel.variables, *kernel.constants)


def places_of(kernel: ir.Kernel) -> tuple[Span, ...]:
    """Return the places of a kernel's variables, statements and calls; kernels of one content have as many,
    in the same order."""
    found = [kernel.span, kernel.name_span]
    found += [it.span for it in _variables(kernel)]
    found += [it.span for it in ir.walk(kernel.body)]
    found += [it.call for frames in kernel.frames.values() for it in frames]
    return (*found, *(it.definition for it in found if it.definition is not None))


def new_places(before: tuple[Span, ...], now: tuple[Span, ...]) -> dict[Span, Span]:
    """Return where each of a kernel's places is now; what is not in it cannot be told.

    Args:
        before, now: `places_of` two kernels of one content.
    """
    if len(before) != len(now):
        return {}
    moved = dict(zip(before, now, strict=True))
    torn = {old for old, new in zip(before, now, strict=True) if moved[old] != new}
    return {old: new for old, new in moved.items() if old not in torn} if torn else moved


def site_spans(kernel: ir.Kernel) -> dict[int, Span]:
    """Return where the statement of each site stands."""
    spans: dict[int, Span] = {}
    for statement in ir.walk(kernel.body):
        for site in ir.sites(statement):
            spans[site] = statement.span
    return spans


T = TypeVar("T")


class Kept(dict[object, T]):
    """A dictionary that forgets its oldest entries past a bound."""

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.limit = limit

    def keep(self, key: object, value: T) -> T:
        """Store and return a value."""
        self.pop(key, None)
        self[key] = value
        while len(self) > self.limit:
            del self[next(iter(self))]
        return value


class KeptBySize(Kept[T]):
    """One that forgets its oldest entries past a bound on their size together, too. Entries go by `del`.

    Args:
        most: so large they are together, but for the last `least` entries, which stay however large they are.
        size_of: how large an entry is.
    """

    def __init__(self, limit: int, most: int, size_of: Callable[[T], int]) -> None:
        super().__init__(limit)
        self.least = 1
        self.size = 0
        self._most = most
        self._size_of = size_of
        self._sizes: dict[object, int] = {}

    def keep(self, key: object, value: T) -> T:
        """Store and return a value."""
        if key in self:
            del self[key]
        self._sizes[key] = self._size_of(value)
        self.size += self._sizes[key]
        super().keep(key, value)
        while self.size > self._most and len(self) > self.least:
            del self[next(iter(self))]
        return value

    def used(self, key: object) -> None:
        """Take an entry for the newest."""
        super().keep(key, self[key])

    def __delitem__(self, key: object) -> None:
        """Forget an entry."""
        super().__delitem__(key)
        self.size -= self._sizes.pop(key)

    def clear(self) -> None:
        """Forget all entries."""
        super().clear()
        self._sizes.clear()
        self.size = 0
