"""One cost summary a kernel, in CuMAPz's terms, and an estimate by which variants of a kernel can be ordered.

Source of the terms: Y. Kim and A. Shrivastava, CuMAPz: A Tool to Analyze Memory Access Patterns in CUDA, DAC
2011: data reuse, coalescing, bank conflicts, channel skew (partition camping).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from clmap_lsp.dataclass import dataclass
from clmap_lsp.devices.model import BankedLocal
from clmap_lsp.hierarchy.occupancy import residency
from clmap_lsp.hierarchy.private_memory import spilled
from clmap_lsp.hierarchy.properties import in_launch
from clmap_lsp.source.types import AddressSpace

if TYPE_CHECKING:
    from clmap_lsp.access.reuse import BufferReuse
    from clmap_lsp.analysis.model import AccessAnalysis, KernelAnalysis
    from clmap_lsp.devices.model import DeviceModel
    from clmap_lsp.launch.model import Launch

GLOBAL_PASS: Final = 4
"""What a pass of global memory counts against one of local memory. An assumption of the estimate: no vendor
publishes the ratio, and caches blur it; only the order of estimates is meant to be used."""
REUSE_TOUCHES: Final = 300_000


@dataclass(frozen=True, slots=True)
class Part:
    """One component: what it costs, or would save. `share` is of the kernel's passes, 0 to 1.

    A pass is one sector of global memory or one wavefront of local memory. `None` figures: see `reason`.
    """

    bytes: int | None
    passes: int | None
    share: float | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CostSummary:
    """What a launch of a kernel moves, and what of it need not be."""

    passes: int
    """Sectors and wavefronts together."""
    reuse_profit: Part
    """Global loads that local memory would save: what each work-group fetches more than once."""
    coalescing_profit: Part
    """Sectors beyond those that the same lanes would need side by side."""
    bank_conflicts: Part
    """Wavefronts beyond those without conflicts."""
    channel_skew: Part
    complete: bool
    """False if the costs of some access are unknown, so that sums are lower bounds."""


def summarise(analysis: KernelAnalysis, device: DeviceModel) -> CostSummary:
    """Return the cost summary of a kernel's launch."""
    passes = analysis.totals.sectors + analysis.totals.wavefronts
    sites = {it.access.site: it for it in analysis.accesses}.values()
    in_global = [it for it in sites if it.access.space is AddressSpace.GLOBAL]
    in_local = [it for it in sites if it.access.space is AddressSpace.LOCAL]
    granule = device.granule_bytes
    local = device.local_rule
    row = local.banks * local.bank_bytes if isinstance(local, BankedLocal) else None
    return CostSummary(
        passes,
        _reuse(analysis, device, passes),
        _excess(in_global, granule, passes, "the device's granule is not published"),
        _excess(in_local, row, passes, "the device's local memory has no banks, or they are not published"),
        Part(None, None, None, _why_no_channels(device)),
        analysis.totals.complete,
    )


def _why_no_channels(device: DeviceModel) -> str:
    """Say what is missing to count by memory channel: no device model has a mapping of addresses to them."""
    mapping = device.facts.get("channels.mapping")
    if mapping is not None and mapping.note:
        return mapping.note
    return f"how {device.id} interleaves memory channels is not published"


def _excess(accesses: Sequence[AccessAnalysis], unit_bytes: int | None, total: int, reason: str) -> Part:
    """Return what accesses move beyond the least possible; unknown if it is unknown of one of them."""
    excess = 0
    for it in accesses:
        cost, totals = it.per_request, it.totals
        if cost is not None and totals is not None:
            excess += max(round((cost.mean - cost.ideal) * totals.requests), 0)
        elif it.reason and not it.is_never_executed:
            return Part(None, None, None, it.reason)
    return _part(excess, unit_bytes, total, reason)


