"""Barriers that only some work-items of a group reach.

## What it does

Runs the kernel in the emulator on its launch, and reports barriers at which a work-group waits for work-
items that never come: they returned, left a loop, or wait at another barrier.

## Why is this bad?

OpenCL C 3.0, section 6.15.8, asks all work-items of a group to meet the same barrier. A device that waits
for the missing ones hangs; one that does not goes on with half-filled local memory.

## Example

```c
// clmap: global=64 local=16 n=60 data=iota(64)
__kernel void early(__global int *data, const int n)
{
    __local int part[16];
    const int i = get_global_id(0);
    if (i >= n)
        return;
    part[get_local_id(0)] = data[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    data[i] = part[0];
}
```

## Use instead

```c
// clmap: global=64 local=16 n=60 data=iota(64)
__kernel void early(__global int *data, const int n)
{
    __local int part[16];
    const int i = get_global_id(0);
    if (i < n)
        part[get_local_id(0)] = data[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < n)
        data[i] = part[0];
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

RULE = RuleMeta("CM303", "barrier-divergence", Severity.ERROR, needs=Needs.EMULATION)


def check(kernel: Kernel, result: EmulationResult) -> Iterator[Finding]:
    """Yield what the emulator met."""
    from clmap_lsp.emulator.result import FaultKind
    from clmap_lsp.rules.faults import findings

    yield from findings(kernel, result, RULE, frozenset({FaultKind.BARRIER_DIVERGENCE}))
