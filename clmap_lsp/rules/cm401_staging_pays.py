"""Global arrays that the records say gain much by staging in local memory.

## What it does

Takes each global array's memory access pattern (its MAP: what one work-item walks, and which work-items share
it), looks up what a staged kernel of that pattern gained on the device, or on the nearest device with
records, and reports arrays with a significant gain of 1.5 or more whose tile fits into local memory.

## Why is this bad?

Work-items of a group that read the same elements one after the other fetch them again and again. Copied once
into local memory, side by side, they cost a fraction. Whether that pays depends on the pattern and on the
device: the same change loses on most CPUs. The figure is a measured one, of a kernel that does nothing but
read by this pattern; a kernel that also computes gains less.

Where the device's times can be predicted, the finding says how much faster the kernel's own launch could be
at most. It is a hint if that is less than 1.5, or if another finding says what the same accesses lose.

Arrays that are staged already are not reported, nor those for which swapping the work-items' dimensions
(CM104) is the better answer. Devices without records, such as `generic-gpu`, give no findings.

## Example

With `--device nvidia-hopper`:

```c
// clmap: global=256,256 local=16,16 N=256 A=random(N*N) B=random(N*N) C=zeros(N*N)
__kernel void product(__global const float *A, __global const float *B, __global float *C, const int N)
{
    const int x = get_global_id(0);
    const int y = get_global_id(1);
    float sum = 0.0f;
    for (int k = 0; k < N; k++)
        sum += A[y * N + k] * B[k * N + x];
    C[y * N + x] = sum;
}
```

## Use instead

Tiles in local memory, which the work-group fills together:

```c
// clmap: global=256,256 local=32,32 N=256 A=random(N*N) B=random(N*N) C=zeros(N*N)
__kernel void product(__global const float *A, __global const float *B, __global float *C, const int N)
{
    __local float a[32][32];
    __local float b[32][32];
    const int x = get_global_id(0);
    const int y = get_global_id(1);
    const int lx = get_local_id(0);
    const int ly = get_local_id(1);
    float sum = 0.0f;
    for (int tile = 0; tile < N; tile += 32) {
        a[ly][lx] = A[y * N + tile + lx];
        b[ly][lx] = B[(tile + ly) * N + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 32; k++)
            sum += a[ly][k] * b[k][lx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    C[y * N + x] = sum;
}
```
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from clmap_lsp.findings import Finding, Severity
from clmap_lsp.rules.meta import RuleMeta

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import AccessAnalysis, KernelAnalysis
    from clmap_lsp.devices.model import DeviceModel
    from clmap_lsp.research import ArrayAdvice, StagingPlan

RULE = RuleMeta("CM401", "staging-pays", Severity.INFORMATION)


def check(kernel: KernelAnalysis, device: DeviceModel) -> Iterator[Finding]:
    """Yield the arrays that would gain."""
    from clmap_lsp.rules.staging import plan_of

    if kernel.fills_no_simd_group(device):
        return  # Idle lanes are to be filled first (CM505): the records are of groups that fill them.
    plan = plan_of(kernel, device)
    if plan is None:
        return
    for advice in plan.arrays:
        accesses = [it for it in kernel.accesses if it.access.site in advice.sites]
        if _is_worth_saying(kernel, advice, accesses):
            yield _finding(kernel, plan, advice, accesses)


def _is_worth_saying(kernel: KernelAnalysis, advice: ArrayAdvice, accesses: list[AccessAnalysis]) -> bool:
    from clmap_lsp.analysis.advice import staged_arrays
    from clmap_lsp.rules.patterns import swap_mends

    if not advice.advice.recommended or advice.decision is None or not advice.decision.stage:
        return False
    if advice.local_bytes <= max((it.access.scalar_bytes for it in accesses), default=0):
        return False  # A tile of one element: its readers ask for it together, or there is one.
    staged = {site for it in staged_arrays(kernel.kernel) for site in it.loads}
    if any(it.access.site in staged for it in accesses):
        return False
    return not any(swap_mends(kernel, it) for it in accesses)


def _finding(
    kernel: KernelAnalysis, plan: StagingPlan, advice: ArrayAdvice, accesses: list[AccessAnalysis]
) -> Finding:
    from clmap_lsp.rules.staging import where_recorded

    record = advice.advice.record
    assert record is not None
    limit = plan.local_limit
    message = (
        f"staging `{advice.name}` through local memory: {record.mbr:.1f}x expected on {record.platform}.\n"
        f"Measured for {advice.advice.map}: {where_recorded(advice.advice)}.\n"
        f"A tile for the work-group takes {advice.local_bytes} of {limit} bytes of local memory."
    )
    notes = []
    if record.overhead_bound:
        notes.append("the staged kernel of the record is bound by launching, so memory alone may gain more")
    order = [it.name for it in plan.arrays if it.decision is not None and it.decision.stage]
    if len(order) > 1:
        notes.append(f"stage first what gains most here: {', '.join(f'`{it}`' for it in order)}")
    message += "".join(f"\n{it[:1].upper()}{it[1:]}." for it in notes)
    return RULE.finding(
        accesses[0].access.span, message, kernel=kernel.name, data={"aristotle": advice.as_json()}
    )
