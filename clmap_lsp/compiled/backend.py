"""LLVM's back ends, in a process of their own that is kept for the next kernel."""

from __future__ import annotations

import atexit
import contextlib
import json
import selectors
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping

from clmap_lsp.compiled import elsewhere
from clmap_lsp.compiled.target import Target
from clmap_lsp.dataclass import dataclass
from clmap_lsp.interruption import waited_for

TIME_LIMIT_S = 30.0
"""A kernel that takes LLVM longer is given up."""
ENDS_WITHIN_S = 5.0
"""A process that closed its pipes has ended by then."""
_KILLED = (-signal.SIGTERM, -getattr(signal, "SIGKILL", signal.SIGTERM))
"""How a process ends that somebody else ended; a fault of its own is SIGABRT or SIGSEGV."""


class BackendError(Exception):
    """LLVM refused the module, crashed, or took too long."""


class _EndedError(BackendError):
    """An assertion or a fatal error inside LLVM, which ends its process."""


class _KilledError(_EndedError):
    """Somebody else ended the process: that says nothing of the module."""


@dataclass(frozen=True, slots=True)
class Assembly:
    """What a back end wrote."""

    text: str
    plain: str | None = None
    """The same without probes, where the scheduler takes no others: registers are those of this."""


class _Child:
    """One process and the lock that keeps requests apart."""

    def __init__(self, *arguments: str) -> None:
        self.arguments = arguments
        self.lock = threading.Lock()
        self.process: subprocess.Popen[bytes] | None = None
        self.is_closed = False

    def close(self) -> None:
        """Stop the process for good: the program ends."""
        self.is_closed = True
        self.stop()

    def start(self) -> subprocess.Popen[bytes]:
        if self.is_closed:
            raise BackendError("the program ends")
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", "clmap_lsp.compiled.child", *self.arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        return self.process

    def stop(self) -> None:
        process, self.process = self.process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()

    def ask(self, request: Mapping[str, str]) -> Mapping[str, str]:
        """Return what LLVM answers; whoever waits for it lets what is more urgent go first."""
        return waited_for(lambda: self._ask(request))

    def _ask(self, request: Mapping[str, str]) -> Mapping[str, str]:
        line = json.dumps(request).encode() + b"\n"
        with self.lock:
            try:
                said = self._answer(line)
            except _KilledError:
                said = self._answer(line)
        answer: Mapping[str, str] = json.loads(said)
        return answer

    def _ended(self) -> _EndedError:
        """Return why the process closed its pipes."""
        process = self.process
        with contextlib.suppress(subprocess.TimeoutExpired):
            if process is not None and process.wait(ENDS_WITHIN_S) in _KILLED:
                self.stop()
                return _KilledError("LLVM's process was killed")
        self.stop()
        return _EndedError("LLVM ended with a fatal error")

    def _answer(self, request: bytes) -> bytes:
        process = self.start()
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(request)
            process.stdin.flush()
        except OSError as error:
            raise self._ended() from error
        answer = bytearray()
        with selectors.DefaultSelector() as waiting:
            waiting.register(process.stdout, selectors.EVENT_READ)
            while not answer.endswith(b"\n"):
                if not waiting.select(TIME_LIMIT_S):
                    self.stop()
                    raise BackendError(f"LLVM took longer than {TIME_LIMIT_S:g} s")
                part = process.stdout.read1(1 << 20)  # type: ignore[attr-defined]
                if not part:
                    raise self._ended()
                answer += part
        return bytes(answer)


_child = _Child()
_other = _Child("-enable-misched=0")
"""Without the scheduler before registers are given out: AMD's assert against probes at some places."""
atexit.register(_child.close)
atexit.register(_other.close)


def assembly(text: str, target: Target) -> Assembly:
    """Optimise a module (LLVM's O3) and return its assembly. Raises: BackendError."""
    answer = _asked(_request(text, target))
    plain = answer.get("plain")
    return Assembly(str(answer["asm"]), None if plain is None else str(plain))


def private_bytes(text: str, target: Target) -> int:
    """Optimise a module and return the bytes of the arrays that are left in its work-items' memory.

    For NVIDIA's targets, where LLVM gives out no registers and so spills none. Half of the time of `assembly`
    is writing code, of kernels of thousands of statements two thirds. Raises: BackendError.
    """
    return int(_asked({**_request(text, target), "asks": "arrays"})["private"])


def _request(text: str, target: Target) -> dict[str, str]:
    return {"triple": target.triple, "cpu": target.cpu, "features": target.features, "text": text}


def _asked(request: Mapping[str, str]) -> Mapping[str, str]:
    answer = elsewhere.asked("assembly", request)
    if answer is None:
        answer = assembled(request)
    if "error" in answer:
        raise BackendError(str(answer["error"]).splitlines()[0])
    return answer


def assembled(request: Mapping[str, str]) -> Mapping[str, str]:
    """Return LLVM's answer: `asm`, perhaps `plain`; `private`; or `error`. Raises: BackendError."""
    try:
        return _child.ask(request)
    except _EndedError:
        if not request["triple"].startswith("amdgcn"):
            raise
    plain = _child.ask({**request, "text": _without_probes(request["text"])})
    probed = _other.ask(request)
    return probed if "error" in probed else {**probed, "plain": plain["asm"]}


def _without_probes(text: str) -> str:
    return "\n".join(it for it in text.splitlines() if 'call void @"llvm.pseudoprobe"' not in it)
