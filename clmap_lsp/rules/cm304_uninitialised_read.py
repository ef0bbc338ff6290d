"""Reads of local or private memory that nobody has written.

## What it does

Runs the kernel in the emulator on its launch, and reports reads of local and private memory (and of
variables) whose value was never set.

## Why is this bad?

The value is whatever the last kernel left there.

## Example

```c
// clmap: global=64 local=16 in=iota(64) out=zeros(64)
__kernel void halves(__global const int *in, __global int *out)
{
    __local int part[16];
    const int lane = get_local_id(0);
    if (lane < 8)
        part[lane] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = part[lane];
}
```

## Use instead

```c
// clmap: global=64 local=16 in=iota(64) out=zeros(64)
__kernel void halves(__global const int *in, __global int *out)
{
    __local int part[16];
    const int lane = get_local_id(0);
    part[lane] = lane < 8 ? in[get_global_id(0)] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = part[lane];
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

RULE = RuleMeta("CM304", "uninitialised-read", Severity.WARNING, needs=Needs.EMULATION)


def check(kernel: Kernel, result: EmulationResult) -> Iterator[Finding]:
    """Yield what the emulator met."""
    from clmap_lsp.emulator.result import FaultKind
    from clmap_lsp.rules.faults import findings

    yield from findings(kernel, result, RULE, frozenset({FaultKind.UNINITIALISED_READ}))
