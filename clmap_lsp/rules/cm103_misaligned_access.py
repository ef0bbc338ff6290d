"""Rows of neighbouring elements that start inside the granules of memory.

## What it does

Reports loads and stores of global memory, a quarter of the kernel's traffic at least, in which consecutive
work-items touch consecutive elements, but which start at other places of a granule from row to row, so that
most requests need one granule more than their bytes fill.

A constant offset is not reported: the second of two neighbouring requests finds the granule that they share
in a cache. Nor are neighbours in a stencil, if the same buffer is also accessed at an aligned place beside,
or elements that are moved in several pieces, such as vectors of 8 floats and structs.

It is a hint, which `check` shows with `--hints` only: on devices whose caches hold the granule that two
neighbouring requests share until both have come, it costs requests but hardly any traffic.

## Why is this bad?

With 32 work-items, 4-byte elements and 32-byte sectors, 5 sectors move where 4 would do. The cause is rows
whose length is no multiple of the granule.

## Example

```c
// clmap: global=256,256 local=32,8 N=257 a=zeros(257*256) b=zeros(256*256)
__kernel void crop(__global const float *a, __global float *b, const int N)
{
    const int x = get_global_id(0), y = get_global_id(1);
    b[y * 256 + x] = a[y * N + x];
}
```

## Use instead

Pad rows to a multiple of the granule:

```c
// clmap: global=256,256 local=32,8 N=264 a=zeros(264*256) b=zeros(256*256)
__kernel void crop(__global const float *a, __global float *b, const int N)
{
    const int x = get_global_id(0), y = get_global_id(1);
    b[y * 256 + x] = a[y * N + x];
}
```
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from clmap_lsp.findings import Finding, Severity
from clmap_lsp.rules import wording
from clmap_lsp.rules.meta import RuleMeta

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import AccessAnalysis, KernelAnalysis
    from clmap_lsp.devices.model import DeviceModel

RULE = RuleMeta("CM103", "misaligned-access", Severity.HINT)


def check(kernel: KernelAnalysis, device: DeviceModel) -> Iterator[Finding]:
    """Yield the misaligned walks, one for each buffer and direction: the dearest."""
    worst: dict[tuple[str, object], AccessAnalysis] = {}
    for access in kernel.accesses:
        if _is_misaligned(kernel, access, device) and not _is_neighbour(kernel, access):
            key = (access.access.buffer, access.access.direction)
            if key not in worst or (access.share or 0) > (worst[key].share or 0):
                worst[key] = access
    yield from (_finding(kernel, it, device) for it in worst.values())


def _is_misaligned(kernel: KernelAnalysis, access: AccessAnalysis, device: DeviceModel) -> bool:
    from clmap_lsp.access.records import Direction
    from clmap_lsp.rules.patterns import is_contiguous, is_global, is_narrow, swap_mends
    from clmap_lsp.rules.thresholds import MISALIGNED_FROM, MISALIGNED_SHARE

    if not (is_global(access, Direction.LOAD) or is_global(access, Direction.STORE)):
        return False
    cost = access.per_request
    assert cost is not None
    return (
        cost.excess >= MISALIGNED_FROM
        and (access.share or 0.0) >= MISALIGNED_SHARE
        and len(access.pieces) < 2
        and not _is_offset(access)
        and is_contiguous(access)
        and not is_narrow(kernel, access, device.granule_bytes)
        and not swap_mends(kernel, access)
    )


def _is_offset(access: AccessAnalysis) -> bool:
    """Tell whether every request starts alike: a constant alone keeps them from being aligned."""
    cost = access.per_request
    return cost is not None and cost.max == cost.mean


def _is_neighbour(kernel: KernelAnalysis, access: AccessAnalysis) -> bool:
    """Tell whether this is one of several accesses that share granules, as in a stencil.

    Either a loop moves it by single elements, or an aligned access stands at a constant distance.
    """
    from clmap_lsp.rules.thresholds import ALIGNED_BELOW

    steps = (access.access.offset.coefficient(it) for it in access.access.loops)
    if any(it is not None and it.value == access.access.size for it in steps):
        return True
    return any(
        other.per_request is not None
        and other.per_request.excess < ALIGNED_BELOW
        and other.access.buffer == access.access.buffer
        and (other.access.offset - access.access.offset).value is not None
        for other in kernel.accesses
        if other is not access
    )


def _finding(kernel: KernelAnalysis, access: AccessAnalysis, device: DeviceModel) -> Finding:
    cost = access.per_request
    assert cost is not None
    lines = [
        f"`{wording.expression(access)}` takes {wording.plural(cost.mean, 'sector')} a request"
        f"{wording.sampled(access)} where {wording.number(cost.ideal)} would do: consecutive work-items are "
        f"side by side, but not from a multiple of {device.granule_bytes} bytes on.",
        wording.scope(kernel, [access], device),
    ]
    if access.in_general:
        lines.append(f"In general: {access.in_general}.")
    return RULE.finding(
        access.access.span, "\n".join(lines), kernel=kernel.name, data=wording.figures(access)
    )
