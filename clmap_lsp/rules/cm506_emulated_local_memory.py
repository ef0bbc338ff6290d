"""Staging through local memory on a device that has none of its own.

## What it does

Reports local arrays on devices whose local memory is ordinary cached memory (CPUs, Arm Mali), if they hold
copies of global data.

## Why is this bad?

There the copy lies in the same caches as the original: it costs instructions, cache and barriers, and saves
nothing.

## Example

With `--device cpu`:

```c
// clmap: global=4096 local=64 in=random(4096) out=zeros(4096)
__kernel void reversed(__global const float *restrict in, __global float *restrict out)
{
    __local float tile[64];
    const int lx = get_local_id(0);
    tile[lx] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = tile[63 - lx];
}
```

## Use instead

```c
// clmap: global=4096 local=64 in=random(4096) out=zeros(4096)
__kernel void reversed(__global const float *restrict in, __global float *restrict out)
{
    const int first = get_group_id(0) * 64;
    out[get_global_id(0)] = in[first + 63 - get_local_id(0)];
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

RULE = RuleMeta("CM506", "emulated-local-memory", Severity.INFORMATION)


def check(kernel: KernelAnalysis, device: DeviceModel) -> Iterator[Finding]:
    """Yield one finding a local array that is filled with what was loaded from global memory."""
    from clmap_lsp.hierarchy.staging import staged_arrays

    if device.has_scratchpad is not False:
        return
    for variable in staged_arrays(kernel.kernel):
        message = (
            f"`{variable.name}` holds a copy of global data, but {device.id} keeps local memory in its "
            "ordinary caches: the copy only adds work."
        )
        yield RULE.finding(variable.span, message, kernel=kernel.name)
