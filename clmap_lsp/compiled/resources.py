"""What a kernel takes of a compute unit once LLVM's back end for the device has compiled it."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

from clmap_lsp.compiled.target import Target, target_of
from clmap_lsp.dataclass import dataclass

if TYPE_CHECKING:
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


@dataclass(frozen=True, slots=True)
class PrivateMemory:
    """What a compiler leaves of a work-item's arrays in memory, in bytes."""

    target: str
    size: int


def resources(
    kernel: Kernel, device: DeviceModel, constants: tuple[Initializer, ...], *, waits: bool = True
) -> Resources | None:
    """Return what a kernel takes on a device, or `None` where no back end can tell.

    Args:
        waits: compile the kernel if that was not done before; it takes some tenths of a second.
    """
    target = _target(device)
    if target is None:
        return None
    from clmap_lsp.compiled.build import compiled, compiled_before

    made = compiled(kernel, target, constants) if waits else compiled_before(kernel, target)
    if made is None or isinstance(made, str):
        return None
    code = made.code
    return Resources(target.name, code.registers, code.registers_exact, code.private_bytes, code.local_bytes)


def private_memory(
    kernel: Kernel, device: DeviceModel, constants: tuple[Initializer, ...], *, waits: bool = True
) -> PrivateMemory | None:
    """Return what of a kernel's arrays lies in memory, or `None` where no back end can tell.

    It takes half of the time of `resources`, of kernels of thousands of statements a third.

    Args:
        waits: find it out if that was not done before.
    """
    target = _target(device)
    if target is None:
        return None
    from clmap_lsp.compiled.build import in_memory, in_memory_before

    found = in_memory(kernel, target, constants) if waits else in_memory_before(kernel, target)
    return PrivateMemory(target.name, found) if isinstance(found, int) else None


def _target(device: DeviceModel) -> Target | None:
    return None if importlib.util.find_spec("llvmlite") is None else target_of(device)
