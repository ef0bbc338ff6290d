"""What the Aristotle database says of staging an array through local memory, platform by platform.

Opening the database may build its file, and predicting takes a while: a thread of their own makes the lines,
ahead of the hovers that show them. There are 33 MAPs and few devices.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import AccessAnalysis, KernelAnalysis
    from clmap_lsp.aristotle.database import Source
    from clmap_lsp.server.snapshot import Snapshot

PATIENCE_S = 0.02
"""How long a hover waits; the next one has what came later."""
KEPT = 1024
SHOWN = 6
"""Platforms named at most, besides the device asked for."""


class StagingAdvice:
    """Makes lines in the background, and hands out those that are ready in time."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="staging")
        self._lines: dict[tuple[int, str, int], Future[tuple[str, ...]]] = {}

    def prepare(self, snapshot: Snapshot) -> None:
        """Start on what hovers over this snapshot may ask for."""
        for kernel in snapshot.analysis.kernels:
            for it in kernel.accesses:
                if (key := staging_key(kernel, it)) is not None:
                    self._start(key[0], snapshot.analysis.device.id, key[1])

    async def lines(self, number: int, device: str, side: int) -> tuple[str, ...]:
        """Return the lines of a MAP; none if they are not ready within a moment."""
        future = asyncio.wrap_future(self._start(number, device, side))
        done, _ = await asyncio.wait({future}, timeout=PATIENCE_S)
        return future.result() if done and not future.cancelled() else ()

    def close(self) -> None:
        """End the thread."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _start(self, number: int, device: str, side: int) -> Future[tuple[str, ...]]:
        key = number, device, side
        if key not in self._lines:
            self._lines[key] = self._thread.submit(staging_lines, *key)
            if len(self._lines) > KEPT:
                self._lines.pop(next(iter(self._lines)))
        return self._lines[key]


def staging_key(kernel: KernelAnalysis | None, it: AccessAnalysis) -> tuple[int, int] | None:
    """Return the number of an access's MAP and the side of its data set; `None` where there is no advice."""
    found = it.classified
    if found is None or found.map is None:
        return None
    if it.access.space.value != "global" or it.access.direction.value != "load":
        return None
    launch = kernel.launch if kernel else None
    side = 1024 if launch is None else max(1, round(float(launch.work_items) ** 0.5))
    return 100 * found.map.imap.number + found.map.emap, side


def staging_lines(number: int, device: str, side: int) -> tuple[str, ...]:
    """Return what is known of a MAP for a device model, and on the platforms that were measured.

    Empty where the MAP is none of the database's, or where the database cannot be read.
    """
    from clmap_lsp.aristotle.advice import advise
    from clmap_lsp.aristotle.database import DatabaseError
    from clmap_lsp.aristotle.known import known_records

    try:
        database = known_records()
        advice = advise(database, number, device, side)
        if advice is None:
            return ()
        others = "; ".join(_elsewhere(database, number, side))
    except DatabaseError as error:
        return (f"- staging: {error}",)
    lines = [f"- staging through local memory: {advice.describe()}"]
    if others:
        lines.append(f"- staging measured: {others}")
    return tuple(lines)


def _elsewhere(database: Source, number: int, side: int) -> Iterator[str]:
    """Yield the verdict of each platform, the newest first."""
    from clmap_lsp.aristotle.advice import best_record
    from clmap_lsp.aristotle.maps import Map

    platforms = sorted(database.platforms(), key=lambda it: (-(it.year or 9999), it.key))
    found = ((it, best_record(database, it, Map(number), side)) for it in platforms)
    known = [(it, record) for it, record in found if record is not None]
    for platform, record in known[:SHOWN]:
        yield f"{record.verdict.value} {record.mbr:.2f}x on {platform.key}"
    if len(known) > SHOWN:
        yield f"{len(known) - SHOWN} more in `clmap-lsp db query`"
