"""Caches of whole modules, by content, that the server empties when it gives memory back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

D = TypeVar("D", bound=dict[Any, Any])
_ALL: Final[list[Callable[[], None]]] = []


def droppable(cache: D) -> D:
    """Return a cache of a module, noted as one that may be emptied at any time."""
    when_dropped(cache.clear)
    return cache


def when_dropped(forget: Callable[[], None]) -> None:
    """Note what empties a cache of a module; it may be called at any time."""
    _ALL.append(forget)


def drop_all() -> None:
    """Empty all of them."""
    for forget in _ALL:
        forget()
