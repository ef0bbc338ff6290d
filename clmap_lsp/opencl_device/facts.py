"""What a driver says about a device, as plain data."""

from __future__ import annotations

from dataclasses import asdict
from enum import Enum
from typing import Any

from clmap_lsp.dataclass import dataclass

MIB = 1 << 20

# A driver's GLOBAL_MEM_CACHE_SIZE is not always the last level: NVIDIA's reports per-multiprocessor caches on
# some generations. These floors are the largest L2 of the class (H200: 60 MB by cudaDeviceProp.l2CacheSize;
# RTX 5090: 96 MB by NVIDIA's Blackwell whitepaper), so that a buffer sized from them is never too small.
_LAST_LEVEL_FLOOR = {"gpu": 96 * MIB, "accelerator": 64 * MIB, "cpu": 4 * MIB}


class DeviceKind(Enum):
    """`CL_DEVICE_TYPE`, without the flags nobody needs."""

    GPU = "gpu"
    CPU = "cpu"
    ACCELERATOR = "accelerator"


@dataclass(frozen=True, slots=True)
class DeviceFacts:
    """One device as its driver describes it. Sizes in bytes, clock in MHz."""

    index: int
    """Place in `list_devices()`, the number that `--platform` accepts."""
    name: str
    vendor: str
    kind: DeviceKind
    platform: str
    platform_version: str
    driver: str
    device_version: str
    compute_units: int
    clock_mhz: int
    max_work_group: int
    max_work_item_sizes: tuple[int, ...]
    global_bytes: int
    max_alloc_bytes: int
    cache_bytes: int
    """What the driver reports for its global memory cache; not always the last level."""
    cache_line_bytes: int
    local_bytes: int
    local_dedicated: bool
    """False where local memory lives in global memory (CPUs)."""
    fp64: bool
    timer_resolution_ns: int
    compute_capability: str = ""
    """NVIDIA only, as in `9.0`."""

    @property
    def key(self) -> str:
        """Return what identifies it in the database: device and driver."""
        return f"{self.name} | {self.driver}"

    @property
    def last_level_bytes(self) -> int:
        """Return a size no smaller than the last-level cache, as far as is known."""
        return max(self.cache_bytes, _LAST_LEVEL_FLOOR[self.kind.value])

    @property
    def beyond_cache_bytes(self) -> int:
        """Return a buffer size well beyond the last-level cache: four times, at least 64 MiB, if it fits."""
        wanted = max(4 * self.last_level_bytes, 64 * MIB)
        return min(wanted, self.max_alloc_bytes, self.global_bytes // 4)

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        data = asdict(self)
        data["kind"] = self.kind.value
        data["max_work_item_sizes"] = list(self.max_work_item_sizes)
        return data
