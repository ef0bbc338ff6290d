"""Accesses outside the buffer or array that they belong to.

## What it does

Runs the kernel in the emulator on its launch, and reports every place where a work-item reads or writes
outside a buffer, a local or private array, or a constant, or past an array that is part of a larger object.

## Why is this bad?

A device does not check. A read gives whatever lies there, a write destroys it, and on another day or driver
the kernel stops with an error far from the cause.

## Example

```c
// clmap: global=64 local=16 in=iota(64) out=zeros(64)
__kernel void neighbours(__global const int *in, __global int *out)
{
    const int i = get_global_id(0);
    out[i] = in[i] + in[i + 1];
}
```

## Use instead

```c
// clmap: global=64 local=16 in=iota(64) out=zeros(64)
__kernel void neighbours(__global const int *in, __global int *out)
{
    const int i = get_global_id(0);
    out[i] = in[i] + (i + 1 < 64 ? in[i + 1] : 0);
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

RULE = RuleMeta("CM301", "out-of-bounds", Severity.ERROR, needs=Needs.EMULATION)


def check(kernel: Kernel, result: EmulationResult) -> Iterator[Finding]:
    """Yield what the emulator met."""
    from clmap_lsp.emulator.result import FaultKind
    from clmap_lsp.rules.faults import findings

    kinds = {FaultKind.OUT_OF_BOUNDS_READ, FaultKind.OUT_OF_BOUNDS_WRITE, FaultKind.INDEX_PAST_ARRAY}
    yield from findings(kernel, result, RULE, frozenset(kinds))
