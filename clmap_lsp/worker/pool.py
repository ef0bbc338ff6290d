"""The server's side of the worker: one process at work, one warm spare, a fair queue.

A pool for devices is another one: drivers do what the sandbox refuses, so its process has none, has no spare
and ends when nothing is left to do. People ask for what it does, it never runs by itself.

A task that is cancelled or overruns its time is ended by killing its process: native code cannot be
interrupted in any other way. The spare then takes over, so that the next task does not wait for a start.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import sys
from collections import deque
from collections.abc import Callable, Mapping, Set
from dataclasses import field
from enum import Enum
from typing import Any

from clmap_lsp.compiled import elsewhere
from clmap_lsp.dataclass import dataclass
from clmap_lsp.worker import cache, frames
from clmap_lsp.worker.child import FOR_DEVICES, READABLE, UNCONFINED

logger = logging.getLogger(__name__)

MAX_CRASHES = 3
"""After so many crashes on the same content, the content is left alone until it changes."""
GRACE_S = 0.2
"""What a task gets beyond its own time limit before its process is killed."""
LAST_WORDS_S = 2.0
"""What a process that is to end by itself gets before it is killed."""


class TaskFailedError(Exception):
    """The worker answered that the task cannot be done; the text is for people."""


class WorkerCrashedError(Exception):
    """The worker process died in the middle of the task."""

    def __init__(self, message: str, *, was_killed: bool = False) -> None:
        super().__init__(message)
        self.was_killed = was_killed
        """By SIGKILL, which a kernel cannot send: the system did, or a person."""


class WorkerState(Enum):
    """What the pool is doing, for status displays."""

    IDLE = "idle"
    RUNNING = "running"
    BACKING_OFF = "backing off"


@dataclass(slots=True)
class Task:
    """One piece of work. `owner` groups tasks for fairness and cancelling (a document's URI)."""

    kind: str
    owner: str
    payload: Mapping[str, Any]
    content_key: str
    time_limit_s: float
    on_progress: Callable[[str, float | None], None] | None = None
    reads: frozenset[str] = frozenset()
    """Files that its launch takes contents of buffers from."""
    unconfined: bool = False
    """A person lets it run where the platform cannot confine a process."""
    result: asyncio.Future[dict[str, Any]] = field(init=False)

    def __post_init__(self) -> None:
        self.result = asyncio.get_running_loop().create_future()


class _SilentDeathError(Exception):
    """The process was gone before it said anything of its task."""


class _Child:
    """One worker process."""

    def __init__(
        self, process: asyncio.subprocess.Process, options: tuple[str, ...], reads: Set[str]
    ) -> None:
        self.process = process
        self._for_devices = FOR_DEVICES in options
        self._options = options
        self._reads = reads

    @classmethod
    async def start(cls, options: tuple[str, ...] = (), reads: Set[str] = frozenset()) -> _Child:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            "-m",
            "clmap_lsp.worker",
            *options,
            *(READABLE + it for it in sorted(reads)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=2**20,
        )
        return cls(process, options, reads)

    def suits(self, options: tuple[str, ...], reads: Set[str]) -> bool:
        """Tell whether it runs, and may read what a task takes."""
        return self.process.returncode is None and self._options == options and reads <= self._reads

    async def receive(self) -> dict[str, Any]:
        """Return the next message; raises `WorkerCrashedError` when the process is gone."""
        assert self.process.stdout is not None
        try:
            header = await self.process.stdout.readexactly(4)
            body = await self.process.stdout.readexactly(frames.body_length(header))
            return frames.decode(body)
        except (asyncio.IncompleteReadError, frames.FrameError, ConnectionError) as error:
            code = await self._exit_code()
            words = f"the worker process ended with {_exit_words(code)}"
            raise WorkerCrashedError(words, was_killed=-code == signal.SIGKILL) from error

    async def send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        with contextlib.suppress(ConnectionError):  # Its death shows at the next receive.
            self.process.stdin.write(frames.encode(message))
            await self.process.stdin.drain()

    async def _exit_code(self) -> int:
        """Return the exit code of a process that closed its output; kill it if it does not end by itself.

        It is waited for first: `kill` looks whether the process is there, and what that look reaps, asyncio
        reports as exit code 255.
        """
        with contextlib.suppress(TimeoutError):
            return await asyncio.wait_for(self.process.wait(), LAST_WORDS_S)
        return await self.stop()

    async def stop(self) -> int:
        """Kill it if it still runs; returns its exit code."""
        if self.process.returncode is None and self._for_devices:
            with contextlib.suppress(ProcessLookupError, TimeoutError):
                self.process.terminate()
                await asyncio.wait_for(self.process.wait(), LAST_WORDS_S)
        if self.process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self.process.kill()
        return await self.process.wait()


class WorkerPool:
    """Runs tasks one at a time, in turn by owner, the preferred owner first."""

    def __init__(
        self, *, on_state: Callable[[WorkerState], None] | None = None, for_devices: bool = False
    ) -> None:
        self.preferred_owner: str | None = None
        self._for_devices = for_devices
        self._options: tuple[str, ...] = (FOR_DEVICES,) if for_devices else ()
        self._queues: dict[str, deque[Task]] = {}
        self._active: _Child | None = None
        self._spare: asyncio.Task[_Child] | None = None
        self._current: Task | None = None
        self._runner: asyncio.Task[None] | None = None
        self._crashes: dict[str, int] = {}
        self._closed = False
        self._on_state = on_state or (lambda _: None)

    @property
    def pid(self) -> int | None:
        """The process at work, if there is one."""
        return self._active.process.pid if self._active else None

    def warm(self) -> None:
        """Start the spare, so that the next task does not wait for it; there is none for devices."""
        if self._spare is None and not self._closed and not self._for_devices:
            self._spare = asyncio.create_task(_Child.start(self._options))

    async def run(self, task: Task) -> dict[str, Any]:
        """Queue a task and wait for its result.

        Raises: `TaskFailedError` with the worker's words, `WorkerCrashedError`, or `CancelledError` when
        this call or the task's owner is cancelled.
        """
        if self.has_given_up(task.content_key):
            raise WorkerCrashedError(
                f"the worker crashed {MAX_CRASHES} times on this kernel; it runs again when that changes"
            )
        self._queues.setdefault(task.owner, deque()).append(task)
        if self._runner is None or self._runner.done():
            self._runner = asyncio.create_task(self._work())
        try:
            return await task.result
        except asyncio.CancelledError:
            await self._drop(task)
            raise

    def has_given_up(self, content_key: str) -> bool:
        """Tell whether tasks of some content are refused, since they have crashed again and again."""
        return self._crashes.get(content_key, 0) >= MAX_CRASHES

    async def cancel_owner(self, owner: str) -> None:
        """Cancel what is queued or running for an owner."""
        for task in self._queues.pop(owner, deque()):
            task.result.cancel()
        if self._current is not None and self._current.owner == owner:
            self._current.result.cancel()
            await self._kill_active()

    async def close(self) -> None:
        """Cancel everything and end the processes."""
        self._closed = True
        for owner in tuple(self._queues):
            await self.cancel_owner(owner)
        if self._current is not None:
            self._current.result.cancel()
        await self._kill_active()
        if self._spare is not None:
            with contextlib.suppress(Exception):
                await (await self._spare).stop()
        if self._runner is not None:
            self._runner.cancel()

    # ------------------------------------------------------------------------------------------- inside

    async def _work(self) -> None:
        await self._work_off()
        while self._for_devices and self._active is not None:
            await self._kill_active()
            await self._work_off()  # What came while the process ended would else be nobody's.
        self._on_state(WorkerState.IDLE)

    async def _work_off(self) -> None:
        while (task := self._next()) is not None:
            self._current = task
            self._on_state(WorkerState.RUNNING)
            try:
                result = await self._run_on_child(task)
            except (TaskFailedError, WorkerCrashedError) as error:
                self._count_crash(task, error)
                if not task.result.done():
                    task.result.set_exception(error)
            except OSError as error:
                if not task.result.done():
                    task.result.set_exception(WorkerCrashedError(f"no worker process: {error}"))
            else:
                self._crashes.pop(task.content_key, None)
                if not task.result.done():
                    task.result.set_result(result)
            finally:
                self._current = None

    def _next(self) -> Task | None:
        order = list(self._queues)
        if self.preferred_owner in self._queues:
            order.remove(self.preferred_owner)
            order.insert(0, self.preferred_owner)
        for owner in order:
            queue = self._queues.pop(owner)
            while queue:
                task = queue.popleft()
                if not task.result.done():
                    if queue:
                        self._queues[owner] = queue  # Behind the others: owners take turns.
                    return task
        return None

    async def _run_on_child(self, task: Task) -> dict[str, Any]:
        """Run a task; again where a process was gone before it could say anything: the last, then the spare.

        A kernel is blamed for what it does, not for a process that the system has killed meanwhile: where
        that happened at work, it gets one more try, and is blamed if that one is killed too.
        """
        was_killed = False
        for _ in range(2):
            try:
                return await self._run_once(task)
            except _SilentDeathError:
                pass
            except WorkerCrashedError as error:
                if was_killed or not error.was_killed:
                    raise
                was_killed = True
            self._active = None
            if task.result.done():  # Cancelled: that is why the process is gone.
                return {}
        return await self._run_once(task, is_last=True)

    async def _run_once(self, task: Task, *, is_last: bool = False) -> dict[str, Any]:
        child = await self._child(task)
        heard = is_last
        try:
            await child.send({"kind": task.kind, "payload": dict(task.payload)})
        except OSError:
            if not heard:
                raise _SilentDeathError from None
            raise
        deadline = asyncio.get_running_loop().time() + task.time_limit_s + GRACE_S
        while True:
            left = deadline - asyncio.get_running_loop().time()
            try:
                message = await asyncio.wait_for(child.receive(), max(left, 0.001))
            except TimeoutError:
                await self._kill_active()
                raise TaskFailedError(f"stopped after {task.time_limit_s:g} s") from None
            except WorkerCrashedError:
                if not heard:
                    raise _SilentDeathError from None
                raise
            heard = True
            if "keep" in message:
                await _keep(message, task)
            elif "ask" in message:
                answer = await asyncio.to_thread(elsewhere.answer, message["ask"], message.get("request"))
                await child.send({"answer": answer})
            elif "progress" in message:
                if task.on_progress:
                    task.on_progress(str(message["progress"]), message.get("fraction"))
            elif "error" in message:
                raise TaskFailedError(str(message["error"]))
            else:
                result = message.get("result")
                return result if isinstance(result, dict) else {}

    async def _child(self, task: Task) -> _Child:
        """Return a process that may read what the task takes: the one at work, the spare, or a fresh one."""
        if not self._for_devices:
            self._options = (UNCONFINED,) if task.unconfined else ()
        if self._active is not None and not self._active.suits(self._options, task.reads):
            await self._kill_active()
        if self._active is None and self._spare is not None:
            spare, self._spare = self._spare, None
            self._active = await spare  # It may have died while it waited for work.
            if not self._active.suits(self._options, task.reads):
                await self._kill_active()
        if self._active is None:
            self._active = await _Child.start(self._options, task.reads)
        self.warm()
        return self._active

    async def _kill_active(self) -> None:
        child, self._active = self._active, None
        if child is not None:
            await child.stop()

    async def _drop(self, task: Task) -> None:
        queue = self._queues.get(task.owner)
        if queue is not None and task in queue:
            queue.remove(task)
        elif self._current is task:
            await self._kill_active()

    def _count_crash(self, task: Task, error: Exception) -> None:
        if isinstance(error, WorkerCrashedError) and not task.result.cancelled():
            self._active = None
            self._crashes[task.content_key] = self._crashes.get(task.content_key, 0) + 1
            if len(self._crashes) > 1000:
                self._crashes.pop(next(iter(self._crashes)))
            if self._crashes[task.content_key] >= MAX_CRASHES:
                self._on_state(WorkerState.BACKING_OFF)


async def _keep(message: dict[str, Any], task: Task) -> None:
    """Write what a worker, which may not write files, wants kept.

    What it says is checked like any input: it may name a result of its own task, and no other kernel's.
    """
    key, value = message["keep"], message.get("value")
    own = str(task.payload.get("key") or "")
    if isinstance(key, str) and own and key.startswith(own) and isinstance(value, dict):
        await asyncio.to_thread(cache.store, key, value)


def _exit_words(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    with contextlib.suppress(ValueError):
        return f"signal {signal.Signals(-code).name}"
    return f"signal {-code}"
