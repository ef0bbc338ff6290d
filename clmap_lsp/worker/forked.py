"""Work of headless commands in confined copies of this process (Linux).

A copy has everything loaded that the command has, and gives up what it does not need. It answers in JSON,
which its parent checks as what it is: the words of a process that ran somebody's kernel. Other systems have
no such copies; `offered` says so, and commands run kernels in their own process only if a person says that
they may.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, BinaryIO, NoReturn

from clmap_lsp.caches import clear_caches
from clmap_lsp.compiled import elsewhere
from clmap_lsp.dataclass import dataclass
from clmap_lsp.errors import UsageError, internal_error, system_error
from clmap_lsp.heap import give_back
from clmap_lsp.sandbox.confined import NEEDED, allows_kernels, confine, this_machine
from clmap_lsp.sandbox.limits import Limits, end_with_parent
from clmap_lsp.sandbox.usage import cpu_seconds, resident_mib
from clmap_lsp.worker import frames
from clmap_lsp.worker.told import Listener, listen

Work = Callable[[int], Mapping[str, Any]]
"""Does one of some numbered jobs; what it returns is plain data."""

STUCK_S = 120.0
"""A process that uses no processor time for so long while it has a job is ended."""
RENEWED_MIB = 128.0
"""A copy that has grown by more between two jobs is replaced: of what large files took it gives back a part
only, as what is kept of others lies between."""
TRIMMED_MIB = 32.0
"""One that has grown by so much forgets what it knows of the jobs before, and gives back what is free."""
_LOOK_S = 1.0


class LostError(Exception):
    """The process that did a job is gone; the text is for people."""


class NoCopyError(UsageError):
    """There can be no further process; nothing is wrong with the job that waits."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What the copies may use.

    Args:
        readable: files and folders besides the interpreter and its packages.
        memory_mib: address space beyond what they hold at the start.
        job_s: processor time for one job.
        runs_kernels: they do nothing where they cannot be confined.
    """

    readable: tuple[str, ...] = ()
    memory_mib: int = 4096
    job_s: float = 3600.0
    runs_kernels: bool = True
    hears: Listener | None = None
    """Takes what jobs tell before they end (`told.tell`): words of a process that ran somebody's kernel."""
    waits: Callable[[], None] | None = None
    """Called every second, at least, while jobs are waited for."""


def offered() -> bool:
    """Tell whether processes can be copied and confined here, as far as one can know without trying."""
    return this_machine() is not None


def refusal() -> UsageError:
    """Return what a command says that may not run kernels."""
    return UsageError(
        f"kernels are not run: this system cannot keep a process from {', '.join(NEEDED)}; "
        "--no-sandbox runs them all the same"
    )


def once(work: Callable[[], Mapping[str, Any]], terms: Terms) -> Mapping[str, Any]:
    """Do one thing in a confined copy of this process.

    Raises: UsageError that it raised, or where the copy cannot be confined; LostError.
    """
    ((_, outcome),) = each(lambda _: work(), 1, 1, terms)
    if isinstance(outcome, LostError):
        raise outcome
    return outcome


def each(
    work: Work, count: int, n_processes: int, terms: Terms
) -> Iterator[tuple[int, Mapping[str, Any] | LostError]]:
    """Do the jobs below `count` in confined copies of this process; yields number and outcome as they come.

    A copy that is lost over a job is replaced: the other jobs are still done. So is one that has grown large,
    so that the memory for many jobs is that for a few. Where the system allows fewer, fewer do them.

    Raises: UsageError that a job raised, or where a copy cannot be confined; NoCopyError if there is none.
    """
    waiting: Iterator[int] = iter(range(count))
    copies: list[_Copy] = []

    def begin(number: int) -> bool:
        nonlocal waiting
        try:
            copies.append(_Copy(work, terms, number))
        except OSError as error:
            if not copies:
                raise NoCopyError(
                    f"no process can be started ({system_error(error)}); allow more of them (ulimit -u, -n)"
                ) from None
            waiting = chain((number,), waiting)
            return False
        return True

    try:
        for number in islice(waiting, n_processes):
            if not begin(number):
                break
        while copies:
            for copy in _with_news(copies):
                if terms.waits is not None:
                    terms.waits()
                outcome = copy.news()
                if outcome is None:
                    continue
                yield copy.number, outcome
                following = next(waiting, None)
                if following is not None and not isinstance(outcome, LostError) and not copy.is_large():
                    copy.begin(following)
                    continue
                copies.remove(copy)
                copy.end()
                if following is not None:
                    begin(following)
    finally:
        for copy in copies:
            copy.end()


