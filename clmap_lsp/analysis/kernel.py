"""Join one kernel's accesses, launch and costs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from clmap_lsp.access.analyse import analyse
from clmap_lsp.access.classify import Classified, classify
from clmap_lsp.access.facts import Facts
from clmap_lsp.access.records import Direction
from clmap_lsp.analysis.costs import LaunchCosts, totals_of
from clmap_lsp.analysis.counting import count
from clmap_lsp.analysis.existing import accesses_left_out
from clmap_lsp.analysis.general import GeneralWords
from clmap_lsp.analysis.images import images_of
from clmap_lsp.analysis.model import AccessAnalysis, KernelAnalysis, MemoryTotals, Variant
from clmap_lsp.analysis.rests_on import rests_on
from clmap_lsp.analysis.stride import stride
from clmap_lsp.analysis.swap import swapped as swapped_kernel
from clmap_lsp.emulator.symbolic import Spending
from clmap_lsp.emulator.symbolic.counts import DEFAULT_BUDGET
from clmap_lsp.emulator.symbolic.needs import needs_of
from clmap_lsp.exactness import Exactness
from clmap_lsp.launch.model import Launch
from clmap_lsp.source import ir
from clmap_lsp.source.per_kernel import n_statements, per_kernel
from clmap_lsp.source.types import AddressSpace, points_to_local

if TYPE_CHECKING:
    from clmap_lsp.access.records import Access
    from clmap_lsp.devices.model import DeviceModel
    from clmap_lsp.emulator.moved import Moved

_READ_STATEMENT = 32
"""What a statement costs that accesses and launches are read off, in statements that the engine runs."""
_ORDERED = (ir.Barrier, ir.WaitEvents, ir.Collective, ir.AsyncCopy)


def analyse_kernel(
    kernel: ir.Kernel,
    launch: Launch | None,
    problems: tuple[str, ...],
    device: DeviceModel,
    constants: tuple[ir.Initializer, ...] = (),
    *,
    says_general: bool = True,
) -> KernelAnalysis:
    """Analyse one kernel; `launch` is `None` where none could be made.

    Args:
        says_general: also work out `in_general` and `shapes`, which take most of the time, tell people what
            else could be, and decide nothing.
    """
    summary = analyse(kernel, launch=launch, constants=constants)
    facts = Facts(launch, kernel.attributes.reqd_work_group_size)
    classified = classify(summary, launch=launch)
    if launch is None:
        accesses = tuple(_uncounted(it, facts, "there is no launch") for it in classified)
        return KernelAnalysis(
            kernel,
            None,
            problems,
            accesses,
            MemoryTotals(complete=False),
            notes=summary.caveats,
            rests_on=rests_on(kernel, None, summary.accesses, None),
            images=images_of(summary, None, facts, None),
        )
    spent, spent_elsewhere = Spending(DEFAULT_BUDGET), Spending(DEFAULT_BUDGET)
    costs = count(kernel, launch, device, constants, spent)
    others = accesses_left_out(summary, costs)
    left_out = classify(dataclasses.replace(summary, accesses=others), launch=launch) if others else ()
    everything = (*summary.accesses, *others)
    totals = totals_of(everything, costs)
    moved = needs_of(kernel).moved
    general = GeneralWords(launch, facts, device).of if says_general else None
    joined = partial(
        _joined,
        moved=moved,
        launch=launch,
        facts=facts,
        costs=costs,
        totals=totals,
        device=device,
        general=general,
    )
    found = [joined(it) for it in left_out]
    unreached = tuple(it for it in found if it.is_never_executed)
    accesses = (*map(joined, classified), *(it for it in found if not it.is_never_executed))
    if len(unreached) < len(found):
        accesses = tuple(sorted(accesses, key=lambda it: it.access.site))
    counted = partial(
        _variant, accesses=everything, device=device, constants=constants, shared=spent_elsewhere
    )
    # A launch that was given up has nothing to be compared with.
    swapped = _swapped(kernel, launch, counted) if costs.bail is None else None
    shapes = _shapes(kernel, launch, accesses, counted) if says_general else ()
    return KernelAnalysis(
        kernel,
        launch,
        problems,
        accesses,
        totals,
        swapped=swapped,
        shapes=shapes,
        notes=(*summary.caveats, *costs.notes),
        unreached=unreached,
        images=images_of(summary, launch, facts, costs),
        rests_on=rests_on(kernel, launch, everything, costs),
        work=_READ_STATEMENT * n_statements(kernel) + spent.work + spent_elsewhere.work,
    )


def _uncounted(classified: Classified, facts: Facts, reason: str) -> AccessAnalysis:
    access = classified.access
    along, across = _directions(facts.launch)
    return AccessAnalysis(
        access,
        None,
        None,
        Exactness.UNKNOWN,
        reason,
        stride=stride(access, along, facts),
        row_stride=stride(access, across, facts),
        classified=classified,
    )


def _directions(launch: Launch | None) -> tuple[int, int]:
    """Return the dimension in which work-items of a SIMD group follow each other, and the next one."""
    extended = [] if launch is None else [d for d, size in enumerate(launch.local_size) if size > 1]
    along = extended[0] if extended else 0
    return along, extended[1] if len(extended) > 1 else min(along + 1, 2)


def _joined(
    classified: Classified,
    moved: Mapping[ir.Site, Moved],
    launch: Launch,
    facts: Facts,
    costs: LaunchCosts,
    totals: MemoryTotals,
    device: DeviceModel,
    general: Callable[[Access, Moved], str | None] | None,
) -> AccessAnalysis:
    access = classified.access
    cost = costs.cost(access.site, access.space)
    if cost is None:
        return _uncounted(classified, facts, costs.bail or "the kernel could not be followed")
    whole = _traffic(access.space, totals)
    known = cost.count is not None
    is_part = known and whole and access.direction is not Direction.ATOMIC  # Atomics are not in the totals.
    along, across = _directions(launch)
    return AccessAnalysis(
        access,
        cost.totals,
        cost.per_request,
        cost.method if known else Exactness.UNKNOWN,
        cost.reason,
        general(access, moved[access.site]) if general is not None else None,
        stride(access, along, facts),
        stride(access, across, facts),
        classified,
        share=(cost.count or 0) / whole if is_part else None,
        pieces=tuple(size for _, size in moved[access.site].pieces(device)),
    )


def _traffic(space: AddressSpace, totals: MemoryTotals) -> int:
    """Return the kernel's sectors or wavefronts that an access of a space is a part of."""
    match space:
        case AddressSpace.GLOBAL:
            return totals.sectors
        case AddressSpace.LOCAL:
            return totals.wavefronts
        case _:
            return 0


