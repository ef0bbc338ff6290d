"""What the worker said of each kernel, kept as long as the kernel and its launch stay as they were.

A result belongs to the content of one kernel. Edits elsewhere move it: places are relative to the kernel's
start, so that they stay right without another run.
"""

from __future__ import annotations

import asyncio
import logging
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from clmap_lsp.dataclass import dataclass
from clmap_lsp.defaults import WALL_FACTOR
from clmap_lsp.findings import Finding
from clmap_lsp.rules.cm300_emulation_crashed import check as crashes
from clmap_lsp.rules.context import RuleContext
from clmap_lsp.rules.runner import judged
from clmap_lsp.server.fixing import offers_in, time_for_fixes
from clmap_lsp.server.progress import Progress
from clmap_lsp.server.settings import selection_of
from clmap_lsp.worker import cache
from clmap_lsp.worker.keys import content_key, significant
from clmap_lsp.worker.messages import (
    BadMessageError,
    MeasuredOnDevice,
    Offered,
    Optimised,
    Ran,
    as_data,
    from_data,
    kernel_task,
)
from clmap_lsp.worker.pool import Task, TaskFailedError, WorkerCrashedError, WorkerPool, WorkerState
from clmap_lsp.worker.tasks import optimised_key

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import KernelAnalysis
    from clmap_lsp.fixes.matching import Offer
    from clmap_lsp.server.app import ClmapServer
    from clmap_lsp.server.snapshot import Snapshot
    from clmap_lsp.source.span import Span

logger = logging.getLogger(__name__)

DEVICE_TIME_LIMIT_S = 60.0
"""Measuring on a device may take so long."""
OPTIMISE_S = 20.0
"""Processor seconds of one search for the best version: what `clmap-lsp optimise` takes, too."""
KEPT = 512
"""Results that are kept in memory; the worker keeps more on disk."""


@dataclass(frozen=True, slots=True)
class Emulation:
    """The outcome for one kernel: what the worker said, or the reason why there is nothing."""

    key: str
    reply: Mapping[str, Any] | None = None
    """A `Ran` as data: its places follow the kernel whenever they are asked for."""
    failure: str | None = None
    crashed: bool = False

    @property
    def result(self) -> Mapping[str, Any] | None:
        """The JSON of the command-line contract for `emulate`."""
        return None if self.reply is None else self.reply["emulation"]

    @property
    def row(self) -> int:
        """The row of the kernel's start when it ran; rows in `result` count from there."""
        return 1 if self.reply is None else int(self.reply["row"])

    def findings(self, kernel: Span) -> tuple[Finding, ...]:
        """Return what the rules said of the run, at the places of the kernel as it stands now."""
        return () if self.reply is None else from_data(self.reply, Ran, kernel).findings

    @property
    def faults(self) -> tuple[Mapping[str, Any], ...]:
        """The faults of the result, each bug once: uses of values read out of bounds are left out."""
        found = (self.result or {}).get("faults") or ()
        reads = [_place(it) for it in found if it.get("kind") == "out-of-bounds-read"]
        return tuple(
            it
            for it in found
            if it.get("kind") != "uninitialised-read" or _place(it.get("other") or {}) not in reads
        )

    @property
    def ran_to_its_end(self) -> bool:
        """Whether all of its work-groups ran."""
        found = self.result
        return found is not None and found["groups_run"] == found["parallelism"]["work_groups"]


