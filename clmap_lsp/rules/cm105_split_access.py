"""Neighbouring elements of one work-item, loaded or stored one by one.

## What it does

Reports accesses of global memory in neighbouring statements that together use the bytes of each work-item
whole (three quarters at least), where a vector of no more than 16 bytes would hold them, if they are a
quarter of the kernel's traffic. Wider ones are moved in pieces of 16 bytes anyway.

## Why is this bad?

Each of them is a request of its own, spread over all the granules that one request for the vector would take:
four loads of the members of a `float4` are 64 sectors in four requests instead of 16 in one. The first cache
serves three of them, if nothing has thrown the granules out by then; its bandwidth is used up four times as
fast.

## Example

```c
// clmap: global=4096 local=128 a=zeros(16384) b=zeros(4096)
__kernel void lengths(__global const float *a, __global float *b)
{
    const int i = get_global_id(0);
    const float x = a[4 * i], y = a[4 * i + 1], z = a[4 * i + 2], w = a[4 * i + 3];
    b[i] = x * x + y * y + z * z + w * w;
}
```

## Use instead

```c
// clmap: global=4096 local=128 a=zeros(16384) b=zeros(4096)
__kernel void lengths(__global const float *a, __global float *b)
{
    const int i = get_global_id(0);
    const float4 v = vload4(i, a);
    b[i] = dot(v, v);
}
```

Where the buffer may be declared as `float4 *`, its elements are known to be aligned, and one instruction
loads each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from clmap_lsp.findings import Finding, Severity
from clmap_lsp.rules import wording
from clmap_lsp.rules.meta import RuleMeta

if TYPE_CHECKING:
    from clmap_lsp.access.records import Direction
    from clmap_lsp.analysis.model import AccessAnalysis, KernelAnalysis
    from clmap_lsp.devices.model import DeviceModel

RULE = RuleMeta("CM105", "split-access", Severity.INFORMATION)

_LANES = (2, 4, 8, 16)
"""Three elements are no vector in memory: compilers move a `vload3` element by element."""


def check(kernel: KernelAnalysis, device: DeviceModel) -> Iterator[Finding]:
    """Yield one finding for each buffer and direction; none for stores of what was loaded from there."""
    from clmap_lsp.access.records import Direction
    from clmap_lsp.rules.intensity import is_compute_bound
    from clmap_lsp.rules.patterns import also, has_known_lanes, one_of
    from clmap_lsp.rules.thresholds import SHARED_FROM

    if not has_known_lanes(kernel, device):
        return
    loaded: set[object] = set()
    for direction in (Direction.LOAD, Direction.STORE):
        alike: dict[object, list[list[AccessAnalysis]]] = {}
        for parts in _split(kernel, device, direction):
            place = parts[0].access.buffer, parts[0].access.offset, len(parts)
            if place not in loaded:
                loaded.add(place)
                alike.setdefault((parts[0].access.buffer, len(parts), parts[0].stride), []).append(parts)
        for places in alike.values():
            together = [it for parts in places for it in parts]
            if (wording.share_of(together) or 0.0) < SHARED_FROM or is_compute_bound(kernel):
                continue
            yield one_of(
                together,
                lambda rest, places=places, together=together: RULE.finding(  # type: ignore[misc]
                    rest[0].access.span,
                    f"{_message(kernel, places)}\n{wording.scope(kernel, together, device)}",
                    kernel=kernel.name,
                    related=also(rest),
                    data={**wording.figures(rest[0]), "share": wording.share_of(together)},
                ),
            )


def _split(
    kernel: KernelAnalysis, device: DeviceModel, direction: Direction
) -> Iterator[list[AccessAnalysis]]:
    """Yield accesses that one vector could take the place of, in the order of their addresses."""
    from clmap_lsp.rules.patterns import (
        covered,
        is_global,
        is_part_of_vector,
        is_scattered,
        neighbours,
        run_of,
        touched_bytes,
    )
    from clmap_lsp.rules.thresholds import SPLIT_COVERED, WIDEST_BYTES

    seen: set[int] = set()
    for access in kernel.accesses:
        if access.access.site in seen or not is_global(access, direction) or not is_scattered(access, device):
            continue
        if is_part_of_vector(access):  # Compilers load and store such vectors whole.
            continue
        # Without a cost, guards keep it from running in this launch; with another guard, one may run alone.
        near = [
            it
            for it in neighbours(kernel, access)
            if it.per_request is not None and it.access.guard == access.access.guard
        ]
        parts = {(it.access.offset - access.access.offset).value: it for it in near}
        seen.update(it.access.site for it in near)
        size = touched_bytes(access)
        apart = run_of(near) if access.stride.bytes is None else abs(access.stride.bytes)
        alike = all(touched_bytes(it) == size for it in parts.values())
        if (
            apart <= WIDEST_BYTES
            and alike
            and len(parts) > 1
            and apart % size == 0
            and apart // size in _LANES
        ):
            within = max(it or 0 for it in parts) - min(it or 0 for it in parts) < apart
            if within and covered(kernel, access) >= SPLIT_COVERED:
                yield [parts[it] for it in sorted(parts, key=lambda it: it or 0)]


def _message(kernel: KernelAnalysis, places: Sequence[Sequence[AccessAnalysis]]) -> str:
    from clmap_lsp.rules.patterns import covered, is_walked, run_of, touched_bytes
    from clmap_lsp.source.types import VectorType, element_of

    parts = places[0]
    first = parts[0]
    cost = first.per_request
    assert cost is not None
    verb = first.access.direction.value
    size = touched_bytes(first)
    whole = run_of(parts) if first.stride.bytes is None else abs(first.stride.bytes)
    kind = first.access.type
    element, lanes = element_of(kind), kind.lanes if isinstance(kind, VectorType) else 1
    lanes *= whole // size
    if is_walked(kernel, first):
        requests = round(covered(kernel, first) * whole / size)
        return (
            f"a loop {verb}s the {whole} bytes of each work-item in {requests} requests in turn, "
            f"from `{wording.expression(first)}` on: {verb} them as one `{element}{lanes}` (v{verb}{lanes}); "
            f"then {wording.plural(cost.mean, 'sector')} move in one request, not in each."
        )
    more = f", and so in {wording.plural(len(places) - 1, 'more place')}" if len(places) > 1 else ""
    return (
        f"{len(parts)} {verb}s at `{wording.expression(first)}` could be one `{element}{lanes}` "
        f"(v{verb}{lanes}): they use {len(parts) * size} of the {whole} bytes of each work-item, and "
        f"{wording.plural(cost.mean, 'sector')} would move in one request, not in each of {len(parts)}{more}."
    )
