"""How much of a launch does anything: guesses may switch most work-items off."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from clmap_lsp.exactness import Exactness
from clmap_lsp.launch.model import ScalarArgument

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import KernelAnalysis
    from clmap_lsp.devices.model import DeviceModel


def active_part(kernel: KernelAnalysis, device: DeviceModel) -> float:
    """Return at most which part of the SIMD groups executes an access, 0 to 1; 1 where that is not known."""
    launch = kernel.launch
    if launch is None or any(it.method is not Exactness.EXACT for it in kernel.accesses):
        return 1.0
    executed = max((it.totals.instructions for it in kernel.accesses if it.totals is not None), default=0)
    if not executed:
        return 0.0 if kernel.accesses or kernel.unreached else 1.0
    groups = prod(launch.num_groups) * -(-launch.group_items // device.simd_width)
    return min(executed / groups, 1.0)


def guesses_a_size(kernel: KernelAnalysis) -> bool:
    """Tell whether a size or a whole number of the launch, or a macro's value, is a guess."""
    launch = kernel.launch
    if launch is None:
        return False
    if any(it.role == "constant" and it.value is not None for it in kernel.guesses):
        return True
    return any(isinstance(launch.arguments.get(it), ScalarArgument) for it in launch.inferred)
