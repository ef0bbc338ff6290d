"""A launch on which a kernel is defined, where the one that was worked out for it is not.

Sizes and scalars that nobody gave are guesses: a scan that handles two elements a work-item gets as many
work-items as elements, and reads past its buffers. That says nothing against the kernel, nor against a
rewrite of it, so rewrites are looked for on a launch nearby that the kernel bears. Only guesses are changed:
sizes and scalars, then data (what is searched is sorted, what is scattered by is a permutation), then numbers
of the build that local arrays are as long as.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, combinations, islice, product, zip_longest
from typing import TYPE_CHECKING

from clmap_lsp.analysis.kernel import analyse_kernel
from clmap_lsp.emulator.result import FaultKind
from clmap_lsp.fixes import facts
from clmap_lsp.fixes.allowance import SpentError, filled_bytes
from clmap_lsp.fixes.family import launch_with
from clmap_lsp.fixes.trials import quick
from clmap_lsp.launch.model import BufferArgument, Fill, LocalArgument, ScalarArgument
from clmap_lsp.launch.problem import LaunchError
from clmap_lsp.source.ir import VariableKind
from clmap_lsp.source.scan import Role
from clmap_lsp.source.types import ArrayType, PointerType, ScalarType

if TYPE_CHECKING:
    from clmap_lsp.emulator.result import EmulationResult
    from clmap_lsp.emulator.settings import EmulationSettings
    from clmap_lsp.fixes.model import Subject
    from clmap_lsp.launch.model import Launch
    from clmap_lsp.source.ir import Variable

TRIES = 120
"""Launches that are run in search of one."""
FURTHER_TRIES = 40
"""Of each way to change data or the build as well."""
STEPS = 1_000_000
"""Loop turns and work-item starts of each."""
BYTES = 1 << 30
"""Of buffers that are filled in the search: what takes so much is the data, not the kernel."""
GROUPS = 4
"""Work-groups of a launch in each dimension, where their number is a guess."""


def on_defined_launch(subject: Subject, settings: EmulationSettings) -> Subject | None:
    """Return a subject on a launch near its own on which its kernel has no fault; `None` if none is found."""
    found = on_better_launch(subject, settings)
    return None if found is None or found.emulation is None or found.emulation.faults else found


def on_better_launch(subject: Subject, settings: EmulationSettings) -> Subject | None:
    """Return a subject on a launch near its own on which its kernel has no fault, or fewer races only.

    `None` where no launch is better. Every access that its own launch makes is made on the other one, too.
    What races on every launch lacks a barrier; where is seen best on the one that adds no faults of its own.
    """
    limits = replace(quick(settings), max_steps=STEPS)
    best = _Best(subject)
    if best.look(subject, islice(_nearby(subject), TRIES), limits):
        return best.found
    for other in _others(subject):
        launches = islice(chain((other.launch,), _nearby(other)), FURTHER_TRIES)
        if best.look(other, launches, limits):
            break
    return best.found


class _Best:
    """The best launch so far, and how many faults its kernel has there."""

    def __init__(self, subject: Subject) -> None:
        self.found: Subject | None = None
        self.bytes_left = BYTES
        self.faults = 0 if subject.emulation is None else len(subject.emulation.faults)

    def look(self, subject: Subject, launches: Iterable[Launch], limits: EmulationSettings) -> bool:
        """Return whether one of the launches is one that the kernel bears."""
        for launch in launches:
            if subject.allowance.is_spent:
                break
            if (filled := filled_bytes(subject.analysis.kernel, launch)) > self.bytes_left:
                continue  # A smaller one may do.
            self.bytes_left -= filled
            ran = _run(subject, launch, limits)
            if ran is None or not ran.is_whole or len(ran.faults) >= max(self.faults, 1):
                continue
            if any(it.kind is not FaultKind.DATA_RACE for it in ran.faults):
                continue
            found = _on(subject, launch)
            if _made(found) >= _made(subject):
                self.found, self.faults = replace(found, emulation=ran), len(ran.faults)
                if not ran.faults:
                    return True
        return False


def _made(subject: Subject) -> int:
    """Return how many accesses a launch makes: on an array of one element loops make no turn."""
    return sum(not it.is_never_executed for it in subject.analysis.accesses)


def _on(subject: Subject, launch: Launch) -> Subject:
    kernel = subject.analysis.kernel
    subject.allowance.counted(kernel)
    analysis = analyse_kernel(kernel, launch, (), subject.device, subject.program.constants)
    return replace(subject, analysis=analysis, emulation=None, figures=None)


def _others(subject: Subject) -> Iterator[Subject]:
    """Yield the subject with guessed integers in order, then with longer local arrays of a guessed length."""
    launch, parameters = subject.launch, subject.analysis.kernel.parameters
    ordered = {
        it.name: replace(mine, fill=Fill.IOTA)
        for it in parameters
        if it.name in launch.inferred and _is_integers(it)
        if isinstance(mine := launch.arguments.get(it.name), BufferArgument) and mine.fill in _GUESSED
    }
    if ordered:
        yield _on(subject, replace(launch, arguments={**launch.arguments, **ordered}))
    for macro in _lengths(subject):
        for by in (2, 4):
            value = str(by * max(launch.local_size))
            options = replace(subject.options, defines=(*subject.options.defines, (macro, value)))
            program = subject.read(subject.text, options)
            kernel = program.kernel(subject.analysis.name)
            if kernel is not None and kernel.n_sites == subject.analysis.kernel.n_sites:
                made = replace(subject.analysis, kernel=kernel)
                yield replace(subject, program=program, options=options, analysis=made)


_GUESSED = (Fill.RANDOM, Fill.ZEROS, Fill.PERMUTATION)


def _is_integers(parameter: Variable) -> bool:
    kind = parameter.type
    element = kind.pointee if isinstance(kind, PointerType) else None
    return isinstance(element, ScalarType) and not element.is_float


def _lengths(subject: Subject) -> Iterator[str]:
    """Yield the macros that nothing defines and that local arrays are, or may be, as long as."""
    lengths = {
        str(it.type.length)
        for it in subject.analysis.kernel.variables
        if it.kind is VariableKind.LOCAL_OBJECT and isinstance(it.type, ArrayType)
    }
    for it in subject.program.guesses:
        if it.role == Role.CONSTANT.value and it.value in lengths:
            yield it.name


def _run(subject: Subject, launch: Launch, limits: EmulationSettings) -> EmulationResult | None:
    try:
        return subject.allowance.run(subject.program, subject.analysis.kernel, launch, limits)
    except (LaunchError, MemoryError, SpentError):
        return None


def _nearby(subject: Subject) -> Iterator[Launch]:
    """Yield launches whose guessed parts are others: one of them, then two at a time."""
    launch = subject.launch
    seen: set[object] = set()
    for local, scalars in _changes(launch):
        subject.allowance.planned(subject.analysis.kernel)
        changed = _changed(subject, launch, local, scalars)
        if changed is None:
            continue
        key = changed.global_size, changed.local_size, str(changed.arguments)
        if key not in seen:
            seen.add(key)
            yield changed


def _changes(launch: Launch) -> Iterator[tuple[tuple[int, ...], Mapping[str, int]]]:
    groups = [launch.local_size, *_smaller(launch)] if "local" in launch.inferred else [launch.local_size]
    values = {
        name: _values(launch, int(it.values[0]))
        for name, it in launch.arguments.items()
        if name in launch.inferred and isinstance(it, ScalarArgument) and not it.element
        if len(it.values) == 1 and isinstance(it.values[0], int)
    }
    singles = [{name: value} for name, them in values.items() for value in them]
    yield from ((local, {}) for local in groups)
    yield from ((launch.local_size, it) for it in singles)
    pairs = (it for it in combinations(singles, 2) if it[0].keys() != it[1].keys())
    for sized, pair in zip_longest(product(groups[1:], singles), pairs):  # By turns: neither is more likely.
        if sized is not None:
            yield sized
        if pair is not None:
            yield launch.local_size, {**pair[0], **pair[1]}


def _smaller(launch: Launch) -> Iterator[tuple[int, ...]]:
    """Yield work-groups half as long in one dimension, then in all, and so on."""
    size = launch.local_size
    if len(size) > 1:
        yield from ((*size[:d], n // 2, *size[d + 1 :]) for d, n in enumerate(size) if n > 1)
    for by in (2, 4, 8):
        size = tuple(max(it // by, 1) for it in launch.local_size)
        if size != launch.local_size:
            yield size


def _values(launch: Launch, value: int) -> list[int]:
    """Return what an integer may be instead: what work-groups or sizes are, their logarithm, little.

    A row is longer than the launch is wide where a work-item handles several of its elements.
    """
    local, size = max(launch.local_size), max(launch.global_size)
    other = (2 * local, local, size, local.bit_length() - 1, 2, 1, 0, 4 * size)
    if value <= 2:  # A shift, a step: more of them mean nothing.
        other = other[::-1]
    return [it for it in dict.fromkeys(other) if it != value]


def _changed(
    subject: Subject, launch: Launch, local: tuple[int, ...], scalars: Mapping[str, int]
) -> Launch | None:
    """Return a launch of few work-groups with other guesses; `None` where none of its kind can be made."""
    sizes = launch.global_size
    if "global" in launch.inferred:
        most = (GROUPS, *(1 if length == 1 else GROUPS for length in local[1:]))
        groups = map(min, launch.num_groups, most)
        sizes = tuple(n * length for n, length in zip(groups, local, strict=True))
    if any(size % length for size, length in zip(sizes, local, strict=True)):
        return None
    scalars = {**{it: max(sizes) for it in _as_many_as(launch, max(launch.global_size))}, **scalars}
    arguments = {  # As much local memory as the groups of this launch need.
        name: LocalArgument(1) if isinstance(it, LocalArgument) and name in launch.inferred else it
        for name, it in launch.arguments.items()
    }
    made = replace(launch, global_size=sizes, local_size=local, arguments=arguments)
    found = launch_with(subject, made, {name: ScalarArgument((it,)) for name, it in scalars.items()})
    if found is None:
        return None
    given = {
        name: it for name, it in launch.arguments.items() if name not in launch.inferred | scalars.keys()
    }
    return _with_room(subject, replace(found, arguments={**found.arguments, **given}))


def _as_many_as(launch: Launch, count: int) -> Iterator[str]:
    """Yield the guessed scalars that are as large as the launch, which go with it."""
    for name, it in launch.arguments.items():
        if (
            name in launch.inferred
            and isinstance(it, ScalarArgument)
            and it.values == (count,)
            and not it.element
        ):
            yield name


def _with_room(subject: Subject, launch: Launch) -> Launch:
    """Return a launch in which what data lead into has an element for each number of those in order."""
    orders = [
        it.count
        for it in launch.arguments.values()
        if isinstance(it, BufferArgument) and it.fill is Fill.IOTA
    ]
    reached = {it.buffer for it in facts.accesses(subject.analysis) if not it.known} & launch.inferred
    longer = {
        name: replace(it, count=max(it.count, *orders))
        for name, it in launch.arguments.items()
        if orders and name in reached and isinstance(it, BufferArgument)
    }
    return replace(launch, arguments={**launch.arguments, **longer})
