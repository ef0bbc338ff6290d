"""Processes of the command and the server that need not load the package first.

Hundreds of tests run the command or a server from outside. To start Python and load what it needs takes
several times as long as what most of them look at; here one process does that, once, and forks for each run
(`zygote`). Each run is a process of its own all the same, with streams, folder, environment, exit code and
end of its own. Tests of what happens while a process starts use `started`.
"""

from __future__ import annotations

import array
import atexit
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO, Any

COMMAND = "import sys; from clmap_lsp.cli import main; sys.exit(main())"
POSSIBLE = sys.platform == "linux"
"""Elsewhere processes are started: there is no `fork`, or libraries do not bear it."""
Limits = Sequence[tuple[int, tuple[int, int]]]
"""What `resource.setrlimit` is given."""
_AT_START = ("PYTHON", "LC_", "LANG", "MALLOC", "GLIBC", "LD_")
"""Variables that mean something while a process starts begin so."""


class _Zygote:
    """The process that forks, and the socket to ask it over."""

    def __init__(self) -> None:
        mine, theirs = socket.socketpair()
        script = Path(__file__).with_name("zygote.py")
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, str(script), str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )
        self.socket = mine
        self.owner = os.getpid()
        atexit.register(self.end)

    def fork(self, order: Mapping[str, Any], streams: tuple[int, int, int], ended: int) -> int:
        """Return the identifier of a new process."""
        with tempfile.TemporaryFile() as words:
            words.write(json.dumps(order).encode())
            words.flush()
            fds = array.array("i", (words.fileno(), *streams, ended))
            self.socket.sendmsg([b"!"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
            answer = self.socket.recv(4)
        assert answer, "the process that forks has ended"
        return int(struct.unpack("i", answer)[0])

    def end(self) -> None:
        if os.getpid() == self.owner:
            self.socket.close()
            self.process.wait(60)


@cache
def _zygote() -> _Zygote:
    return _Zygote()


class Process:
    """A forked run, to be used as `subprocess.Popen` is."""

    def __init__(
        self,
        code: str,
        arguments: tuple[str, ...],
        streams: tuple[int, int, int],
        cwd: Path,
        env: Mapping[str, str],
        limits: Limits = (),
    ) -> None:
        self.args = [sys.executable, "-c", code, *arguments]
        self.returncode: int | None = None
        self._ended, ended = os.pipe()
        order = {
            "code": code,
            "arguments": arguments,
            "folder": str(cwd),
            "environment": dict(env),
            "limits": [(which, *values) for which, values in limits],
        }
        try:
            self.pid = _zygote().fork(order, streams, ended)
        finally:
            os.close(ended)
        self.stdin: IO[bytes] | None = None
        self.stdout: IO[bytes] | None = None
        self.stderr: IO[bytes] | None = None

    def poll(self) -> int | None:
        return self._looked(0)

    def wait(self, timeout: float | None = None) -> int:
        code = self._looked(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def _looked(self, timeout: float | None) -> int | None:
        if self.returncode is None and select.select([self._ended], [], [], timeout)[0]:
            answer = os.read(self._ended, 4)
            assert answer, "the process that forks has ended"
            self.returncode = int(struct.unpack("i", answer)[0])
            os.close(self._ended)
            self._ended = -1
        return self.returncode

    def __del__(self) -> None:
        if getattr(self, "_ended", -1) >= 0:
            os.close(self._ended)


def server(
    code: str, *arguments: str, start: bool = False, errors: IO[bytes] | None = None
) -> Process | subprocess.Popen[bytes]:
    """Run `python -c CODE ARGUMENTS` with pipes to its input and from its output.

    Args:
        start: really start Python for it.
        errors: the file that it writes its errors to, if anybody reads them.
    """
    if start or not POSSIBLE:
        return subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors or subprocess.DEVNULL,  # A full pipe that nobody reads would stop the server.
        )
    reading, to = os.pipe()
    back, writing = os.pipe()
    with Path(os.devnull).open("wb") as null:
        streams = (reading, writing, (errors or null).fileno())
        made = Process(code, arguments, streams, Path.cwd(), os.environ)
    os.close(reading)
    os.close(writing)
    made.stdin, made.stdout = os.fdopen(to, "wb"), os.fdopen(back, "rb")
    return made


def run(
    *arguments: str,
    stdin: bytes = b"",
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
    limits: Limits = (),
    timeout: float = 300,
) -> subprocess.CompletedProcess[bytes]:
    """Run `clmap-lsp ARGUMENTS` to its end; on Linux it may be limited."""
    changed = environment or {}
    if not POSSIBLE or any(it.startswith(_AT_START) for it in changed):
        return started(*arguments, stdin=stdin, cwd=cwd, environment=changed, timeout=timeout)
    with (
        tempfile.TemporaryFile() as into,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as errors,
    ):
        into.write(stdin)
        into.seek(0)
        streams = (into.fileno(), out.fileno(), errors.fileno())
        made = Process(COMMAND, arguments, streams, cwd or Path.cwd(), {**os.environ, **changed}, limits)
        try:
            code = made.wait(timeout)
        finally:
            made.kill()
        out.seek(0)
        errors.seek(0)
        return subprocess.CompletedProcess(made.args, code, out.read(), errors.read())


def clmap(
    *arguments: str,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
    limits: Limits = (),
    timeout: float = 300,
) -> subprocess.CompletedProcess[str]:
    """Run `clmap-lsp ARGUMENTS` to its end; what it writes is read as text."""
    done = run(*arguments, cwd=cwd, environment=environment, limits=limits, timeout=timeout)
    out, errors = (it.decode().replace("\r\n", "\n") for it in (done.stdout, done.stderr))
    return subprocess.CompletedProcess(done.args, done.returncode, out, errors)


def started(
    *arguments: str,
    stdin: bytes = b"",
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
    timeout: float = 300,
) -> subprocess.CompletedProcess[bytes]:
    """Start `python -m clmap_lsp ARGUMENTS` as users do, and run it to its end."""
    return subprocess.run(
        [sys.executable, "-m", "clmap_lsp", *arguments],
        input=stdin,
        capture_output=True,
        cwd=cwd,
        env={**os.environ, **(environment or {})},
        timeout=timeout,
        check=False,
    )