def _with_news(copies: Sequence[_Copy]) -> list[_Copy]:
    """Wait for copies that have said something; all of them where none has for a while, to look at limits."""
    ready, _, _ = select.select([it.answers for it in copies], [], [], _LOOK_S)
    return [it for it in copies if it.answers in ready] or list(copies)


class _Copy:
    """One copy of this process, and what it was asked last. Nothing that it does makes its parent wait."""

    def __init__(self, work: Work, terms: Terms, number: int) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        its_requests, self._requests, self.answers, its_answers = _two_pipes()
        try:
            self._pid = os.fork()
        except OSError:
            _close(its_requests, self._requests, self.answers, its_answers)
            raise
        if self._pid == 0:
            _serve(work, terms, its_requests, its_answers)
        # Less than this process holds: a copy has no pages of files until it reads them.
        self._given_mib = resident_mib(self._pid) or 0.0
        os.close(its_requests)
        os.close(its_answers)
        os.set_blocking(self._requests, False)
        os.set_blocking(self.answers, False)
        self._said = bytearray()
        self._end = ""
        self._terms = terms
        self._began_cpu = self._last_cpu = 0.0
        self._last_change = time.monotonic()
        self.begin(number)

    def begin(self, number: int) -> None:
        """Ask for a job."""
        self.number = number
        self._began_cpu = cpu_seconds(self._pid) or 0.0
        self._last_change = time.monotonic()
        with contextlib.suppress(LostError):  # It shows at the next look.
            self._send({"number": number})

    def news(self) -> Mapping[str, Any] | LostError | None:
        """Return the outcome of the job, if there is one by now. Raises: UsageError."""
        try:
            outcome = self._heard()
            if outcome is None:
                self._check_limits()
            return outcome
        except LostError as error:
            return error

    def is_large(self) -> bool:
        """Tell whether it has grown by more than a new one, which holds what this process does, is worth."""
        return (resident_mib(self._pid) or 0.0) - self._given_mib > RENEWED_MIB

    def end(self) -> None:
        """End it, whatever it does."""
        _close(self._requests, self.answers)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self._pid, 0)

    # ------------------------------------------------------------------------------------------- inside

    def _heard(self) -> Mapping[str, Any] | None:
        try:
            data = os.read(self.answers, 1 << 20)
        except BlockingIOError:
            return None
        if not data:
            raise LostError(f"ended with {self._ended()}")
        self._last_change = time.monotonic()
        self._said += data
        while (message := self._message()) is not None:
            if "ask" in message:
                self._send({"answer": elsewhere.answer(message["ask"], message.get("request"))})
            elif isinstance(message.get("told"), dict):
                if self._terms.hears is not None:
                    self._terms.hears(message["told"])
            elif "usage" in message:
                raise UsageError(str(message["usage"]))
            elif "refused" in message:
                raise refusal()
            elif "error" in message:
                raise LostError(str(message["error"]))
            elif isinstance(message.get("result"), dict):
                found: Mapping[str, Any] = message["result"]
                return found
            else:
                raise LostError("answered with what is no message")
        return None

    def _message(self) -> dict[str, Any] | None:
        """Return the next message that is there as a whole."""
        try:
            if len(self._said) < 4:
                return None
            end = 4 + frames.body_length(bytes(self._said[:4]))
            if len(self._said) < end:
                return None
            body = bytes(self._said[4:end])
            del self._said[:end]
            return frames.decode(body)
        except frames.FrameError as error:
            raise LostError(f"answered with {error}") from None

    def _check_limits(self) -> None:
        used = cpu_seconds(self._pid)
        if used is None:
            return
        if used - self._began_cpu > self._terms.job_s:
            raise LostError(f"was ended after {self._terms.job_s:g} s of processor time")
        now = time.monotonic()
        if used != self._last_cpu:
            self._last_cpu, self._last_change = used, now
        elif now - self._last_change > STUCK_S:
            raise LostError(f"was ended: it did nothing for {STUCK_S:g} s")

    def _send(self, message: dict[str, Any]) -> None:
        data = memoryview(frames.encode(message))
        while data:
            _, ready, _ = select.select([], [self._requests], [], STUCK_S)
            try:
                sent = os.write(self._requests, data[: 1 << 16]) if ready else 0
            except OSError:
                sent = 0
            if not sent:
                raise LostError(f"ended with {self._ended()}")
            data = data[sent:]

    def _ended(self) -> str:
        """Return in words how it ended; the system tells once, and it is asked by whoever notices."""
        for _ in range(20):
            if self._end:
                break
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            if pid:
                code = os.waitstatus_to_exitcode(status)
                self._end = f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"
            else:
                time.sleep(0.01)
        return self._end or "its answers closed"


