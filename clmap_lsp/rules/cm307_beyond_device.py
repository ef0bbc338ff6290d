"""Launches that need more than the device model has.

## What it does

Compares the local memory, the private memory and the work-items of a work-group with the limits of the
device model.

## Why is this bad?

The launch fails on such a device with an error code and no place.

## Example

```c
// clmap: global=256 local=16 in=iota(256) out=zeros(256)
__kernel void large(__global const int *in, __global int *out)
{
    __local int part[100000];
    const int lane = get_local_id(0);
    part[lane] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = part[15 - lane];
}
```

## Use instead

```c
// clmap: global=256 local=16 in=iota(256) out=zeros(256)
__kernel void large(__global const int *in, __global int *out)
{
    __local int part[16];
    const int lane = get_local_id(0);
    part[lane] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = part[15 - lane];
}
```
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from clmap_lsp.findings import Finding, Severity
from clmap_lsp.rules.meta import Needs, RuleMeta

if TYPE_CHECKING:
    from clmap_lsp.emulator.result import EmulationResult
    from clmap_lsp.source.ir import Kernel

RULE = RuleMeta("CM307", "beyond-device", Severity.WARNING, needs=Needs.EMULATION)


def check(kernel: Kernel, result: EmulationResult) -> Iterator[Finding]:
    """Yield what the emulator met."""
    from clmap_lsp.emulator.result import FaultKind
    from clmap_lsp.rules.faults import findings

    yield from findings(
        kernel,
        result,
        RULE,
        frozenset({FaultKind.LOCAL_MEMORY_LIMIT, FaultKind.PRIVATE_MEMORY_LIMIT, FaultKind.WORK_GROUP_LIMIT}),
    )
