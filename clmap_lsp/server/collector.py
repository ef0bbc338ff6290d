"""Python's cycle collector in the server: at quiet moments, not while somebody waits for an answer."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable

from clmap_lsp.caches import clear_caches
from clmap_lsp.heap import give_back

QUIET_S = 0.5
"""Without a change for so long, nobody is likely to wait for an answer."""
FEW = 20_000
"""Objects made and not freed since the last look that are not worth one at a quiet moment."""
MANY = 1_000_000
"""The same that are looked at whoever waits: about 100 MiB."""


def collect_when_quiet() -> None:
    """Leave it to quiet moments to look for cycles in this process, unless very much is made between two.

    What an edit replaces is freed by its last reference, so that steady typing makes next to no garbage; a
    look at what it makes takes as long as a key's analysis.
    """
    gc.set_threshold(MANY, 10, 10)


class QuietCollector:
    """Collects garbage that holds on to itself when no document has changed for a while.

    What is there at the first quiet moment (modules, tables, the grammar) stays to the end; the collector is
    told to leave it alone, which takes most of the length off its pauses.

    Args:
        warm_up: loads what is to be there then, and calls what it is given when it is.
        forget: drops what is kept by nothing that is ever closed.
    """

    def __init__(self, warm_up: Callable[[Callable[[], None]], None], forget: Callable[[], None]) -> None:
        self._warm_up = warm_up
        self._forget = forget
        self._timer: asyncio.TimerHandle | None = None
        self._is_first = True
        self._is_full = False

    def changed(self) -> None:
        """Start waiting for a quiet moment anew."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(QUIET_S, self._collect)

    def freed(self) -> None:
        """Much is let go of: at the next quiet moment its memory goes back to the system."""
        self._is_full = True
        self.changed()

    def _collect(self) -> None:
        self._timer = None
        if self._is_first:
            self._is_first = False
            self._warm_up(self._settled)
        elif self._is_full:
            self._is_full = False
            gc.unfreeze()
            self._forget()
            clear_caches()
            gc.collect()
            gc.freeze()
            give_back()
        elif gc.get_count()[0] > FEW:
            gc.collect(1)

    def _settled(self) -> None:
        gc.freeze()
        give_back()
        if self._is_full:
            self.changed()
