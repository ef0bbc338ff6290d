"""Work-items that use one place without being ordered.

## What it does

Runs the kernel in the emulator on its launch, and reports pairs of accesses of different work-items to one
place, at least one of them a write, with no barrier (or no group boundary) between them. Atomics with one
another, and writes of the same value, are no race.

## Why is this bad?

Which of the two happens first differs from device to device and from run to run. The usual cause is a
barrier that is missing between filling a local array and reading it.

## Example

```c
// clmap: global=64 local=16 in=iota(64) out=zeros(64)
__kernel void turn(__global const int *in, __global int *out)
{
    __local int part[16];
    const int lane = get_local_id(0);
    part[lane] = in[get_global_id(0)];
    out[get_global_id(0)] = part[15 - lane];
}
```

## Use instead

```c
// clmap: global=64 local=16 in=iota(64) out=zeros(64)
__kernel void turn(__global const int *in, __global int *out)
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

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from clmap_lsp.findings import Finding, Severity
from clmap_lsp.rules.meta import Needs, RuleMeta

if TYPE_CHECKING:
    from clmap_lsp.emulator.result import EmulationResult, Fault
    from clmap_lsp.source.ir import Kernel

RULE = RuleMeta("CM302", "data-race", Severity.ERROR, needs=Needs.EMULATION)


def check(kernel: Kernel, result: EmulationResult) -> Iterator[Finding]:
    """Yield what the emulator met: accesses that race with the same one are one finding."""
    from clmap_lsp.emulator.result import FaultKind
    from clmap_lsp.rules.faults import finding_of

    for first, *others in _together([it for it in result.faults if it.kind is FaultKind.DATA_RACE]):
        yield finding_of(kernel, result, RULE, first, others)


def _together(races: Sequence[Fault]) -> Iterator[list[Fault]]:
    """Yield the races of each buffer that hang together by a place: one barrier less makes all of them."""
    groups: list[tuple[set[object], list[Fault]]] = []
    for race in races:
        places: set[object] = {(race.buffer, race.grounds, it) for it in (race.span, race.other_span)}
        joined, members = places, [race]
        for group in [it for it in groups if not it[0].isdisjoint(places)]:
            groups.remove(group)
            joined, members = joined | group[0], group[1] + members
        groups.append((joined, members))
    return (members for _, members in groups)
