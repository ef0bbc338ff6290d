"""Work-items that each walk a row of their own, whose start comes from memory.

## What it does

Reports loads of global memory that a loop moves element by element from a place that each work-item reads
from a table: a sparse matrix by rows, or records found through an index. It follows from the form of the
index, so that neither the table's contents nor its size matter.

## Why is this bad?

Neighbouring work-items are as far apart as their rows. Each request touches a granule for each work-item,
and work-items with short rows wait for those with long ones. What one iteration does not use of a granule is
used in the next, if the caches still have it. Vectors that fill a granule leave nothing of it unused: of them
nothing is said.

## Example

```c
// clmap: global=1024 local=128
__kernel void spmv(__global const int *start, __global const int *column, __global const float *value,
                   __global const float *x, __global float *y)
{
    const int row = get_global_id(0);
    float sum = 0.0f;
    for (int j = start[row]; j < start[row + 1]; j++)
        sum += value[j] * x[column[j]];
    y[row] = sum;
}
```

## Use instead

Let the work-items of a SIMD group share a row, or store the rows padded and by columns (ELLPACK):

```c
// clmap: global=1024 local=128 width=8
__kernel void spmv(__global const int *column, __global const float *value,
                   __global const float *x, __global float *y, const int width)
{
    const int row = get_global_id(0), rows = get_global_size(0);
    float sum = 0.0f;
    for (int j = 0; j < width; j++)
        sum += value[j * rows + row] * x[column[j * rows + row]];
    y[row] = sum;
}
```
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from clmap_lsp.findings import Finding, Severity
from clmap_lsp.rules import wording
from clmap_lsp.rules.meta import RuleMeta

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import AccessAnalysis, KernelAnalysis
    from clmap_lsp.devices.model import DeviceModel

RULE = RuleMeta("CM106", "data-dependent-rows", Severity.INFORMATION)


def check(kernel: KernelAnalysis, device: DeviceModel) -> Iterator[Finding]:
    """Yield one finding a kernel: the rows of one matrix lie in several buffers."""
    from clmap_lsp.access.records import Direction
    from clmap_lsp.rules.patterns import also, one_of, walks_own_row
    from clmap_lsp.source.types import AddressSpace

    if device.simd_width < 2:
        return
    rows = [
        it
        for it in kernel.accesses
        if it.access.space is AddressSpace.GLOBAL
        and it.access.direction is Direction.LOAD
        and walks_own_row(it)
        and not _uses_granules_whole(it, device)
    ]
    if rows:
        tables = ", ".join(
            f"`{it}`" for it in sorted({it for row in rows for it in row.access.indirect_through})
        )
        walked = ", ".join(dict.fromkeys(f"`{it.access.buffer}`" for it in rows))
        yield one_of(
            rows,
            lambda rest: RULE.finding(
                rest[0].access.span,
                f"each work-item walks a row of its own of {walked}, which starts where {tables} says: "
                "neighbouring work-items are as far apart as their rows.\n"
                "Let the work-items of a SIMD group share a row, or store rows padded and by columns.",
                kernel=kernel.name,
                related=also(rest),
                data=wording.figures(rest[0]),
            ),
        )


def _uses_granules_whole(access: AccessAnalysis, device: DeviceModel) -> bool:
    """Tell whether one work-item's vector fills granules, so that nothing of a request is left unused."""
    granule = device.granule_bytes
    return granule is not None and access.access.size >= granule
