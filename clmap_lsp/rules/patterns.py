"""What the global-memory rules have in common: which access is whose business.

An access that costs more than it need has one cause, and one rule reports it:
work-items swapped against the layout (CM104), bytes side by side but not aligned (CM103), one access of each
work-item that was split into several (CM105), everything else (CM101, CM102).
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from clmap_lsp.access.polynomial import Polynomial
from clmap_lsp.access.records import Direction
from clmap_lsp.caches import when_dropped
from clmap_lsp.dataclass import dataclass
from clmap_lsp.findings import Finding, Related, Severity
from clmap_lsp.rules import wording
from clmap_lsp.rules.estimates import estimate_of, phrase
from clmap_lsp.rules.intensity import is_compute_bound
from clmap_lsp.rules.thresholds import (
    SMALL_FACTOR,
    SMALL_SHARE,
    SPLIT_BYTES,
    SPLIT_COVERED,
    SWAP_GAINS_FROM,
    UNCOALESCED_FROM,
    WIDEST_BYTES,
)
from clmap_lsp.source.types import AddressSpace, ArrayType, PointerType, VectorType

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import AccessAnalysis, KernelAnalysis
    from clmap_lsp.devices.model import DeviceModel
    from clmap_lsp.rules.meta import RuleMeta


def is_global(access: AccessAnalysis, direction: Direction) -> bool:
    """Tell whether this is a load (or store) of global memory whose cost is known."""
    return (
        access.access.space is AddressSpace.GLOBAL
        and access.access.direction is direction
        and access.per_request is not None
        and access.per_request.unit == "sectors"
    )


def is_contiguous(access: AccessAnalysis) -> bool:
    """Tell whether consecutive work-items touch consecutive bytes."""
    return access.stride.bytes is not None and abs(access.stride.bytes) == touched_bytes(access)


def touched_bytes(access: AccessAnalysis) -> int:
    """Return the bytes that one work-item moves: of a vector of which it needs one component, those."""
    return sum(access.pieces) or access.access.size


def is_part_of_vector(access: AccessAnalysis) -> bool:
    """Tell whether an access is to a component of vectors that lie side by side: they move whole."""
    kind = None if access.access.root is None else access.access.root.type
    while isinstance(kind, ArrayType):
        kind = kind.element
    whole = kind.pointee if isinstance(kind, PointerType) else kind
    return isinstance(whole, VectorType) and access.access.size < whole.size == abs(access.stride.bytes or 0)


def has_known_lanes(kernel: KernelAnalysis, device: DeviceModel) -> bool:
    """Tell whether the device runs as many work-items together as the kernel asks for.

    Sub-group functions mean the lanes of the sub-groups that the source requires; in groups of another size
    they address something else.
    """
    required = kernel.kernel.attributes.reqd_sub_group_size
    return required is None or required == device.simd_width


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

    It is none if it costs more passes of local memory than it saves sectors, or images lose, whose texels
    are not counted: those that work-items walk along rows.
    """
    if any(it.steps and it.axis_of(it.along) == "x" for it in kernel.images):
        return 0.0
    if kernel.swapped is None or not kernel.totals.complete or not kernel.swapped.totals.complete:
        return 0.0
    before, after = kernel.totals, kernel.swapped.totals
    saved = before.sectors - after.sectors
    if before.sectors == 0 or saved <= after.wavefronts - before.wavefronts:
        return 0.0
    gain = saved / before.sectors
    return gain if gain >= SWAP_GAINS_FROM else 0.0


def swap_mends(kernel: KernelAnalysis, access: AccessAnalysis) -> bool:
    """Tell whether swapping dimensions is the cure of this access: it saves a quarter of its sectors."""
    if access.per_request is None or kernel.swapped is None or swap_gain(kernel) == 0.0:
        return False
    after = kernel.swapped.per_request.get(access.access.site)
    return after is not None and after <= (1 - SWAP_GAINS_FROM) * access.per_request.mean


def walks_across(access: AccessAnalysis) -> bool:
    """Tell whether neighbours in dimension 0 are further apart in global memory than what each moves."""
    apart = access.stride.bytes
    return access.access.space is AddressSpace.GLOBAL and (
        apart is None or abs(apart) > touched_bytes(access)
    )


