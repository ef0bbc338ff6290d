"""A launch on which a kernel is defined, where the one that was worked out for it is not.

Sizes and scalars that nobody gave are guesses: a scan that handles two elements a work-item gets as many
work-items as elements, and reads past its buffers. That says nothing against the kernel, nor against a
rewrite of it, so rewrites are looked for on a launch nearby that the kernel bears. Only guesses are changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations, islice, product
from typing import TYPE_CHECKING

from clmap_lsp.analysis.kernel import analyse_kernel
from clmap_lsp.emulator.run import emulate
from clmap_lsp.fixes.family import launch_with
from clmap_lsp.fixes.trials import quick
from clmap_lsp.launch.model import ScalarArgument
from clmap_lsp.launch.problem import LaunchError

if TYPE_CHECKING:
    from clmap_lsp.emulator.result import EmulationResult
    from clmap_lsp.emulator.settings import EmulationSettings
    from clmap_lsp.fixes.model import Subject
    from clmap_lsp.launch.model import Launch

TRIES = 120
"""Launches that are run in search of one."""
STEPS = 1_000_000
"""Loop turns and work-item starts of each."""
GROUPS = 4
"""Work-groups of a launch in each dimension, where their number is a guess."""


def on_defined_launch(subject: Subject, settings: EmulationSettings) -> Subject | None:
    """Return a subject on a launch near its own on which its kernel has no fault; `None` where none is found.

    Every access that its own launch makes is made on the other one, too.
    """
    kernel, program = subject.analysis.kernel, subject.program
    limits = replace(quick(settings), max_steps=STEPS)
    for launch in islice(_nearby(subject), TRIES):
        ran = _run(subject, launch, limits)
        if ran is None or not ran.is_whole or ran.faults:
            continue
        analysis = analyse_kernel(kernel, launch, (), subject.device, program.constants)
        if len(analysis.accesses) >= len(subject.analysis.accesses):
            return replace(subject, analysis=analysis, emulation=ran, figures=None)
    return None


def _run(subject: Subject, launch: Launch, limits: EmulationSettings) -> EmulationResult | None:
    try:
        return emulate(subject.program, subject.analysis.kernel, launch, limits)
    except (LaunchError, MemoryError):
        return None


def _nearby(subject: Subject) -> Iterator[Launch]:
    """Yield launches whose guessed parts are others: one of them, then two at a time."""
    launch = subject.launch
    seen: set[object] = set()
    for local, scalars in _changes(launch):
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
    yield from ((local, it) for local, it in product(groups[1:], singles))
    for one, other in combinations(singles, 2):
        if one.keys() != other.keys():
            yield launch.local_size, {**one, **other}


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
    """Return what an integer may be instead: what work-groups or sizes are, their logarithm, little."""
    local = max(launch.local_size)
    other = (2 * local, local, max(launch.global_size), local.bit_length() - 1, 2, 1, 0)
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
    made = replace(launch, global_size=sizes, local_size=local)
    found = launch_with(subject, made, {name: ScalarArgument((it,)) for name, it in scalars.items()})
    if found is None:
        return None
    given = {
        name: it for name, it in launch.arguments.items() if name not in launch.inferred | scalars.keys()
    }
    return replace(found, arguments={**found.arguments, **given})
