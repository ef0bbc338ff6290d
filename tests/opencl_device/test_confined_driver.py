"""A driver for the processor runs kernels in its own process: what that may do, asked from inside."""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clmap_lsp.opencl_device import on_device_child
from clmap_lsp.opencl_device.on_device_job import DeviceJob
from clmap_lsp.sandbox import confined, landlock

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or confined.this_machine() is None or landlock.version() < 6,
    reason="seccomp, and Landlock with signals",
)


def answers(folder: Path, action: Callable[[], object], *, is_processor: bool = True) -> str:
    """Run the device process in a copy of this one, with `action` in the place of the launch."""

    def tried(*_: object) -> dict[str, Any]:
        try:
            action()
        except OSError as error:
            return {"raised": type(error).__name__}
        return {"raised": "done"}

    (folder / "job.json").write_text(json.dumps({"job": {}, "platform": None}))
    copy = os.fork()
    if copy == 0:
        try:
            on_device_child._run = tried
            on_device_child._is_processor = lambda _: is_processor
            DeviceJob.of_json = lambda _: None  # type: ignore[method-assign, assignment]
            on_device_child.main(folder)
        finally:
            os._exit(0)
    os.waitpid(copy, 0)
    return str(json.loads((folder / "result.json").read_text())["raised"])


@pytest.mark.parametrize(
    "action",
    [
        lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM),
        lambda: socket.socket(socket.AF_UNIX, socket.SOCK_STREAM),
        lambda: Path("/var/tmp/clmap-attack").write_text("x"),
        lambda: Path("/etc/hostname").chmod(0o644),
        lambda: os.utime("/etc/hostname"),
        lambda: os.truncate("/etc/hostname", 100),
        lambda: os.link("/etc/hostname", "/var/tmp/clmap-attack"),
        lambda: Path("/root/.bashrc").read_text(),
        lambda: os.kill(os.getppid(), signal.SIGTERM),
        lambda: resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (1, 1)),
        lambda: os.setxattr("/etc/hostname", "user.x", b"x"),
        lambda: os.memfd_create("x"),
    ],
    ids=lambda it: None,
)
def test_a_driver_for_the_processor_is_held(tmp_path: Path, action: Callable[[], object]):
    assert answers(tmp_path, action) == "PermissionError"


def test_it_writes_its_own_files_and_starts_its_compiler(tmp_path: Path):
    def compile_like_it() -> None:
        Path(os.environ["POCL_CACHE_DIR"], "x").write_text("x")
        if os.spawnv(os.P_WAIT, "/bin/true", ["true"]):
            raise OSError("no process")

    assert answers(tmp_path, compile_like_it) == "done"
    assert (tmp_path / "x").read_text() == "x"


def test_other_drivers_are_left_alone(tmp_path: Path):
    assert answers(tmp_path, lambda: socket.socket().close(), is_processor=False) == "done"


@pytest.mark.pocl
def test_pocl_is_told_as_what_it_is():
    assert on_device_child._is_processor("Portable")
