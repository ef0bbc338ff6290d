"""Work-done progress that the user can cancel."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Callable
from concurrent.futures import Future
from types import TracebackType
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

if TYPE_CHECKING:
    from clmap_lsp.server.app import ClmapServer

logger = logging.getLogger(__name__)

REPORT_EVERY_S = 0.1


class Progress:
    """One piece of work that the client shows, if it can show progress."""

    def __init__(self, server: ClmapServer, title: str) -> None:
        self._server = server
        self._title = title
        self._token: str | None = None
        self._last = 0.0
        self.cancelled = False

    async def __aenter__(self) -> Progress:
        window = self._server.client_capabilities.window
        if not (window and window.work_done_progress):
            return self
        token = str(uuid.uuid4())
        try:
            # Shielded: pygls cannot take the client's answer to a request that was cancelled.
            await asyncio.shield(self._server.work_done_progress.create_async(token))
        except asyncio.CancelledError:
            self._forget(token)
            raise
        except Exception as error:
            logger.info("the client shows no progress: %s", error)
            self._forget(token)
            return self
        self._token = token
        begin = lsp.WorkDoneProgressBegin(title=self._title, cancellable=True)
        self._server.work_done_progress.begin(token, begin)
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if self._token is not None:
            self._server.work_done_progress.end(self._token, lsp.WorkDoneProgressEnd())
            self._forget(self._token)

    def _forget(self, token: str) -> None:
        self._server.work_done_progress.tokens.pop(token, None)  # pygls would keep it for ever.

    def on_cancel(self, cancel: Callable[[], Any]) -> None:
        """Call `cancel` when the user cancels."""
        if self._token is None:
            return
        future = self._server.work_done_progress.tokens.setdefault(self._token, Future())

        def done(it: Future[Any]) -> None:
            if it.cancelled():
                self.cancelled = True
                cancel()

        future.add_done_callback(done)

    def report(self, text: str, fraction: float | None) -> None:
        """Show how far the work is; more than ten reports a second are dropped."""
        now = time.monotonic()
        if self._token is None or now - self._last < REPORT_EVERY_S:
            return
        self._last = now
        percentage = None if fraction is None else max(0, min(100, round(fraction * 100)))
        report = lsp.WorkDoneProgressReport(message=text, percentage=percentage)
        self._server.work_done_progress.report(self._token, report)