class Emulations:
    """Runs kernels in the worker, verifies their fixes there, and keeps what came back."""

    def __init__(self, server: ClmapServer, on_state: Callable[[WorkerState], None] | None = None) -> None:
        self._server = server
        self._pool = WorkerPool(on_state=on_state)
        self._devices = WorkerPool(on_state=on_state, for_devices=True)
        self._kept: OrderedDict[str, Emulation] = OrderedDict()
        self._last: OrderedDict[str, tuple[Emulation, str]] = OrderedDict()
        """The last result of each kernel by its tokens, with its text: a comment changes neither."""
        self._fixes: OrderedDict[str, Mapping[str, Any]] = OrderedDict()
        self._measured: OrderedDict[str, Mapping[str, Any]] = OrderedDict()

    @property
    def worker_pid(self) -> int | None:
        """The worker process, if one is at work or was."""
        return self._pool.pid

    def warm(self) -> None:
        """Start a process, so that the first kernel does not wait for one."""
        self._pool.warm()

    def prefer(self, uri: str) -> None:
        """Serve this document first: the user looks at it."""
        self._pool.preferred_owner = uri

    def of(self, snapshot: Snapshot, kernel: KernelAnalysis) -> Emulation | None:
        """Return what is known of a kernel as it is now."""
        return self._kept.get(_key(snapshot, kernel)) if self._kept else None

    def last_of(self, snapshot: Snapshot, kernel: KernelAnalysis) -> Emulation | None:
        """Return what is known of a kernel as it is, but for comments and blanks; its rows may be old."""
        found = self.of(snapshot, kernel)
        if found is not None or not self._last:
            return found
        known = self._last.get(_key(snapshot, kernel, to_the_letter=False))
        return None if known is None else known[0]

    def _findings_of(
        self, snapshot: Snapshot, kernel: KernelAnalysis
    ) -> tuple[Emulation, list[Finding]] | None:
        """Return the last result of a kernel, and its findings at their present places."""
        emulation = self.of(snapshot, kernel)
        if emulation is not None:
            return emulation, list(emulation.findings(kernel.span))
        known = self._last.get(_key(snapshot, kernel, to_the_letter=False)) if self._last else None
        if known is None:
            return None
        emulation, text = known
        places = list(zip(significant(text), significant(_text(snapshot, kernel)), strict=False))
        return emulation, [_moved(it, kernel.span, places) for it in emulation.findings(kernel.span)]

    def offers(self, snapshot: Snapshot, kernel: KernelAnalysis) -> tuple[Offer, ...]:
        """Return the verified fixes of a kernel as it is now."""
        reply = self._fixes.get(_key(snapshot, kernel)) if self._fixes else None
        return () if reply is None else offers_in(reply, kernel.span, snapshot.document.text)

    def findings(self, snapshot: Snapshot) -> tuple[Finding, ...]:
        """Return the emulator's findings of all kernels, at their present places."""
        if not self._kept and not self._last:
            return ()
        found: list[Finding] = []
        crashed: dict[str, str] = {}
        ran: set[str] = set()
        for kernel in snapshot.analysis.kernels:
            known = self._findings_of(snapshot, kernel)
            if known is None:
                continue
            emulation, its_findings = known
            found += its_findings
            if emulation.crashed and emulation.failure:
                crashed[kernel.name] = emulation.failure
            if emulation.ran_to_its_end:
                ran.add(kernel.name)
        context = RuleContext(snapshot.program, snapshot.analysis, crashed=crashed)
        found += crashes(context)
        return judged(context, found, selection_of(snapshot.settings), ran)

    async def run_all(self, snapshot: Snapshot) -> None:
        """Run the kernels of a document that have no result yet, then verify fixes of those with findings."""
        kernels = [it for it in snapshot.analysis.kernels if it.launch is not None]
        for kernel in kernels:
            if self._is_wanting(snapshot, kernel) and await self.run(snapshot, kernel):
                self._announce(snapshot)
        wanting = {it.kernel for it in (*snapshot.findings, *self.findings(snapshot))}
        for kernel in kernels:
            if kernel.name in wanting and await self.verify_fixes(snapshot, kernel):
                self._announce(snapshot)

    def _is_wanting(self, snapshot: Snapshot, kernel: KernelAnalysis) -> bool:
        """Tell whether a kernel should run: it has not, or its process was ended and another may not be.

        What ended it may have been the system, for want of memory, or a person.
        """
        known = self.of(snapshot, kernel)
        return known is None or (
            known.crashed and not self._pool.has_given_up(_task_key("emulate", known.key))
        )

    async def run(self, snapshot: Snapshot, kernel: KernelAnalysis) -> Emulation | None:
        """Run one kernel with progress; `None` where it was cancelled."""
        launch = kernel.launch
        if launch is None:
            return None
        key = _key(snapshot, kernel)
        size = "x".join(map(str, launch.global_size))
        try:
            reply = await self._ask("emulate", f"Emulating {kernel.name} {size}", snapshot, kernel)
            if reply is None:
                return None
            from_data(reply, Ran, kernel.span)
            emulation = Emulation(key, reply)
        except (TaskFailedError, BadMessageError) as error:
            emulation = Emulation(key, failure=str(error))
        except WorkerCrashedError as error:
            logger.error("%s: %s", kernel.name, error)
            emulation = Emulation(key, failure=str(error), crashed=True)
        _keep(self._kept, key, emulation)
        by_tokens = _key(snapshot, kernel, to_the_letter=False)
        _keep(self._last, by_tokens, (emulation, _text(snapshot, kernel)))
        return emulation

    async def verify_fixes(self, snapshot: Snapshot, kernel: KernelAnalysis) -> bool:
        """Verify the fixes of a kernel that ran well; tells whether something new is known."""
        key = _key(snapshot, kernel)
        emulation = self._kept.get(key)
        if key in self._fixes or emulation is None or emulation.result is None:
            return False
        try:
            reply = await self._ask("fixes", f"Verifying fixes of {kernel.name}", snapshot, kernel)
            offered = Offered() if reply is None else from_data(reply, Offered, kernel.span)
        except (TaskFailedError, WorkerCrashedError, BadMessageError) as error:
            logger.warning("fixes of %s: %s", kernel.name, error)
            offered = Offered()
            reply = as_data(offered)
        if reply is None:
            return False
        _keep(self._fixes, key, reply)
        return bool(offered.fixes)

    async def measure(self, snapshot: Snapshot, kernel: KernelAnalysis) -> str:
        """Launch a kernel on a device, because a person asked; returns what came of it, in one line."""
        try:
            reply = await self._ask("measure", f"Measuring {kernel.name} on a device", snapshot, kernel)
            measured = None if reply is None else from_data(reply, MeasuredOnDevice)
        except (TaskFailedError, WorkerCrashedError, BadMessageError) as error:
            return str(error)
        if measured is None:
            return "not measured"
        _keep(self._measured, _key(snapshot, kernel), measured.on_device)
        return measured.text

    async def optimise(self, snapshot: Snapshot, kernel: KernelAnalysis) -> Optimised | str:
        """Search for the best version of a kernel, because a person asked; or say why there is none.

        A search that the user cancels leaves what was best until then, and the next one goes on from there.
        """
        try:
            reply = await self._ask("optimise", f"Optimising {kernel.name}", snapshot, kernel)
            if reply is None:
                reply = await asyncio.to_thread(cache.load, optimised_key(_key(snapshot, kernel)))
            return (
                "nothing better was found until it was cancelled"
                if reply is None
                else from_data(reply, Optimised, kernel.span)
            )
        except (TaskFailedError, WorkerCrashedError, BadMessageError) as error:
            return str(error)

    def measured(self, snapshot: Snapshot, kernel: KernelAnalysis) -> Mapping[str, Any] | None:
        """Return what a device made of a kernel as it is now, as JSON (`OnDevice.as_json`)."""
        return self._measured.get(_key(snapshot, kernel)) if self._measured else None

    async def forget(self, uri: str) -> None:
        """Stop working for a closed document."""
        await self._pool.cancel_owner(uri)
        await self._devices.cancel_owner(uri)

    def clear(self) -> None:
        """Forget all results, so that kernels run again."""
        self._kept.clear()
        self._last.clear()
        self._fixes.clear()

    async def close(self) -> None:
        """End the worker processes."""
        await self._pool.close()
        await self._devices.close()

    async def _ask(
        self, kind: str, title: str, snapshot: Snapshot, kernel: KernelAnalysis
    ) -> Mapping[str, Any] | None:
        """Give the worker a task with progress.

        `None` where the user cancelled it, closed the document, or may not run kernels: a request whose
        handler ends with a CancelledError that nobody asked of it would never be answered.

        Raises: TaskFailedError, WorkerCrashedError, CancelledError if the caller was cancelled.
        """
        if not self._server.trusted:
            return None
        uri = snapshot.document.uri
        limit = self._server.client_for(snapshot.document).emulate_time_limit_s
        key = _key(snapshot, kernel)
        message = kernel_task(snapshot.program, kernel, snapshot.settings, key, limit)
        limit *= WALL_FACTOR  # The run's own limit is processor time; this one is the clock's.
        if kind == "fixes":
            message = replace(message, deadline_s=time_for_fixes(message.limits.time_limit_s))
            limit += message.deadline_s
        if kind == "optimise":
            message = replace(message, deadline_s=OPTIMISE_S)
            limit += OPTIMISE_S * WALL_FACTOR
        if kind == "measure":
            message = replace(message, device_time_limit_s=DEVICE_TIME_LIMIT_S)
            limit += DEVICE_TIME_LIMIT_S + 10
        async with Progress(self._server, title) as progress:
            pool = self._devices if kind == "measure" else self._pool
            task = Task(
                kind,
                uri,
                as_data(message),
                _task_key(kind, key),
                limit,
                progress.report,
                reads=message.launch.files,
                unconfined=self._server.client_for(snapshot.document).emulate_unconfined,
            )
            work = asyncio.ensure_future(pool.run(task))
            progress.on_cancel(work.cancel)
            try:
                return await work
            except asyncio.CancelledError:
                caller = asyncio.current_task()
                if caller is not None and caller.cancelling():
                    raise
                return None

    def _announce(self, snapshot: Snapshot) -> None:
        document = self._server.documents.get(snapshot.document.uri)
        if document is None:
            return
        latest = self._server.latest(document.uri) or snapshot
        for listener in self._server.on_emulated:
            listener(latest)


