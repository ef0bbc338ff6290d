"""Stores of one SIMD group that scatter over global memory.

## What it does

Counts, for the launch and the device model, how many sectors each request of a store touches, and reports
stores that touch at least half as many again as the same bytes would touch side by side.

## Why is this bad?

Sectors that are written in part cost as much as whole ones, and many devices must read them first to fill in
the rest. A scattered store is therefore as dear as a scattered load, and caches help it less.

## Example

```c
// clmap: global=256,256 local=16,16 N=256 in=zeros(N*N) out=zeros(N*N)
__kernel void transpose(__global const float *in, __global float *out, const int N)
{
    const int x = get_global_id(0);
    const int y = get_global_id(1);
    out[x * N + y] = in[y * N + x];
}
```

## Use instead

Turn the tile in local memory, so that loads and stores both walk along rows:

```c
// clmap: global=256,256 local=32,32 N=256 in=zeros(N*N) out=zeros(N*N)
__kernel void transpose(__global const float *in, __global float *out, const int N)
{
    __local float tile[32][33];
    const int lx = get_local_id(0);
    const int ly = get_local_id(1);
    const int bx = get_group_id(0) * 32;
    const int by = get_group_id(1) * 32;
    tile[ly][lx] = in[(by + ly) * N + bx + lx];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[(bx + ly) * N + by + lx] = tile[lx][ly];
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

RULE = RuleMeta("CM102", "uncoalesced-store", Severity.WARNING)


def check(kernel: KernelAnalysis, device: DeviceModel) -> Iterator[Finding]:
    """Yield the scattered stores."""
    from clmap_lsp.access.records import Direction
    from clmap_lsp.rules.patterns import uncoalesced

    yield from uncoalesced(kernel, device, RULE, Direction.STORE)
