"""What a process may still do after `limits.apply` and `sandbox.apply`, tried in a forked child."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from clmap_lsp.worker import limits, sandbox

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="fork, procfs")


def restricted(action: Callable[[], object]) -> str:
    """Do something in a forked, restricted child; returns the name of what it raised, or `done`."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        try:
            missing = (*limits.apply(limits.Limits(memory_mb=256)), *sandbox.apply())
            answer = "no seccomp here" if missing else "done"
            if not missing:
                action()
        except BaseException as error:
            answer = type(error).__name__
        os.write(writing, answer.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        answer = pipe.read().decode()
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    if answer == "no seccomp here":
        pytest.skip("this kernel or container does not let processes install filters")
    return answer


def in_a_thread() -> None:
    done: list[int] = []
    thread = threading.Thread(target=lambda: done.append(1))
    thread.start()
    thread.join()
    assert done == [1]


@pytest.mark.parametrize(
    "action",
    [
        lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM),
        lambda: socket.socket(socket.AF_INET6, socket.SOCK_DGRAM),
        lambda: socket.socket(socket.AF_UNIX, socket.SOCK_STREAM),
        socket.socketpair,
        os.fork,
        lambda: os.execv("/bin/true", ["true"]),
        lambda: subprocess.run(["/bin/true"], check=True),
        lambda: os.posix_spawn("/bin/true", ["true"], {}),
        lambda: os.kill(os.getppid(), 0),
        lambda: Path("/tmp/clmap-attack").write_text("x"),
        lambda: os.open("/tmp/clmap-attack", os.O_RDWR | os.O_CREAT),
        lambda: os.open("/tmp", os.O_TMPFILE | os.O_WRONLY),
        lambda: os.memfd_create("x"),
        Path("/tmp/clmap-attack-folder").mkdir,
        lambda: Path("/etc/hostname").rename("/tmp/x"),
        Path("/tmp/nothing-here").unlink,
        lambda: Path("/tmp").chmod(0o1777),
        lambda: Path("/tmp/clmap-attack-link").symlink_to("/etc/passwd"),
        lambda: os.truncate("/tmp/nothing-here", 0),
    ],
    ids=lambda it: None,
)
def test_is_refused(action: Callable[[], object]):
    assert restricted(action) == "PermissionError"


@pytest.mark.parametrize(
    "action",
    [
        lambda: Path("/proc/self/statm").read_bytes(),
        lambda: __import__("colorsys"),
        in_a_thread,
        lambda: bytearray(10 * 2**20),
    ],
)
def test_is_still_possible(action: Callable[[], object]):
    assert restricted(action) == "done"


def test_memory_is_limited():
    assert restricted(lambda: bytearray(2**30)) == "MemoryError"


def test_open_files_are_limited():
    assert restricted(lambda: [os.open("/dev/null", os.O_RDONLY) for _ in range(100)]) == "OSError"


def test_the_description_says_what_holds():
    assert "no network" in sandbox.description() or "no limit on network" in sandbox.description()


def test_elsewhere_every_restriction_is_named_as_missing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sandbox, "_machine", lambda: None)
    assert sandbox.apply() == sandbox.RESTRICTIONS
