"""The machines that LLVM's back ends know and that device models stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clmap_lsp.dataclass import dataclass
from clmap_lsp.source.types import AddressSpace

if TYPE_CHECKING:
    from clmap_lsp.devices.model import DeviceModel


@dataclass(frozen=True, slots=True)
class Target:
    """One back end with one processor. `spaces` numbers the address spaces as the back end does."""

    triple: str
    cpu: str
    features: str
    spaces: dict[AddressSpace, int]

    @property
    def is_nvidia(self) -> bool:
        """True for PTX."""
        return self.triple.startswith("nvptx")

    @property
    def name(self) -> str:
        """What people call it: `nvptx sm_90`, `amdgcn gfx942`."""
        return f"{'nvptx' if self.is_nvidia else 'amdgcn'} {self.cpu}"


_NVIDIA_SPACES = {
    AddressSpace.PRIVATE: 0,
    AddressSpace.GENERIC: 0,
    AddressSpace.GLOBAL: 1,
    AddressSpace.LOCAL: 3,
    AddressSpace.CONSTANT: 4,
}
_AMD_SPACES = {**_NVIDIA_SPACES, AddressSpace.PRIVATE: 5}
NVIDIA_OPTIONS = ("-nvptx-prec-divf32=1", "-nvptx-prec-sqrtf32=0")
"""OpenCL C 3.0, section 7.4: x / y within 2.5 ulp, sqrt within 3: the approximate instructions."""

_NVIDIA_CPUS = {
    "nvidia-maxwell": "sm_52",
    "nvidia-pascal": "sm_61",
    "nvidia-volta": "sm_70",
    "nvidia-turing": "sm_75",
    "nvidia-ampere": "sm_80",
    "nvidia-ada": "sm_89",
    "nvidia-hopper": "sm_90",
    "nvidia-blackwell": "sm_100",
    "nvidia-blackwell-rtx": "sm_120",
}
_AMD_CPUS = {
    "amd-gcn": "gfx906",
    "amd-cdna2": "gfx90a",
    "amd-cdna3": "gfx942",
    "amd-cdna4": "gfx950",
    "amd-rdna2": "gfx1030",
    "amd-rdna3": "gfx1100",
    "amd-rdna4": "gfx1200",
}


def nvidia(cpu: str) -> Target:
    """Return the target of an NVIDIA compute capability, such as `sm_90`."""
    return Target("nvptx64-nvidia-cuda", cpu, "", _NVIDIA_SPACES)


def amd(cpu: str) -> Target:
    """Return the target of an AMD processor, such as `gfx90a`."""
    return Target("amdgcn-amd-amdhsa", cpu, "", _AMD_SPACES)


def target_of(device: DeviceModel) -> Target | None:
    """Return the target that a device model stands for; `None` where LLVM has no back end for it.

    The generic model is compiled as the NVIDIA generation whose counts it shares.
    """
    generation = device.generation or device.id
    if generation in _NVIDIA_CPUS:
        return nvidia(_NVIDIA_CPUS[generation])
    if generation in _AMD_CPUS:
        return amd(_AMD_CPUS[generation])
    return nvidia("sm_90") if device.vendor == "generic" else None
