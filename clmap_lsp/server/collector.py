"""Python's cycle collector in the server: at quiet moments, not while somebody waits for an answer."""

from __future__ import annotations

import asyncio
import gc

QUIET_S = 0.5
"""Without a change for so long, nobody is likely to wait for an answer."""


class QuietCollector:
    """Collects garbage that holds on to itself when no document has changed for a while.

    What is there at the first quiet moment (modules, tables, the grammar) stays to the end; the collector is
    told to leave it alone, which takes most of the length off its pauses.
    """

    def __init__(self) -> None:
        self._timer: asyncio.TimerHandle | None = None
        self._is_first = True

    def changed(self) -> None:
        """Start waiting for a quiet moment anew."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(QUIET_S, self._collect)

    def _collect(self) -> None:
        self._timer = None
        if self._is_first:
            self._is_first = False
            gc.freeze()
        else:
            gc.collect(1)
