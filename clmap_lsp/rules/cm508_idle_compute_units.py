"""A launch with fewer work-groups than compute units.

## What it does

Counts the work-groups of a launch that somebody chose against the compute units of the device. Models speak
for a generation, whose products differ in them; where the records hold one product of the model, its number
is taken and named. Reported are launches that leave compute units idle though smaller work-groups would do,
and those that leave three quarters of them idle. Where the number is not known only launches of a single
work-group with several SIMD groups are: they keep one compute unit busy on any device. Either way it says how
many of the work-groups a compute unit could hold at once, as far as its limits are published.

## Why is this bad?

A work-group runs on one compute unit. Those that get none are idle for the whole launch. Smaller work-groups
spread over more of them, unless their work-items depend on each other; otherwise the kernel needs more
work-items, such as one for each element instead of one for each row.

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
from typing import TYPE_CHECKING

from clmap_lsp.findings import Finding, Severity
from clmap_lsp.rules.meta import RuleMeta

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import KernelAnalysis
    from clmap_lsp.devices.model import DeviceModel
    from clmap_lsp.hierarchy.units import Units

RULE = RuleMeta("CM508", "idle-compute-units", Severity.HINT)

SEVERAL_SIMD_GROUPS = 4
FEW = 0.25
"""Part of the compute units."""


def check(kernel: KernelAnalysis, device: DeviceModel) -> Iterator[Finding]:
    """Yield one finding a kernel, at its name."""
    from clmap_lsp.hierarchy.units import compute_units
    from clmap_lsp.launch.model import Origin

    units = compute_units(device)
    launch = kernel.launch
    if launch is None or launch.origin is Origin.INFERRED or "local" in launch.inferred:
        return
    n_groups = prod(launch.num_groups)
    spreads = _spreads(kernel, device)
    if units.count is None:
        idle = n_groups == 1 and spreads
    else:
        idle = n_groups < (units.count if spreads else FEW * units.count)
    if idle:
        yield RULE.finding(
            kernel.kernel.name_span,
            _message(kernel, device, units, n_groups, spreads),
            kernel=kernel.name,
            data={"work_groups": n_groups, "compute_units": units.count},
        )


def _spreads(kernel: KernelAnalysis, device: DeviceModel) -> bool:
    """True if smaller work-groups would do: large ones whose work-items do not depend on each other."""
    from clmap_lsp.analysis.kernel import any_shape

    launch = kernel.launch
    large = launch is not None and launch.group_items >= SEVERAL_SIMD_GROUPS * device.simd_width
    return large and any_shape(kernel.kernel)


def _message(kernel: KernelAnalysis, device: DeviceModel, units: Units, n_groups: int, spreads: bool) -> str:
    from clmap_lsp.hierarchy.occupancy import residency

    groups = "1 work-group" if n_groups == 1 else f"{n_groups} work-groups"
    if units.count is None:
        idle = (
            "one compute unit works, the others idle; how many there are differs between products of a "
            f"generation and is not known of {device.id}"
        )
    else:
        idle = f"no more than {n_groups} of the {units.count} compute units of {units.product} can work"
    cure = "Smaller ones spread" if spreads else "More work-items would use them"
    held = residency(kernel, device)
    if held.groups is None:
        resident = f"How many of them a compute unit could hold at once is not known: {held.limit}."
    else:
        resident = f"A compute unit could hold {held.groups} of them at once: {held.limit}."
    return f"This launch has {groups}: {idle}. {cure}.\n{resident}"
