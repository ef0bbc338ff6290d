"""Two tiers of work for each document: static findings soon after a change, the emulator when it is quiet.

Of documents that were opened and not used since, few are in the second tier at a time: each holds all that is
known of it meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from pygls.exceptions import JsonRpcContentModified

from clmap_lsp.dataclass import dataclass
from clmap_lsp.server.collector import QuietCollector
from clmap_lsp.server.settings import is_configuration

if TYPE_CHECKING:
    from clmap_lsp.server.app import ClmapServer
    from clmap_lsp.server.turns import Urgency

QUIET_S = 0.01
"""How long to wait for the next change before analysing: some editors send several at a time."""
IDLE_S = 1.0
"""Without a change for so long, kernels are emulated."""
AT_A_TIME = 2
"""Documents that nobody uses whose kernels are emulated: one runs, and the next one is ready."""


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
        self._few = Few(AT_A_TIME)
        self._collector = QuietCollector(server.warm_up, server.staging.forget)
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
        analyses = self._server.analyses
        async with self._few.turn(lambda: analyses.use_of(uri)):
            try:
                snapshot = await self._server.snapshot(uri)
            except JsonRpcContentModified:
                return  # The change plans its own.
            if snapshot is None:
                return
            await analyses.predict(snapshot.document)
            if self._server.emulations is not None:
                await self._server.emulations.run_all(snapshot)


class Few:
    """Lets few at a time do what nobody waits for; what is used does not wait, or goes first."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._n_inside = 0
        self._waiting: list[tuple[Callable[[], Urgency | None], asyncio.Future[None]]] = []

    @asynccontextmanager
    async def turn(self, use: Callable[[], Urgency | None]) -> AsyncIterator[None]:
        """Wait for a turn; `use` says how urgent it is, None for what nobody uses."""
        is_counted = use() is None
        if is_counted and self._n_inside >= self._limit:
            await self._wait(use)
        self._n_inside += is_counted
        try:
            yield
        finally:
            self._n_inside -= is_counted
            self._go_on()

    async def _wait(self, use: Callable[[], Urgency | None]) -> None:
        entry = use, asyncio.get_running_loop().create_future()
        self._waiting.append(entry)
        try:
            await entry[1]
        except asyncio.CancelledError:
            if entry in self._waiting:
                self._waiting.remove(entry)
            else:
                self._go_on()  # It was let in, and does not go.
            raise

    def _go_on(self) -> None:
        """Let the one in that was used last, or else has waited for longest."""
        if self._n_inside >= self._limit or not self._waiting:
            return
        used = [(found.key, it) for it in self._waiting if (found := it[0]()) is not None]
        entry = min(used, key=lambda it: it[0])[1] if used else self._waiting[0]
        self._waiting.remove(entry)
        if not entry[1].done():
            entry[1].set_result(None)
