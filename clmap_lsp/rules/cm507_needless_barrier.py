"""A barrier that orders no accesses to memory.

## What it does

Reports barriers before which, or after which, a kernel touches no local or global memory that another
work-item could see: at its very start, at its very end, or twice in a row.

## Why is this bad?

A barrier lets all SIMD groups of a work-group wait for the slowest. Where it orders nothing, the wait is for
nothing. Missing barriers are found by the emulator, as data races.

## Example

```c
// clmap: global=4096 local=64 in=random(4096) out=zeros(4096)
__kernel void copy(__global const float *restrict in, __global float *restrict out)
{
    out[get_global_id(0)] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
}
```

## Use instead

```c
// clmap: global=4096 local=64 in=random(4096) out=zeros(4096)
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

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import KernelAnalysis
    from clmap_lsp.devices.model import DeviceModel

RULE = RuleMeta("CM507", "needless-barrier", Severity.INFORMATION)


def check(kernel: KernelAnalysis, device: DeviceModel) -> Iterator[Finding]:
    """Yield one finding a barrier."""
    from clmap_lsp.hierarchy.barriers import needless_barriers

    for barrier, why in needless_barriers(kernel.kernel):
        yield RULE.finding(barrier.span, f"This barrier orders nothing: {why}.", kernel=kernel.name)
