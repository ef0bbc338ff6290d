"""Atomics of a whole SIMD group on one address of global memory, or of a whole launch on few.

## What it does

Reports atomic operations on global memory that most work-items of a SIMD group execute on one address, if a
quarter of the SIMD groups do so at least; and those of which data choose the address, in a buffer of no more
elements than local memory holds, with many operations for each element: histograms. What stands under a
condition on data is left out: how often it is met is not known.

## Why is this bad?

Operations on one address are done one after the other, for the whole device: a counter that every work-item
increments takes as many steps as there are work-items. Some compilers add up a SIMD group's operations first,
where nobody asks for the value before; OpenCL does not promise that. Where the device's times can be
predicted, the finding says what the atomics take of the launch.

## Example

```c
// clmap: global=65536 local=256 in=random(65536) count=zeros(1)
__kernel void positive(__global const float *in, __global int *count)
{
    atomic_add(&count[0], in[get_global_id(0)] > 0.0f);
}
```

## Use instead

Count in local memory first, and add once for each work-group:

```c
// clmap: global=65536 local=256 in=random(65536) count=zeros(1)
__kernel void positive(__global const float *in, __global int *count)
{
    __local int mine;
    if (get_local_id(0) == 0)
        mine = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&mine, in[get_global_id(0)] > 0.0f);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        atomic_add(&count[0], mine);
}
```
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING

from clmap_lsp.findings import Finding, Severity
from clmap_lsp.rules import wording
from clmap_lsp.rules.meta import RuleMeta
from clmap_lsp.rules.thresholds import CONTENDED_FROM, CONTENDED_SHARE, FEW_ELEMENTS

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import AccessAnalysis, KernelAnalysis
    from clmap_lsp.devices.model import DeviceModel
    from clmap_lsp.launch.model import Launch

RULE = RuleMeta("CM512", "contended-atomic", Severity.INFORMATION)


def check(kernel: KernelAnalysis, device: DeviceModel) -> Iterator[Finding]:
    """Yield one finding for each buffer that atomics contend for."""
    from clmap_lsp.access.records import Direction
    from clmap_lsp.launch.model import Origin
    from clmap_lsp.rules.patterns import by_buffer, one_of
    from clmap_lsp.source.types import AddressSpace

    launch = kernel.launch
    if launch is None or (launch.origin is Origin.INFERRED and not _tells_work_items_apart(kernel)):
        return
    contended = [
        it
        for it in kernel.accesses
        if it.access.direction is Direction.ATOMIC
        and it.access.space is AddressSpace.GLOBAL
        and _contends(it, launch, device)
    ]
    yield from _of_few_elements(kernel, launch, device)
    for group in by_buffer(contended):
        yield one_of(
            group,
            lambda rest: RULE.finding(
                rest[0].access.span,
                f"the work-items of a SIMD group all wait for one address here, "
                f"`{wording.expression(rest[0])}`: combine their values in local memory first, and "
                f"let one work-item of each work-group do this.\n{wording.held_for(kernel, device)}.",
                kernel=kernel.name,
                data=wording.figures(rest[0]),
            ),
        )


def _tells_work_items_apart(kernel: KernelAnalysis) -> bool:
    """Tell whether a kernel asks for ids at all: else all work-items do the same, and one may be launched."""
    from clmap_lsp.source import ir

    return any(isinstance(it, ir.WorkItem) for it in ir.all_expressions(kernel.kernel.body))


def _of_few_elements(kernel: KernelAnalysis, launch: Launch, device: DeviceModel) -> Iterator[Finding]:
    """Yield one finding for each small buffer of which data say where an atomic goes."""
    from clmap_lsp.analysis.lanes import turns_made
    from clmap_lsp.rules.patterns import by_buffer, one_of

    found = [it for it in kernel.accesses if _elements(it, launch) is not None]
    for group in by_buffer(found):
        count = _elements(group[0], launch)
        operations, is_exact = turns_made(group[0].access, launch)
        if count is None or operations < CONTENDED_FROM * count:
            continue
        said = f"{operations:,}" if is_exact else f"About {operations:,}"
        yield one_of(
            group,
            lambda rest, count=count, said=said: RULE.finding(  # type: ignore[misc]
                rest[0].access.span,
                f"{said} atomic operations go to the {count:,} elements of "
                f"`{rest[0].access.buffer}`, and those on one element wait for each other: count in local "
                "memory first, and add once for each work-group.\n"
                f"{wording.held_for(kernel, device)}.",
                kernel=kernel.name,
                data=wording.figures(rest[0]),
            ),
        )


def _elements(access: AccessAnalysis, launch: Launch) -> int | None:
    """Return how many elements an atomic may go to, if data say to which, nothing else guards it, and few."""
    from clmap_lsp.access.polynomial import Indirect, Unknown
    from clmap_lsp.access.records import Direction
    from clmap_lsp.launch.model import BufferArgument
    from clmap_lsp.source.types import AddressSpace

    own = access.access
    argument = launch.arguments.get(own.buffer)
    if own.direction is not Direction.ATOMIC or own.space is not AddressSpace.GLOBAL:
        return None
    if not isinstance(argument, BufferArgument) or not 1 < argument.count <= FEW_ELEMENTS:
        return None
    on_data = (Indirect, Unknown)
    if any(isinstance(leaf, on_data) for part in own.guard for leaf in part.leaves):
        return None
    return argument.count if any(isinstance(leaf, on_data) for leaf in own.offset.leaves) else None


def _contends(access: AccessAnalysis, launch: Launch, device: DeviceModel) -> bool:
    """Tell whether enough SIMD groups come to an atomic with enough work-items for one address."""
    from clmap_lsp.analysis.lanes import first_simd_group

    groups = prod(launch.num_groups) * -(-launch.group_items // device.simd_width)
    if access.totals is not None and access.totals.instructions < CONTENDED_SHARE * groups:
        return False
    addresses = [it for it in first_simd_group(access.access, launch, device) if it is not None]
    return bool(addresses) and max(Counter(addresses).values()) >= CONTENDED_FROM
