"""Asking the client to ask again: for diagnostics, lenses, hints. Answers are awaited by nobody."""

from __future__ import annotations

import logging
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clmap_lsp.server.app import ClmapServer

logger = logging.getLogger(__name__)


def refresh(server: ClmapServer, method: str) -> None:
    """Send a refresh request; a client that refuses it is noted in the log only."""

    def answered(future: Future[Any]) -> None:
        if not future.cancelled() and (error := future.exception()) is not None:
            logger.info("%s: %s", method, error)

    server.protocol.send_request(method).add_done_callback(answered)
