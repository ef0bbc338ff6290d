"""Asynchronous copies that nothing waits for, and waits for what is no copy.

## What it does

Runs the kernel in the emulator on its launch, and reports copies by the whole group whose event no work-item
waits for, waits for an event that is that of no copy or was waited for before, and copies of lines or planes
that overlap.

## Why is this bad?

`async_work_group_copy` may still be under way until the wait for its event returns: without one, the copy may
come late or, at the end of the kernel, not at all. Events that stand for no copy, and lines that overlap, are
undefined.

## Example

```c
// clmap: global=64 local=16 in=iota(64)
__kernel void fetched(__global const int *in, __global int *out)
{
    __local int tile[16];
    out[get_global_id(0)] = 0;
    async_work_group_copy(tile, in + get_group_id(0) * 16, 16, 0);
}
```

## Use instead

```c
// clmap: global=64 local=16 in=iota(64)
__kernel void fetched(__global const int *in, __global int *out)
{
    __local int tile[16];
    event_t copied = async_work_group_copy(tile, in + get_group_id(0) * 16, 16, 0);
    wait_group_events(1, &copied);
    out[get_global_id(0)] = tile[get_local_id(0)];
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

RULE = RuleMeta("CM308", "copy-event", Severity.ERROR, needs=Needs.EMULATION)


def check(kernel: Kernel, result: EmulationResult) -> Iterator[Finding]:
    """Yield what the emulator met."""
    from clmap_lsp.emulator.result import FaultKind
    from clmap_lsp.rules.faults import findings

    kinds = {FaultKind.COPY_NOT_WAITED_FOR, FaultKind.WAIT_WITHOUT_COPY, FaultKind.OVERLAPPING_COPY}
    yield from findings(kernel, result, RULE, frozenset(kinds))
