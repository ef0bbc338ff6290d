"""Times in words: one line, and what each part is made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from clmap_lsp.time.model import PIECE_BYTES, Prediction, busiest, is_mostly_launch, missing

if TYPE_CHECKING:
    from clmap_lsp.time.accesses import AccessDemand

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
_NAMES = {
    "issue": "instructions issued",
    "fp32": "single-precision arithmetic",
    "int": "integer arithmetic",
    "fp64": "double-precision arithmetic",
    "sfu": "special functions",
    "l1": "first-level cache",
    "l2": "second-level cache",
    "dram": "device memory",
    "local": "local memory",
    "atomics": "atomics",
    "latency": "latency",
    "barrier": "barriers",
    "launch": "starting work-groups",
}


def seconds_text(seconds: float) -> str:
    """Return a time with three digits and its unit: `1.93 ms`."""
    for scale, unit in _UNITS:
        if seconds >= scale:
            return f"{_three(seconds / scale)} {unit}"
    return f"{_three(seconds * 1e9)} ns"


def short_text(found: Prediction) -> str:
    """Return `1.93 ms`, with its "if" where data end a loop: `1.93 ms if loops make 16 iterations`."""
    demand = found.demand
    condition = f" if loops make {demand.turns} iterations" if demand.supposed_turns else ""
    return seconds_text(found.seconds) + condition


def _three(value: float) -> str:
    """Return three digits, without the exponent that `:.3g` gives 1000."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def percent(share: float) -> str:
    """Return a share of 0 to 1 as `12 %`, `0.3 %`, `less than 0.1 %`."""
    value = share * 100
    if value < 0.1:
        return "less than 0.1 %"
    return f"{value:.0f} %" if value >= 1 else f"{value:.1f} %"


def bound_text(bound: str) -> str:
    """Return in words what bounds a launch, or what a part is of."""
    return _NAMES.get(bound, bound)


def time_line(found: Prediction | str | None) -> str | None:
    """Return `1.9 ms (1.5 ms to 2.4 ms), bound by first-level cache; alone: latency 0.4 ms`, and caveats."""
    if found is None:
        return None
    if isinstance(found, str):
        return f"unknown, {found}"
    rest = [it for it in found.parts.items() if it[0] != found.bound][:3]
    then = ", ".join(f"{bound_text(name)} {seconds_text(value)}" for name, value in rest)
    whole = f"{seconds_text(found.seconds)} ({seconds_text(found.low)} to {seconds_text(found.high)})"
    if is_mostly_launch(found):
        what = f"{whole}, mostly the launch itself"
    else:
        what = f"{whole}, bound by {bound_text(found.bound)}; alone: {then}"
    return "; ".join((what, *found.caveats))


def parts_text(found: Prediction) -> Iterator[tuple[str, float, str]]:
    """Yield the parts, the longest first: its name in words, its seconds alone, and what it is made of."""
    whys = _whys(found)
    for name, seconds in found.parts.items():
        yield bound_text(name), seconds, whys.get(name, "")


def _whys(found: Prediction) -> dict[str, str]:
    demand, facts = found.demand, found.facts
    footprint = demand.footprint
    units = f"{facts.compute_units} compute units at {facts.clock_hz / 1e9:.2f} GHz"
    uneven = busiest(demand, facts)
    if uneven >= 1.05:
        units += f", of which the busiest has {uneven:.2f} times the mean"
    sectors = demand.l2("load")[0] + demand.l2("store")[0]
    far = missing(footprint.held, facts)
    moved = footprint.read_bytes + footprint.write_bytes
    resident = demand.resident
    warps = -(-demand.group_items // facts.simd_width)
    rounds = max(1.0, -(-demand.groups // facts.compute_units) / resident.groups)
    whys = {
        "launch": f"{demand.groups:,} work-groups, {demand.warps:,.0f} SIMD groups",
        "issue": f"{_each(demand.slots.get('issue', 0.0), demand.warps)} instructions a SIMD group, "
        f"{facts.schedulers:g} a cycle, {units}",
        "l1": f"{_lines(demand.accesses, 'lines')}, {facts.line_cycles:.2g} cycles a line, {units}",
        "local": f"{_lines(demand.accesses, 'wavefronts')}, {units}",
        "l2": f"{_count(sectors)} sectors that the first level does not have",
        "dram": f"{_bytes(moved)} touched, {percent(far)} of which the second level does not keep, at "
        f"{facts.dram_bytes_s / 1e12:.3g} TB/s",
        "latency": f"a SIMD group waits for what it needs, {rounds:.3g} rounds of {resident.groups} "
        f"work-groups a compute unit (no more for {_LIMITS[resident.limit]})",
        "barrier": f"{demand.barriers:.3g} barriers, {warps} SIMD groups a work-group",
        "atomics": f"{_count(demand.atomics.requests)} requests in "
        f"{_bytes(demand.atomics.spread * PIECE_BYTES)}",
    }
    for name, rate in (("fp32", facts.fp32), ("fp64", facts.fp64), ("sfu", facts.special)):
        slots = demand.slots.get(name, 0.0)
        whys[name] = f"{_each(slots, demand.warps)} a SIMD group, {rate:.2g} a cycle, {units}"
    return whys


_LIMITS = {
    "registers": "want of registers",
    "local": "want of local memory",
    "groups": "the limit of work-groups",
    "size": "the limit of SIMD groups",
}


def _lines(accesses: tuple[AccessDemand, ...], noun: str) -> str:
    some = [it for it in accesses if (it.space == "local") == (noun == "wavefronts")]
    requests = sum(it.requests for it in some)
    return (
        f"{_each(sum(it.line_cycles for it in some), requests)} {noun} a request, {_count(requests)} requests"
    )


def _each(total: float, count: float) -> str:
    return f"{total / count:,.3g}" if count else "0"


def _count(value: float) -> str:
    for scale, noun in ((1e9, " billion"), (1e6, " million")):
        if value >= scale:
            return f"{value / scale:.3g}{noun}"
    return f"{value:,.0f}"


def _bytes(value: float) -> str:
    for scale, unit in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value:.0f} bytes"
