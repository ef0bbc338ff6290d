"""Two tiers of work for each document: static findings soon after a change, the emulator when it is quiet."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clmap_lsp.server.collector import QuietCollector
from clmap_lsp.server.settings import is_configuration

if TYPE_CHECKING:
    from clmap_lsp.server.app import ClmapServer

QUIET_S = 0.03
"""How long to wait for the next keystroke before analysing."""
LONGEST_WAIT_S = 0.2
"""Under steady typing, findings are renewed at least this often."""
IDLE_S = 1.0
"""Without a change for so long, kernels are emulated."""


@dataclass(slots=True)
class _Clock:
    """The pending work of one document."""

    static: asyncio.Task[None] | None = None
    idle: asyncio.Task[None] | None = None
    waiting_since: float | None = None


class Tiers:
    """Schedules analysis and emulation; a newer change replaces what waits."""

    def __init__(self, server: ClmapServer) -> None:
        self._server = server
        self._clocks: dict[str, _Clock] = {}
        self._collector = QuietCollector()

    def changed(self, uri: str, quiet_s: float = QUIET_S) -> None:
        """Plan both tiers after a change of a document."""
        self._collector.changed()
        clock = self._clocks.setdefault(uri, _Clock())
        now = asyncio.get_running_loop().time()
        if clock.static is not None:
            clock.static.cancel()
        if clock.waiting_since is None:
            clock.waiting_since = now
        wait_s = min(quiet_s, max(0.0, clock.waiting_since + LONGEST_WAIT_S - now))
        clock.static = asyncio.create_task(self._analyse(uri, wait_s, clock))
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
        clock = self._clocks.pop(uri, None)
        for task in (clock.static, clock.idle) if clock else ():
            if task is not None:
                task.cancel()

    async def _analyse(self, uri: str, wait_s: float, clock: _Clock) -> None:
        await asyncio.sleep(wait_s)
        clock.waiting_since = None
        document = self._server.documents.get(uri)
        if document is not None and is_configuration(document.path):
            for listener in self._server.on_configuration:
                listener(document)
        else:
            await self._server.snapshot(uri)

    async def _emulate(self, uri: str, wait_s: float) -> None:
        await asyncio.sleep(wait_s)
        snapshot = await self._server.snapshot(uri)
        if snapshot is not None and self._server.emulations is not None:
            await self._server.emulations.run_all(snapshot)
