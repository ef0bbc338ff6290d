"""Work-done progress that the user can cancel, shown only for work that takes a while."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

if TYPE_CHECKING:
    from types import TracebackType

    from clmap_lsp.server.app import ClmapServer

logger = logging.getLogger(__name__)

BEGIN_AFTER_S = 1.0
"""Work that is done sooner shows no progress: what only flashes up is in the way."""
REPORT_EVERY_S = 0.1


class Progress:
    """One piece of work that the client shows, if it can show progress and the work takes a while."""

    def __init__(self, server: ClmapServer, title: str) -> None:
        self._server = server
        self._title = title
        self._cancel: Callable[[], Any] | None = None
        self._beginning: asyncio.Task[None] | None = None
        self._token: str | None = None
        """Of a progress that has begun."""
        self._message: str | None = None
        self._over = False
        self._last = 0.0

    async def __aenter__(self) -> Progress:
        window = self._server.client_capabilities.window
        if window and window.work_done_progress:
            self._beginning = asyncio.create_task(self._begin_later())
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._over = True
        self._end_if_over()

    def on_cancel(self, cancel: Callable[[], Any]) -> None:
        """Call `cancel` when the user cancels."""
        self._cancel = cancel

    def report(self, text: str, fraction: float | None) -> None:
        """Show how far the work is; more than ten reports a second are dropped."""
        self._message = text
        now = time.monotonic()
        if self._token is None or now - self._last < REPORT_EVERY_S:
            return
        self._last = now
        percentage = None if fraction is None else max(0, min(100, round(fraction * 100)))
        report = lsp.WorkDoneProgressReport(message=text, percentage=percentage)
        self._server.work_done_progress.report(self._token, report)

    async def _begin_later(self) -> None:
        """Wait, then ask the client for a token, then begin; never cancelled once the client was asked.

        pygls cannot take the client's answer to a request that was cancelled, and some clients complain of a
        token that ends without a begin: work that ends between the two begins and ends at once.
        """
        await asyncio.sleep(BEGIN_AFTER_S)
        if self._over:
            return
        token = str(uuid.uuid4())
        tokens = self._server.work_done_progress.tokens
        try:
            await self._server.work_done_progress.create_async(token)
        except Exception as error:
            logger.info("the client shows no progress: %s", error)
            tokens.pop(token, None)
            return
        tokens.setdefault(token, Future()).add_done_callback(self._answered)
        begin = lsp.WorkDoneProgressBegin(title=self._title, message=self._message, cancellable=True)
        self._server.work_done_progress.begin(token, begin)
        self._token = token
        self._end_if_over()

    def _answered(self, future: Future[Any]) -> None:
        if future.cancelled() and self._cancel is not None:
            self._cancel()

    def _end_if_over(self) -> None:
        if self._over and self._token is not None:
            self._server.work_done_progress.end(self._token, lsp.WorkDoneProgressEnd())
            self._server.work_done_progress.tokens.pop(self._token, None)  # pygls would keep it for ever.
