"""Two tiers of work for each document: static findings soon after a change, the emulator when it is quiet."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pygls.exceptions import JsonRpcContentModified

from clmap_lsp.server.collector import QuietCollector
from clmap_lsp.server.settings import is_configuration

if TYPE_CHECKING:
    from clmap_lsp.server.app import ClmapServer

QUIET_S = 0.01
"""How long to wait for the next change before analysing: some editors send several at a time."""
IDLE_S = 1.0
"""Without a change for so long, kernels are emulated."""


@dataclass(slots=True)
class _Clock:
    """The pending work of one document."""

    static: asyncio.Task[None] | None = None
    idle: asyncio.Task[None] | None = None


class Tiers:
    """Schedules analysis and emulation; a newer change replaces what waits."""

    def __init__(self, server: ClmapServer) -> None:
        self._server = server
        self._clocks: dict[str, _Clock] = {}
        self._collector = QuietCollector()
        server.on_dropped.append(self._collector.freed)

    def changed(self, uri: str, quiet_s: float = QUIET_S) -> None:
        """Plan both tiers after a change of a document."""
        self._collector.changed()
        clock = self._clocks.setdefault(uri, _Clock())
        if clock.static is None or clock.static.done():
            clock.static = asyncio.create_task(self._analyse(uri, quiet_s))
        document = self._server.documents.get(uri)
        if document is not None and self._server.client_for(document).emulate == "onIdle":
            self.emulate(uri, wait_s=IDLE_S)

    def emulate(self, uri: str, wait_s: float) -> None:
        """Plan the emulation of a document's kernels; what waits or runs for an older text is dropped."""
        if not self._server.trusted:
            return
        clock = self._clocks.setdefault(uri, _Clock())
        if clock.idle is not None:
            clock.idle.cancel()
        clock.idle = asyncio.create_task(self._emulate(uri, wait_s))

    def closed(self, uri: str) -> None:
        """Drop what is planned for a document."""
        self._collector.freed()
        clock = self._clocks.pop(uri, None)
        for task in (clock.static, clock.idle) if clock else ():
            if task is not None:
                task.cancel()

    async def _analyse(self, uri: str, wait_s: float) -> None:
        await asyncio.sleep(wait_s)
        document = self._server.documents.get(uri)
        if document is None:
            return
        if is_configuration(document.path):
            for listener in self._server.on_configuration:
                listener(document)
        elif self._server.holds_kernels(document):
            self._server.analyses.renew_touched(document)

    async def _emulate(self, uri: str, wait_s: float) -> None:
        await asyncio.sleep(wait_s)
        try:
            snapshot = await self._server.snapshot(uri)
        except JsonRpcContentModified:
            return  # The change plans its own.
        if snapshot is None:
            return
        await self._server.analyses.predict(snapshot.document)
        if self._server.emulations is not None:
            await self._server.emulations.run_all(snapshot)
