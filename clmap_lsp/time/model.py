"""Seconds from what a launch asks for and what a device can do.

Each part is the time that one resource would need if nothing else did: for resources of a compute unit,
that of the unit with the most work-groups. Parts overlap, though not wholly: T = launch + (sum of
part^p)^(1/p).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from clmap_lsp.dataclass import dataclass

if TYPE_CHECKING:
    from clmap_lsp.time.atomics import AtomicDemand
    from clmap_lsp.time.demand import Demand, Residents
    from clmap_lsp.time.facts import TimeFacts
    from clmap_lsp.time.footprints import Footprint

BOUNDS = (
    "launch",
    "issue",
    "fp32",
    "fp64",
    "sfu",
    "l1",
    "l2",
    "dram",
    "local",
    "atomics",
    "latency",
    "barrier",
)
"""What can bound a launch; the names of its parts."""

_MOSTLY = 0.6
"""A launch that adds less than this of an empty one's time is bound by being launched."""

_SHORT_S = 12e-6

_RANGES = {
    "launch": 1.32,
    "latency": 1.5,
    "barrier": 1.5,
    "l1": 1.25,
    "local": 1.35,
    "l2": 1.2,
    "dram": 1.2,
    "issue": 1.4,
    "fp32": 1.3,
    "fp64": 1.15,
    "sfu": 1.15,
    "atomics": 1.35,
}
"""By bound, the factor within which four in five measured launches were (docs/time.md)."""

PIECE_BYTES = 512
"""Of memory, for which one slice of the second level does the atomics. Measured on an H100
(`benchmarks/time_kernels/together.cl`, microbenchmarks `atomic_lines`): atomics on 64 addresses that are two
lines apart take half as long as on 64 that are one line apart."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """A launch's time, what bounds it, and what each part would take alone (seconds)."""

    seconds: float
    low: float
    high: float
    bound: str
    """`launch`, `issue`, `fp32`, `fp64`, `sfu`, `l1`, `l2`, `dram`, `local`, `atomics`, `latency` or
    `barrier`."""
    parts: Mapping[str, float]
    resident: Residents
    basis: str
    demand: Demand = field(repr=False, compare=False)
    facts: TimeFacts = field(repr=False, compare=False)
    caveats: tuple[str, ...] = field(default=())
    extremes: tuple[Demand, ...] = field(default=(), repr=False, compare=False)
    """What is asked for at the least and at the most, where data decide."""


def is_mostly_launch(found: Prediction) -> bool:
    """True if a launch is so short that it tells little about a kernel: its sizes are those of a test."""
    return found.bound == "launch" and found.seconds < _SHORT_S


_ALIKE = 0.25


def grows_alike(found: Prediction, larger: Prediction) -> bool:
    """True if a larger launch passes as much more through the first level as it has more SIMD groups.

    Else its guards end elsewhere, and most of its work-items do nothing.
    """
    passes = [it.demand.line_cycles + it.demand.local_cycles for it in (found, larger)]
    return passes[1] >= _ALIKE * passes[0] * larger.demand.warps / found.demand.warps


def is_rough(found: Prediction) -> bool:
    """True if a device's figures are good for an order of launches, not for the difference of two."""
    return found.basis != "calibrated" or found.facts.spread > 1.0


def predict(demand: Demand, facts: TimeFacts) -> Prediction:
    """Return the time of one launch with warm buffers at the boost clock."""
    parts = part_seconds(demand, facts)
    shared = _together(parts)
    p = facts.exponent if not demand.barriers else facts.barrier_exponent
    total = sum(value**p for value in shared.values()) ** (1 / p) if shared else 0.0
    bound = "launch" if total < _MOSTLY * facts.launch_s else _bound(shared, parts)
    width = _RANGES.get(bound, 1.25) * (1.0 if facts.basis == "calibrated" else 1.3)
    width *= (1.3 if demand.caveats else 1.0) * facts.spread
    parts["launch"] = parts.get("launch", 0.0) + facts.launch_s
    return Prediction(
        facts.launch_s + total,
        facts.launch_s / facts.launch_hosts + total / width,
        facts.launch_s * facts.launch_hosts + total * width,
        bound,
        dict(sorted(parts.items(), key=lambda it: -it[1])),
        demand.resident,
        facts.basis,
        demand,
        facts,
        demand.caveats,
    )


