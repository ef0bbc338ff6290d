"""Python's cycle collector, out of the way while many objects without cycles are made."""

from __future__ import annotations

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

MANY: Final = 50_000
"""Objects made in a pause from which on they are not looked at when it ends."""
SOME_DAY: Final = 100_000_000
"""Objects that were not looked at from which on all are, once: the collector's own count starts anew each
time."""


def collect_rarely() -> None:
    """Let the cycle collector run less often in this process.

    What is allocated here is mostly kept (a program, its analysis) or freed by its last reference; cycles are
    few. At Python's own thresholds looking for them takes a tenth of the time of an analysis. As the
    interpreter ends, it would walk all objects once more: a sixth of the time of a check of a small file.
    Loading what such a check needs and doing it makes 90,000 objects that stay: it ends before a first look.
    """
    atexit.unregister(gc.freeze)  # It may stand there already.
    atexit.register(gc.freeze)
    gc.set_threshold(150_000, 20, 50)


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
            # The count of what is frozen walks all of it: that is asked only where a look would follow.
            if gc.get_count()[0] > max(MANY, gc.get_threshold()[0]) and not gc.get_freeze_count():
                _AGEING.put_off()
            gc.enable()


class _Ageing:
    """Puts what is new among what is old, without a look at it: else all of it is walked now.

    Not to be done where a part of the program is frozen for good: it would thaw.
    """

    def __init__(self) -> None:
        self._unseen = 0

    def put_off(self) -> None:
        """Spare what was made since the last look, until much has been spared."""
        self._unseen += gc.get_count()[0]
        gc.freeze()
        gc.unfreeze()
        if self._unseen > SOME_DAY:
            self._unseen = 0
            gc.collect()


_AGEING = _Ageing()