def uncoalesced(
    kernel: KernelAnalysis, device: DeviceModel, rule: RuleMeta, direction: Direction
) -> Iterator[Finding]:
    """Yield the scattered accesses of one direction, for CM101 and CM102: one finding a buffer."""
    if not has_known_lanes(kernel, device):
        return
    found = [
        it
        for it in kernel.accesses
        if is_global(it, direction) and is_scattered(it, device) and not swap_mends(kernel, it)
    ]
    found = [it for it in found if not is_contiguous(it) or is_narrow(kernel, it, device.granule_bytes)]
    found = [it for it in found if covered(kernel, it) < SPLIT_COVERED and not walks_own_row(it)]
    if direction is Direction.STORE:
        found = [it for it in found if not _is_updated(kernel, it)]
    waits_elsewhere = bool(found) and is_compute_bound(kernel)

    def finding(group: Sequence[AccessAnalysis]) -> Finding:
        severity = Severity.HINT if waits_elsewhere else _severity(kernel, group)
        return _uncoalesced(kernel, group, device, rule, severity)

    for group in by_buffer(found):
        yield one_of(group, finding)


MOST_PLACES = 9
"""Accesses of one group that are pointed at."""


def one_of(
    group: Sequence[AccessAnalysis], finding: Callable[[Sequence[AccessAnalysis]], Finding]
) -> Finding:
    """Return a group's finding at its dearest access, with what is left where a comment silences that one."""
    found = None
    for at in reversed(range(min(len(group), MOST_PLACES))):
        found = replace(finding(group[at:]), rest=found)
    assert found is not None
    return found


def _uncoalesced(
    kernel: KernelAnalysis,
    group: Sequence[AccessAnalysis],
    device: DeviceModel,
    rule: RuleMeta,
    severity: Severity,
) -> Finding:
    return rule.finding(
        group[0].access.span,
        _message(kernel, group, device),
        kernel=kernel.name,
        severity=severity,
        related=(*_calls(group[0]), *also(group)),
        data={
            **wording.figures(group[0]),
            "share": wording.share_of(group),
            "estimate": _estimate(group[0], device),
        },
    )


def _severity(kernel: KernelAnalysis, group: Sequence[AccessAnalysis]) -> Severity:
    if max(waste(kernel, it) for it in group) <= SMALL_FACTOR:
        return Severity.HINT
    if not kernel.totals.complete and _is_outside_of_unknown_loops(kernel, group):
        return Severity.HINT  # What loops over data move is most of it, and not in the shares.
    if all(ends_its_block(it) for it in group):
        return Severity.HINT  # Of sums by blocks or rows that end at a border: no layout mends both.
    sites = {it.access.site: it for it in group}.values()
    saved = sum((it.share or 0.0) * (1 - 1 / waste(kernel, it)) for it in sites)
    if wording.share_of(group) is not None and saved < SMALL_SHARE:
        return Severity.HINT
    return wording.graded(group, Severity.WARNING)


def _is_outside_of_unknown_loops(kernel: KernelAnalysis, group: Sequence[AccessAnalysis]) -> bool:
    """Tell whether accesses of unknown cost are in more loops than any of a group, or all of it in none."""
    depth = max(len(it.access.loops) for it in group)
    elsewhere = [it for it in kernel.accesses if it.access.space is AddressSpace.GLOBAL]
    unknown = [it for it in elsewhere if it.per_request is None and not it.is_never_executed]
    return depth == 0 or any(len(it.access.loops) > depth for it in unknown)


def waste(kernel: KernelAnalysis, access: AccessAnalysis) -> float:
    """Return how many times the ideal an access costs, with what its neighbours use of the same granules."""
    own = 1.0 if access.per_request is None else access.per_request.excess
    if access.stride.bytes is None and (used := covered(kernel, access)) > 0:
        return min(own, 1.0 / used)
    apart = abs(access.stride.bytes or 0)
    if touched_bytes(access) < apart <= SPLIT_BYTES and is_walked(kernel, access):
        return min(own, 1.0 / covered(kernel, access))  # Turns of a loop find what the first one moved.
    if not touched_bytes(access) <= apart <= WIDEST_BYTES:
        return own
    return min(own, 1.0 / max(covered(kernel, access), touched_bytes(access) / apart))


