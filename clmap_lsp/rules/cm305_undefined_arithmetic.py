"""Integer divisions by zero, and of the least integer by -1.

## What it does

Runs the kernel in the emulator on its launch, and reports integer divisions and remainders whose result
OpenCL C leaves undefined.

## Why is this bad?

The result differs between devices; none of them says so.

## Example

```c
// clmap: global=64 local=16 data=iota(64)
__kernel void reciprocal(__global int *data)
{
    const int i = get_global_id(0);
    data[i] = 1000 / data[i];
}
```

## Use instead

```c
// clmap: global=64 local=16 data=iota(64)
__kernel void reciprocal(__global int *data)
{
    const int i = get_global_id(0);
    data[i] = data[i] == 0 ? 0 : 1000 / data[i];
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

RULE = RuleMeta("CM305", "undefined-arithmetic", Severity.WARNING, needs=Needs.EMULATION)


def check(kernel: Kernel, result: EmulationResult) -> Iterator[Finding]:
    """Yield what the emulator met."""
    from clmap_lsp.emulator.result import FaultKind
    from clmap_lsp.rules.faults import findings

    yield from findings(
        kernel, result, RULE, frozenset({FaultKind.DIVISION_BY_ZERO, FaultKind.INTEGER_OVERFLOW})
    )
