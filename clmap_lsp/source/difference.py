"""Where two versions of a text differ."""

from __future__ import annotations

from collections.abc import Sequence

from clmap_lsp.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Difference:
    """The texts are alike up to `start`, and again from `old_end` of the old and `new_end` of the new one."""

    start: int
    old_end: int
    new_end: int


def difference(old: Sequence[object], new: Sequence[object]) -> Difference:
    """Return the smallest stretch outside of which two texts, or lists of tokens or numbers, are alike."""
    start = _shared(old, new)
    same = min(len(old), len(new)) - start
    tail = _shared(old[: -same - 1 : -1], new[: -same - 1 : -1]) if same else 0
    return Difference(start, len(old) - tail, len(new) - tail)


def _shared(a: Sequence[object], b: Sequence[object]) -> int:
    """Return how many characters, tokens or numbers two texts start with in common, by halving."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
