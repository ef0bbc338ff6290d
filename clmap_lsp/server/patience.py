"""A moment's waiting for work that may take long: once for each piece, however often it is asked for."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from typing import Any
from weakref import WeakSet

from clmap_lsp.server.turns import awaitable


class Patience:
    """Waits for work that would be done at once, and not again for work that was not."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._waited_for: WeakSet[Future[Any]] = WeakSet()

    async def is_done(self, work: Future[Any]) -> bool:
        """Tell whether work is done, if need be a moment later."""
        if not work.done() and work not in self._waited_for:
            self._waited_for.add(work)
            await asyncio.wait({awaitable(work)}, timeout=self._seconds)
        return work.done()
