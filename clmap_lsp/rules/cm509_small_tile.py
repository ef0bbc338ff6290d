"""Tiles in local memory that are smaller than the device allows.

## What it does

Looks at local arrays of the work-group's own shape, T x T or T, that are filled from global memory tile by
tile and read along a side: each element that a work-group loads is then used T times. Reports the largest
tile, T times a power of two, that the limits of the device, the sizes of the launch and the work-groups
resident on a compute unit allow, if it would save a quarter of the kernel's sectors or more.

## Why is this bad?

The traffic of such a kernel falls with 1/T: going from 8 to 16 halves the sectors. On an H200 a matrix
multiply went from 4.2 to 6.1 to 7.1 TFLOP/s with tiles of 8, 16 and 32. Registers, which the source does not
show, may set a lower limit; and a launch of few, large work-groups may leave compute units idle.

## Example

```c
#define TILE 8
// clmap: global=256,256 local=8,8 N=256 A=random(N*N) B=random(N*N,1) C=zeros(N*N)
__kernel void product(__global const float *A, __global const float *B, __global float *C, const int N)
{
    __local float a[TILE][TILE];
    __local float b[TILE][TILE];
    const int x = get_global_id(0), y = get_global_id(1);
    const int lx = get_local_id(0), ly = get_local_id(1);
    float sum = 0.0f;
    for (int tile = 0; tile < N; tile += TILE) {
        a[ly][lx] = A[y * N + tile + lx];
        b[ly][lx] = B[(tile + ly) * N + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < TILE; k++)
            sum += a[ly][k] * b[k][lx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    C[y * N + x] = sum;
}
```

## Use instead

Groups of 32 x 32 where a device has groups of 1024 work-items, else of 16 x 16.

```c
#define TILE 32
// clmap: global=256,256 local=32,32 N=256 A=random(N*N) B=random(N*N,1) C=zeros(N*N)
__kernel void product(__global const float *A, __global const float *B, __global float *C, const int N)
{
    __local float a[TILE][TILE];
    __local float b[TILE][TILE];
    const int x = get_global_id(0), y = get_global_id(1);
    const int lx = get_local_id(0), ly = get_local_id(1);
    float sum = 0.0f;
    for (int tile = 0; tile < N; tile += TILE) {
        a[ly][lx] = A[y * N + tile + lx];
        b[ly][lx] = B[(tile + ly) * N + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < TILE; k++)
            sum += a[ly][k] * b[k][lx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    C[y * N + x] = sum;
}
```
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from clmap_lsp.findings import Finding, Severity
from clmap_lsp.rules.meta import RuleMeta
from clmap_lsp.rules.thresholds import SHARED_FROM

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import KernelAnalysis
    from clmap_lsp.devices.model import DeviceModel
    from clmap_lsp.hierarchy.tiles import TileChoice, Tiling

RULE = RuleMeta("CM509", "small-tile", Severity.INFORMATION)


def check(kernel: KernelAnalysis, device: DeviceModel) -> Iterator[Finding]:
    """Yield one finding a kernel, at its first tile; none where local memory is emulated."""
    from clmap_lsp.hierarchy.tiles import larger_tile, tiling_of

    if device.has_scratchpad is False:
        return
    tiling = tiling_of(kernel)
    choice = None if tiling is None else larger_tile(kernel, device, tiling)
    if tiling is None or choice is None:
        return
    saved = tiling.sectors - choice.sectors
    if not kernel.totals.sectors or saved < SHARED_FROM * kernel.totals.sectors:
        return
    share = saved / kernel.totals.sectors
    yield RULE.finding(
        tiling.arrays[0].span,
        _message(tiling, choice, share, device),
        kernel=kernel.name,
        data={
            "side": tiling.side,
            "larger_side": choice.side,
            "local_bytes": choice.local_bytes,
            "work_groups": choice.n_groups,
            "resident_work_groups": choice.residency.groups,
            "sectors": tiling.sectors,
            "sectors_then": choice.sectors,
        },
    )


def _message(tiling: Tiling, choice: TileChoice, share: float, device: DeviceModel) -> str:
    from clmap_lsp.hierarchy.properties import size_words

    buffers = " and ".join(f"`{it}`" for it in tiling.buffers)
    limit = device.limits.local_bytes_per_group
    of = "" if limit is None else f" of {size_words(limit)}"
    groups = "1 work-group" if choice.n_groups == 1 else f"{choice.n_groups} work-groups"
    return (
        f"Tiles of {_shape(tiling, tiling.side)} use each element loaded of {buffers} {tiling.side} times; "
        f"{_shape(tiling, choice.side)} would use it {choice.side} times and load about "
        f"{choice.sectors:,} sectors instead of {tiling.sectors:,}: {share * 100:.0f} % less in the kernel.\n"
        f"They take {size_words(choice.local_bytes)}{of} of local memory in groups of {choice.group_items} "
        f"work-items, {groups} in this launch; {_resident(choice)}, if registers allow."
    )


def _shape(tiling: Tiling, side: int) -> str:
    return " x ".join([str(side)] * len(tiling.dimensions))


def _resident(choice: TileChoice) -> str:
    it = choice.residency
    if it.groups is None:
        return "how many stay resident on a compute unit is not known"
    stay = "1 stays" if it.groups == 1 else f"{it.groups} stay"
    simd = "" if it.simd_capacity is None else f" ({it.simd_groups} of {it.simd_capacity} SIMD groups)"
    return f"{stay} resident on a compute unit{simd}"
