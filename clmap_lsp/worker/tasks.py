"""What the worker process can do: each task takes a `KernelTask` and returns a reply as plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from clmap_lsp.errors import UsageError
from clmap_lsp.worker import cache
from clmap_lsp.worker.messages import (
    BadMessageError,
    KernelTask,
    MeasuredOnDevice,
    Optimised,
    Ran,
    as_data,
    from_data,
)

if TYPE_CHECKING:
    from clmap_lsp.config import Settings
    from clmap_lsp.emulator.result import EmulationResult
    from clmap_lsp.findings import Finding
    from clmap_lsp.launch.model import Launch
    from clmap_lsp.source.ir import Kernel
    from clmap_lsp.sources import Reader
    from clmap_lsp.workbench import OpenedFile, Workbench

Progress = Callable[[str, float | None], None]
Function = Callable[[KernelTask, Progress], dict[str, Any]]


class CannotDoError(Exception):
    """The task cannot be done; the text is for people."""


def warm() -> None:
    """Load what the first task would wait for, and have code of our own compiled that can still be kept."""
    import numpy  # noqa: F401

    import clmap_lsp.emulator.run
    import clmap_lsp.source.read  # noqa: F401

    with suppress(ModuleNotFoundError):  # Without LLVM a task that runs a kernel says so.
        from clmap_lsp.emulator.library import library

        library(_USUAL_WIDTH)


_USUAL_WIDTH = 32
"""Lanes of a SIMD group on most devices."""


def user_folders() -> list[str]:
    """Return the files and folders of the user's that tasks read: caches, records of measurements."""
    import platformdirs

    from clmap_lsp.research import user_database_path

    return [platformdirs.user_cache_dir("clmap-lsp", appauthor=False), str(user_database_path())]


def refused(_task: KernelTask, _progress: Progress) -> dict[str, Any]:
    """Say why this process runs no kernels."""
    raise CannotDoError(
        "kernels are not run: this platform lets no process be confined; "
        "set clmap.emulateUnconfined to run them all the same"
    )


def run(
    known: Mapping[str, Function], kind: str, payload: Mapping[str, Any], progress: Progress
) -> dict[str, Any]:
    """Do one of the tasks that this process knows.

    Raises: CannotDoError.
    """
    task = known.get(kind)
    if task is None:
        raise CannotDoError(f"the worker knows no task {kind!r}")
    try:
        return task(from_data(payload, KernelTask), progress)
    except BadMessageError as error:
        raise CannotDoError(str(error)) from None


def _emulate(task: KernelTask, progress: Progress) -> dict[str, Any]:
    """Run one kernel and the rules about faults on what happened."""
    known = cache.load(task.key)
    if known is not None:
        return known
    from clmap_lsp.emulator.result import Limit
    from clmap_lsp.report.emulation_json import emulation_json

    opened, kernel, launch = _launched(task)
    program = opened.program
    progress("running", None)
    result = _run(opened, kernel, launch)
    ran = Ran(
        program.position(kernel.span).row, emulation_json(program, launch, result), _faults(kernel, result)
    )
    reply = as_data(ran, kernel.span)
    if result.stopped is None or result.stopped.limit is not Limit.TIME:  # Another run may get further.
        cache.store(task.key, reply)
    return reply


def _run(opened: OpenedFile, kernel: Kernel, launch: Launch) -> EmulationResult:
    from clmap_lsp.launch.problem import LaunchProblem

    result = opened.run(kernel, launch)
    if isinstance(result, LaunchProblem):
        raise CannotDoError(str(result))
    return result


def _faults(kernel: Kernel, result: EmulationResult) -> tuple[Finding, ...]:
    """Return what the rules say; comments and settings are left to the server, as results outlive them."""
    from clmap_lsp.rules.meta import Needs, Scope
    from clmap_lsp.rules.registry import all_rules

    about_runs = [it for it in all_rules() if it.meta.needs is Needs.EMULATION]
    rules = [it for it in about_runs if it.meta.scope is Scope.KERNEL]
    return tuple(finding for it in rules for finding in it.check(kernel, result))


