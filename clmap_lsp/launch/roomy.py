"""A guessed launch as large as such kernels are really run.

Guesses for typing are small: they are analysed with every key and emulated. What a rewrite gains follows
from sizes that fill a device: on 4,096 work-items the launch itself takes most of the time, and a histogram
in local memory seems to lose where it gains tens of times on an image.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clmap_lsp.launch.infer import ROOMY
from clmap_lsp.launch.model import Launch, Origin
from clmap_lsp.launch.partial import PartialLaunch
from clmap_lsp.launch.problem import LaunchError, LaunchProblem
from clmap_lsp.launch.resolve import launch_from

if TYPE_CHECKING:
    from clmap_lsp.source.ir import Kernel


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
    try:
        made = launch_from(kernel, [shape], ROOMY)
    except LaunchError:
        return None
    if isinstance(made, LaunchProblem) or made.work_items <= launch.work_items:
        return None
    return Launch(
        made.kernel,
        made.global_size,
        made.local_size,
        made.arguments,
        launch.origin,
        launch.inferred,
        made.global_offset,
        launch.source,
        launch.origins,
    )
