"""Load the package once, then fork for each run that is asked for over a socket: see `warm`.

A run begins in a process in which nothing has run yet: modules are loaded, and no more.
"""

from __future__ import annotations

import array
import contextlib
import importlib
import io
import json
import os
import resource
import select
import signal
import socket
import struct
import sys
from dataclasses import dataclass
from typing import Any

LOADED = (
    "clmap_lsp.cli",
    "clmap_lsp.commands.check",
    "clmap_lsp.commands.checking",
    "clmap_lsp.compiled.build",
    "clmap_lsp.emulator.run",
    "clmap_lsp.fixes.offer",
    "clmap_lsp.report.pins",
    "clmap_lsp.rules.runner",
    "clmap_lsp.server.app",
    "clmap_lsp.server.main",
    "clmap_lsp.server.serve",
    "clmap_lsp.workbench.workbench",
)
"""What most runs load; a run loads the rest by itself."""


@dataclass(frozen=True)
class Order:
    """What to run: as `python -c CODE ARGUMENTS`, in these streams and limits, and where to say its end."""

    code: str
    arguments: list[str]
    folder: str
    environment: dict[str, str]
    limits: list[tuple[int, int, int]]
    streams: tuple[int, int, int]
    ended: int


def main() -> int:
    control = socket.socket(fileno=int(sys.argv[1]))
    for name in LOADED:
        with contextlib.suppress(ImportError):  # An extra is not installed here.
            importlib.import_module(name)
    running: dict[int, int] = {}
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    while True:
        ready, _, _ = select.select([control, woken], [], [])
        if woken in ready:
            os.read(woken, 4096)
            bury(running)
        if control not in ready:
            continue
        order = received(control)
        if order is None:
            break
        child = os.fork()
        if child == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            control.close()
            for it in (woken, wake, order.ended, *running.values()):
                os.close(it)
            return become(order)
        running[child] = order.ended
        for it in order.streams:
            os.close(it)
        control.sendall(struct.pack("i", child))
    for pid in running:
        os.kill(pid, signal.SIGKILL)
    for pid in running:
        os.waitpid(pid, 0)
    return 0


def bury(running: dict[int, int]) -> None:
    """Tell of each run that has ended how it did."""
    while running:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        ended = running.pop(pid)
        with contextlib.suppress(BrokenPipeError):  # Nobody waits for it.
            os.write(ended, struct.pack("i", os.waitstatus_to_exitcode(status)))
        os.close(ended)


def received(control: socket.socket) -> Order | None:
    """Return what is asked for, `None` if nobody asks any longer. The words are in a file, being long."""
    size = array.array("i").itemsize * 5
    data, ancillary, _, _ = control.recvmsg(1, socket.CMSG_SPACE(size))
    if not data:
        return None
    fds = array.array("i")
    fds.frombytes(ancillary[0][2])
    words, *streams, ended = fds
    with os.fdopen(words, "rb") as file:
        file.seek(0)
        order: dict[str, Any] = json.load(file)
    return Order(**order, streams=(streams[0], streams[1], streams[2]), ended=ended)


def become(order: Order) -> int:
    """Be the process that was asked for, in its folder and with its streams; return its exit code."""
    encoding, errors = sys.stdin.encoding, sys.stdin.errors
    for to, it in enumerate(order.streams):
        os.dup2(it, to)
        os.close(it)
    for which, soft, hard in order.limits:
        resource.setrlimit(which, (soft, hard))
    os.chdir(order.folder)
    os.environ.clear()
    os.environ.update(order.environment)
    sys.argv = ["-c", *order.arguments]
    sys.path[0] = ""
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)), encoding, errors)
    sys.stdout = io.TextIOWrapper(io.BufferedWriter(io.FileIO(1, "w", closefd=False)), encoding, errors)
    sys.stderr = io.TextIOWrapper(
        io.BufferedWriter(io.FileIO(2, "w", closefd=False)), encoding, "backslashreplace", line_buffering=True
    )
    exec(compile(order.code, "<string>", "exec"), {"__name__": "__main__"})
    return 0


if __name__ == "__main__":
    sys.exit(main())
