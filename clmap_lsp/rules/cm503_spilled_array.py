"""A private array that does not stay in registers.

## What it does

Reports private arrays that have more words than a work-item has registers, or that are indexed by what is no
constant even after unrolling short loops.

## Why is this bad?

Private memory is registers, some tens to 255 words a work-item, and registers have no addresses. Such an
array is put into off-chip memory behind the caches: every access to it is then a request to memory, and it is
not what the author meant by private. It may still be better than reading scattered data again and again.

## Example

```c
// clmap: global=4096 local=64 in=random(4096) out=zeros(4096) N=512
__kernel void keep(__global const float *restrict in, __global float *restrict out, const int N)
{
    float kept[512];
    for (int k = 0; k < N; k++)
        kept[k] = in[get_global_id(0)] * (float)k;
    float sum = 0.0f;
    for (int k = 0; k < N; k++)
        sum += kept[N - 1 - k];
    out[get_global_id(0)] = sum;
}
```

## Use instead

```c
// clmap: global=4096 local=64 in=random(4096) out=zeros(4096) N=512
__kernel void keep(__global const float *restrict in, __global float *restrict out, const int N)
{
    const float mine = in[get_global_id(0)];
    float sum = 0.0f;
    for (int k = 0; k < N; k++)
        sum += mine * (float)(N - 1 - k);
    out[get_global_id(0)] = sum;
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

RULE = RuleMeta("CM503", "spilled-array", Severity.INFORMATION)


def check(kernel: KernelAnalysis, device: DeviceModel) -> Iterator[Finding]:
    """Yield one finding an array, at its declaration. CPUs keep everything in memory and are left out."""
    from clmap_lsp.hierarchy.private_memory import spilled

    if device.has_scratchpad is False and device.vendor.lower() != "arm":
        return
    if kernel.launch is not None and kernel.launch.group_items == 1:
        return  # A kernel of one work-item is written for an FPGA or a CPU.
    for it in spilled(kernel, device):
        message = (
            f"`{it.variable.name}` ({it.bytes} bytes a work-item) will not stay in registers: "
            f"{it.reason}. Its accesses go to memory."
        )
        # Stacks and lists that a counter walks have to be somewhere: their authors know.
        severity = None if it.by_size or it.by_data else Severity.HINT
        yield RULE.finding(
            it.variable.span,
            message,
            kernel=kernel.name,
            severity=severity,
            data={"bytes": it.bytes, "by_size": it.by_size},
        )
