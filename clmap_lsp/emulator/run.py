"""The emulator's front door: one kernel, one launch, everything that is known afterwards."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import replace
from importlib.util import find_spec
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING

from clmap_lsp.emulator import layout as at
from clmap_lsp.emulator.budget import sample_size
from clmap_lsp.emulator.memory_limit import limited
from clmap_lsp.emulator.result import EmulationResult, Engine, Fault, Limit, Seconds
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.launch.model import Launch
from clmap_lsp.launch.problem import LaunchError, NotInstalledError, TooMuchMemoryError
from clmap_lsp.source.ir import Kernel, OpaqueCall, walk
from clmap_lsp.source.program import Program

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clmap_lsp.emulator.jit import JitRun
    from clmap_lsp.emulator.report_symbolic import SymbolicFigures

_DEFAULTS = EmulationSettings()
_SMALL_ITEMS = 1024
"""Launches of at most this many work-items are simply run: nothing is won by reasoning first."""
_STATEMENTS_PER_S = 500
"""Statements that the compiler takes a second for, at worst."""
_LEAST_STATEMENTS = 1500
_SAMPLE_WITHOUT_ROOM = 64
"""Work-groups of a launch that needs more memory than there is."""
_LEAST_SAMPLE = 2
_FEWER = 4
"""A sample for which there is too little memory is tried again with so many times fewer work-groups."""
_LEAST_SHARE = 0.5
"""Of the budget, for the sample of a launch that used up all of it."""
_CURE = "use a smaller launch or raise the memory limit"


def emulate(
    program: Program, kernel: Kernel, launch: Launch, settings: EmulationSettings = _DEFAULTS
) -> EmulationResult:
    """Run one launch of a kernel without a device.

    The engine `auto` takes exact figures from the symbolic engine where that can follow the kernel, and runs
    the launch untraced for its outputs and faults; everything else is run and traced. Faults of the kernel
    are in the result. A launch that is beyond its budget is estimated from some of its work-groups.

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
            _CURE,
        ) from None


def _emulated(
    program: Program, kernel: Kernel, launch: Launch, settings: EmulationSettings
) -> EmulationResult:
    reason, started = "asked for", time.perf_counter()
    inputs: dict[str, NDArray[np.uint8]] = {}
    if settings.engine is Engine.AUTO and launch.work_items <= _SMALL_ITEMS:
        reason = "a small launch"
    elif settings.engine is not Engine.JIT:
        found = _symbolic(program, kernel, launch, settings, inputs)
        if not isinstance(found, str):
            combined = _combined(program, kernel, launch, settings, found, inputs)
            if not _is_out_of_bounds(combined) or settings.engine is Engine.SYMBOLIC:
                return combined
            return _counted_anew(program, kernel, launch, settings, found, combined)
        reason = f"the symbolic engine does not apply: {found}"
    tried_s = time.perf_counter() - started
    result = _run(program, kernel, launch, settings, reason, inputs)
    assert result is not None
    return replace(result, seconds=replace(result.seconds, symbolic=tried_s))


def _run(
    program: Program,
    kernel: Kernel,
    launch: Launch,
    settings: EmulationSettings,
    reason: str,
    inputs: Mapping[str, NDArray[np.uint8]] = MappingProxyType({}),
    *,
    samples: bool = True,
) -> EmulationResult | None:
    """Run a launch, or a sample of it where it is too large; without `samples`, that is `None`.

    `inputs` are contents of arguments that are made already and that the kernel does not change.
    """
    check_installed()
    from clmap_lsp.emulator.report_jit import met_faults

    _check_size(kernel, settings)
    job = _first_run(program, kernel, launch, settings, inputs)
    if job is None:
        if not samples:
            return None
        # A sample touches a small part of its buffers, but what watches global memory is as large as they.
        wanted = settings.sample_groups or _SAMPLE_WITHOUT_ROOM
        settings = replace(settings, watch_global=False, sample_groups=wanted)
        return _sampled(program, kernel, launch, settings, reason, inputs)
    if job.stopped and not samples:
        return None
    if not (job.stopped in (Limit.WORK, Limit.MEMORY) and job.may_be_sampled):
        try:
            return _finished(program, kernel, launch, settings, job, reason)
        except MemoryError:
            if not (samples and job.may_be_sampled):
                raise
    settings, contents = _as_sample(job), job.unwritten_contents()
    spent, met = job.seconds, met_faults(job)
    del job  # Its memory is needed.
    result = _sampled(program, kernel, launch, settings, reason, contents, spent)
    return replace(result, faults=_all_of(met, result.faults)) if met else result


def _finished(
    program: Program, kernel: Kernel, launch: Launch, settings: EmulationSettings, job: JitRun, reason: str
) -> EmulationResult:
    """Return what a run has found."""
    from clmap_lsp.emulator import jit
    from clmap_lsp.emulator.report_jit import result_of

    if job.reads_out_of_bounds and settings.uninitialised and settings.trace and not job.stopped:
        # Following every value costs time, so only a launch that needs it is run so, a second time.
        left = replace(settings, time_limit_s=max(settings.time_limit_s - job.run_s - job.metrics_s, 0.0))
        again = jit.run(program, kernel, launch, left, follow_invalid=True)
        if not again.stopped:
            again.earlier = job.seconds
            job = again
    return result_of(job, reason)


def _all_of(earlier: tuple[Fault, ...], later: tuple[Fault, ...]) -> tuple[Fault, ...]:
    """Return the faults of two runs of a launch, each place of a kind once."""
    seen = {_place(it) for it in earlier}
    return (*earlier, *(it for it in later if _place(it) not in seen))


