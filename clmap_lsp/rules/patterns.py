"""What the global-memory rules have in common: which access is whose business.

An access that costs more than it need has one cause, and one rule reports it:
work-items swapped against the layout (CM104), bytes side by side but not aligned (CM103), everything else
(CM101, CM102).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from clmap_lsp.access.records import Direction
from clmap_lsp.findings import Finding, Related, Severity
from clmap_lsp.rules import wording
from clmap_lsp.rules.estimates import estimate_of, phrase
from clmap_lsp.source.types import AddressSpace

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import AccessAnalysis, KernelAnalysis
    from clmap_lsp.devices.model import DeviceModel
    from clmap_lsp.rules.meta import RuleMeta

UNCOALESCED_FROM = 1.5
"""Times the ideal. Half as much again is what a walk with every third granule wasted costs; what is below
comes from edges, guards and alignment."""
MISALIGNED_FROM = 1.1
"""Times the ideal. One granule more on four (32 lanes of 4 bytes, 32-byte granules) is 1.25."""
SWAP_GAINS_FROM = 0.25
"""Part of the kernel's sectors that swapping must save: with less, it trades one access for another."""


def is_global(access: AccessAnalysis, direction: Direction) -> bool:
    """Tell whether this is a load (or store) of global memory whose cost is known."""
    return (
        access.access.space is AddressSpace.GLOBAL
        and access.access.direction is direction
        and access.per_request is not None
        and access.per_request.unit == "sectors"
    )


def is_contiguous(access: AccessAnalysis) -> bool:
    """Tell whether consecutive work-items touch consecutive elements."""
    return access.stride.bytes is not None and abs(access.stride.bytes) == access.access.size


def is_narrow(kernel: KernelAnalysis, access: AccessAnalysis, granule: int | None) -> bool:
    """Tell whether rows of the work-group are too short to fill a granule."""
    if kernel.launch is None or granule is None:
        return False
    return row_width(kernel) * access.access.size < granule


def row_width(kernel: KernelAnalysis) -> int:
    """Return how many work-items follow each other before the next row of the work-group starts."""
    sizes = () if kernel.launch is None else kernel.launch.local_size
    return next((it for it in sizes if it > 1), 1)


