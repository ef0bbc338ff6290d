"""What a scattered access costs in bandwidth, by the stride sweep of the device or of the nearest one."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import AccessAnalysis
    from clmap_lsp.devices.model import DeviceModel
    from clmap_lsp.research import Curve, Estimate


def estimate_of(access: AccessAnalysis, device: DeviceModel) -> Estimate | None:
    """Return the estimated share of peak bandwidth; `None` where no sweep of such a device says anything."""
    cost, granule = access.per_request, device.granule_bytes
    if cost is None or cost.unit != "sectors" or granule is None or not device.is_product:
        return None
    from clmap_lsp.time.facts import time_facts

    if time_facts(device.id) is not None:  # What it loses is told in seconds, after the rules.
        return None
    from clmap_lsp.research import estimate_from_sectors

    curve = _curve(device.id)
    if curve is None:
        return None
    return estimate_from_sectors(curve, cost.mean, cost.ideal, granule)


def phrase(estimate: Estimate, device: DeviceModel) -> str:
    """Return `About 12 % of peak bandwidth on nvidia-hopper`, with the platform where it is another one."""
    share = f"{estimate.share * 100:.0f} %" if estimate.share >= 0.01 else "less than 1 %"
    text = f"About {share} of peak bandwidth on {device.id}"
    return f"{text}, by the sweep of {estimate.platform}" + (
        "" if estimate.exact else ", the nearest recorded"
    )


@lru_cache(maxsize=64)  # Records do not change while the process lives; a file has many findings.
def _curve(device: str) -> Curve | None:
    from clmap_lsp.research import DatabaseError, device_curve, known_records

    try:
        curve = device_curve(known_records(), device)
    except DatabaseError:  # Estimates come from records; `db` says what is wrong with them.
        return None
    # On a CPU chunks are best: what a request spreads over says nothing there.
    if curve is None or curve.share(curve.points[-1][0]) >= curve.share(1.0):
        return None
    return curve
