"""What a fault that the emulator met rests on, where parts of its launch were guessed.

A run shows what happens on one launch. If nobody gave that launch, the kernel is run on others that it may as
well have, with little work each: a fault that all of them show is a warning, one that does not show on some
is information that begins with "if". An error is only what happens on a launch that somebody gave.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from clmap_lsp.emulator.result import Engine, FaultKind, Grounds
from clmap_lsp.launch.model import BufferArgument, Fill, ScalarArgument
from clmap_lsp.launch.plausible import plausible
from clmap_lsp.launch.problem import LaunchError, LaunchProblem
from clmap_lsp.launch.resolve import launch_from

if TYPE_CHECKING:
    from clmap_lsp.emulator.result import EmulationResult, Fault
    from clmap_lsp.emulator.settings import EmulationSettings
    from clmap_lsp.launch.model import Launch
    from clmap_lsp.source.ir import Kernel

_OF_TEXT = frozenset({FaultKind.UNKNOWN_FUNCTION, FaultKind.UNSUPPORTED, FaultKind.WRITE_TO_CONSTANT})
"""Faults that show wherever their statement runs."""
_SHAPES, _VALUES = 3, 3
"""Launches that are tried with other group shapes, and with other values."""
_SECONDS = 1.0
"""Of work in each of them."""

Run = Callable[["Launch"], "EmulationResult"]


def few_steps(settings: EmulationSettings) -> EmulationSettings:
    """Return settings for runs that are asked for their faults only."""
    return replace(
        settings,
        engine=Engine.JIT,
        trace=False,
        control=False,
        strides=False,
        time_limit_s=min(settings.time_limit_s, _SECONDS),
    )


def with_grounds(kernel: Kernel, launch: Launch, result: EmulationResult, run: Run) -> EmulationResult:
    """Return a result whose faults say whether they hang on what was guessed; `run` should do little work."""
    asked = [it for it in result.faults if it.kind not in _OF_TEXT and it.grounds is Grounds.KNOWN]
    if not asked:
        return result
    shown: dict[str, list[frozenset[object]]] = {}
    for instead_of, other in _others(kernel, launch):
        try:
            again = run(other)
        except (LaunchError, MemoryError):
            continue
        if again.groups_run:
            shown.setdefault(instead_of, []).append(frozenset(_key(it) for it in again.faults))
    judged = {id(it): _judged(it, launch, shown) for it in asked}
    return replace(result, faults=tuple(judged.get(id(it), it) for it in result.faults))


def _key(fault: Fault) -> object:
    return fault.kind, fault.span.path, fault.span.start


def _judged(fault: Fault, launch: Launch, shown: dict[str, list[frozenset[object]]]) -> Fault:
    missing = [guess for guess, runs in shown.items() if any(_key(fault) not in it for it in runs)]
    if missing:
        condition = " and ".join(missing[:2])
        return replace(fault, grounds=Grounds.GUESS, detail=f"if {condition} (guessed): {fault.detail}")
    return replace(fault, grounds=Grounds.PLAUSIBLE) if _guesses_sizes(launch) else fault


def _guesses_sizes(launch: Launch) -> bool:
    """Tell whether more than buffers was guessed."""
    return any(
        name in ("global", "local") or isinstance(launch.arguments.get(name), ScalarArgument)
        for name in launch.inferred
    )


def _others(kernel: Kernel, launch: Launch) -> Iterator[tuple[str, Launch]]:
    """Yield other launches, each with the guess that it takes the place of."""
    found = list(plausible(kernel, launch))
    shapes = [it for it in found if not it.invented]
    values = [it for it in found if it.invented]
    for it in (*islice(shapes, _SHAPES), *islice(values, _VALUES)):
        made = launch_from(kernel, [it.launch])
        if not isinstance(made, LaunchProblem):
            yield it.instead_of, replace(made, inferred=launch.inferred)
    if zeros := _guessed_zeros(launch):
        ones = {name: replace(it, fill=Fill.FORMULA, text="1") for name, it in zeros.items()}
        listed = ", ".join(f"`{it}`" for it in list(zeros)[:3])
        verb = "holds" if len(zeros) == 1 else "hold"
        yield f"{listed} {verb} zeros", replace(launch, arguments={**launch.arguments, **ones})


def _guessed_zeros(launch: Launch) -> dict[str, BufferArgument]:
    return {
        name: it
        for name, it in launch.arguments.items()
        if isinstance(it, BufferArgument)
        and it.fill is Fill.ZEROS
        and not it.sides
        and name in launch.inferred
    }
