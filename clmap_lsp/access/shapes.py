"""Equality of terms with shared parts in constant time, by hash-consing their structure.

A term such as `x ^ (x >> 3)` names the term `x` twice; after 64 such steps it is written with 2**64 symbols,
and comparing two of them symbol by symbol would never end. So each structure has one `Shape`, made from the
shapes of its parts, and terms are equal if their shapes are the same object (hash-consing: Filliâtre and
Conchon, "Type-safe modular hash-consing", ML 2006). The terms themselves are not shared, because equal ones
may differ in what is known about their symbols.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Final
from weakref import WeakValueDictionary


class Shape:
    """One structure; alive as long as a term of this structure, or of one that contains it, is."""

    __slots__ = ("__weakref__", "digest", "number")

    def __init__(self, digest: bytes) -> None:
        self.digest = digest
        """16 bytes that follow from the structure alone: the same in every process, other for others."""
        self.number = int.from_bytes(digest[:7], "little")
        """Serves terms as hash."""


_SHAPES: Final[WeakValueDictionary[Hashable, Shape]] = WeakValueDictionary()
_LOCK: Final = Lock()


def shape_of(parts: Hashable, digest: Callable[[], bytes]) -> Shape:
    """Return the one shape of a structure.

    Args:
        parts: what the structure consists of, with `Shape`s for those parts that have one.
        digest: makes the shape's digest; asked only where the structure is new.
    """
    found = _SHAPES.get(parts)
    if found is None:
        with _LOCK:  # two threads must not make two shapes of one structure
            found = _SHAPES.get(parts)
            if found is None:
                found = _SHAPES[parts] = Shape(digest())
    return found


def n_shapes() -> int:
    """Return how many structures are alive."""
    return len(_SHAPES)