Counted = Callable[[ir.Kernel, Launch], Variant]


def _swapped(kernel: ir.Kernel, launch: Launch, counted: Counted) -> Variant | None:
    """Count the kernel with dimensions 0 and 1 swapped; in the same work-groups where it allows any."""
    changed = swapped_kernel(kernel, launch)
    if changed is None:
        return None
    other_kernel, other_launch = changed
    if any_shape(kernel) and _divides(launch.local_size, other_launch.global_size):
        other_launch = dataclasses.replace(other_launch, local_size=launch.local_size)
    return counted(other_kernel, other_launch)


def _shapes(
    kernel: ir.Kernel, launch: Launch, accesses: Sequence[AccessAnalysis], counted: Counted
) -> tuple[Variant, ...]:
    """Count the kernel in other shapes of as many work-items, if an access costs more than it need."""
    wasteful = any(it.per_request is not None and it.per_request.excess >= 1.25 for it in accesses)
    if not wasteful or not any_shape(kernel) or len(launch.global_size) < 2:
        return ()
    return tuple(
        counted(kernel, dataclasses.replace(launch, local_size=size)) for size in other_shapes(launch)
    )


def other_shapes(launch: Launch) -> list[tuple[int, ...]]:
    """Return the 2-D work-groups of as many work-items, with power-of-two widths, that divide the launch."""
    items = launch.local_size[0] * launch.local_size[1]
    widths = [width for width in (1, 2, 4, 8, 16, 32, 64, 128, 256) if items % width == 0]
    sizes = [(width, items // width, *launch.local_size[2:]) for width in reversed(widths)]
    return [it for it in sizes if it != launch.local_size and _divides(it, launch.global_size)]


_GROUPED = frozenset(
    {
        ir.WorkItemQuery.LOCAL_ID,
        ir.WorkItemQuery.LOCAL_LINEAR_ID,
        ir.WorkItemQuery.GROUP_ID,
        ir.WorkItemQuery.LOCAL_SIZE,
        ir.WorkItemQuery.ENQUEUED_LOCAL_SIZE,
        ir.WorkItemQuery.NUM_GROUPS,
        ir.WorkItemQuery.SUB_GROUP_ID,
        ir.WorkItemQuery.SUB_GROUP_LOCAL_ID,
        ir.WorkItemQuery.SUB_GROUP_SIZE,
        ir.WorkItemQuery.NUM_SUB_GROUPS,
    }
)


@per_kernel
def any_shape(kernel: ir.Kernel) -> bool:
    """Tell whether the kernel's results do not depend on how work-items are grouped.

    It must not ask for local or group ids or sizes, synchronise, use local memory, or require a size.
    """
    if kernel.attributes.reqd_work_group_size is not None:
        return False
    if any(it.kind is ir.VariableKind.LOCAL_OBJECT for it in kernel.variables):
        return False
    if any(points_to_local(it.type) for it in kernel.parameters):
        return False
    for statement in ir.walk(kernel.body):
        if isinstance(statement, _ORDERED):
            return False
        for expression in ir.expressions(statement):
            if any(isinstance(it, ir.WorkItem) and it.query in _GROUPED for it in ir.nodes(expression)):
                return False
    return True


def _variant(
    kernel: ir.Kernel,
    launch: Launch,
    accesses: Sequence[Access],
    device: DeviceModel,
    constants: tuple[ir.Initializer, ...],
    shared: Spending,
) -> Variant:
    costs = count(kernel, launch, device, constants, shared)
    figures = {
        site: cost.count / cost.requests
        for site, cost in costs.sites.items()
        if cost.count is not None and cost.requests
    }
    return Variant(launch.local_size, totals_of(accesses, costs), figures)


def _divides(local: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    return all(g % x == 0 for x, g in zip(local, whole, strict=True))
