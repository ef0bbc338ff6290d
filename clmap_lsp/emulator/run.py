"""The emulator's front door: one kernel, one launch, everything that is known afterwards."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib.util import find_spec
from itertools import islice
from typing import TYPE_CHECKING

from clmap_lsp.emulator.memory_limit import limited
from clmap_lsp.emulator.result import EmulationResult, Engine
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.launch.model import Launch
from clmap_lsp.launch.problem import LaunchError
from clmap_lsp.source.ir import Kernel, OpaqueCall, walk
from clmap_lsp.source.program import Program

if TYPE_CHECKING:
    from clmap_lsp.emulator.report_symbolic import SymbolicFigures

_DEFAULTS = EmulationSettings()
_SMALL_ITEMS = 1024
"""Launches of at most this many work-items are simply run: nothing is won by reasoning first."""
_STATEMENTS_PER_S = 500
"""Statements that the compiler takes a second for, at worst."""
_LEAST_STATEMENTS = 1500
_CONCRETE_ACCESSES = 1_000_000_000
"""Beside exact symbolic figures, a launch is run for its outputs and faults up to about this size."""


def emulate(
    program: Program, kernel: Kernel, launch: Launch, settings: EmulationSettings = _DEFAULTS
) -> EmulationResult:
    """Run one launch of a kernel without a device.

    The engine `auto` takes exact figures from the symbolic engine where that can follow the kernel, and runs
    the launch untraced for its outputs and faults; everything else is run and traced. Faults of the kernel
    are in the result; figures up to a budget's end are kept and labelled truncated.

    Raises: LaunchError if the launch cannot be run as it is: an argument is missing or its file unreadable,
        or it needs more memory than the limit.
    """
    _check_supported(kernel)
    try:
        with limited(settings.memory_limit_mib):
            return _emulated(program, kernel, launch, settings)
    except MemoryError:
        raise LaunchError(
            f"the launch needs more than the limit of {settings.memory_limit_mib} MB",
            "use a smaller launch or raise the memory limit",
        ) from None


def _emulated(
    program: Program, kernel: Kernel, launch: Launch, settings: EmulationSettings
) -> EmulationResult:
    reason = "asked for"
    if settings.engine is Engine.AUTO and launch.work_items <= _SMALL_ITEMS:
        reason = "a small launch"
    elif settings.engine is not Engine.JIT:
        found = _symbolic(program, kernel, launch, settings)
        if not isinstance(found, str):
            combined = _combined(program, kernel, launch, settings, found)
            if combined is not None:
                return combined
            found = "accesses are out of bounds, so the run itself is counted"
        reason = f"the symbolic engine does not apply: {found}"
    return _run(program, kernel, launch, settings, reason)


def _run(
    program: Program, kernel: Kernel, launch: Launch, settings: EmulationSettings, reason: str
) -> EmulationResult:
    _check_installed()
    from clmap_lsp.emulator import jit
    from clmap_lsp.emulator.report_jit import result_of

    _check_size(kernel, settings)
    job = jit.run(program, kernel, launch, settings)
    if job.reads_out_of_bounds and settings.uninitialised and settings.trace and not job.stopped:
        # Following every value costs time, so only a launch that needs it is run so, a second time.
        left = replace(settings, time_limit_s=max(settings.time_limit_s - job.run_s - job.metrics_s, 0.0))
        again = jit.run(program, kernel, launch, left, follow_invalid=True)
        if not again.stopped:
            job = again
    return result_of(job, reason)


_ELSEWHERE = {
    "pipes": re.compile(
        r"(sub_group_|work_group_)?(reserve|commit)_(read|write)_pipe|(read|write)_pipe|get_pipe_\w+"
    ),
    "device-side queues": re.compile(r"enqueue_(kernel|marker)|get_default_queue|get_kernel_\w+|ndrange_\dD"),
}
"""Built-in functions of what lies outside a launch's buffers and images."""


def _check_supported(kernel: Kernel) -> None:
    """Refuse what a launch by itself cannot have: results would be made up."""
    for statement in walk(kernel.body):
        if isinstance(statement, OpaqueCall):
            for what, names in _ELSEWHERE.items():
                if names.fullmatch(statement.name):
                    raise LaunchError(
                        f"`{kernel.name}` uses {what} (`{statement.name}`), which the emulator does not have",
                        "pass buffers in their place",
                    )


def _check_installed() -> None:
    """Refuse to run without llvmlite: reading, counting and checking do without its 170 MB."""
    if find_spec("llvmlite") is None:
        raise LaunchError(
            "running kernels needs llvmlite, which is not installed", "pip install 'clmap-lsp[emulate]'"
        )


def _check_size(kernel: Kernel, settings: EmulationSettings) -> None:
    """Refuse what would compile for much longer than it may run: LLVM cannot be interrupted."""
    room = max(_LEAST_STATEMENTS, int(settings.time_limit_s * _STATEMENTS_PER_S))
    count = sum(1 for _ in islice(walk(kernel.body), room + 1))
    if count > room:
        raise LaunchError(
            f"`{kernel.name}` has more than {room} statements with its calls inlined, too many to compile",
            "raise the time limit, or run a smaller part of it",
        )


def _symbolic(
    program: Program, kernel: Kernel, launch: Launch, settings: EmulationSettings
) -> SymbolicFigures | str:
    """Return the symbolic figures, or why there are none."""
    from clmap_lsp.emulator.report_symbolic import symbolic_figures

    if not settings.trace:
        return "no figures were asked for"
    return symbolic_figures(program, kernel, launch, settings)


def _combined(
    program: Program,
    kernel: Kernel,
    launch: Launch,
    settings: EmulationSettings,
    figures: SymbolicFigures,
) -> EmulationResult | None:
    """Join symbolic figures with a concrete, untraced run; None if that run shows that they do not apply."""
    from clmap_lsp.emulator.report_symbolic import joined, symbolic_result

    is_short = figures.metrics.accesses <= _CONCRETE_ACCESSES or settings.sample_groups > 0
    wants_run = settings.engine is Engine.AUTO and is_short
    if not wants_run:
        return symbolic_result(program, kernel, launch, settings, figures)
    concrete = _run(program, kernel, launch, replace(settings, trace=False), "")
    if any(it.kind.value.startswith("out-of-bounds") for it in concrete.faults):
        return None
    return joined(program, settings, concrete, figures)
