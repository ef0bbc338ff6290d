"""What a kernel takes of a compute unit once LLVM's back end for the device has compiled it."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

from clmap_lsp.compiled.target import target_of
from clmap_lsp.dataclass import dataclass

if TYPE_CHECKING:
    from clmap_lsp.compiled.build import Compiled
    from clmap_lsp.devices.model import DeviceModel
    from clmap_lsp.source.ir import Initializer, Kernel


@dataclass(frozen=True, slots=True)
class Resources:
    """Registers and memory of one work-item, and the local arrays of a work-group, in bytes."""

    target: str
    registers: int | None
    """32-bit registers; an estimate where `registers_exact` is false."""
    registers_exact: bool
    private_bytes: int
    """Off-chip memory: arrays that did not become registers, and spilled registers."""
    local_bytes: int


def resources(
    kernel: Kernel,
    device: DeviceModel,
    constants: tuple[Initializer, ...],
    *,
    waits: bool = True,
    asks_registers: bool = True,
) -> Resources | None:
    """Return what a kernel takes on a device, or `None` where no back end can tell.

    Args:
        waits: compile the kernel if that was not done before; it takes some tenths of a second.
        asks_registers: registers matter; else they may be an estimate, without NVIDIA's assembler, which
            takes longer over a kernel of thousands of statements than LLVM does.
    """
    target = target_of(device)
    if target is None or importlib.util.find_spec("llvmlite") is None:
        return None
    from clmap_lsp.compiled.build import compiled, compiled_before, written, written_before

    made: Compiled | str | None
    if waits:
        made = (compiled if asks_registers else written)(kernel, target, constants)
    else:
        made = (compiled_before if asks_registers else written_before)(kernel, target)
    if made is None or isinstance(made, str):
        return None
    code = made.code
    return Resources(target.name, code.registers, code.registers_exact, code.private_bytes, code.local_bytes)
