"""What the C library keeps of memory that this process has freed (glibc; elsewhere nothing is done)."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

_ARENA_MAX = -8
"""glibc's `M_ARENA_MAX`."""


def use_one_heap() -> None:
    """Let all threads take memory from one place: they take turns anyway, and gaps are filled sooner (glibc).

    Where the environment says how many there are to be, that holds.
    """
    set_option = None if "MALLOC_ARENA_MAX" in os.environ else _glibc("mallopt")
    if set_option is not None:
        set_option(_ARENA_MAX, 1)


def give_back() -> None:
    """Give memory that is free in this process back to the system, where the C library keeps it (glibc)."""
    trim = _glibc("malloc_trim")
    if trim is not None:
        trim(0)


def _glibc(name: str) -> Callable[..., int] | None:
    """Return a function of the C library, if that is glibc."""
    if not sys.platform.startswith("linux"):
        return None
    import ctypes

    library = ctypes.CDLL(None)
    if not hasattr(library, "gnu_get_libc_version"):
        return None
    found: Callable[..., int] | None = getattr(library, name, None)
    return found
