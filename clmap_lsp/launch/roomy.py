"""A guessed launch as large as such kernels are really run.

Guesses for typing are small: they are analysed with every key and emulated. What a rewrite gains follows
from sizes that fill a device: on 4,096 work-items the launch itself takes most of the time, and a histogram
in local memory seems to lose where it gains tens of times on an image.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from clmap_lsp.launch.infer import ROOMY, Guess
from clmap_lsp.launch.model import BufferArgument, Origin
from clmap_lsp.launch.partial import PartialLaunch
from clmap_lsp.launch.problem import LaunchError, LaunchProblem
from clmap_lsp.launch.resolve import launch_from
from clmap_lsp.source.types import PointerType

if TYPE_CHECKING:
    from clmap_lsp.launch.model import Launch
    from clmap_lsp.source.ir import Kernel

MOST_BYTES = 2 << 30
"""Of all buffers of a launch together."""


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


def _fitting(kernel: Kernel, shape: PartialLaunch, guess: Guess) -> Launch | None:
    """Return the launch of a guess, unless its buffers are larger than people's are."""
    try:
        made = launch_from(kernel, [shape], guess)
    except LaunchError:
        return None
    if isinstance(made, LaunchProblem):
        return None
    total = 0
    for parameter in kernel.parameters:
        argument = made.arguments.get(parameter.name)
        if isinstance(argument, BufferArgument) and isinstance(parameter.type, PointerType):
            total += argument.count * max(parameter.type.pointee.size, 1)
    return made if total <= MOST_BYTES else None
