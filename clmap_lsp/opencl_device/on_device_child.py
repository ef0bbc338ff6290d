"""The process that talks to the driver: reads a job from a folder, leaves result and outputs there."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

from clmap_lsp.opencl_device.errors import DeviceError
from clmap_lsp.opencl_device.on_device_job import DeviceJob
from clmap_lsp.reading import ARRAYS_BYTES, safe_read
from clmap_lsp.sandbox.confined import confine_driver, this_machine


def main(folder: Path) -> int:
    """Run the job in `folder`; whatever goes wrong is said in its `result.json`."""
    request = json.loads(safe_read(folder / "job.json", limit=ARRAYS_BYTES, within=None))
    _lift_memory_limit()
    if _is_processor(request["platform"]):
        _confine(folder)
    _end_with_parent()
    try:
        found = _run(DeviceJob.of_json(request["job"]), request["platform"], folder)
    except DeviceError as error:
        found = {"error": str(error), "kind": _kind(error)}
    except MemoryError:
        found = {"error": "out of memory: give the launch smaller buffers", "kind": "LaunchError"}
    # Written whole or not at all: a half-written result would be taken for one.
    part = folder / "result.part"
    part.write_text(json.dumps(found), encoding="utf-8")
    part.replace(folder / "result.json")
    return 0


def _is_processor(platform: str | None) -> bool:
    """Tell whether the device is this very processor, on which a kernel could ask anything of the system.

    Asked in a copy of this process: drivers start threads, and what those may do cannot be taken back.
    """
    if not hasattr(os, "fork") or this_machine() is None:
        return False
    copy = os.fork()
    if copy == 0:
        code = 2
        try:
            from clmap_lsp.opencl_device.facts import DeviceKind
            from clmap_lsp.opencl_device.find import choose_device

            code = int(choose_device(platform)[1].kind is DeviceKind.CPU)
        finally:
            os._exit(code)
    _, status = os.waitpid(copy, 0)
    return os.waitstatus_to_exitcode(status) == 1


def _confine(folder: Path) -> None:
    """Give up all but what a driver for this processor needs; its files go into the job's folder."""
    for name in ("POCL_CACHE_DIR", "TMPDIR", "TMP", "TEMP", "XDG_CACHE_HOME", "HOME"):
        os.environ[name] = str(folder)
    confine_driver(str(folder))


def _end_with_parent() -> None:
    """Leave when the parent is gone: nobody waits for the result then."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _lift_memory_limit() -> None:
    """Take back the worker's limit on address space: drivers map far more than they use."""
    if sys.platform == "win32":
        return
    import resource

    with contextlib.suppress(ValueError, OSError):
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def _run(job: DeviceJob, platform: str | None, folder: Path) -> dict[str, Any]:
    import numpy as np

    from clmap_lsp.opencl_device.on_device_run import execute
    from clmap_lsp.opencl_device.session import Session

    found, outputs = execute(job, Session(platform))
    arrays: dict[str, Any] = dict(outputs)
    np.savez(folder / "outputs.npz", **arrays)
    return found


def _kind(error: DeviceError) -> str:
    names = ("DeviceMissingError", "DeviceLostError", "LaunchError")
    return next((it.__name__ for it in type(error).__mro__ if it.__name__ in names), "DeviceError")


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
