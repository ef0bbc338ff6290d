"""What the rules about local memory share: plans and advice from the records of the process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import AccessAnalysis, KernelAnalysis
    from clmap_lsp.devices.model import DeviceModel
    from clmap_lsp.research import Advice, StagingPlan


def plan_of(kernel: KernelAnalysis, device: DeviceModel) -> StagingPlan | None:
    """Return the staging plan of a kernel; `None` where the records cannot be read."""
    if not device.is_product:
        return None
    from clmap_lsp.research import DatabaseError, known_records, staging_plan

    try:
        return staging_plan(known_records(), kernel, device)
    except DatabaseError:  # Findings come from records; without them there are none. `db` says why.
        return None


def advice_on(kernel: KernelAnalysis, reads: Sequence[AccessAnalysis], device: DeviceModel) -> Advice | None:
    """Return the advice for the MAP by which most of these accesses read; `None` where they have none."""
    if not device.is_product:
        return None
    from clmap_lsp.research import DatabaseError, advise, known_records

    numbers = [
        100 * it.classified.map.imap.number + it.classified.map.emap
        for it in reads
        if it.classified is not None and it.classified.map is not None
    ]
    if not numbers or len(numbers) < len(reads):
        return None
    most = max(sorted(set(numbers)), key=numbers.count)
    side = 1024 if kernel.launch is None else max(1, round(float(kernel.launch.work_items) ** 0.5))
    try:
        return advise(known_records(), most, device.id, side)
    except DatabaseError:
        return None


def where_recorded(advice: Advice) -> str:
    """Say which record a figure is: `record 1024x1024, cold cache, max-approach, padded, 41 runs`."""
    record = advice.record
    assert record is not None
    assert advice.choice is not None
    approach = "local memory" if record.approach == "local" else f"{record.approach}-approach"
    parts = [
        f"record {record.size}x{record.size}",
        f"{record.cache} cache",
        approach + (", padded" if record.padded else ""),
        f"{record.runs} runs",
    ]
    text = ", ".join(parts)
    return text if advice.choice.exact else f"{text}; {advice.choice.why}"
