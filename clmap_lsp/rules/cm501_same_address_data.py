"""Small read-only data that all work-items read at the same address, outside of constant memory.

## What it does

Reports global buffers that a kernel only reads, whose every access has one address for all work-items in the
same iteration, and that fit into the device's constant memory. Devices that read constant memory through the
same path as global memory are left out, and those on which it was measured to gain nothing (NVIDIA Hopper:
global memory is as fast within 1 %, because its caches serve one address to a whole SIMD group at once too).

Nothing is said where sizes were guessed, or where one work-item of a group does all.

What is too large for constant memory is reported as a candidate for local memory where it is a quarter of the
kernel's sectors at least: a work-group can load it once, part by part, instead of each of its SIMD groups.

## Why is this bad?

Constant memory is made for this: one address for a whole SIMD group is served in one pass from a cache of its
own, which leaves the path of global memory to the data that need it. A table that all work-items read in turn
is its best use.

## Example

```c
// clmap: global=4096 local=64 phi=random(1024) out=zeros(4096)
__kernel void sum(__global const float *restrict phi, __global float *restrict out)
{
    float total = 0.0f;
    for (int k = 0; k < 1024; k++)
        total += phi[k];
    out[get_global_id(0)] = total;
}
```

## Use instead

```c
// clmap: global=4096 local=64 phi=random(1024) out=zeros(4096)
__kernel void sum(__constant float *phi, __global float *restrict out)
{
    float total = 0.0f;
    for (int k = 0; k < 1024; k++)
        total += phi[k];
    out[get_global_id(0)] = total;
}
```
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from clmap_lsp.findings import Finding, Severity
from clmap_lsp.rules.meta import RuleMeta
from clmap_lsp.rules.thresholds import SHARED_FROM

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import KernelAnalysis
    from clmap_lsp.devices.model import DeviceModel
    from clmap_lsp.hierarchy.instances import Array

RULE = RuleMeta("CM501", "same-address-data", Severity.HINT)


def check(kernel: KernelAnalysis, device: DeviceModel) -> Iterator[Finding]:
    """Yield one finding a buffer, at its first access."""
    from clmap_lsp.devices.model import ConstantRule
    from clmap_lsp.hierarchy.instances import arrays_of
    from clmap_lsp.hierarchy.properties import size_words, small
    from clmap_lsp.hierarchy.selection import Memory, moot
    from clmap_lsp.source.types import AddressSpace

    if _is_serial(kernel) or _is_guessed(kernel):
        return
    if device.constant_rule is not ConstantRule.PER_ADDRESS or moot(Memory.CONSTANT, device) is not None:
        return
    for array in arrays_of(kernel):
        walked = all(it.same_address and it.intra_thread for it in array.instances)
        if array.space is not AddressSpace.GLOBAL or array.is_stored or not walked:
            continue
        if array.bytes is None:
            continue
        fits = small(array, device)
        if fits:
            message = (
                f"`{array.name}` could live in __constant memory: all work-items read the same address, "
                f"{size_words(array.bytes)} with this launch."
            )
        elif (groups := _simd_groups(kernel, device)) > 1 and _share(kernel, array) >= SHARED_FROM:
            message = (
                f"All work-items read the same address of `{array.name}`, but {fits.why}: a work-group "
                "could load it once through local memory, part by part, instead of once for each of its "
                f"{groups} SIMD groups."
            )
        else:
            continue
        span = array.instances[0].accesses[0].span
        severity = None if fits else Severity.INFORMATION
        yield RULE.finding(span, message, kernel=kernel.name, severity=severity, data={"bytes": array.bytes})


def _is_serial(kernel: KernelAnalysis) -> bool:
    """Tell whether one work-item of a group does all: it shares with nobody."""
    from clmap_lsp.rules.serial import runs_alone

    return runs_alone(kernel) is not None


def _is_guessed(kernel: KernelAnalysis) -> bool:
    """Tell whether the sizes of buffers follow from guesses."""
    from clmap_lsp.analysis.active import guesses_a_size

    return guesses_a_size(kernel)


def _simd_groups(kernel: KernelAnalysis, device: DeviceModel) -> int:
    return 1 if kernel.launch is None else -(-kernel.launch.group_items // device.simd_width)


def _share(kernel: KernelAnalysis, array: Array) -> float:
    sectors = sum(
        it.totals.sectors
        for it in kernel.accesses
        if it.access.buffer == array.name and it.totals is not None
    )
    return sectors / kernel.totals.sectors if kernel.totals.sectors else 0.0
