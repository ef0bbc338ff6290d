"""The same global data loaded again by a work-item in every iteration of an outer loop.

## What it does

Reports loads of read-only global arrays in nested loops whose index an outer loop does not move: a work-item
loads the same elements in each of its iterations. Loads that no inner loop moves are left out, because
compilers take them out of the loop, and so is what is less than a quarter of the kernel's sectors.

## Why is this bad?

Private memory, the registers of a work-item, would keep the elements between iterations. Where they are more
than the registers hold, the private array lies in memory behind the caches; it is then interleaved by
work-item, so that its loads are coalesced, which those of the original often are not.

## Example

```c
// clmap: global=4096 local=64 x=random(32768) centres=random(128,1) nearest=zeros(4096)
__kernel void assign(__global const float *restrict x, __constant float *centres,
                     __global int *restrict nearest)
{
    const int i = get_global_id(0);
    float least = INFINITY;
    int best = 0;
    for (int c = 0; c < 16; c++) {
        float distance = 0.0f;
        for (int d = 0; d < 8; d++) {
            const float gap = x[d * 4096 + i] - centres[c * 8 + d];
            distance += gap * gap;
        }
        best = distance < least ? c : best;
        least = min(least, distance);
    }
    nearest[i] = best;
}
```

## Use instead

```c
// clmap: global=4096 local=64 x=random(32768) centres=random(128,1) nearest=zeros(4096)
__kernel void assign(__global const float *restrict x, __constant float *centres,
                     __global int *restrict nearest)
{
    const int i = get_global_id(0);
    float least = INFINITY;
    int best = 0;
    float mine[8];
    for (int d = 0; d < 8; d++)
        mine[d] = x[d * 4096 + i];
    for (int c = 0; c < 16; c++) {
        float distance = 0.0f;
        for (int d = 0; d < 8; d++) {
            const float gap = mine[d] - centres[c * 8 + d];
            distance += gap * gap;
        }
        best = distance < least ? c : best;
        least = min(least, distance);
    }
    nearest[i] = best;
}
```
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from clmap_lsp.findings import Finding, Severity
from clmap_lsp.rules.meta import RuleMeta
from clmap_lsp.rules.thresholds import REPEATED_BYTES, REPEATED_TURNS, SHARED_FROM

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import KernelAnalysis
    from clmap_lsp.devices.model import DeviceModel
    from clmap_lsp.hierarchy.repeats import Repeat

RULE = RuleMeta("CM510", "repeated-loads", Severity.INFORMATION)


def check(kernel: KernelAnalysis, device: DeviceModel) -> Iterator[Finding]:
    """Yield one finding for each buffer of a kernel, at its first such load."""
    from clmap_lsp.hierarchy.repeats import repeats_of

    seen = set()
    for it in repeats_of(kernel):
        buffer = it.access.access.buffer
        worth = it.sectors >= SHARED_FROM * kernel.totals.sectors > 0
        if buffer in seen or not worth or it.turns < REPEATED_TURNS or it.bytes > REPEATED_BYTES:
            continue
        seen.add(buffer)
        yield RULE.finding(
            it.access.access.span,
            _message(it, device),
            kernel=kernel.name,
            data={"buffer": buffer, "turns": it.turns, "bytes": it.bytes},
        )


def _message(it: Repeat, device: DeviceModel) -> str:
    from clmap_lsp.hierarchy.private_memory import DEFAULT_REGISTERS
    from clmap_lsp.hierarchy.properties import size_words

    access = it.access.access
    saved = it.sectors - it.sectors // it.turns
    words = -(-it.bytes // 4)
    # What CM503 says of private arrays has to be said of this one, too.
    registers = device.limits.registers_per_work_item or DEFAULT_REGISTERS
    if words < registers:
        where = f"{words} words of the {registers} registers a work-item can have"
    else:
        where = (
            f"{words} words, more than the {registers} registers a work-item can have: they would lie in "
            "memory, interleaved by work-item, so that neighbours load side by side"
        )
    return (
        f"Each work-item loads the same {size_words(it.bytes)} of `{access.buffer}` in each of the "
        f"{it.turns} iterations of `{it.loop.name}`; a private copy would save about {saved:,} of its "
        f"{it.sectors:,} sectors.\n"
        f"It takes {where}."
    )
