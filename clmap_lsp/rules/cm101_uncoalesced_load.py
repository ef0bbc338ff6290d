"""Loads of one SIMD group that scatter over global memory.

## What it does

Counts, for the launch and the device model, how many sectors (the granules in which the device moves global
memory) each request of a load touches, and reports loads that touch at least half as many again as the same
bytes would touch side by side.

## Why is this bad?

A SIMD group's loads are served together: 32 work-items that read 32 neighbouring floats move 4 sectors of 32
bytes; the same work-items 1 KiB apart move 32, of which seven eighths are thrown away. Memory bandwidth is
what most kernels wait for, so the kernel slows down by about that factor.

Loads that all work-items share (broadcasts) cost one sector and are not reported. Loads that are scattered
because the work-items' dimensions are swapped against the array are reported once, as CM104; loads that are
side by side but not aligned as CM103.

## Example

```c
// clmap: global=1024 local=128 N=256 A=zeros(N*1024) sum=zeros(1024)
__kernel void sum_rows(__global const float *A, __global float *sum, const int N)
{
    const int row = get_global_id(0);
    float total = 0.0f;
    for (int k = 0; k < N; k++)
        total += A[row * N + k];
    sum[row] = total;
}
```

## Use instead

Let consecutive work-items read consecutive elements, here by storing the matrix transposed:

```c
// clmap: global=1024 local=128 N=256 AT=zeros(N*1024) sum=zeros(1024)
__kernel void sum_rows(__global const float *AT, __global float *sum, const int N)
{
    const int row = get_global_id(0);
    const int rows = get_global_size(0);
    float total = 0.0f;
    for (int k = 0; k < N; k++)
        total += AT[k * rows + row];
    sum[row] = total;
}
```

Other ways: a structure of arrays in place of an array of structures, or staging a tile in local memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from clmap_lsp.findings import Finding, Severity
from clmap_lsp.rules.meta import RuleMeta

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import KernelAnalysis
    from clmap_lsp.devices.model import DeviceModel

RULE = RuleMeta("CM101", "uncoalesced-load", Severity.WARNING)


def check(kernel: KernelAnalysis, device: DeviceModel) -> Iterator[Finding]:
    """Yield the scattered loads."""
    from clmap_lsp.access.records import Direction
    from clmap_lsp.rules.patterns import uncoalesced

    yield from uncoalesced(kernel, device, RULE, Direction.LOAD)
