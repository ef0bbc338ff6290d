"""Run one launch in the emulator, for `emulate` and for `check --emulate`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clmap_lsp.devices.model import DeviceModel
    from clmap_lsp.emulator.result import EmulationResult
    from clmap_lsp.launch.model import Launch
    from clmap_lsp.source.ir import Kernel
    from clmap_lsp.source.program import Program


def emulate_kernel(
    program: Program,
    kernel: Kernel,
    launch: Launch,
    device: DeviceModel,
    *,
    time_limit_s: float,
    memory_limit_mib: int,
) -> EmulationResult | str:
    """Return the result, or one line that says why the launch cannot be run."""
    from clmap_lsp.emulator.run import emulate
    from clmap_lsp.emulator.settings import EmulationSettings
    from clmap_lsp.launch.problem import LaunchError

    settings = EmulationSettings(device=device, time_limit_s=time_limit_s, memory_limit_mb=memory_limit_mib)
    try:
        return emulate(program, kernel, launch, settings)
    except LaunchError as error:
        return str(error.at(launch.source))
