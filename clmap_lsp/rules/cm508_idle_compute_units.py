"""A launch with fewer work-groups than compute units.

## What it does

Counts the work-groups of a launch that somebody chose against the compute units of the device. Where these
are not known, as in most models because products differ, only launches of a single work-group
with several SIMD groups are reported: they keep one compute unit busy on any device.

## Why is this bad?

A work-group runs on one compute unit. Those that get none are idle for the whole launch.

## Example

```c
// clmap: global=256 local=256 in=random(256) out=zeros(256)
__kernel void twice(__global const float *restrict in, __global float *restrict out)
{
    out[get_global_id(0)] = 2.0f * in[get_global_id(0)];
}
```

## Use instead

```c
// clmap: global=256 local=32 in=random(256) out=zeros(256)
__kernel void twice(__global const float *restrict in, __global float *restrict out)
{
    out[get_global_id(0)] = 2.0f * in[get_global_id(0)];
}
```
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from clmap_lsp.findings import Finding, Severity
from clmap_lsp.rules.context import RuleContext
from clmap_lsp.rules.meta import RuleMeta

RULE = RuleMeta("CM508", "idle-compute-units", Severity.HINT)

SEVERAL_SIMD_GROUPS = 4


def check(context: RuleContext) -> Iterator[Finding]:
    """Yield one finding a kernel, at its name. Work-groups that synchronise cannot simply be made smaller."""
    from clmap_lsp.analysis.kernel import any_shape
    from clmap_lsp.launch.model import Origin

    device = context.analysis.device
    units = device.limits.compute_units
    for kernel in context.kernels():
        launch = kernel.launch
        if launch is None or launch.origin is Origin.INFERRED or "local" in launch.inferred:
            continue
        n_groups = prod(launch.num_groups)
        enough = launch.group_items >= SEVERAL_SIMD_GROUPS * device.simd_width
        idle = n_groups < units if units is not None else n_groups == 1
        if not idle or not enough or not any_shape(kernel.kernel):
            continue
        groups = "1 work-group" if n_groups == 1 else f"{n_groups} work-groups"
        of = f"{units} compute units of {device.id}" if units is not None else "a device's compute units"
        message = (
            f"This launch has {groups}: no more than {n_groups} of the {of} can work. Smaller ones spread."
        )
        if units is None:
            message = f"This launch has {groups}: one of {of} works, the others idle. Smaller ones spread."
        yield RULE.finding(
            kernel.kernel.name_span, message, kernel=kernel.name, data={"work_groups": n_groups}
        )
