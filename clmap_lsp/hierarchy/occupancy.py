"""How many work-groups a compute unit holds at once, as far as a device's limits are published.

Registers are the compiler's choice: without them (`analyze --as-compiled` knows them) the estimate is an
upper bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clmap_lsp.dataclass import dataclass
from clmap_lsp.launch.model import LocalArgument
from clmap_lsp.source.ir import VariableKind
from clmap_lsp.source.types import points_to_local

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import KernelAnalysis
    from clmap_lsp.devices.model import DeviceModel
    from clmap_lsp.source.ir import Variable


@dataclass(frozen=True, slots=True)
class Residency:
    """Work-groups that a compute unit holds at once; `None` with the reason where no limit is known."""

    groups: int | None
    limit: str
    """What holds it down, in words, or why nothing is known."""
    simd_groups: int | None = None
    """SIMD groups resident with that many work-groups."""
    simd_capacity: int | None = None
    """SIMD groups that would fit if nothing else held them down."""

    @property
    def occupancy(self) -> float | None:
        """Resident SIMD groups against what would fit, 0 to 1."""
        if self.simd_groups is None or not self.simd_capacity:
            return None
        return self.simd_groups / self.simd_capacity


def local_objects(analysis: KernelAnalysis) -> tuple[tuple[Variable, int], ...]:
    """Return the local arrays of a kernel with their bytes; arguments as the launch gives them."""
    kernel, launch = analysis.kernel, analysis.launch
    found = [(it, it.type.size) for it in kernel.variables if it.kind is VariableKind.LOCAL_OBJECT]
    for parameter in kernel.parameters:
        kind = parameter.type
        if points_to_local(kind) and launch is not None:
            argument = launch.arguments.get(parameter.name)
            if isinstance(argument, LocalArgument):
                found.append((parameter, argument.count * max(kind.pointee.size, 1)))
    return tuple(found)


def local_bytes(analysis: KernelAnalysis) -> int:
    """Return the bytes of local memory that one work-group needs."""
    return sum(size for _, size in local_objects(analysis))


def residency(analysis: KernelAnalysis, device: DeviceModel) -> Residency:
    """Estimate how many work-groups of a launch a compute unit holds at once."""
    if analysis.launch is None:
        return Residency(None, "there is no launch")
    compiled = analysis.compiled
    registers = None if compiled is None or isinstance(compiled, str) else compiled.registers
    return resident(device, analysis.launch.group_items, local_bytes(analysis), registers)


REGISTER_PIECE = 8
"""Registers are allotted to SIMD groups by so many a lane: 256 for 32 lanes on NVIDIA (the CUDA occupancy
calculator, since compute capability 3.0), 8 a lane on AMD's CDNA (LLVM, AMDGPU usage, VGPR granule)."""


def resident(device: DeviceModel, group_items: int, needed: int, registers: int | None = None) -> Residency:
    """Estimate how many work-groups of some size a compute unit holds.

    Args:
        needed: local memory of a work-group, in bytes.
        registers: of a work-item, where a compiler told them.
    """
    limits = device.limits
    per_group = -(-group_items // device.simd_width)
    bounds: list[tuple[int, str]] = []
    if limits.groups_per_compute_unit is not None:
        most = limits.groups_per_compute_unit
        bounds.append((most, f"a compute unit holds no more than {most} work-groups"))
    capacity = limits.simd_groups_per_compute_unit
    if capacity is not None:
        bounds.append(
            (capacity // per_group, f"it holds {capacity} SIMD groups, a work-group has {per_group}")
        )
    if needed and limits.local_bytes_per_compute_unit is not None:
        whole = limits.local_bytes_per_compute_unit
        bounds.append((whole // needed, f"a work-group takes {needed} of its {whole} bytes of local memory"))
    file = limits.registers_per_compute_unit
    if registers and file is not None:
        taken = -(-registers // REGISTER_PIECE) * REGISTER_PIECE * device.simd_width * per_group
        bounds.append((file // taken, f"a work-item takes {registers} registers of the unit's {file}"))
    if not bounds:
        return Residency(None, f"{device.id}'s limits of a compute unit are not published")
    groups, limit = min(bounds, key=lambda it: it[0])
    return Residency(groups, limit, groups * per_group, capacity)