def _fixes(task: KernelTask, progress: Progress) -> dict[str, Any]:
    """Verify the rewrites of one kernel; those that hold come back."""
    from clmap_lsp.worker import offers

    key = f"{task.key}-fixes-4"
    known = cache.load(key)
    if known is not None:
        return known
    opened, kernel, _ = _launched(task)
    offered = offers.verified(opened, kernel.name, task.deadline_s, progress)
    reply = as_data(offered, kernel.span)
    if offered.complete:
        cache.store(key, reply)
    return reply


def _optimise(task: KernelTask, progress: Progress) -> dict[str, Any]:
    """Search for the best version of one kernel; what is best so far is kept all the time."""
    from clmap_lsp.launch.problem import LaunchError
    from clmap_lsp.worker import searching

    key = optimised_key(task.key)
    known = cache.load(key)
    if known is not None and known.get("complete"):
        return known
    opened, kernel, launch = _launched(task)
    notes = cache.load(f"{key}-notes") or {}

    def improved(best: Optimised) -> None:
        cache.store(key, as_data(best, kernel.span))
        cache.store(f"{key}-notes", notes)

    try:
        best = searching.searched(opened, kernel.name, task.deadline_s, progress, notes, improved)
    except LaunchError as error:
        raise CannotDoError(str(error.at(launch.source))) from None
    improved(best)
    return as_data(best, kernel.span)


def optimised_key(key: str) -> str:
    """Return what the best version so far is kept under, of the kernel that a key is of."""
    return f"{key}-optimised-1"


def _measure(task: KernelTask, progress: Progress) -> dict[str, Any]:
    """Launch one kernel on a device, beside the emulator; only ever asked for by a person."""
    from clmap_lsp.launch.problem import LaunchError
    from clmap_lsp.research import DeviceError, NotForDevicesError, measure

    opened, kernel, launch = _launched(task)
    progress("emulating", None)
    result = _run(opened, kernel, launch)
    progress("running on the device", None)
    try:
        measured = measure(
            opened.program,
            kernel,
            launch,
            opened.settings.build,
            result,
            platform=task.platform,
            time_limit_s=task.device_time_limit_s,
        )
    except LaunchError as error:
        raise CannotDoError(str(error.at(launch.source))) from None
    except (DeviceError, NotForDevicesError) as error:
        raise CannotDoError(str(error)) from None
    return as_data(MeasuredOnDevice(measured.as_json(), measured.summary()))


def _launched(task: KernelTask) -> tuple[OpenedFile, Kernel, Launch]:
    """Return what a task speaks of.

    Raises: CannotDoError.
    """
    opened = _open(task)
    kernel = opened.program.kernel(task.kernel)
    if kernel is None:
        raise CannotDoError(f"there is no kernel `{task.kernel}`")
    try:
        return opened, kernel, opened.launch(kernel)
    except UsageError as error:
        raise CannotDoError(str(error)) from None


class _Texts:
    """The texts that travelled with the present task: the worker opens no files of the user."""

    def __init__(self) -> None:
        self.files: Mapping[str, str] = {}

    def includes(self, _path: str, _settings: Settings) -> Reader:
        return self.files.get


@lru_cache(maxsize=1)
def _workbench() -> tuple[Workbench, _Texts]:
    """Return the workbench of this process: the tasks of one file share its reading."""
    from clmap_lsp.workbench import Workbench

    texts = _Texts()
    return Workbench(texts.includes, remembers=True), texts


def _open(task: KernelTask) -> OpenedFile:
    workbench, texts = _workbench()
    texts.files = task.files
    text, settings = texts.files[task.path], task.settings
    return workbench.open_text(
        task.path, text, settings, given=task.given, only=task.kernel, looks_beside=False
    )


IN_SANDBOX: Mapping[str, Function] = {
    "emulate": _emulate,
    "fixes": _fixes,
    "optimise": _optimise,
}
ON_DEVICES: Mapping[str, Function] = {"measure": _measure}
