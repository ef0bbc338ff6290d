"""Cost summary, memory selection, vectorisation and resident work-groups of a kernel for people."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from clmap_lsp.analysis.advice import staged_arrays
from clmap_lsp.hierarchy.cost import CostSummary, Part, summarise
from clmap_lsp.hierarchy.occupancy import Residency, residency
from clmap_lsp.hierarchy.properties import size_words
from clmap_lsp.hierarchy.selection import Memory, Selection, select
from clmap_lsp.hierarchy.vectorise import Group, Vectorisation, vectorise

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import KernelAnalysis
    from clmap_lsp.devices.model import DeviceModel

_PARTS = (
    ("reuse", "reuse_profit", "global loads that a copy in local memory would save"),
    ("coalescing", "coalescing_profit", "sectors beyond those that the same lanes need side by side"),
    ("bank conflicts", "bank_conflicts", "wavefronts beyond those without conflicts"),
    ("channel skew", "channel_skew", "memory channels that wait for one of them"),
)


def hierarchy_lines(kernel: KernelAnalysis, device: DeviceModel) -> Iterator[str]:
    """Yield the lines of a kernel; none about arrays if it touches none."""
    if kernel.launch is not None:
        yield from _cost(summarise(kernel, device))
        yield f"  resident: {_resident(residency(kernel, device))}"
    staged = {site for it in staged_arrays(kernel.kernel) for site in it.loads}
    for it in select(kernel, device):
        yield f"  memory: {_memory(it, staged)}"
    yield from _vectorisation(vectorise(kernel))


def _cost(it: CostSummary) -> Iterator[str]:
    least = "" if it.complete else "at least "
    known = it.passes or it.complete
    yield f"  cost: {f'{least}{it.passes:,}' if known else 'unknown'} passes (sectors and wavefronts)"
    yield "  could be saved, each by itself:"
    for name, field, meaning in _PARTS:
        yield f"    {name + ':':<16}{_part(getattr(it, field), meaning)}"


def _part(it: Part, meaning: str) -> str:
    if it.passes is None:
        return f"unknown, {it.reason}"
    if not it.passes:
        return "none"
    share = "" if it.share is None else f", {max(it.share, 0.001) * 100:.2g} %".replace("1e+02", "100")
    size = "" if it.bytes is None else f", {_size(it.bytes)}"
    return f"{it.passes:,} passes{size}{share}: {meaning}"


def _size(n_bytes: int) -> str:
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB")):
        if n_bytes >= unit:
            return f"{n_bytes / unit:.3g} {name}"
    return size_words(n_bytes)


def _resident(it: Residency) -> str:
    if it.groups is None:
        return f"unknown, {it.limit}"
    groups = "1 work-group" if it.groups == 1 else f"{it.groups} work-groups"
    simd = "" if it.simd_capacity is None else f" ({it.simd_groups} of {it.simd_capacity} SIMD groups)"
    return f"{groups} on a compute unit{simd}: {it.limit}"


def _memory(it: Selection, staged: Collection[int]) -> str:
    """Return the verdict; what a local array holds copies of already is said to be done."""
    sites = {access.site for instance in it.array.instances for access in instance.accesses}
    done = " (done)" if it.memory is Memory.LOCAL and sites.issubset(staged) else ""
    text = f"`{it.array.name}` {it.memory.value}{done}: {it.why}"
    return text if it.moot is None else f"{text}; gains little, {it.moot}"


def _vectorisation(found: Vectorisation) -> Iterator[str]:
    groups = [it for it in found.groups if len(it.rules) > 1]
    if found.qv_percent is None or not groups:
        return
    yield f"  vectorisation: {found.qv_percent:.1f} % of the array instances together (Q_V)"
    for group in groups:
        yield f"    along {group.direction}: {_group(group)}"


def _group(group: Group) -> str:
    """Return the instances, by the array's name where it has only one, and what is done to their data."""
    arrays = [it.instance.array for it in group.rules]
    named = [
        (it.instance.array if arrays.count(it.instance.array) == 1 else it.instance.text, it.steps)
        for it in group.rules
    ]
    changed = ", ".join(f"`{name}` after {' and '.join(steps)}" for name, steps in named if steps)
    plain = ", ".join(f"`{name}`" for name, steps in named if not steps)
    text = ", ".join(it for it in (plain, changed) if it)
    if group.duplicated:
        text += f"; copies of {', '.join(f'`{it}`' for it in group.duplicated)}"
    for it in group.hazards:
        text += f"; hazard in `{it.array}`: {it.reason}"
    return text