def _part(passes: int, unit_bytes: int | None, total: int, reason: str) -> Part:
    share = passes / total if total else 0.0
    if unit_bytes is None:
        return Part(None, passes, share, reason)
    return Part(passes * unit_bytes, passes, share)


def _reuse(analysis: KernelAnalysis, device: DeviceModel, total: int) -> Part:
    """Return what global loads fetch beyond each work-group's distinct bytes."""
    launch, granule = analysis.launch, device.granule_bytes
    if launch is None or granule is None:
        return Part(None, None, None, "there is no launch" if launch is None else "no granule is published")
    n_groups = 1
    for n in launch.num_groups:
        n_groups *= n
    saved = 0
    for it in _load_reuse(analysis, launch):
        if it.distinct is None:
            return Part(None, None, None, f"`{it.buffer}`: {it.reason}")
        moved = sum(
            access.totals.sectors
            for access in analysis.accesses
            if access.access.buffer == it.buffer
            and access.access.direction.value == "load"
            and access.totals is not None
        )
        saved += max(moved - n_groups * -(-it.distinct // granule), 0)
    return _part(saved, granule, total, "")


def _load_reuse(analysis: KernelAnalysis, launch: Launch) -> tuple[BufferReuse, ...]:
    from clmap_lsp.access.records import AccessSummary
    from clmap_lsp.access.reuse import reuse_of

    loads = tuple(
        it.access
        for it in analysis.accesses
        if it.access.space is AddressSpace.GLOBAL and it.access.direction.value == "load"
    )
    if not loads:
        return ()
    summary = AccessSummary(analysis.kernel, loads, (), (), loads[0].names)
    return reuse_of(summary, launch, limit=REUSE_TOUCHES)


# ---------------------------------------------------------------------------------------------- estimates


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number to order variants of one computation by: weighted passes, divided by what runs at once."""

    weighted_passes: float
    simd_groups_at_once: int
    """SIMD groups of the launch that can be resident together, on all compute units."""

    @property
    def cost(self) -> float:
        """Smaller is faster; it has no unit."""
        return self.weighted_passes / self.simd_groups_at_once


def estimate(analysis: KernelAnalysis, device: DeviceModel, compute_units: int) -> Estimate | str:
    """Estimate a launch's cost on a device with so many compute units; or why it cannot be told."""
    launch = analysis.launch
    if launch is None:
        return "there is no launch"
    if not analysis.totals.complete:
        return "the costs of an access are unknown"
    if device.granule_bytes is None:
        return "the device's granule is not published"
    line = (device.line_bytes or device.granule_bytes) // device.granule_bytes
    weighted = float(analysis.totals.wavefronts)
    for it in {it.access.site: it for it in analysis.accesses}.values():
        if it.totals is not None and it.access.space is AddressSpace.GLOBAL:
            weighted += GLOBAL_PASS * max(it.totals.requests, it.totals.sectors / line)
    weighted += GLOBAL_PASS * _spill_requests(analysis, device, launch)
    n_groups = 1
    for n in launch.num_groups:
        n_groups *= n
    per_group = -(-launch.group_items // device.simd_width)
    resident = residency(analysis, device).groups
    at_once = n_groups if resident is None else min(n_groups, max(resident, 1) * compute_units)
    return Estimate(weighted, at_once * per_group)


def _spill_requests(analysis: KernelAnalysis, device: DeviceModel, launch: Launch) -> int:
    """Count the requests to private arrays in memory: interleaved by work-item, they are coalesced."""
    from clmap_lsp.access.analyse import analyse

    names = {it.variable.name for it in spilled(analysis, device)}
    if not names:
        return 0
    total = 0
    n_simd = -(-launch.group_items // device.simd_width) * -(-launch.work_items // launch.group_items)
    for access in analyse(analysis.kernel, launch=launch).private:
        if access.buffer in names:
            n = n_simd
            for loop in access.loops:
                n *= max((loop.trip is not None and in_launch(loop.trip, launch)) or 1, 1)
            total += n
    return total
