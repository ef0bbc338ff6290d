"""What the rules found on other plausible launches of kernels, kept as long as the kernels stay as they are.

Trying other launches costs several analyses of a kernel. What came of it follows from the kernel's content,
and its places follow the text: an edit elsewhere costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from clmap_lsp.analysis.content import Kept, new_places, places_of
from clmap_lsp.dataclass import dataclass

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import KernelAnalysis

KEPT_KERNELS = 192

Place = tuple[str, int] | str
"""Where a finding starts, a path and an offset; or the buffer that it is about."""
Found = tuple[str, Place]
"""The code of a rule, and where it found something."""


@dataclass(frozen=True, slots=True)
class Other:
    """What the rules find with another guess."""

    instead_of: str
    """The guess that it takes the place of, for people: `the local size is 16x16`."""
    invented: bool
    """That guess is a value of the program's, not the shape of the groups."""
    found: frozenset[Found]
    loud: frozenset[Found] = frozenset()
    """Those of them that are a warning there, too."""
    work: int = 0
    """What it cost to try."""
    about: str | None = None
    """The only rule that it says something about; all, if left out."""
    of_text: bool = False
    """It was made with other values of macros than the file's own, which a build may set."""
    is_rest: bool = False
    """It stands for all further guesses, which were not tried: they would have cost too much."""


@dataclass(frozen=True, slots=True)
class _Known:
    kernel: KernelAnalysis
    others: Sequence[Other]


class OtherLaunches:
    """Keeps what was found, by the content of kernels. Not safe for several threads at once."""

    def __init__(self) -> None:
        self._known: Kept[_Known] = Kept(KEPT_KERNELS)
        self._last: Kept[tuple[str, Sequence[Other]]] = Kept(KEPT_KERNELS)

    def forget(self, path: str) -> None:
        """Drop what is kept of a file's kernels."""
        for key in [key for key, it in self._known.items() if it.kernel.span.path == path]:
            del self._known[key]
        for name in [name for name, it in self._last.items() if it[0] == path]:
            del self._last[name]

    def forget_all(self) -> None:
        """Drop what is kept of all kernels."""
        self._known.clear()
        self._last.clear()

    def is_known(self, kernel: KernelAnalysis, asked: object) -> bool:
        """Tell whether a kernel's other launches were tried."""
        return (kernel.content, asked) in self._known

    def last(self, kernel: KernelAnalysis) -> Sequence[Other] | None:
        """Return what was found before a kernel's last edits; of findings about buffers, that tells much."""
        known = self._last.get((kernel.span.path, kernel.name))
        return None if known is None else known[1]

    def of(
        self, kernel: KernelAnalysis, asked: object, make: Callable[[], Iterable[Other]]
    ) -> Sequence[Other]:
        """Return what `make` yields for a kernel, or yielded before; that follows from `asked`, too."""
        if kernel.content is None:
            return list(make())
        key = kernel.content, asked
        known = self._known.get(key)
        if known is None or known.kernel is not kernel:
            moved = None if known is None else _moved(known, kernel)
            known = self._known.keep(key, _Known(kernel, list(make()) if moved is None else moved))
        path = kernel.span.path
        self._last.keep((path, kernel.name), (path, known.others))
        return known.others


def _moved(known: _Known, kernel: KernelAnalysis) -> list[Other] | None:
    """Return what was found at the places of a kernel as it stands now; None where one cannot be followed."""
    places = new_places(places_of(known.kernel.kernel), places_of(kernel.kernel))
    starts = {(old.path, old.start): (new.path, new.start) for old, new in places.items()}
    try:
        return [
            replace(
                it,
                found=frozenset(_at(found, starts) for found in it.found),
                loud=frozenset(_at(found, starts) for found in it.loud),
            )
            for it in known.others
        ]
    except KeyError:
        return None


def _at(found: Found, starts: Mapping[tuple[str, int], tuple[str, int]]) -> Found:
    code, place = found
    return code, place if isinstance(place, str) else starts[place]
