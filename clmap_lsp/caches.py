"""Caches of functions and whole modules, by content, that are emptied when memory is given back."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable, Iterator
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


def clear_caches() -> None:
    """Empty the bounded caches of functions and modules: what they know of texts that are gone holds on to
    those."""
    drop_all()
    for it in _functions():
        if isinstance(it, functools._lru_cache_wrapper) and it.cache_parameters()["maxsize"] not in (None, 1):
            it.cache_clear()
    re.purge()
    _forget_names()


def _forget_names() -> None:
    """Let Python forget which attributes of classes were looked up last.

    It keeps the names for that, and a match of a class, or C code, makes a string of its own for each
    look-up: a thousand of them lie scattered, and every mebibyte that holds one stays.
    """
    forget = getattr(sys, "_clear_internal_caches", None) or sys._clear_type_cache
    forget()


def _functions() -> Iterator[object]:
    """Yield what this package's modules and their classes define.

    The collector knows all functions, too, but to ask it (`gc.get_objects`) makes references to tuples that
    other threads are about to fill, and CPython refuses to fill those.
    """
    for name, module in list(sys.modules.items()):
        if name.startswith("clmap_lsp."):
            for it in list(vars(module).values()):
                yield it
                if isinstance(it, type) and it.__module__ == name:
                    yield from list(vars(it).values())
