"""What a fault that the emulator met rests on, where parts of its launch were guessed.

A run shows what happens on one launch. If nobody gave that launch, the kernel is run on others that it may as
well have, with little work each: a fault that all of them show is a warning, one that does not show on some
is information that begins with "if". The same holds of macros that nothing defines. An error is only what
happens on a launch and with macros that somebody gave.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from clmap_lsp.emulator.result import Engine, FaultKind, Grounds
from clmap_lsp.launch.model import OFFSET, BufferArgument, Fill, LocalArgument, ScalarArgument
from clmap_lsp.launch.plausible import plausible
from clmap_lsp.launch.problem import LaunchError, LaunchProblem
from clmap_lsp.launch.resolve import launch_from
from clmap_lsp.source.ir import OpaqueCall, walk
from clmap_lsp.source.types import PointerType, ScalarType
from clmap_lsp.workbench.indexed_by_data import FromData, Indexed, Place

if TYPE_CHECKING:
    from clmap_lsp.emulator.result import EmulationResult, Fault
    from clmap_lsp.emulator.settings import EmulationSettings
    from clmap_lsp.launch.model import Launch
    from clmap_lsp.source.ir import Guess, Kernel, Variable
    from clmap_lsp.source.span import Span

_OF_TEXT = frozenset({FaultKind.UNKNOWN_FUNCTION, FaultKind.UNSUPPORTED, FaultKind.WRITE_TO_CONSTANT})
"""Faults that show wherever their statement runs."""
_NOT_FOLLOWED = frozenset({FaultKind.UNKNOWN_FUNCTION, FaultKind.UNSUPPORTED})
_OUTSIDE = frozenset({FaultKind.OUT_OF_BOUNDS_READ, FaultKind.OUT_OF_BOUNDS_WRITE})
_OF_PLACES = frozenset(
    {*_OUTSIDE, FaultKind.INDEX_PAST_ARRAY, FaultKind.DATA_RACE, FaultKind.UNINITIALISED_READ}
)
"""Faults that an access has for where it is."""
_SHAPES, _VALUES = 3, 3
"""Launches that are tried with other group shapes, and with other values."""
_MACRO_VALUES = (8, 32, 4)
_MARK = " (guessed)"
"""Stands behind a condition that does not say so itself."""
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
    data = FromData(kernel, _guessed_contents(launch))
    by_data = data.indexed if _hangs_on_places(result) else {}
    divides = any(it.kind is FaultKind.DIVISION_BY_ZERO for it in result.faults)
    by_zero = data.divisions if divides else {}
    faults = [_of_length(_of_divisor(_of_data(it, by_data), by_zero), launch) for it in result.faults]
    unwritten = any(it.kind is FaultKind.UNINITIALISED_READ for it in faults)
    elsewhere = data.scattered if unwritten else {}
    result = replace(result, faults=tuple(_of_lost_writes(faults, by_data, elsewhere)))
    asked = [it for it in result.faults if it.kind not in _OF_TEXT and it.grounds is Grounds.KNOWN]
    if not asked:
        return result
    if not result.groups_run and (_guesses_sizes(launch) or kernel.guesses or _guessed_contents(launch)):
        return replace(result, faults=tuple(map(_of_endless, result.faults)))
    others: list[tuple[str, Callable[[], EmulationResult | None]]] = [
        (it, partial(run, other)) for it, other in _others(kernel, launch)
    ]
    others += [(it, partial(run_defined, macros)) for it, macros in _other_macros(kernel, launch)]
    shown = _shown(others)
    judged = {id(it): _judged(it, kernel, launch, shown) for it in asked}
    reads = [it for it in asked if it.kind is FaultKind.UNINITIALISED_READ]
    marked = _shown(
        [(it, partial(run, other)) for it, other in _marked(data, kernel, launch)] if reads else []
    )
    for it in reads:
        judged[id(it)] = _of_marks(it, judged[id(it)], marked)
    return replace(result, faults=tuple(judged.get(id(it), it) for it in result.faults))


def _shown(
    others: Iterable[tuple[str, Callable[[], EmulationResult | None]]],
) -> dict[str, list[frozenset[object]]]:
    """Return the faults of other runs, by the guess that each takes the place of.

    What is met there beyond the end of a buffer whose length was inferred says nothing of the kernel.
    """
    shown: dict[str, list[frozenset[object]]] = {}
    for instead_of, run_again in others:
        try:
            again = run_again()
        except (LaunchError, MemoryError):
            continue
        if again is not None and again.groups_run:
            shown.setdefault(instead_of, []).append(
                frozenset(key for it in again.faults if not it.grounds.is_guess for key in _keys(it))
            )
    return shown


def _of_marks(met: Fault, fault: Fault, marked: dict[str, list[frozenset[object]]]) -> Fault:
    """Return a read before any write that says so if it is none where buffers say that nothing is there."""
    missing = [guess for guess, runs in marked.items() if any(it.isdisjoint(_keys(met)) for it in runs)]
    if not missing or fault.grounds is Grounds.CONTENTS:
        return fault
    return fault.supposing(f"{missing[0]} for it", Grounds.CONTENTS)


def beside_unknown(kernel: Kernel, result: EmulationResult) -> EmulationResult:
    """Return a result whose faults say so where the run met what nothing here can follow.

    Inline assembly and functions of other libraries may decide what runs and write what is read. Of each
    kind of fault the first one stands for all that hang on that.
    """
    unknown = next((it for it in result.faults if it.kind in _NOT_FOLLOWED), None)
    if unknown is None:
        return result
    named = (it.name for it in walk(kernel.body) if isinstance(it, OpaqueCall) and it.span == unknown.span)
    name = next(named, unknown.element)
    what = f"`{name}`, which is not followed, changes" if name else "statements that are not followed change"
    what = f"{what} nothing"
    kept: list[Fault] = []
    first: dict[FaultKind, int] = {}
    more: dict[FaultKind, int] = {}
    for it in result.faults:
        if it.kind in _OF_TEXT or it.grounds.is_guess:
            kept.append(it)
        elif it.kind in first:
            more[it.kind] = more.get(it.kind, 0) + 1
        else:
            first[it.kind] = len(kept)
            kept.append(it.supposing(what, Grounds.GUESS))
    for kind, count in more.items():
        one = kept[first[kind]]
        others = "one more place" if count == 1 else f"{count} more places"
        so = f" (so it is in {others} of this kernel)"
        kept[first[kind]] = replace(one, detail=one.detail + so, met=one.met + so)
    return replace(result, faults=tuple(kept))


def _keys(fault: Fault) -> Iterator[object]:
    """Yield what tells a fault from others: its place; either of a race, whichever comes second elsewhere."""
    spans = (fault.span, fault.other_span) if fault.kind is FaultKind.DATA_RACE else (fault.span,)
    yield from ((fault.kind, *_place_of(it)) for it in spans if it is not None)


def _judged(fault: Fault, kernel: Kernel, launch: Launch, shown: dict[str, list[frozenset[object]]]) -> Fault:
    missing = [guess for guess, runs in shown.items() if any(it.isdisjoint(_keys(fault)) for it in runs)]
    if missing:
        grounds = Grounds.CONTENTS if missing == [_holds_zeros(_guessed_zeros(launch))] else Grounds.GUESS
        return fault.supposing(" and ".join(missing[:2]), grounds, mark=_MARK)
    if fault.kind in _OUTSIDE and fault.buffer is None and _guessed_contents(launch):
        return fault.supposing("buffers hold no addresses", Grounds.GUESS, mark=_MARK)
    is_guessed = _guesses_sizes(launch) or bool(_guessed_macros(kernel))
    return replace(fault, grounds=Grounds.PLAUSIBLE) if is_guessed else fault


def _of_endless(fault: Fault) -> Fault:
    """Return a fault of a run that came to no end at all: a program that somebody runs is not like that."""
    if fault.kind in _OF_TEXT or fault.grounds is not Grounds.KNOWN:
        return fault
    return fault.supposing("what was guessed holds, with which no work-group ends", Grounds.GUESS)


def _hangs_on_places(result: EmulationResult) -> bool:
    return any(it.kind in _OF_PLACES for it in result.faults)


def _of_data(fault: Fault, by_data: Mapping[Place, Indexed]) -> Fault:
    """Return a fault that says so if it is where it is for what a buffer holds that nobody gave.

    Of two accesses of work-items, both: what a kernel adds to places that data choose, as a histogram does,
    is added there whatever they are.
    """
    here, there = by_data.get(_place_of(fault.span)), by_data.get(_place_of(fault.other_span))
    if fault.kind not in _OF_PLACES or here is None or fault.grounds is Grounds.CONTENTS:
        return fault
    if fault.grounds is Grounds.GUESS and fault.kind not in _OUTSIDE:
        return fault  # Else it is of a length, and what is beyond it is so for what the buffer holds.
    if fault.kind is FaultKind.DATA_RACE and (there is None or here.adds or there.adds):
        return fault
    if fault.kind is FaultKind.UNINITIALISED_READ and here.adds:
        return fault
    return _of_contents(fault, here.argument)


def _of_contents(fault: Fault, name: str) -> Fault:
    return fault.supposing(f"`{name}` holds what was guessed for it", Grounds.CONTENTS)


def _of_lost_writes(
    faults: list[Fault], by_data: Mapping[Place, Indexed], elsewhere: Mapping[str, str]
) -> Iterator[Fault]:
    """Yield faults; reads of what was not written say so if writes go elsewhere for what a buffer holds."""
    outside = [it for it in faults if it.kind is FaultKind.OUT_OF_BOUNDS_WRITE]
    known = {it.buffer for it in outside if it.grounds is not Grounds.CONTENTS}
    lost = {it.buffer: by_data.get(_place_of(it.span)) for it in outside if it.buffer not in known}
    for it in faults:
        is_read = it.kind is FaultKind.UNINITIALISED_READ and it.grounds is not Grounds.CONTENTS
        cause = lost.get(it.buffer)
        name = elsewhere.get(it.buffer or "") if cause is None else cause.argument
        yield it if not is_read or name is None else _of_contents(it, name)


def _of_divisor(fault: Fault, by_zero: Mapping[Place, str]) -> Fault:
    """Return a division by zero that says so if what nobody gave is what is divided by."""
    name = by_zero.get(_place_of(fault.span))
    if fault.kind is not FaultKind.DIVISION_BY_ZERO or name is None or fault.grounds.is_guess:
        return fault
    return _of_contents(fault, name)


def _of_length(fault: Fault, launch: Launch) -> Fault:
    """Return a fault that says so if local memory is too large for lengths that nobody gave."""
    if fault.kind is not FaultKind.LOCAL_MEMORY_LIMIT:
        return fault
    named = ((name, launch.arguments.get(name)) for name in sorted(launch.inferred))
    counts = {name: it.count for name, it in named if isinstance(it, LocalArgument)}
    longest = max(counts, key=counts.__getitem__, default=None)
    if longest is None:
        return fault
    return fault.supposing(f"`{longest}` is as long as was inferred for it", Grounds.CONTENTS)


def _place_of(span: Span | None) -> Place:
    return ("", -1) if span is None else (span.path, span.start)


def _guessed_contents(launch: Launch) -> frozenset[str]:
    """Return the buffers and images whose contents nobody gave."""
    named = (it for it in launch.inferred if isinstance(launch.arguments.get(it), BufferArgument))
    return frozenset(named)


def _guesses_sizes(launch: Launch) -> bool:
    """Tell whether more than buffers was guessed."""
    return any(
        name in ("global", "local", OFFSET) or isinstance(launch.arguments.get(name), ScalarArgument)
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
        yield _holds_zeros(zeros), replace(launch, arguments={**launch.arguments, **ones})


def _marked(data: FromData, kernel: Kernel, launch: Launch) -> Iterator[tuple[str, Launch]]:
    """Yield the launch with buffers that hold what the kernel tells from all else, as -1 is no child.

    Buffers of whole numbers that nobody gave hold it too: what leads from one place to the next ends there.
    """
    marks = data.marks
    whole = {it.name for it in kernel.parameters if _points_to_whole_numbers(it)} if marks else set()
    held: dict[str, BufferArgument] = {}
    for name in sorted(_guessed_contents(launch) & (whole | marks.keys())):
        argument = launch.arguments[name]
        if isinstance(argument, BufferArgument):
            mark = marks.get(name, next(iter(marks.values())))
            held[name] = replace(argument, fill=Fill.FORMULA, text=str(mark))
    if held:
        listed = ", ".join(f"`{it}`" for it in list(held)[:3])
        what = f"{listed} {'holds' if len(held) == 1 else 'hold'} what was guessed"
        yield what, replace(launch, arguments={**launch.arguments, **held})


def _points_to_whole_numbers(parameter: Variable) -> bool:
    pointee = parameter.type.pointee if isinstance(parameter.type, PointerType) else None
    return isinstance(pointee, ScalarType) and not pointee.is_float


def _holds_zeros(buffers: dict[str, BufferArgument]) -> str:
    listed = ", ".join(f"`{it}`" for it in list(buffers)[:3])
    return f"{listed} {'holds' if len(buffers) == 1 else 'hold'} zeros"


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
        if isinstance(it, BufferArgument) and it.fill is Fill.ZEROS and name in launch.inferred
    }
