"""What a fault that the emulator met rests on, where parts of its launch were guessed.

A run shows what happens on one launch. If nobody gave that launch, the kernel is run on others that it may as
well have, with little work each: a fault that all of them show is a warning, one that does not show on some
is information that begins with "if". The same holds of macros that nothing defines. An error is only what
happens on a launch and with macros that somebody gave.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from clmap_lsp.emulator.result import Engine, FaultKind, Grounds
from clmap_lsp.launch.model import BufferArgument, Fill, ScalarArgument
from clmap_lsp.launch.plausible import plausible
from clmap_lsp.launch.problem import LaunchError, LaunchProblem
from clmap_lsp.launch.resolve import launch_from
from clmap_lsp.source.ir import OpaqueCall, walk

if TYPE_CHECKING:
    from clmap_lsp.emulator.result import EmulationResult, Fault
    from clmap_lsp.emulator.settings import EmulationSettings
    from clmap_lsp.launch.model import Launch
    from clmap_lsp.source.ir import Guess, Kernel

_OF_TEXT = frozenset({FaultKind.UNKNOWN_FUNCTION, FaultKind.UNSUPPORTED, FaultKind.WRITE_TO_CONSTANT})
"""Faults that show wherever their statement runs."""
_NOT_FOLLOWED = frozenset({FaultKind.UNKNOWN_FUNCTION, FaultKind.UNSUPPORTED})
_OUTSIDE = frozenset({FaultKind.OUT_OF_BOUNDS_READ, FaultKind.OUT_OF_BOUNDS_WRITE})
_SHAPES, _VALUES = 3, 3
"""Launches that are tried with other group shapes, and with other values."""
_MACRO_VALUES = (8, 32, 4)
_SECONDS = 1.0
"""Of work in each of them."""

Macros = tuple[tuple[str, str], ...]
Run = Callable[["Launch"], "EmulationResult"]
RunDefined = Callable[[Macros], "EmulationResult | None"]
"""Runs the kernel with macros, on the launch that it has with them; None where it then has none."""


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


def with_grounds(
    kernel: Kernel, launch: Launch, result: EmulationResult, run: Run, run_defined: RunDefined
) -> EmulationResult:
    """Return a result whose faults say whether they hang on what was guessed; runs should do little work."""
    asked = [it for it in result.faults if it.kind not in _OF_TEXT and it.grounds is Grounds.KNOWN]
    if not asked:
        return result
    shown: dict[str, list[frozenset[object]]] = {}
    others: list[tuple[str, Callable[[], EmulationResult | None]]] = [
        (it, partial(run, other)) for it, other in _others(kernel, launch)
    ]
    others += [(it, partial(run_defined, macros)) for it, macros in _other_macros(kernel, launch)]
    for instead_of, run_again in others:
        try:
            again = run_again()
        except (LaunchError, MemoryError):
            continue
        if again is not None and again.groups_run:
            shown.setdefault(instead_of, []).append(frozenset(_key(it) for it in again.faults))
    judged = {id(it): _judged(it, kernel, launch, shown) for it in asked}
    return replace(result, faults=tuple(judged.get(id(it), it) for it in result.faults))


def beside_unknown(kernel: Kernel, result: EmulationResult) -> EmulationResult:
    """Return a result whose faults say so where the run met what nothing here can follow.

    Inline assembly and functions of other libraries may decide what runs and write what is read.
    """
    unknown = next((it for it in result.faults if it.kind in _NOT_FOLLOWED), None)
    if unknown is None:
        return result
    named = (it.name for it in walk(kernel.body) if isinstance(it, OpaqueCall) and it.span == unknown.span)
    what = f"if `{next(named, unknown.element or 'a statement')}`, which is not followed, changes nothing"
    lowered = tuple(
        it
        if it.kind in _OF_TEXT or it.grounds is Grounds.GUESS
        else replace(it, grounds=Grounds.GUESS, detail=f"{what}: {it.detail}")
        for it in result.faults
    )
    return replace(result, faults=lowered)


def _key(fault: Fault) -> object:
    return fault.kind, fault.span.path, fault.span.start


def _judged(fault: Fault, kernel: Kernel, launch: Launch, shown: dict[str, list[frozenset[object]]]) -> Fault:
    missing = [guess for guess, runs in shown.items() if any(_key(fault) not in it for it in runs)]
    if missing:
        condition = " and ".join(missing[:2])
        return replace(fault, grounds=Grounds.GUESS, detail=f"if {condition} (guessed): {fault.detail}")
    if fault.kind in _OUTSIDE and fault.buffer is None and _guesses_contents(launch):
        detail = f"if buffers hold no addresses (guessed): {fault.detail}"
        return replace(fault, grounds=Grounds.GUESS, detail=detail)
    is_guessed = _guesses_sizes(launch) or bool(_guessed_macros(kernel))
    return replace(fault, grounds=Grounds.PLAUSIBLE) if is_guessed else fault


def _guesses_contents(launch: Launch) -> bool:
    return any(isinstance(launch.arguments.get(it), BufferArgument) for it in launch.inferred)


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


def _guessed_macros(kernel: Kernel) -> list[Guess]:
    """Return the constants that nothing defines; what was taken for 1 is a flag, or next to nothing."""
    return [it for it in kernel.guesses if it.role == "constant" and it.value not in (None, "1")]


def _other_macros(kernel: Kernel, launch: Launch) -> Iterator[tuple[str, Macros]]:
    """Yield other values of such constants: all as wide as a group, which they often name; fewer; more."""
    guessed = _guessed_macros(kernel)
    listed = ", ".join(f"`{it.name}` is {it.value}" for it in guessed[:3])
    for value in (math.prod(launch.local_size), *_MACRO_VALUES) if guessed else ():
        yield listed, tuple((it.name, str(value)) for it in guessed)


def _guessed_zeros(launch: Launch) -> dict[str, BufferArgument]:
    return {
        name: it
        for name, it in launch.arguments.items()
        if isinstance(it, BufferArgument)
        and it.fill is Fill.ZEROS
        and not it.sides
        and name in launch.inferred
    }
