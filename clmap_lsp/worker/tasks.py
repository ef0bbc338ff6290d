"""What the worker process can do. Each task takes plain data and returns plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from clmap_lsp.worker import cache
from clmap_lsp.worker.places import place_of
from clmap_lsp.worker.requests import launch_of, options_of, settings_of

if TYPE_CHECKING:
    from clmap_lsp.emulator.result import EmulationResult
    from clmap_lsp.emulator.settings import EmulationSettings
    from clmap_lsp.findings import Finding
    from clmap_lsp.launch.model import Launch
    from clmap_lsp.source.ir import Kernel
    from clmap_lsp.source.program import Program
    from clmap_lsp.source.span import Span

Progress = Callable[[str, float | None], None]
Function = Callable[[Mapping[str, Any], Progress], dict[str, Any]]

FAULT_RULES = ("CM3",)


class CannotDoError(Exception):
    """The task cannot be done; the text is for people."""


def warm() -> None:
    """Load what the first task would wait for."""
    import numpy  # noqa: F401

    with suppress(ModuleNotFoundError):  # Without it a task that runs a kernel says so.
        import llvmlite.binding  # noqa: F401

    import clmap_lsp.emulator.run
    import clmap_lsp.source.read  # noqa: F401


def run(
    known: Mapping[str, Function], kind: str, payload: Mapping[str, Any], progress: Progress
) -> dict[str, Any]:
    """Do one of the tasks that this process knows.

    Raises: CannotDoError.
    """
    task = known.get(kind)
    if task is None:
        raise CannotDoError(f"the worker knows no task {kind!r}")
    return task(payload, progress)


def _emulate(payload: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Run one kernel and the rules about faults on what happened."""
    known = cache.load(payload["key"])
    if known is not None:
        return known
    from clmap_lsp.emulator.run import emulate
    from clmap_lsp.launch.problem import LaunchError
    from clmap_lsp.report.emulation_json import emulation_json

    program, kernel, launch = _launched(payload)
    progress("running", None)
    settings = settings_of(payload)
    try:
        result = emulate(program, kernel, launch, settings)
    except LaunchError as error:
        raise CannotDoError(str(error.at(launch.source))) from None
    reply = {
        "row": program.position(kernel.span).row,
        "emulation": emulation_json(program, launch, result),
        "findings": [
            _finding_data(it, kernel.span) for it in _faults(program, kernel.name, result, settings)
        ],
    }
    if not any(it.kind.value in _TRANSIENT for it in result.faults):
        cache.store(payload["key"], reply)
    return reply


_TRANSIENT = frozenset({"timeout", "memory-limit"})
"""Faults that another run may not have: their results are not kept."""


def _faults(
    program: Program, name: str, result: EmulationResult, settings: EmulationSettings
) -> tuple[Finding, ...]:
    """Return what the rules say; comments and settings are left to the server, as results outlive them."""
    from clmap_lsp.analysis.model import FileAnalysis
    from clmap_lsp.rules.context import RuleContext
    from clmap_lsp.rules.selection import Selection

    assert settings.device is not None
    nothing_static = FileAnalysis(program.path, settings.device, ())
    context = RuleContext(program, nothing_static, {name: result})
    return tuple(it for rule in Selection.of(FAULT_RULES).rules() for it in rule.check(context))


def _finding_data(finding: Finding, kernel: Span) -> dict[str, Any]:
    return {
        "code": finding.code,
        "name": finding.name,
        "message": finding.message,
        "severity": finding.severity.value,
        "place": place_of(finding.span, kernel),
        "related": [{"place": place_of(it.span, kernel), "message": it.message} for it in finding.related],
    }


def _fixes(payload: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Verify the rewrites of one kernel; those that hold come back as data."""
    from clmap_lsp.worker import offers

    program, kernel, launch = _launched(payload)
    return offers.verified(program, kernel, launch, payload, progress)


def _measure(payload: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Launch one kernel on a device, beside the emulator; only ever asked for by a person."""
    from clmap_lsp.emulator.run import emulate
    from clmap_lsp.launch.problem import LaunchError
    from clmap_lsp.opencl_device.errors import DeviceError
    from clmap_lsp.opencl_device.on_device import measure
    from clmap_lsp.opencl_device.on_device_job import NotForDevicesError

    program, kernel, launch = _launched(payload)
    progress("emulating", None)
    try:
        result = emulate(program, kernel, launch, settings_of(payload))
        progress("running on the device", None)
        measured = measure(
            program,
            kernel,
            launch,
            options_of(payload),
            result,
            platform=payload.get("platform"),
            time_limit_s=payload["device_time_limit_s"],
        )
    except LaunchError as error:
        raise CannotDoError(str(error.at(launch.source))) from None
    except (DeviceError, NotForDevicesError) as error:
        raise CannotDoError(str(error)) from None
    return {"on_device": measured.as_json(), "text": measured.summary()}


def _launched(payload: Mapping[str, Any]) -> tuple[Program, Kernel, Launch]:
    """Return what a payload speaks of.

    Raises: CannotDoError.
    """
    from clmap_lsp.launch.problem import LaunchProblem
    from clmap_lsp.launch.resolve import resolve

    program = _program(payload)
    kernel = program.kernel(payload["kernel"])
    if kernel is None:
        raise CannotDoError(f"there is no kernel `{payload['kernel']}`")
    launch = resolve(program, kernel, given=launch_of(payload))
    if isinstance(launch, LaunchProblem):
        raise CannotDoError(str(launch))
    return program, kernel, launch


def _program(payload: Mapping[str, Any]) -> Program:
    files = tuple(sorted(payload["files"].items()))
    return _read(payload["path"], files, options_of(payload))


@lru_cache(maxsize=4)
def _read(path: str, files: tuple[tuple[str, str], ...], options: Any) -> Program:
    """Read a program from the texts that travelled with the task: the worker opens no files of the user."""
    from clmap_lsp.source.read import read_program

    texts = dict(files)
    return read_program(texts[path], path, options, read_file=texts.get)


IN_SANDBOX: Mapping[str, Function] = {"emulate": _emulate, "fixes": _fixes}
ON_DEVICES: Mapping[str, Function] = {"measure": _measure}