def _is_updated(kernel: KernelAnalysis, store: AccessAnalysis) -> bool:
    """Tell whether what a store writes is loaded from the same place at the same cost, as by `+=`.

    One cause, and one cure: the load is reported.
    """
    return any(
        it.access.loops == store.access.loops and it.per_request == store.per_request
        for it in _groups_of(kernel).loads.get(_place(store), ())
    )


def covered(kernel: KernelAnalysis, access: AccessAnalysis) -> float:
    """Return which part of the bytes between two work-items the accesses beside this one use, 0 to 1.

    That is 0 where work-items are further apart than the longest vector: the caches may have lost the
    granules when their other bytes are asked for. Where they are at no fixed distance, it is the part of
    what a request moves that they use together.
    """
    if access.stride.bytes is None:
        return _used_together(kernel, access)
    apart = abs(access.stride.bytes)
    if not 0 < apart <= SPLIT_BYTES:
        return 0.0
    near = neighbours(kernel, access)
    if not near:
        return 0.0
    known = _grouped.covered.get(id(near))
    if known is None:
        # Measured from any access of the group it is the same.
        used: set[int] = set()
        starts = Counter(it.access.offset.terms.get((), 0) for it in near)
        for it in near:
            start = it.access.offset.terms.get((), 0)
            step, turns = _walk(kernel, it)
            places = [start + step * turn for turn in range(min(turns, apart))]
            # Of a vector that is named several times at one place each takes components of its own.
            moved = min(touched_bytes(it) * starts[start], max(it.access.size, touched_bytes(it)))
            used.update((at + byte) % apart for at in places for byte in range(moved))
        known = _grouped.covered[id(near)] = len(used) / apart
    return known


def _used_together(kernel: KernelAnalysis, access: AccessAnalysis) -> float:
    """Return which part of the granules of a request the accesses at constant distances from it use."""
    cost, size = access.per_request, touched_bytes(access)
    n_starts = _n_places(kernel, neighbours(kernel, access))
    return min(n_starts * cost.ideal / cost.mean, 1.0) if cost is not None and n_starts > 1 and size else 0.0


def _n_places(kernel: KernelAnalysis, near: list[AccessAnalysis]) -> int:
    """Return how many places near each other accesses of one group have; 0 where they lie further apart."""
    known = _groups_of(kernel).places.get(id(near))
    if known is None:
        starts = {it.access.offset.terms.get((), 0) for it in near}
        known = len(starts) if starts and max(starts) - min(starts) < SPLIT_BYTES else 0
        _grouped.places[id(near)] = known
    return known


def run_of(parts: Sequence[AccessAnalysis]) -> int:
    """Return the bytes from the first to the last of accesses at constant distances."""
    starts = [it.access.offset.terms.get((), 0) for it in parts]
    return max(starts) - min(starts) + touched_bytes(parts[0])


def neighbours(kernel: KernelAnalysis, access: AccessAnalysis) -> list[AccessAnalysis]:
    """Return the accesses of the same direction at constant distances from this one, and itself."""
    return _groups_of(kernel).groups.get(_group(access), [])


def _groups_of(kernel: KernelAnalysis) -> _Grouped:
    if _grouped.kernel is not kernel:
        _grouped.forget()
        _grouped.kernel = kernel
        for it in kernel.accesses:
            _grouped.groups.setdefault(_group(it), []).append(it)
            if it.access.direction is Direction.LOAD:
                _grouped.loads.setdefault(_place(it), []).append(it)
    return _grouped


def _place(it: AccessAnalysis) -> object:
    return it.access.buffer, it.access.offset


def _group(it: AccessAnalysis) -> object:
    """Return what accesses at constant distances have in common: all of the offset but its constant."""
    moving = frozenset((mono, factor) for mono, factor in it.access.offset.terms.items() if mono)
    return it.access.buffer, it.access.direction, it.stride.bytes, moving