def _together(parts: Mapping[str, float]) -> dict[str, float]:
    """Return the parts that overlap each other.

    Local and global accesses share one pipeline; a barrier adds to the time of those that come to it.
    """
    shared = {name: value for name, value in parts.items() if name not in ("local", "barrier")}
    for name, other in (("l1", "local"), ("latency", "barrier")):
        both = parts.get(name, 0.0) + parts.get(other, 0.0)
        if both:
            shared[name] = both
    return shared


def _bound(shared: Mapping[str, float], parts: Mapping[str, float]) -> str:
    largest = max(shared, key=lambda it: shared[it])
    other = {"l1": "local", "latency": "barrier"}.get(largest, largest)
    return other if parts.get(other, 0.0) > parts.get(largest, 0.0) else largest


def busiest(demand: Demand, facts: TimeFacts) -> float:
    """Return how much more work the busiest unit has than the mean one.

    Unequal work-groups even out over the rounds: one of them is the largest.
    """
    rounds = -(-demand.groups // facts.compute_units)
    unequal = 1.0 + (demand.balance.work_group - 1.0) / rounds
    return unequal * rounds * facts.compute_units / demand.groups


_THROUGH = 1.5
"""Footprints over what the second level holds from which nothing of it is left when the same launch comes
again: each line is asked for last when it has just been dropped. (Microbenchmarks that read a footprint again
and again within one launch find some of it up to 2.8 times.)"""


def missing(footprint: float, facts: TimeFacts) -> float:
    """Return the share of a warm footprint that the second level no longer has, 0 to 1."""
    low = facts.l2_bytes
    return min(max((footprint - low) / ((_THROUGH - 1.0) * low), 0.0), 1.0)


def path_at(demand: Demand, wait: float) -> float:
    """Return the cycles of the mean SIMD group alone, if loads that wait take `wait` cycles."""
    knots = sorted(demand.path)
    low = max((it for it in knots[:-1] if it <= wait), default=knots[0])
    high = knots[knots.index(low) + 1]
    share = (wait - low) / (high - low)
    return demand.path[low] + share * (demand.path[high] - demand.path[low])


def part_seconds(demand: Demand, facts: TimeFacts) -> dict[str, float]:
    """Return what each part would take alone."""
    footprint = demand.footprint
    load_sectors, load_lines = demand.l2("load")
    store_sectors, store_lines = demand.l2("store")
    # Seconds of one cycle of work that is spread over the units.
    unit = busiest(demand, facts) / facts.compute_units / facts.clock_hz
    parts = {
        "launch": max(demand.groups * facts.group_s, demand.warps * facts.warp_s),
        **_pipes(demand.slots, facts, unit),
        "l1": demand.line_cycles * facts.line_cycles * unit,
        "local": (
            demand.local_cycles * facts.wavefront_cycles
            + demand.atomics.local_cycles * facts.local_atomic_cycles
        )
        * unit,
        "l2": max(load_sectors * facts.l2_sector_s, load_lines * facts.l2_line_s)
        + max(store_sectors * facts.store_sector_s, store_lines * facts.store_line_s),
        "dram": _dram_bytes(footprint, facts) / facts.dram_bytes_s,
        "atomics": _atomics(demand.atomics, facts),
        **_waiting(demand, footprint.held, facts),
    }
    return {name: value for name, value in parts.items() if value > 0}


def _pipes(slots: Mapping[str, float], facts: TimeFacts, unit: float) -> dict[str, float]:
    multiply = slots.get("multiply", 0.0)
    issued = max(slots.get("issue", 0.0) / facts.schedulers, slots.get("int", 0.0) / facts.int32)
    single = max((slots.get("fp32", 0.0) + multiply) / facts.fp32, multiply / facts.multiply)
    return {
        "issue": issued * unit,
        "fp32": single * unit,
        "fp64": slots.get("fp64", 0.0) / facts.fp64 * unit,
        "sfu": slots.get("sfu", 0.0) / facts.special * unit,
    }


def _dram_bytes(footprint: Footprint, facts: TimeFacts) -> float:
    """Return bytes of device memory: footprints that the second level does not keep, and scattered
    returns."""
    far = missing(footprint.held, facts)
    partial = max(footprint.partial_lines * facts.dram_partial_bytes, 64.0 * footprint.partial_sectors)
    once = far * (footprint.read_bytes + footprint.write_bytes + partial)
    lost = max(0.0, 1.0 - facts.l2_full_bytes / 2 / max(footprint.held, 1.0)) if far else 0.0
    return once + lost * footprint.random_sectors * facts.dram_random_bytes


def _waiting(demand: Demand, held: float, facts: TimeFacts) -> dict[str, float]:
    """Return the time of one SIMD group's path, over as many rounds as a unit needs for its work-groups.

    The mean one's for all rounds but one, the longest one's for that. Where there are barriers, all wait for
    the longest of their work-group in each round.
    """
    warps = -(-demand.group_items // facts.simd_width)
    reach = _THROUGH * facts.l2_bytes - facts.l2_near_bytes
    slow = min(max((held - facts.l2_near_bytes) / reach, 0.0), 1.0)
    path = path_at(demand, facts.latency_l2 + slow * (facts.latency_dram - facts.latency_l2))
    rounds = max(1.0, -(-demand.groups // facts.compute_units) / demand.resident.groups)
    usual = demand.balance.in_group if demand.barriers else 1.0
    longest = (rounds - 1.0) * usual + demand.balance.simd_group
    each = rounds / facts.clock_hz
    barrier = facts.barrier_cycles + facts.barrier_warp_cycles * warps
    return {
        "latency": path * longest / facts.clock_hz
        + (facts.group_cycles + facts.group_warp_cycles * warps) * each,
        "barrier": demand.barriers * barrier * each,
    }


def _atomics(demand: AtomicDemand, facts: TimeFacts) -> float:
    """Return the time of global atomics: one address, one slice's turn, or the whole device's rate.

    Each slice of the second level makes one operation after the other: the first on a sector, and those
    of lanes that meet there. Few places share few slices. The limits are those of microbenchmarks
    (`benchmarks/time_kernels/together.cl`, H100).
    """
    stored = demand.stored * _STORE_SHARE * facts.atomic_same_s / _slices(demand.stored_lines)
    if not demand.requests:
        return stored
    pieces = demand.spread * (_PLACED if demand.spread < _FEW_PIECES else 1.0)
    first = demand.sectors / min(pieces, _SLICES)
    again = demand.again / min(pieces, _SLICES_IN_TURN)
    return stored + max(
        demand.same * facts.atomic_same_s,
        (first + again) * facts.atomic_same_s,
        demand.requests * facts.simd_width * facts.atomic_s,
    )


_PLACED = 1.4
_FEW_PIECES = 8
"""Counters of 1 KB took 519 or 1,081 us for 4,194,304 atomics on one H100, by where the driver had put the
buffer: in between is what they take on average (`bins_global`, `counts_global`)."""
_SLICES = 70.0
"""Of the second level, that make atomics at a time if these are spread over many places."""
_SLICES_IN_TURN = 35.0
"""The same where lanes meet: a request holds up its slice for longer, and others wait while some are idle."""
_STORE_SHARE = 0.68
"""Of an atomic's time, a store to the line that the one before it also had (`flag_if_larger` on an H100)."""


def _slices(lines: float) -> float:
    return min(float(max(lines / 4.0, 1.0) ** 1.35), 90.0)