def is_scattered(access: AccessAnalysis, device: DeviceModel) -> bool:
    """Tell whether an access costs so much more than it need that it counts as scattered.

    It is compared with its own ideal, and with a whole SIMD group's elements side by side: an access that
    several lanes share may touch two sectors where one would do, and is no burden.
    """
    cost, granule = access.per_request, device.granule_bytes
    if cost is None or granule is None:
        return False
    packed = -(-device.simd_width * access.access.size // granule)
    return cost.mean >= UNCOALESCED_FROM * cost.ideal and cost.mean > packed


def swap_gain(kernel: KernelAnalysis) -> float:
    """Return the part of the kernel's sectors that swapping dimensions 0 and 1 saves; 0 where it is no cure.

    It is none if it costs more passes of local memory than it saves sectors.
    """
    if kernel.swapped is None or not kernel.totals.complete or not kernel.swapped.totals.complete:
        return 0.0
    before, after = kernel.totals, kernel.swapped.totals
    saved = before.sectors - after.sectors
    if before.sectors == 0 or saved <= after.wavefronts - before.wavefronts:
        return 0.0
    gain = saved / before.sectors
    return gain if gain >= SWAP_GAINS_FROM else 0.0


def swap_mends(kernel: KernelAnalysis, access: AccessAnalysis) -> bool:
    """Tell whether swapping dimensions is the cure of this access: it at least halves its sectors."""
    if access.per_request is None or kernel.swapped is None or swap_gain(kernel) == 0.0:
        return False
    after = kernel.swapped.per_request.get(access.access.site)
    return after is not None and after * 2 <= access.per_request.mean


def uncoalesced(
    kernel: KernelAnalysis, device: DeviceModel, rule: RuleMeta, direction: Direction
) -> Iterator[Finding]:
    """Yield the scattered accesses of one direction, for CM101 and CM102: one finding a cause."""
    found = [
        it
        for it in kernel.accesses
        if is_global(it, direction) and is_scattered(it, device) and not swap_mends(kernel, it)
    ]
    found = [it for it in found if not is_contiguous(it) or is_narrow(kernel, it, device.granule_bytes)]
    for group in by_cause(found):
        yield rule.finding(
            group[0].access.span,
            _message(kernel, group, device),
            kernel=kernel.name,
            severity=wording.graded(group, Severity.WARNING),
            related=(*_calls(group[0]), *also(group)),
            data={
                **wording.figures(group[0]),
                "share": wording.share_of(group),
                "estimate": _estimate(group[0], device),
            },
        )


def _estimate(access: AccessAnalysis, device: DeviceModel) -> dict[str, Any] | None:
    estimate = estimate_of(access, device)
    return None if estimate is None else dataclasses.asdict(estimate)


def by_cause(accesses: Iterable[AccessAnalysis]) -> list[list[AccessAnalysis]]:
    """Group accesses of one buffer that walk it alike (the members of a struct, the parts of a butterfly).

    The first of each group is the dearest; groups are in the order of the source.
    """
    groups: dict[object, list[AccessAnalysis]] = {}
    for it in accesses:
        walk = it.stride.text or f"{it.access.index_text} through {it.access.indirect_through}"
        groups.setdefault((it.access.buffer, walk), []).append(it)
    return [sorted(group, key=lambda it: -(it.share or 0.0)) for group in groups.values()]


def also(group: Sequence[AccessAnalysis]) -> tuple[Related, ...]:
    """Point at the other accesses of a group."""
    return tuple(
        Related(it.access.span, f"also {_noun(it)} of `{wording.expression(it)}`")
        for it in dict.fromkeys(group[1:9])
    )


def _noun(access: AccessAnalysis) -> str:
    return {"load": "this load", "store": "this store"}.get(access.access.direction.value, "this atomic")


def _message(kernel: KernelAnalysis, group: Sequence[AccessAnalysis], device: DeviceModel) -> str:
    access = group[0]
    cost = access.per_request
    assert cost is not None
    verb = "loads" if access.access.direction is Direction.LOAD else "stores"
    head = (
        f"`{wording.expression(access)}` {verb} {wording.plural(cost.mean, 'sector')} a request"
        f"{wording.sampled(access)} where {wording.number(cost.ideal)} would do"
    )
    cause = wording.distance(access) or wording.why_scattered(access)
    if is_contiguous(access):
        width = row_width(kernel)
        cause = f"rows of the work-group are {width} work-items, {width * access.access.size} bytes, wide"
    lines = [f"{head}: {cause}.", wording.scope(kernel, group, device)]
    if (estimate := estimate_of(access, device)) is not None:
        lines.append(f"{phrase(estimate, device)}.")
    if access.in_general and not access.in_general.startswith(f"{wording.number(cost.mean)} sector"):
        lines.append(f"In general: {access.in_general}.")
    if (shapes := better_shapes(kernel, access)) is not None:
        lines.append(shapes)
    return "\n".join(lines)


def better_shapes(kernel: KernelAnalysis, access: AccessAnalysis) -> str | None:
    """Name work-group shapes in which this access costs at least a quarter less: `4 sectors for 32x8`."""
    cost = access.per_request
    if cost is None or kernel.launch is None:
        return None
    by_cost: dict[str, list[str]] = {}
    for shape in kernel.shapes:
        figure = shape.per_request.get(access.access.site)
        fewer_in_all = shape.totals.sectors < kernel.totals.sectors
        if figure is not None and figure <= 0.75 * cost.mean and fewer_in_all:
            by_cost.setdefault(wording.number(figure), []).append("x".join(map(str, shape.local_size)))
    if not by_cost:
        return None
    best = sorted(by_cost.items(), key=lambda it: float(it[0]))[:2]
    here = "x".join(map(str, kernel.launch.local_size))
    listed = "; ".join(f"{figure} in groups of {' or '.join(names[:3])}" for figure, names in best)
    return f"Sectors a request by work-group: {listed}; {wording.number(cost.mean)} in {here}."


def _calls(access: AccessAnalysis) -> tuple[Related, ...]:
    """Point at the macro's body and at the calls that lead to an access in a helper function."""
    related = [Related(it.call, f"through this call of {it.function}") for it in access.access.frames]
    if access.access.span.definition is not None:
        related.append(Related(access.access.span.definition, "in the definition of the macro"))
    return tuple(related)
