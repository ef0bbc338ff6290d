"""A long loop that one work-item runs while all others wait.

## What it does

Reports loops of 64 turns or more under a condition that lets one work-item of the launch, or of each
work-group, through, where no loop that all work-items run is as long.

## Why is this bad?

A GPU runs thousands of work-items together, and each of them slowly: a work-item alone waits for every load
by itself, hundreds of cycles long. The kernel takes as long as that loop, whatever the others do.

## Example

```c
// clmap: global=1024 local=256 N=1024 a=random(1024) out=zeros(1)
__kernel void norm(__global const float *a, __global float *out, const int N)
{
    if (get_global_id(0) == 0) {
        float sum = 0.0f;
        for (int i = 0; i < N; i++)
            sum += a[i] * a[i];
        out[0] = sqrt(sum);
    }
}
```

## Use instead

Add in a tree over the work-items of a group:

```c
// clmap: global=256 local=256 N=1024 a=random(1024) out=zeros(1)
__kernel void norm(__global const float *a, __global float *out, const int N)
{
    __local float part[256];
    const int l = get_local_id(0);
    float sum = 0.0f;
    for (int i = l; i < N; i += 256)
        sum += a[i] * a[i];
    part[l] = sum;
    for (int width = 128; width > 0; width /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < width)
            part[l] += part[l + width];
    }
    if (l == 0)
        out[0] = sqrt(part[0]);
}
```
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from clmap_lsp.findings import Finding, Severity
from clmap_lsp.rules.meta import RuleMeta
from clmap_lsp.rules.thresholds import SERIAL_TURNS

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import KernelAnalysis
    from clmap_lsp.devices.model import DeviceModel

RULE = RuleMeta("CM511", "serial-kernel", Severity.INFORMATION)


def check(kernel: KernelAnalysis, device: DeviceModel) -> Iterator[Finding]:
    """Yield one finding a kernel, at the longest loop."""
    from clmap_lsp.rules.serial import runs_alone

    if device.simd_width < 2 or (kernel.launch is not None and kernel.launch.group_items == 1):
        return  # A kernel of one work-item is written for an FPGA or a CPU.
    found = runs_alone(kernel)
    if found is None or found.turns < SERIAL_TURNS:
        return
    who = "one work-item of the launch" if found.of_launch else "one work-item of each work-group"
    rest = "all others have nothing to do" if found.of_launch else "the others wait for it"
    yield RULE.finding(
        found.loop,
        f"{who} runs this loop alone, {found.turns:,} iterations with this launch, while {rest}.",
        kernel=kernel.name,
        data={"turns": found.turns},
    )
