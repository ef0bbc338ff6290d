"""Vector accesses through pointers that are not aligned to the vector.

## What it does

Runs the kernel in the emulator on its launch, and reports accesses whose address is no multiple of the size
of the type that is read or written.

## Why is this bad?

OpenCL C 3.0, section 6.3.5, leaves this undefined: NVIDIA devices stop the kernel, others read something
else. `vloadn` and `vstoren` need the alignment of an element only.

## Example

```c
// clmap: global=16 local=16 in=iota(80) out=zeros(64)
__kernel void shifted(__global const int *in, __global int4 *out)
{
    const int i = get_global_id(0);
    out[i] = *(__global const int4 *)(in + 4 * i + 1);
}
```

## Use instead

```c
// clmap: global=16 local=16 in=iota(80) out=zeros(64)
__kernel void shifted(__global const int *in, __global int4 *out)
{
    const int i = get_global_id(0);
    out[i] = vload4(0, in + 4 * i + 1);
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

RULE = RuleMeta("CM306", "misaligned-vector", Severity.ERROR, needs=Needs.EMULATION)


def check(kernel: Kernel, result: EmulationResult) -> Iterator[Finding]:
    """Yield what the emulator met."""
    from clmap_lsp.emulator.result import FaultKind
    from clmap_lsp.rules.faults import findings

    yield from findings(kernel, result, RULE, frozenset({FaultKind.MISALIGNED_ACCESS}))