def _task_key(kind: str, key: str) -> str:
    """Return what the pool counts the crashes of one kind of task on one kernel by."""
    return f"{kind} {key}"


def _place(fault: Mapping[str, Any]) -> tuple[object, ...]:
    """Return where a fault, or the other access of one, lies."""
    return tuple(str(fault.get(it)) for it in ("filename", "location", "end_location"))


def _key(snapshot: Snapshot, kernel: KernelAnalysis, *, to_the_letter: bool = True) -> str:
    device = snapshot.analysis.device
    return content_key(
        snapshot.program,
        kernel,
        snapshot.settings,
        device,
        to_the_letter=to_the_letter,
        around=snapshot.around,
    )


def _text(snapshot: Snapshot, kernel: KernelAnalysis) -> str:
    file = snapshot.program.files.get(kernel.span.path)
    return "" if file is None else file.text[kernel.span.start : kernel.span.end]


def _moved(finding: Finding, kernel: Span, places: Sequence[tuple[int, int]]) -> Finding:
    """Return a finding of a kernel whose comments or blanks have changed since.

    `places` are offsets of what is neither, in the kernel of then and of now.
    """

    def now(span: Span) -> Span:
        start = bisect_left(places, (span.start - kernel.start, -1))
        last = bisect_left(places, (span.end - kernel.start, -1)) - 1
        if span.path != kernel.path or not 0 <= start <= last < len(places):
            return span
        return replace(span, start=kernel.start + places[start][1], end=kernel.start + places[last][1] + 1)

    related = tuple(replace(it, span=now(it.span)) for it in finding.related)
    return replace(finding, span=now(finding.span), related=related, fix=None)


def _keep(kept: OrderedDict[str, Any], key: str, value: object) -> None:
    kept[key] = value
    while len(kept) > KEPT:
        kept.popitem(last=False)
