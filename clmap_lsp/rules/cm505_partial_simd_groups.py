"""A work-group size that is no multiple of the SIMD width.

## What it does

Reports launches whose work-groups do not fill their SIMD groups, if at least an eighth of the lanes stays
empty. Sizes that were inferred are left out: nobody has chosen them. It is a warning where half of the lanes
or more stay empty, and half a million of them in the whole launch: for groups of a single work-item these are
17,000 work-items, for groups of 16 half a million.

## Why is this bad?

Hardware runs work-items in SIMD groups of fixed width. The lanes that a work-group does not fill are idle for
as long as it runs.

## Example

```c
// clmap: global=4800 local=48 in=random(4800) out=zeros(4800)
__kernel void copy(__global const float *restrict in, __global float *restrict out)
{
    out[get_global_id(0)] = in[get_global_id(0)];
}
```

## Use instead

```c
// clmap: global=4800 local=96 in=random(4800) out=zeros(4800)
__kernel void copy(__global const float *restrict in, __global float *restrict out)
{
    out[get_global_id(0)] = in[get_global_id(0)];
}
```
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from clmap_lsp.findings import Finding, Severity
from clmap_lsp.rules.meta import RuleMeta
from clmap_lsp.rules.thresholds import IDLE_LANES_FROM

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import KernelAnalysis
    from clmap_lsp.devices.model import DeviceModel

_HALF, _MANY = 0.5, 1 << 19

RULE = RuleMeta("CM505", "partial-simd-groups", Severity.INFORMATION)


def check(kernel: KernelAnalysis, device: DeviceModel) -> Iterator[Finding]:
    """Yield one finding a kernel, at its name."""
    from clmap_lsp.launch.model import Origin

    width = device.simd_width
    launch = kernel.launch
    if launch is None or launch.origin is Origin.INFERRED or "local" in launch.inferred:
        return
    items = launch.group_items
    lanes = -(-items // width) * width
    n_groups = launch.work_items // items
    idle = 1 - items / lanes
    if idle < IDLE_LANES_FROM or launch.work_items <= width:
        return
    size = "x".join(map(str, launch.local_size))
    counted = f"{items} work-item{'s' * (items > 1)}"
    groups = counted if len(launch.local_size) == 1 else f"{size} ({counted})"
    message = (
        f"Work-groups of {groups} leave {idle * 100:.0f} % of the lanes idle: SIMD groups of {device.id} "
        f"have {width}."
    )
    is_known = "global" not in launch.inferred
    is_slow = is_known and idle >= _HALF and n_groups * (lanes - items) >= _MANY
    yield RULE.finding(
        kernel.kernel.name_span,
        message,
        kernel=kernel.name,
        severity=Severity.WARNING if is_slow else None,
        data={"idle_lanes": idle, "width": width},
    )