@dataclass(slots=True)
class _Grouped:
    """The groups of the kernel that was asked about last: each of its accesses asks for its own."""

    kernel: KernelAnalysis | None = None
    groups: dict[object, list[AccessAnalysis]] = field(default_factory=dict)
    covered: dict[int, float] = field(default_factory=dict)
    """What the accesses of a group cover together, by the group's identity."""
    places: dict[int, int] = field(default_factory=dict)
    """How many places near each other they have, the same."""
    loads: dict[object, list[AccessAnalysis]] = field(default_factory=dict)
    """By what is loaded."""

    def forget(self) -> None:
        """Ask anew."""
        self.kernel, self.groups, self.covered, self.places, self.loads = None, {}, {}, {}, {}


_grouped = _Grouped()
when_dropped(_grouped.forget)


def _walk(kernel: KernelAnalysis, access: AccessAnalysis) -> tuple[int, int]:
    """Return the bytes that a turn of the innermost loop moves an access by, and how many turns there are."""
    loops = access.access.loops
    if not loops or kernel.launch is None:
        return 0, 1
    from clmap_lsp.hierarchy.properties import in_launch

    step = access.access.offset.coefficient(loops[-1])
    turns = None if loops[-1].trip is None else in_launch(loops[-1].trip, kernel.launch)
    return (0, 1) if step is None or not step.value else (step.value, max(turns or 1, 1))


def is_walked(kernel: KernelAnalysis, access: AccessAnalysis) -> bool:
    """Tell whether a loop moves an access within the bytes of its work-item: others use what it skips."""
    step, turns = _walk(kernel, access)
    return turns > 1 and 0 < abs(step) < abs(access.stride.bytes or 0)


def walks_own_row(access: AccessAnalysis) -> bool:
    """Tell whether the innermost loop moves an access by single elements from where a table says.

    The table is read at a place of each work-item's own: one that a SIMD group shares gives it a row.
    """
    from clmap_lsp.access.polynomial import Indirect, Operation

    own = access.access
    if own.unknown is not None or not own.loops:
        return False
    step = own.offset.coefficient(own.loops[-1])
    if step is None or step.value is None or abs(step.value) != own.size:
        return False
    direct = own.offset.atoms
    if any(_is_lane(it) for it in direct):
        return False
    tables = [it for it in direct if isinstance(it, Indirect)]
    return any(
        any(_is_lane(atom) for atom in it.index.atoms)
        and not any(isinstance(a, Operation) for a in it.index.atoms)
        for it in tables
    )


def _is_lane(atom: object) -> bool:
    """Tell whether a symbol differs between neighbouring work-items."""
    from clmap_lsp.access.polynomial import WorkItemSymbol
    from clmap_lsp.source.ir import WorkItemQuery

    lanes = (WorkItemQuery.GLOBAL_ID, WorkItemQuery.LOCAL_ID)
    return isinstance(atom, WorkItemSymbol) and atom.dimension == 0 and atom.query in lanes


def ends_its_block(access: AccessAnalysis) -> bool:
    """Tell whether each work-item takes the last element of a block of its own, once: `a[(id + 1)*n - 1]`."""
    own = access.access
    if own.unknown is not None or own.loops:
        return False
    for lane in own.offset.atoms:
        apart = own.offset.coefficient(lane) if _is_lane(lane) else None
        if apart is not None and own.offset == apart * Polynomial.of(lane) + apart - own.size:
            return True
    return False


def _estimate(access: AccessAnalysis, device: DeviceModel) -> dict[str, Any] | None:
    estimate = estimate_of(access, device)
    return None if estimate is None else dataclasses.asdict(estimate)


def by_buffer(accesses: Iterable[AccessAnalysis]) -> list[list[AccessAnalysis]]:
    """Group accesses of one buffer, the dearest first; groups are in the order of the source."""
    groups: dict[object, list[AccessAnalysis]] = {}
    for it in accesses:
        groups.setdefault(it.access.buffer, []).append(it)
    return [sorted(group, key=_cheapness) for group in groups.values()]


def _cheapness(access: AccessAnalysis) -> tuple[float, int]:
    """Return what sorts accesses, the dearest first; atomics, which have no share, by what they move."""
    return -(access.share or 0.0), -(access.totals.sectors if access.totals is not None else 0)


def also(group: Sequence[AccessAnalysis]) -> tuple[Related, ...]:
    """Point at the other accesses of a group."""
    return tuple(
        Related(it.access.span, f"also {_noun(it)} of `{wording.expression(it)}`")
        for it in dict.fromkeys(group[1:MOST_PLACES])
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