def _place(fault: Fault) -> object:
    """Return what is the same for a fault in every run: a race may be met from either of its sides."""
    return fault.kind, fault.buffer, frozenset((fault.span, fault.other_span))


def _first_run(
    program: Program,
    kernel: Kernel,
    launch: Launch,
    settings: EmulationSettings,
    inputs: Mapping[str, NDArray[np.uint8]],
) -> JitRun | None:
    """Run a launch as it is; None, with all memory freed, if there is too little of it but for a sample."""
    from clmap_lsp.emulator import jit

    try:
        return jit.run(program, kernel, launch, settings, contents=inputs)
    except TooMuchMemoryError:
        if not (settings.may_sample or settings.sample_groups):
            raise
    return None


def _sampled(
    program: Program,
    kernel: Kernel,
    launch: Launch,
    settings: EmulationSettings,
    reason: str,
    contents: Mapping[str, NDArray[np.uint8]] = MappingProxyType({}),
    spent: Seconds | None = None,
) -> EmulationResult:
    """Run a sample of as many work-groups as there is memory to follow.

    Raises: MemoryError if there is too little for two.
    """
    from clmap_lsp.emulator import jit

    groups = settings.sample_groups or _LEAST_SAMPLE
    job: JitRun | None
    while True:
        chosen = replace(settings, sample_groups=groups)
        try:
            job = jit.run(program, kernel, launch, chosen, contents=contents)
            job.earlier = spent or job.earlier
            return _finished(program, kernel, launch, chosen, job, reason)
        except MemoryError:
            if groups <= _LEAST_SAMPLE:
                raise
        groups = max(groups // _FEWER, _LEAST_SAMPLE)
        job = None


def _as_sample(job: JitRun) -> EmulationSettings:
    """Return the settings with which work-groups of a launch that was too large are run in its stead."""
    whole, spent = job.budget.units, job.work
    left = max(whole - spent, _LEAST_SHARE * whole)
    groups = sample_size(left, spent, int(job.state.words[at.GROUP]))
    seconds = job.settings.time_limit_s * left / whole
    return replace(job.settings, sample_groups=groups, time_limit_s=seconds, chosen_sample=True)


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


def check_installed() -> None:
    """Refuse to run without llvmlite: reading, counting and checking do without its 170 MB."""
    if find_spec("llvmlite") is None:
        raise NotInstalledError(
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
    program: Program,
    kernel: Kernel,
    launch: Launch,
    settings: EmulationSettings,
    inputs: dict[str, NDArray[np.uint8]],
) -> SymbolicFigures | str:
    """Return the symbolic figures, or why there are none; `inputs` gets the contents that this took."""
    from clmap_lsp.emulator.report_symbolic import symbolic_figures

    if not settings.trace:
        return "no figures were asked for"
    try:
        return symbolic_figures(program, kernel, launch, settings, inputs)
    except MemoryError:
        if settings.engine is Engine.SYMBOLIC:
            raise
    return "it needs more memory than the limit"


def _is_out_of_bounds(result: EmulationResult) -> bool:
    return any(it.kind.value.startswith("out-of-bounds") for it in result.faults)


def _counted_anew(
    program: Program,
    kernel: Kernel,
    launch: Launch,
    settings: EmulationSettings,
    figures: SymbolicFigures,
    untraced: EmulationResult,
) -> EmulationResult:
    """Run a launch of which accesses are out of bounds so that the run itself is counted, without them.

    Where that is too large, its figures are those of all accesses, and its faults those of both runs.
    """
    if not untraced.is_whole:
        return untraced
    why = "the symbolic engine does not apply: accesses are out of bounds, so the run itself is counted"
    traced = _run(program, kernel, launch, settings, why, samples=False)
    if traced is not None:
        return replace(traced, seconds=replace(traced.seconds, symbolic=figures.seconds))
    if settings.uninitialised:
        uses = _uses_of_invalid(program, kernel, launch, settings, figures)
        untraced = replace(untraced, faults=_all_of(untraced.faults, uses))
    return untraced


def _uses_of_invalid(
    program: Program, kernel: Kernel, launch: Launch, settings: EmulationSettings, figures: SymbolicFigures
) -> tuple[Fault, ...]:
    """Return the faults of a run that follows what was read out of bounds; none if it comes to a limit."""
    from clmap_lsp.emulator import jit
    from clmap_lsp.emulator.report_jit import result_of

    settings = _untraced(settings, figures)
    job = jit.run(program, kernel, launch, settings, follow_invalid=True)
    return () if job.stopped else result_of(job, "").faults


def _untraced(settings: EmulationSettings, figures: SymbolicFigures) -> EmulationSettings:
    """Return how a launch is run whose figures are known."""
    return replace(settings, trace=False, exclusive=figures.exclusive, ordered=figures.ordered)


def _combined(
    program: Program,
    kernel: Kernel,
    launch: Launch,
    settings: EmulationSettings,
    figures: SymbolicFigures,
    inputs: Mapping[str, NDArray[np.uint8]],
) -> EmulationResult:
    """Join symbolic figures with a concrete, untraced run."""
    from clmap_lsp.emulator.report_symbolic import joined, symbolic_result

    if settings.engine is not Engine.AUTO:
        return symbolic_result(program, kernel, launch, settings, figures)
    try:
        concrete = _run(program, kernel, launch, _untraced(settings, figures), "", inputs)
    except TooMuchMemoryError as error:
        return symbolic_result(program, kernel, launch, settings, figures, f"{error.cause}; {error.cure}")
    except MemoryError:
        why = f"the launch needs more than the limit of {settings.memory_limit_mib} MB; {_CURE}"
        return symbolic_result(program, kernel, launch, settings, figures, why)
    assert concrete is not None
    return joined(program, kernel, launch, settings, concrete, figures)
