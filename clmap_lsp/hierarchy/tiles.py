"""Tiles in local memory whose side sets how often a loaded element is used, and which side a device allows.

In a product of matrices by tiles a work-group of T x T loads tiles of T x T, and each element is read T
times: the loads of global memory fall with 1/T. The same holds in one dimension for work-groups of T that
pass T bodies, rows or centres round. What limits T is the size of a work-group, its local memory, and how
many groups stay resident.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

from clmap_lsp.access.polynomial import LoopSymbol
from clmap_lsp.access.records import Direction
from clmap_lsp.analysis.advice import staged_arrays
from clmap_lsp.dataclass import dataclass
from clmap_lsp.hierarchy.occupancy import Residency, local_objects, resident
from clmap_lsp.hierarchy.properties import in_launch
from clmap_lsp.source.types import AddressSpace

if TYPE_CHECKING:
    from clmap_lsp.access.records import Access
    from clmap_lsp.analysis.model import AccessAnalysis, KernelAnalysis
    from clmap_lsp.devices.model import DeviceModel
    from clmap_lsp.launch.model import Launch
    from clmap_lsp.source.ir import Variable

MOST_PADDING: Final = 1.5
"""Times the elements of a tile that a local array may have: rows are padded against bank conflicts."""
LEAST_OCCUPANCY: Final = 0.5
"""Part of the SIMD groups that must stay resident with a larger tile, or as many as now."""
LEAST_LOCAL_BYTES: Final = 32 * 1024
"""What OpenCL promises of every full-profile device (CL_DEVICE_LOCAL_MEM_SIZE)."""
LEAST_GROUP: Final = 256
"""Work-items of a group that are asked of a device whose limit is not known."""


@dataclass(frozen=True, slots=True)
class Tiling:
    """The tiles of a kernel that grow together: all have the side of the work-group."""

    side: int
    dimensions: tuple[int, ...]
    """Those of the launch in which a work-group is longer than 1."""
    arrays: tuple[Variable, ...]
    loads: tuple[AccessAnalysis, ...]
    """The loads of global memory that fill them."""
    buffers: tuple[str, ...]
    local_bytes: int
    """Of a work-group, all its local arrays together."""

    @property
    def sectors(self) -> int:
        """What the loads move over the launch."""
        return sum(it.totals.sectors for it in self.loads if it.totals is not None)


@dataclass(frozen=True, slots=True)
class TileChoice:
    """A larger side that a device allows."""

    side: int
    local_bytes: int
    group_items: int
    n_groups: int
    """Work-groups of the launch."""
    sectors: int
    """What the loads would move then, about: they fall with the side."""
    residency: Residency


def tiling_of(analysis: KernelAnalysis) -> Tiling | None:
    """Return the tiles of a kernel whose reuse grows with the work-group's side; `None` if it has none."""
    launch = analysis.launch
    if launch is None:
        return None
    dimensions = tuple(d for d, size in enumerate(launch.local_size) if size > 1)
    sides = {launch.local_size[d] for d in dimensions}
    if len(sides) != 1 or len(dimensions) > 2:
        return None
    side = sides.pop()
    objects = {variable.name: (variable, size) for variable, size in local_objects(analysis)}
    stages = [it for it in staged_arrays(analysis.kernel) if it.name in objects]
    found = [
        it for it in stages if _is_tile(analysis, launch, it.name, objects[it.name][1], side, dimensions)
    ]
    sites = frozenset().union(*(it.loads for it in found)) if found else frozenset()
    loads = tuple(it for it in analysis.accesses if it.access.site in sites)
    if not loads or any(_passes(it.access, launch) is None for it in loads):
        return None
    return Tiling(
        side,
        dimensions,
        tuple(objects[it.name][0] for it in found),
        loads,
        tuple(dict.fromkeys(it.access.buffer for it in loads)),
        sum(size for _, size in objects.values()),
    )


def _is_tile(
    analysis: KernelAnalysis, launch: Launch, name: str, size: int, side: int, dimensions: tuple[int, ...]
) -> bool:
    """True for an array as large as the work-group that a loop of `side` turns reads."""
    mine = [it.access for it in analysis.accesses if it.access.buffer == name]
    reads = [it for it in mine if it.direction is Direction.LOAD and it.space is AddressSpace.LOCAL]
    if not reads:
        return False
    elements = size // max(reads[0].size, 1)
    wanted = side ** len(dimensions)
    walked = all(
        any(it in read.index.leaves and _trip(it, launch) == side for it in read.loops) for read in reads
    )
    return walked and wanted <= elements <= MOST_PADDING * wanted


def _trip(loop: LoopSymbol, launch: Launch) -> int | None:
    return None if loop.trip is None else in_launch(loop.trip, launch)


def _passes(load: Access, launch: Launch) -> int | None:
    """Return how many tiles a load brings in one after the other; `None` unless there are several."""
    trips = [_trip(it, launch) for it in load.loops if it in load.index.leaves]
    known = [it for it in trips if it is not None]
    return prod(known) if known and len(known) == len(trips) and prod(known) > 1 else None


def larger_tile(analysis: KernelAnalysis, device: DeviceModel, tiling: Tiling) -> TileChoice | None:
    """Return the largest side, a power of two times the present one, that a device allows; `None` if none."""
    best, side = None, 2 * tiling.side
    while (choice := _choice(analysis, device, tiling, side)) is not None:
        best, side = choice, 2 * side
    return best


def _choice(analysis: KernelAnalysis, device: DeviceModel, tiling: Tiling, side: int) -> TileChoice | None:
    launch, limits = analysis.launch, device.limits
    assert launch is not None, "tiles come from a launch"
    times = side // tiling.side
    growth = times ** len(tiling.dimensions)
    items, needed = launch.group_items * growth, tiling.local_bytes * growth
    groups = prod(launch.num_groups) // growth
    if items > (limits.max_work_group_size or LEAST_GROUP):
        return None
    if needed > (limits.local_bytes_per_group or LEAST_LOCAL_BYTES):
        return None
    passes = [_passes(it.access, launch) or 0 for it in tiling.loads]
    if any(launch.global_size[d] % side for d in tiling.dimensions) or any(it % times for it in passes):
        return None
    if limits.compute_units is not None and groups < limits.compute_units:
        return None
    now = resident(device, launch.group_items, tiling.local_bytes)
    then = resident(device, items, needed)
    if then.occupancy is not None and then.occupancy < min(LEAST_OCCUPANCY, now.occupancy or 1.0):
        return None
    return TileChoice(side, needed, items, groups, tiling.sectors // times, then)
