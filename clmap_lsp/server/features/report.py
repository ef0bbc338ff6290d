"""The command `clmap.report`: an open document's HTML report."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from pygls.exceptions import JsonRpcInvalidParams

from clmap_lsp.errors import UsageError
from clmap_lsp.server.report_page import report_page

if TYPE_CHECKING:
    from collections.abc import Callable

    from clmap_lsp.server.app import ClmapServer


def register(server: ClmapServer) -> None:
    """Register the command."""
    decorate: Callable[[Any], Any] = server.command("clmap.report")

    @decorate
    async def report(uri: str) -> str:
        # Drawing takes seconds: it is done on a thread, from data that never change.
        snapshot = await server.snapshot(uri)
        if snapshot is None:
            raise JsonRpcInvalidParams(f"{uri} is not open")
        try:
            return await asyncio.to_thread(report_page, server, snapshot)
        except UsageError as error:
            raise JsonRpcInvalidParams(str(error)) from None
