"""Lanes of one local-memory access that need different words of one bank.

## What it does

Counts the passes (wavefronts) that the banks of local memory need for each request, and reports accesses
that need at least half as many again as without conflicts.

## Why is this bad?

Local memory is spread over banks, mostly 32 of 4 bytes. Work-items that need different words of the same bank
are served one after the other: a 16-way conflict makes the access 16 times as slow. The same word is free,
however many need it. Conflicts that come from swapped dimensions are reported once, as CM104.

## Example

```c
// clmap: global=256,256 local=32,8 N=256 in=zeros(N*N) out=zeros(N*N)
__kernel void columns(__global const float *in, __global float *out, const int N)
{
    __local float tile[32][32];
    const int lx = get_local_id(0);
    const int ly = get_local_id(1);
    const int x = get_global_id(0);
    const int y = get_global_id(1);
    tile[lx][ly] = in[y * N + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[y * N + x] = tile[lx][ly];
}
```

## Use instead

One more element in each row puts neighbouring rows into neighbouring banks:

```c
// clmap: global=256,256 local=32,8 N=256 in=zeros(N*N) out=zeros(N*N)
__kernel void columns(__global const float *in, __global float *out, const int N)
{
    __local float tile[32][33];
    const int lx = get_local_id(0);
    const int ly = get_local_id(1);
    const int x = get_global_id(0);
    const int y = get_global_id(1);
    tile[lx][ly] = in[y * N + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[y * N + x] = tile[lx][ly];
}
```
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from clmap_lsp.findings import Finding, Severity
from clmap_lsp.rules import wording
from clmap_lsp.rules.meta import RuleMeta
from clmap_lsp.source.types import AddressSpace

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import AccessAnalysis, KernelAnalysis
    from clmap_lsp.devices.model import DeviceModel

RULE = RuleMeta("CM201", "bank-conflict", Severity.WARNING)


def check(kernel: KernelAnalysis, device: DeviceModel) -> Iterator[Finding]:
    """Yield the local accesses whose banks conflict, one finding a buffer; none on devices without banks."""
    from clmap_lsp.devices.model import BankedLocal
    from clmap_lsp.rules.patterns import also, by_buffer, has_known_lanes, one_of

    if not isinstance(device.local_rule, BankedLocal):
        return
    if not has_known_lanes(kernel, device):
        return

    def finding(group: Sequence[AccessAnalysis]) -> Finding:
        return RULE.finding(
            group[0].access.span,
            _message(kernel, group, device),
            kernel=kernel.name,
            severity=_severity(kernel, group),
            related=also(group),
            data={**wording.figures(group[0]), "share": wording.share_of(group)},
        )

    for group in by_buffer(it for it in kernel.accesses if _conflicts(kernel, it)):
        yield one_of(group, finding)


def _severity(kernel: KernelAnalysis, group: Sequence[AccessAnalysis]) -> Severity:
    """Return how much a conflict matters: a hint where mending it saves less than a tenth of the passes, and
    no warning where that is less than a quarter.

    Passes are those of local memory and, since it is slower, two for each sector of global memory.
    """
    from clmap_lsp.rules.thresholds import SECTOR_PASSES, SHARED_FROM, SMALL_SHARE

    totals = kernel.totals
    spent = totals.wavefronts + SECTOR_PASSES * totals.sectors
    sites = {it.access.site: it for it in group}.values()
    saved = sum(
        it.totals.wavefronts * (1 - 1 / it.per_request.excess) for it in sites if it.totals and it.per_request
    )
    if saved < SMALL_SHARE * spent:
        return Severity.HINT
    uncounted = any(it.per_request is None and it.access.loops for it in kernel.accesses if _is_local(it))
    if not _costs_much(group):
        return Severity.HINT  # Two wait for each other in any butterfly, sort or sum.
    loud = not uncounted and saved >= SHARED_FROM * spent
    return wording.graded(group, Severity.WARNING if loud else Severity.INFORMATION)


def _is_local(access: AccessAnalysis) -> bool:
    return access.access.space is AddressSpace.LOCAL


def _costs_much(group: Sequence[AccessAnalysis]) -> bool:
    """Tell whether more than two work-items wait for each other; two do in any bitonic sort or butterfly."""
    from clmap_lsp.rules.thresholds import SMALL_FACTOR

    costs = [(it.per_request, max(it.per_request.ideal, _passes(it))) for it in group if it.per_request]
    return any(cost.mean > SMALL_FACTOR * ideal for cost, ideal in costs)


def _conflicts(kernel: KernelAnalysis, access: AccessAnalysis) -> bool:
    from clmap_lsp.access.records import Direction
    from clmap_lsp.rules.patterns import covered, is_part_of_vector, swap_mends
    from clmap_lsp.rules.thresholds import CONFLICT_FROM

    cost = access.per_request
    return (
        _is_local(access)
        and access.access.direction is not Direction.ATOMIC
        and cost is not None
        and cost.unit == "wavefronts"
        and cost.mean >= CONFLICT_FROM * max(cost.ideal, _passes(access))
        and not swap_mends(kernel, access)
        and not (is_part_of_vector(access) and covered(kernel, access) >= 1.0)
    )


def _passes(access: AccessAnalysis) -> float:
    """Return the passes that elements of 8 and 16 bytes take anyway: half of a row each, or a quarter."""
    return access.access.size / 4


def _message(kernel: KernelAnalysis, group: Sequence[AccessAnalysis], device: DeviceModel) -> str:
    access = group[0]
    cost = access.per_request
    assert cost is not None
    head = (
        f"`{wording.expression(access)}` needs {wording.plural(cost.mean, 'wavefront')} a request"
        f"{wording.sampled(access)} where {wording.number(cost.ideal)} would do"
    )
    degree = f", up to {cost.max}" if cost.max > cost.mean else ""
    lines = [f"{head}{degree}: {_cause(access, device)}.", wording.scope(kernel, group, device)]
    if access.in_general and "if" in access.in_general:
        lines.append(f"In general: {access.in_general}.")
    return "\n".join(lines)


def _cause(access: AccessAnalysis, device: DeviceModel) -> str:
    from clmap_lsp.rules.patterns import is_contiguous

    if is_contiguous(access) and access.row_stride.text is not None and access.row_stride.bytes != 0:
        return f"rows of the work-group are {access.row_stride.text} bytes apart and meet in the same banks"
    apart = wording.distance(access)
    if apart is None:
        return wording.why_scattered(access)
    banks = _banks(access, device)
    return f"{banks}, {apart}" if banks else apart


def _banks(access: AccessAnalysis, device: DeviceModel) -> str | None:
    """Say how many banks the work-items' words fall in."""
    from clmap_lsp.devices.model import BankedLocal

    rule, apart = device.local_rule, access.stride.bytes
    if not isinstance(rule, BankedLocal) or not apart or apart % rule.bank_bytes:
        return None
    banks = len({lane * apart // rule.bank_bytes % rule.banks for lane in range(rule.banks)})
    if banks == rule.banks:
        return None
    return f"a row of work-items uses {banks} of {rule.banks} banks"
