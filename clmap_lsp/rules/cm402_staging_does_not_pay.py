"""Local arrays that the records say make the kernel slower on this device.

## What it does

Finds local arrays that only hold copies of global memory, takes the pattern by which work-items read them
back, and looks up what staging an array of that pattern did on the device, or on the nearest one with
records. Reports significant losses.

## Why is this bad?

Local memory of a CPU is ordinary memory: the copy and the barriers cost, and the caches would have kept the
data near anyway. A kernel tuned for one kind of device may so lose half of its bandwidth on another. GPUs
lose too where no element is used twice and the walk was coalesced before.

## Example

With `--device cpu`:

```c
// clmap: global=1024,1024 local=16,16 N=1024 in=random(N*N) out=zeros(N*N)
__kernel void twice(__global const float *in, __global float *out, const int N)
{
    __local float tile[16][16];
    const int x = get_global_id(0);
    const int y = get_global_id(1);
    tile[get_local_id(1)][get_local_id(0)] = in[y * N + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[y * N + x] = 2.0f * tile[get_local_id(1)][get_local_id(0)];
}
```

## Use instead

On such a device, read global memory directly:

```c
// clmap: global=1024,1024 local=16,16 N=1024 in=random(N*N) out=zeros(N*N)
__kernel void twice(__global const float *in, __global float *out, const int N)
{
    const int x = get_global_id(0);
    const int y = get_global_id(1);
    out[y * N + x] = 2.0f * in[y * N + x];
}
```
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from clmap_lsp.findings import Finding, Related, Severity
from clmap_lsp.rules.meta import RuleMeta

if TYPE_CHECKING:
    from clmap_lsp.analysis.advice import StagedArray
    from clmap_lsp.analysis.model import AccessAnalysis, KernelAnalysis
    from clmap_lsp.devices.model import DeviceModel

RULE = RuleMeta("CM402", "staging-does-not-pay", Severity.INFORMATION)


def check(kernel: KernelAnalysis, device: DeviceModel) -> Iterator[Finding]:
    """Yield the staged arrays that lose."""
    from clmap_lsp.analysis.advice import staged_arrays

    for array in staged_arrays(kernel.kernel):
        yield from _check_array(kernel, array, device)


def _check_array(kernel: KernelAnalysis, array: StagedArray, device: DeviceModel) -> Iterator[Finding]:
    from clmap_lsp.research import Verdict, record_row
    from clmap_lsp.rules.staging import advice_on, where_recorded

    fills = [it for it in kernel.accesses if it.access.site in array.loads]
    if not fills or any(it.access.space.value != "global" for it in fills):
        return
    reads = [it for it in kernel.accesses if it.access.buffer == array.name and _is_local_load(it)]
    advice = advice_on(kernel, reads, device)
    if advice is None or advice.record is None:
        return
    record = advice.record
    if record.verdict is not Verdict.LOSS or not record.significant or record.overhead_bound:
        return
    source = fills[0].access.buffer
    message = (
        f"staging `{source}` in `{array.name}` ({advice.map}) loses on {record.platform}: {record.mbr:.2f}x "
        f"the bandwidth of reading it directly ({where_recorded(advice)})."
    )
    yield RULE.finding(
        fills[0].access.span,
        message,
        kernel=kernel.name,
        related=(Related(reads[0].access.span, f"`{array.name}` is read here"),),
        data={
            "buffer": source,
            "local": array.name,
            "map": str(advice.map),
            "mbr": record.mbr,
            "record": record_row(record),
        },
    )


def _is_local_load(access: AccessAnalysis) -> bool:
    return access.access.space.value == "local" and access.access.direction.value == "load"
