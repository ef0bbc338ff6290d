"""Python's cycle collector, out of the way while many objects without cycles are made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


def collect_rarely() -> None:
    """Let the cycle collector run less often in this process.

    What is allocated here is mostly kept (a program, its analysis) or freed by its last reference; cycles are
    few. At Python's own thresholds looking for them takes a tenth of the time of an analysis.
    """
    gc.set_threshold(50_000, 20, 50)


@contextmanager
def paused_collector() -> Iterator[None]:
    """Switch the cycle collector off for a while.

    Tokens, places and IR nodes are trees without cycles, and nearly all of them stay: the collector would
    walk them over and over and find nothing, for a fifth of the time of parsing and half of that of inlining.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            if gc.get_count()[0] > gc.get_threshold()[0] and not gc.get_freeze_count():
                # Puts everything among what is old, without a look at it: else all of it is walked now.
                # Not where a part of the program is frozen for good.
                gc.freeze()
                gc.unfreeze()
            gc.enable()
