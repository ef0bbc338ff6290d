"""Accesses whose bytes lie side by side, but across the granules' borders.

## What it does

Reports loads and stores of global memory in which consecutive work-items touch consecutive elements, but
start inside a granule, so that each request needs one granule more than its bytes fill.

Neighbours in a stencil are not reported: if the same buffer is also accessed at an aligned place beside,
the granules are shared.

## Why is this bad?

With 32 work-items, 4-byte elements and 32-byte sectors, 5 sectors move where 4 would do. The cause is mostly
a constant offset (a header of one element before the data) or rows whose length is no multiple of the
granule.

## Example

```c
// clmap: global=4096 local=128 a=zeros(4097) b=zeros(4096)
__kernel void shift(__global const float *a, __global float *b)
{
    const int i = get_global_id(0);
    b[i] = a[i + 1];
}
```

## Use instead

Pad rows and headers to a multiple of the granule:

```c
// clmap: global=4096 local=128 a=zeros(4104) b=zeros(4096)
__kernel void shift(__global const float *a, __global float *b)
{
    const int i = get_global_id(0);
    b[i] = a[i + 8];
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

RULE = RuleMeta("CM103", "misaligned-access", Severity.INFORMATION)

ALIGNED_BELOW = 1.05
"""Times the ideal; edges of the launch may cost a little even where all else is aligned."""


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
    from clmap_lsp.rules.patterns import (
        MISALIGNED_FROM,
        is_contiguous,
        is_global,
        is_narrow,
        swap_mends,
    )

    if not (is_global(access, Direction.LOAD) or is_global(access, Direction.STORE)):
        return False
    cost = access.per_request
    assert cost is not None
    return (
        cost.excess >= MISALIGNED_FROM
        and is_contiguous(access)
        and not is_narrow(kernel, access, device.granule_bytes)
        and not swap_mends(kernel, access)
    )


def _is_neighbour(kernel: KernelAnalysis, access: AccessAnalysis) -> bool:
    """Tell whether this is one of several accesses that share granules, as in a stencil.

    Either a loop moves it by single elements, or an aligned access stands at a constant distance.
    """
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
