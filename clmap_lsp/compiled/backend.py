"""LLVM's back ends, in a process of their own that is kept for the next kernel."""

from __future__ import annotations

import atexit
import contextlib
import json
import selectors
import subprocess
import sys
import threading
from collections.abc import Mapping

from clmap_lsp.compiled import elsewhere
from clmap_lsp.compiled.target import Target

TIME_LIMIT_S = 30.0
"""A kernel that takes LLVM longer is given up."""


class BackendError(Exception):
    """LLVM refused the module, crashed, or took too long."""


class _Child:
    """One process and the lock that keeps requests apart."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> subprocess.Popen[bytes]:
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", "clmap_lsp.compiled.child"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        return self.process

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            for pipe in (self.process.stdin, self.process.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()
            self.process = None

    def ask(self, request: bytes) -> bytes:
        process = self.start()
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(request)
            process.stdin.flush()
        except OSError as error:
            self.stop()
            raise BackendError("LLVM's process ended") from error
        answer = bytearray()
        with selectors.DefaultSelector() as waiting:
            waiting.register(process.stdout, selectors.EVENT_READ)
            while not answer.endswith(b"\n"):
                if not waiting.select(TIME_LIMIT_S):
                    self.stop()
                    raise BackendError(f"LLVM took longer than {TIME_LIMIT_S:g} s")
                part = process.stdout.read1(1 << 20)  # type: ignore[attr-defined]
                if not part:
                    self.stop()
                    raise BackendError("LLVM ended with a fatal error")
                answer += part
        return bytes(answer)


_child = _Child()
atexit.register(_child.stop)


def assembly(text: str, target: Target) -> str:
    """Optimise a module (LLVM's O3) and return its assembly. Raises: BackendError."""
    request = {"triple": target.triple, "cpu": target.cpu, "features": target.features, "text": text}
    answer = elsewhere.asked("assembly", request)
    if answer is None:
        answer = assembled(request)
    if "error" in answer:
        raise BackendError(str(answer["error"]).splitlines()[0])
    return str(answer["asm"])


def assembled(request: Mapping[str, str]) -> Mapping[str, str]:
    """Return LLVM's answer to a request, with `asm` or `error`. Raises: BackendError."""
    with _child.lock:
        found: Mapping[str, str] = json.loads(_child.ask(json.dumps(request).encode() + b"\n"))
    return found
