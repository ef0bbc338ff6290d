"""Algorithm 3: which memory an array should live in, as OpenCL names them.

The verdict is the paper's, of 2011. Where a device's caches have since made it moot, `moot` says so and why.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import TYPE_CHECKING, Final

from clmap_lsp.dataclass import dataclass
from clmap_lsp.devices.model import BankedLocal, ConstantRule
from clmap_lsp.hierarchy.instances import Array, Instance, arrays_of
from clmap_lsp.hierarchy.properties import (
    Answer,
    chunkable,
    coalesced,
    lane_pattern,
    small,
    temporal_reuse,
)

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import KernelAnalysis
    from clmap_lsp.devices.model import DeviceModel
    from clmap_lsp.launch.model import Launch


class Memory(Enum):
    """OpenCL's memories; `IMAGE` stands for the paper's texture memory."""

    CONSTANT = "constant"
    LOCAL = "local"
    GLOBAL = "global"
    IMAGE = "image"


READ_ONLY_ORDER: Final = (Memory.IMAGE, Memory.GLOBAL, Memory.LOCAL, Memory.CONSTANT)
READ_WRITE_ORDER: Final = (Memory.GLOBAL, Memory.LOCAL)
"""Which verdict wins where the instances of one array differ (the paper, section 4.2.5)."""


@dataclass(frozen=True, slots=True)
class InstanceVerdict:
    """What Algorithm 3 says of one instance."""

    instance: Instance
    memory: Memory
    pattern: str
    """How neighbouring work-items walk it; see `lane_pattern`."""
    why: str


@dataclass(frozen=True, slots=True)
class Selection:
    """The memory for one array."""

    array: Array
    memory: Memory
    instances: tuple[InstanceVerdict, ...]
    temporal_reuse: bool
    moot: str | None
    """Why the choice matters little on this device; `None` where it still matters or nothing is known."""

    @property
    def why(self) -> str:
        """The reason for the verdict that won."""
        return next(it.why for it in self.instances if it.memory is self.memory)

    @property
    def patterns(self) -> tuple[str, ...]:
        """What the paper's Table 4 lists: `linear read`, `same address read`, `random write`, …"""
        found: dict[str, None] = {}
        for it in self.instances:
            if it.instance.is_loaded:
                found[f"{it.pattern} read"] = None
            if it.instance.is_stored:
                found[f"{it.pattern} write"] = None
        return tuple(found)


def select(analysis: KernelAnalysis, device: DeviceModel) -> tuple[Selection, ...]:
    """Return the memory for each global and constant array of a kernel, in the order of first use."""
    return tuple(select_array(it, device, analysis.launch) for it in arrays_of(analysis))


def select_array(array: Array, device: DeviceModel, launch: Launch | None) -> Selection:
    """Apply Algorithm 3 to one array.

    Write-only arrays are output data, which section 4.2.1 leaves in global memory.
    """
    reuse = temporal_reuse(array)
    if array.is_read_only:
        verdicts = tuple(_read_only(array, it, reuse, device, launch) for it in array.instances)
        order: Iterable[Memory] = READ_ONLY_ORDER
    else:
        verdicts = tuple(_read_write(array, it, reuse, device, launch) for it in array.instances)
        order = READ_WRITE_ORDER
    found = {it.memory for it in verdicts}
    memory = next(it for it in order if it in found)
    return Selection(array, memory, verdicts, reuse.holds, moot(memory, device))


def _read_only(
    array: Array, it: Instance, reuse: Answer, device: DeviceModel, launch: Launch | None
) -> InstanceVerdict:
    pattern = lane_pattern(it)
    fits = small(array, device)
    if it.same_address and fits:
        return InstanceVerdict(
            it, Memory.CONSTANT, pattern, f"all work-items read the same address, and {fits.why}"
        )
    chunks = chunkable(it, device, launch)
    if chunks and reuse:
        return InstanceVerdict(it, Memory.LOCAL, pattern, f"{reuse.why}, and {chunks.why}")
    together = coalesced(it, device, launch)
    if together and not reuse:
        return InstanceVerdict(it, Memory.GLOBAL, pattern, f"{together.why}, and {reuse.why}")
    return InstanceVerdict(it, Memory.IMAGE, pattern, together.why if not together else chunks.why)


def _read_write(
    array: Array, it: Instance, reuse: Answer, device: DeviceModel, launch: Launch | None
) -> InstanceVerdict:
    pattern = lane_pattern(it)
    if not array.is_loaded:
        return InstanceVerdict(it, Memory.GLOBAL, pattern, "it is output: written, never read")
    chunks = chunkable(it, device, launch)
    if chunks and reuse:
        return InstanceVerdict(it, Memory.LOCAL, pattern, f"{reuse.why}, and {chunks.why}")
    why = chunks.why if not chunks else reuse.why
    return InstanceVerdict(it, Memory.GLOBAL, pattern, f"it is read and written, and {why}")


def moot(memory: Memory, device: DeviceModel) -> str | None:
    """Say why a placement gains little on a device; `None` where it gains, or where that is not published."""
    match memory:
        case Memory.CONSTANT if device.constant_gains is False:
            return (
                f"global memory was measured on {device.id} to be read as fast: its caches serve one address "
                "to a whole SIMD group at once too"
            )
        case Memory.CONSTANT:
            return _CONSTANT.get(device.constant_rule)
        case Memory.LOCAL if device.has_scratchpad is False:
            return f"{device.id} keeps local memory in its ordinary caches, so a copy there only adds work"
        case Memory.IMAGE if device.line_bytes is not None and isinstance(device.local_rule, BankedLocal):
            granule = device.granule_bytes
            parts = f", {granule} bytes at a time" if granule else ""
            return (
                f"{device.id} caches global loads in lines of {device.line_bytes} bytes{parts}, which in "
                "2011 only texture reads had; an image still gains where work-items read a 2-D neighbourhood"
            )
        case Memory.IMAGE if device.has_scratchpad is False:
            return f"{device.id} reads images through its ordinary caches, or emulates them"
        case _:
            return None


_CONSTANT: Final = {
    ConstantRule.AS_GLOBAL: "constant memory is read through the same caches as global memory here",
    ConstantRule.UNIFORM_OR_VECTOR: (
        "the compiler reads an address that all work-items share once for the SIMD group here, from global "
        "memory too"
    ),
}
