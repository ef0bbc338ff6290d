"""A limit on the memory of this process while a launch is read, counted and run in it.

Estimates miss what libraries take for a moment; the system does not. Linux counts all private memory that may
be written (RLIMIT_DATA), so that what asks for too much gets a `MemoryError` in place of the machine's swap.
Elsewhere, in a process with other threads, which would get that error as well, and where setting limits is
forbidden (a sandbox, which has a limit of its own), nothing is set.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_MIB = 1 << 20
_OVERHEAD_MIB = 100
"""The interpreter and its libraries: the process holds at most the limit and this."""
_LIBRARIES_MIB = 48
"""Of them, what LLVM's library takes once it is loaded."""
_LEAST_MIB = 64
"""Below this not even an empty launch can be compiled."""


@contextmanager
def limited(mib: int) -> Iterator[None]:
    """Hold this process to `mib` MiB and 100 more for itself; a larger process to `mib` MiB more than it has.

    Inside, more memory raises MemoryError. Limits that were there before are kept where they are lower, and
    come back afterwards.
    """
    held = _held_bytes()
    if held is None or threading.active_count() > 1:
        yield
        return
    import resource

    import numpy.random  # noqa: F401  NumPy loads it when it is first asked for: not where there is no room left.

    data, resident = held
    own = resident // _MIB
    if own > _OVERHEAD_MIB:  # Somebody's program that uses this as a library: what it holds is its own.
        own = 0
    room = max(min(mib, mib + _OVERHEAD_MIB - _LIBRARIES_MIB - own), _LEAST_MIB) * _MIB
    before, hard = resource.getrlimit(resource.RLIMIT_DATA)
    known = [it for it in (data + room, before, hard) if it != resource.RLIM_INFINITY]
    try:
        resource.setrlimit(resource.RLIMIT_DATA, (min(known), hard))
    except (OSError, ValueError):
        yield
        return
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (before, hard))


@contextmanager
def with_room(mib: int) -> Iterator[None]:
    """Let this process have at least `mib` MiB for a library that ends it where there is too little."""
    held = _held_bytes()
    if held is None:
        yield
        return
    import resource

    before, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = held[0] + mib * _MIB
    if before == resource.RLIM_INFINITY or before >= wanted:
        yield
        return
    try:
        resource.setrlimit(
            resource.RLIMIT_DATA, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard)
        )
    except (OSError, ValueError):
        yield
        return
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (before, hard))


def room_left() -> int | None:
    """Return the bytes that this process may still ask for; None if there is no limit."""
    held = _held_bytes()
    if held is None:
        return None
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_DATA)
    return None if limit == resource.RLIM_INFINITY else max(limit - held[0], 0)


def _held_bytes() -> tuple[int, int] | None:
    """Return the writable and the resident bytes of this process; None where the system does not say."""
    if sys.platform != "linux":
        return None
    import resource

    try:
        fields = Path("/proc/self/statm").read_text("ascii").split()
        page = resource.getpagesize()
        return int(fields[5]) * page, int(fields[1]) * page
    except (OSError, ValueError, IndexError):
        return None
