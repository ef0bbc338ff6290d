"""Answers that were made from an older text or older settings: the client is asked to ask again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING
from weakref import ReferenceType, ref

if TYPE_CHECKING:
    from clmap_lsp.server.app import ClmapServer
    from clmap_lsp.server.snapshot import Snapshot

MOMENT_S = 0.05
"""After a snapshot, who waited for it is answered within this; many snapshots make one question."""


class Outdated:
    """Remembers from which snapshot each document's last answer of one kind was made."""

    def __init__(self, server: ClmapServer, ask_again: Callable[[], None]) -> None:
        self._server = server
        self._ask_again = ask_again
        self._given: dict[str, ReferenceType[Snapshot] | None] = {}
        self._is_planned = False
        server.on_snapshot.append(self._renewed)
        server.on_closed.append(self._closed)

    def answered(self, uri: str, snapshot: Snapshot | None) -> None:
        """Note what an answer was made from; None where there was nothing yet."""
        self._given[uri] = None if snapshot is None else ref(snapshot)

    def _closed(self, uri: str) -> None:
        self._given.pop(uri, None)

    def _renewed(self, snapshot: Snapshot) -> None:
        if snapshot.document.uri in self._given and not self._is_planned:
            self._is_planned = True
            asyncio.get_running_loop().call_later(MOMENT_S, self._look)

    def _look(self) -> None:
        self._is_planned = False
        old = [uri for uri, given in self._given.items() if self._is_old(uri, given)]
        for uri in old:
            del self._given[uri]
        if old:
            self._ask_again()

    def _is_old(self, uri: str, reference: ReferenceType[Snapshot] | None) -> bool:
        latest, given = self._server.latest(uri), None if reference is None else reference()
        return latest is not None and (given is None or latest.analysis is not given.analysis)