def _two_pipes() -> tuple[int, int, int, int]:
    first = os.pipe()
    try:
        return *first, *os.pipe()
    except OSError:
        _close(*first)
        raise


def _close(*descriptors: int) -> None:
    for it in descriptors:
        with contextlib.suppress(OSError):
            os.close(it)


# ------------------------------------------------------------------------------------------ in the copy


def _serve(work: Work, terms: Terms, requests: int, answers: int) -> NoReturn:
    """Do jobs until the parent is gone. Nothing leaves this process but by `answers`."""
    code = 1
    try:
        end_with_parent()
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Whoever is interrupted ends its copies.
        stdin, stdout = _only_these(requests, answers)
        missing = confine(terms.readable, Limits(memory_mb=terms.memory_mib))
        if terms.runs_kernels and not allows_kernels(missing):
            _send(stdout, {"refused": list(missing)})
        else:
            elsewhere.hand_over(lambda kind, request: _asked(stdin, stdout, kind, request))
            listen(lambda message: _send(stdout, {"told": dict(message)}))
            trim = _Trim()
            while (message := frames.read(stdin)) is not None:
                _send(stdout, _done(work, int(message["number"])))
                trim.look()
        code = 0
    finally:
        os._exit(code)


class _Trim:
    """Gives memory back that is free after a job, while the parent reads what came of it."""

    def __init__(self) -> None:
        self._held = self._now()

    def look(self) -> None:
        """Give back what is free, if much more is held than after the last time."""
        if self._now() - self._held > TRIMMED_MIB:
            clear_caches()
            gc.collect()
            give_back()
            self._held = self._now()

    def _now(self) -> float:
        return resident_mib(os.getpid()) or 0.0


def _done(work: Work, number: int) -> dict[str, Any]:
    try:
        return {"result": dict(work(number))}
    except UsageError as error:
        return {"usage": str(error)}
    except MemoryError:
        return {"error": "ran out of memory; check smaller launches, or allow it more with --memory-limit"}
    except OSError as error:
        return {"error": f"was refused by the system: {system_error(error)}"}
    except Exception as error:
        if os.environ.get("CLMAP_DEBUG"):
            import traceback

            return {"error": traceback.format_exc()}
        return {"error": f"met an {internal_error(error)}"}


def _asked(stdin: BinaryIO, stdout: BinaryIO, kind: str, request: Mapping[str, str]) -> Mapping[str, Any]:
    _send(stdout, {"ask": kind, "request": dict(request)})
    reply = frames.read(stdin)
    if reply is None:
        os._exit(0)
    found: Mapping[str, Any] = reply["answer"]
    return found


def _send(stdout: BinaryIO, message: dict[str, Any]) -> None:
    stdout.write(frames.encode(message))
    stdout.flush()


def _only_these(requests: int, answers: int) -> tuple[BinaryIO, BinaryIO]:
    """Close what the command has open but standard input, and put nothing in the place of its outputs."""
    first = 3
    stdin = os.fdopen(os.dup2(requests, os.dup(requests)), "rb")
    stdout = os.fdopen(os.dup2(answers, os.dup(answers)), "wb")
    kept = {stdin.fileno(), stdout.fileno()}
    nothing = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nothing, stream)
    sys.stdout = sys.stderr = os.fdopen(1, "w", closefd=False)
    low, high = sorted(kept)
    for start, stop in ((first, low), (low + 1, high), (high + 1, os.sysconf("SC_OPEN_MAX"))):
        os.closerange(start, stop)
    return stdin, stdout
