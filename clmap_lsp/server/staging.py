"""What the database of measurements says of an access: does staging pay, would another split of its loop.

Opening the database may build its file, and predicting takes a while: a thread of their own makes the lines.
Those about staging are made ahead of the hovers that show them: there are 33 MAPs and few devices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from clmap_lsp.server.patience import Patience

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import AccessAnalysis, KernelAnalysis
    from clmap_lsp.research import LoopSplit, Source
    from clmap_lsp.server.snapshot import Snapshot

PATIENCE_S = 0.02
"""How long the first hover waits; a later one has what came later."""
KEPT = 1024
AS_GOOD = 1.1
"""Gains below this are not worth a change; neighbouring exponents of one sweep differ by chance."""
SHOWN = 6
"""Platforms named at most, besides the device asked for."""


class StagingAdvice:
    """Makes lines in the background, and hands out those that are ready in time."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="staging")
        self._patience = Patience(PATIENCE_S)
        self._lines: dict[tuple[object, ...], Future[tuple[str, ...]]] = {}

    def prepare(self, snapshot: Snapshot) -> None:
        """Start on what hovers over this snapshot may ask for."""
        for kernel in snapshot.analysis.kernels:
            for it in kernel.accesses:
                if (key := staging_key(kernel, it)) is not None:
                    self._start(staging_lines, key[0], snapshot.analysis.device.id, key[1])

    async def lines(self, number: int, device: str, side: int) -> tuple[str, ...]:
        """Return what is known of staging a MAP; nothing if it is not ready within a moment."""
        return await self._soon(self._start(staging_lines, number, device, side))

    async def split(self, split: LoopSplit, device: str) -> tuple[str, ...]:
        """Return what other splits of a loop would give; nothing if it is not ready within a moment."""
        return await self._soon(self._start(split_lines, split, device))

    def forget(self) -> None:
        """Drop all lines; they are made again for hovers that ask for them."""
        self._lines.clear()

    def close(self) -> None:
        """End the thread."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _soon(self, work: Future[tuple[str, ...]]) -> tuple[str, ...]:
        return work.result() if await self._patience.is_done(work) and not work.cancelled() else ()

    def _start(self, make: Callable[..., tuple[str, ...]], *asked: Any) -> Future[tuple[str, ...]]:
        key = make, *asked
        if key not in self._lines:
            self._lines[key] = self._thread.submit(make, *asked)
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


def loop_split(kernel: KernelAnalysis, it: AccessAnalysis) -> LoopSplit | None:
    """Return which power-of-two split of an array over work-items an access in a loop is, if it is one."""
    if not it.access.loops:
        return None
    from clmap_lsp.research import loop_splits

    return next((found for found in loop_splits(kernel) if found.site == it.access.site), None)


def staging_lines(number: int, device: str, side: int) -> tuple[str, ...]:
    """Return what is known of a MAP for a device model, and on the platforms that were measured.

    Empty where the MAP is none of the database's, or where the database cannot be read.
    """
    from clmap_lsp.research import DatabaseError, advise, known_records

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


def split_lines(split: LoopSplit, device: str) -> tuple[str, ...]:
    """Return which split a loop is, and what the best one gives on the nearest device with a stride sweep."""
    from clmap_lsp.research import DatabaseError, known_records, split_advice

    try:
        advice = split_advice(known_records(), split, device)
    except DatabaseError as error:
        return (f"- {split.describe()}; {error}",)
    if advice is None:
        return (f"- {split.describe()}; no stride sweep of such a device is known",)
    own, best = advice.own, advice.best
    where = "" if advice.exact else f" ({advice.why})"
    reached = f"{own.median:.0f} GB/s in the stride sweep of {own.platform}{where}"
    if advice.gain < AS_GOOD:
        verdict = "no other split is much better"
    else:
        verdict = f"exponent {best.exponent} reaches {best.median:.0f}, {advice.gain:.1f} times as much"
    return (f"- {split.describe()}", f"- {reached}; {verdict}")


def _elsewhere(database: Source, number: int, side: int) -> Iterator[str]:
    """Yield the verdict of each platform, the newest first."""
    from clmap_lsp.research import Map, best_record

    platforms = sorted(database.platforms(), key=lambda it: (-(it.year or 9999), it.key))
    found = ((it, best_record(database, it, Map(number), side)) for it in platforms)
    known = [(it, record) for it, record in found if record is not None]
    for platform, record in known[:SHOWN]:
        yield f"{record.verdict.value} {record.mbr:.2f}x on {platform.key}"
    if len(known) > SHOWN:
        yield f"{len(known) - SHOWN} more in `clmap-lsp db query`"
