"""Local memory of which so much is used that few work-groups stay resident, or that does not fit at all.

## What it does

Adds up the local memory of a work-group, arguments as the launch gives them. It reports what is over the
device's limit (an error: the kernel cannot be launched), and what leaves so few work-groups on a compute unit
that less than a quarter of its SIMD groups can be there, if local memory is what holds them down. Where the
device's limit is not known, more than every device has is information.

## Why is this bad?

A compute unit hides the latency of memory by switching between SIMD groups. Local memory is shared by all
work-groups that are resident: what one takes keeps others out.

## Example

```c
// clmap: global=65536 local=64 in=random(65536) out=zeros(65536)
__kernel void staged(__global const float *restrict in, __global float *restrict out)
{
    __local float tile[20000];
    const int lx = get_local_id(0);
    tile[lx] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = tile[63 - lx];
}
```

## Use instead

```c
// clmap: global=65536 local=64 in=random(65536) out=zeros(65536)
__kernel void staged(__global const float *restrict in, __global float *restrict out)
{
    __local float tile[64];
    const int lx = get_local_id(0);
    tile[lx] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = tile[63 - lx];
}
```
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from clmap_lsp.findings import Finding, Severity
from clmap_lsp.rules.meta import RuleMeta
from clmap_lsp.rules.thresholds import LEAST_LOCAL_BYTES, LEAST_OCCUPANCY

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import KernelAnalysis
    from clmap_lsp.devices.model import DeviceModel

RULE = RuleMeta("CM504", "few-resident-groups", Severity.WARNING)


def check(kernel: KernelAnalysis, device: DeviceModel) -> Iterator[Finding]:
    """Yield one finding a kernel, at its largest local array."""
    from clmap_lsp.hierarchy.occupancy import local_objects

    objects = local_objects(kernel)
    if not objects:
        return
    largest, _ = max(objects, key=lambda it: it[1])
    found = _judge(kernel, sum(size for _, size in objects), device)
    if found is not None:
        message, severity = found
        yield RULE.finding(largest.span, message, kernel=kernel.name, severity=severity)


def _judge(kernel: KernelAnalysis, needed: int, device: DeviceModel) -> tuple[str, Severity] | None:
    from clmap_lsp.hierarchy.occupancy import residency

    limit = device.limits.local_bytes_per_group if device.is_product else None
    if limit is not None and needed > limit:
        message = f"A work-group needs {needed} bytes of local memory; {device.id} has {limit}."
        return message, Severity.ERROR
    if limit is None and needed > LEAST_LOCAL_BYTES:
        return (
            f"A work-group needs {needed} bytes of local memory; devices have at least {LEAST_LOCAL_BYTES}, "
            f"and {device.id}'s limit is not known."
        ), Severity.INFORMATION
    found = residency(kernel, device)
    if found.occupancy is None or found.occupancy >= LEAST_OCCUPANCY or "local memory" not in found.limit:
        return None
    message = (
        f"Only {found.groups} work-groups ({found.simd_groups} of {found.simd_capacity} SIMD groups) stay "
        f"resident on a compute unit of {device.id}: {found.limit}."
    )
    return message, Severity.WARNING
