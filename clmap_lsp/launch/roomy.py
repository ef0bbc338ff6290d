"""A launch as large as such kernels are really run, in place of a guessed one or one of a test's size.

Guesses for typing are small: they are analysed with every key and emulated. What a rewrite gains follows
from sizes that fill a device: on 4,096 work-items the launch itself takes most of the time, and a histogram
in local memory seems to lose where it gains tens of times on an image.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from clmap_lsp.launch.infer import ROOMY, Guess
from clmap_lsp.launch.model import BufferArgument, Fill, Origin, ScalarArgument
from clmap_lsp.launch.partial import PartialLaunch
from clmap_lsp.launch.problem import LaunchError, LaunchProblem
from clmap_lsp.launch.resizing import followed
from clmap_lsp.launch.resolve import launch_from
from clmap_lsp.source.types import PointerType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clmap_lsp.launch.model import Argument, Launch
    from clmap_lsp.source.ir import Kernel

MOST_BYTES = 2 << 30
"""Of all buffers of a launch together."""
REAL = 1 << 22
"""Work-items of a launch that is no test: 2048x2048."""


def roomy(kernel: Kernel, launch: Launch) -> Launch | None:
    """Return a launch of which nothing is known with large guesses in place of small ones.

    `None` where a part of it is known, since that may be part of a test, and where the kernel itself fixes
    the sizes.
    """
    if launch.origin is not Origin.INFERRED:
        return None
    shape = PartialLaunch(
        kernel.name,
        local_size=launch.local_size,
        origin=Origin.INFERRED,
        dimensions=len(launch.global_size),
    )
    made = next(filter(None, (_fitting(kernel, shape, guess) for guess in ROOMY)), None)
    if made is None or made.work_items <= launch.work_items:
        return None
    return replace(
        made, origin=launch.origin, inferred=launch.inferred, source=launch.source, origins=launch.origins
    )


def scaled_up(kernel: Kernel, launch: Launch) -> Launch | None:
    """Return a launch with more work-groups in each dimension that has several, as many as real ones have.

    Scalars that are sizes, or near them, follow; buffers get what the launch then touches. `None` where the
    launch is that large, where it has one work-group only (which is the kernel's own design) and where its
    data are given, which are what they are.
    """
    sizes = list(launch.global_size)
    growing = [d for d, count in enumerate(launch.num_groups) if count > 1]
    if not growing or any(it.fill in _GIVEN for it in _buffers(launch)):
        return None
    items = launch.work_items
    while items < REAL:
        shortest = min(growing, key=lambda d: sizes[d])
        sizes[shortest] *= 2
        items *= 2
    if tuple(sizes) == launch.global_size:
        return None
    return _resized(kernel, launch, tuple(sizes))


_GIVEN = (Fill.FILE, Fill.VALUES, Fill.BYTES, Fill.NULL)


def _buffers(launch: Launch) -> Iterator[BufferArgument]:
    return (it for it in launch.arguments.values() if isinstance(it, BufferArgument))


def _resized(kernel: Kernel, launch: Launch, sizes: tuple[int, ...]) -> Launch | None:
    arguments: dict[str, Argument] = {}
    for name, argument in launch.arguments.items():
        if isinstance(argument, ScalarArgument) and all(isinstance(it, int) for it in argument.values):
            values = tuple(followed(int(it), launch.global_size, sizes, 1) for it in argument.values)
            arguments[name] = replace(argument, values=values)
        elif not isinstance(argument, BufferArgument):
            arguments[name] = argument
    partial = PartialLaunch(
        kernel.name, sizes, launch.local_size, launch.global_offset, parsed=arguments, source=launch.source
    )
    try:
        needed = launch_from(kernel, [partial])
    except LaunchError:
        return None
    if isinstance(needed, LaunchProblem):
        return None
    arguments = {
        name: _as_long(argument, needed.arguments.get(name)) for name, argument in launch.arguments.items()
    } | arguments
    made = replace(launch, global_size=sizes, arguments=arguments)
    return made if _bytes(kernel, made) <= MOST_BYTES else None


def _as_long(mine: Argument, needed: Argument | None) -> Argument:
    """Return a buffer with as many elements as are needed, if it has fewer."""
    if isinstance(mine, BufferArgument) and isinstance(needed, BufferArgument) and not mine.sides:
        return replace(mine, count=max(mine.count, needed.count))
    return needed if mine != needed and isinstance(needed, BufferArgument) else mine


def _bytes(kernel: Kernel, launch: Launch) -> int:
    total = 0
    for parameter in kernel.parameters:
        argument = launch.arguments.get(parameter.name)
        if isinstance(argument, BufferArgument) and isinstance(parameter.type, PointerType):
            total += argument.count * max(parameter.type.pointee.size, 1)
    return total


def _fitting(kernel: Kernel, shape: PartialLaunch, guess: Guess) -> Launch | None:
    """Return the launch of a guess, unless its buffers are larger than people's are."""
    try:
        made = launch_from(kernel, [shape], guess)
    except LaunchError:
        return None
    if isinstance(made, LaunchProblem):
        return None
    return made if _bytes(kernel, made) <= MOST_BYTES else None
