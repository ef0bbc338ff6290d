"""Arrays that vectorise together once one of them is reversed or gathered.

## What it does

Takes the arrays of a kernel together whose last dimension the same loop or id walks, and reports those that
would vectorise together if only the data of read-only arrays were reversed, or if every so manieth element of
them were gathered. How far that goes is Q_V: array instances that vectorise in percent of all.

## Why is this bad?

Vector loads need data side by side and in the same order. Data that a host prepares once, in the order in
which a kernel reads them, turn several scalar loads into one vector load. It is a hint: it pays only where
the kernel is launched often enough to make up for the transformation.

## Example

```c
// clmap: global=4096 local=64 weight=random(8192) in=random(4096,1) out=zeros(4096)
__kernel void scale(__global const float *restrict weight, __global const float *restrict in,
                    __global float *restrict out)
{
    const int i = get_global_id(0);
    out[i] = in[i] * weight[2 * i];
}
```

## Use instead

```c
// clmap: global=4096 local=64 weight=random(4096) in=random(4096,1) out=zeros(4096)
__kernel void scale(__global const float *restrict weight, __global const float *restrict in,
                    __global float *restrict out)
{
    const int i = get_global_id(0);
    out[i] = in[i] * weight[i];
}
```
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from clmap_lsp.findings import Finding, Severity
from clmap_lsp.rules.meta import RuleMeta

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import KernelAnalysis
    from clmap_lsp.devices.model import DeviceModel

RULE = RuleMeta("CM502", "transformable-layout", Severity.HINT)


def check(kernel: KernelAnalysis, device: DeviceModel) -> Iterator[Finding]:
    """Yield one finding a kernel, at the first array that would change."""
    from clmap_lsp.hierarchy.instances import arrays_of
    from clmap_lsp.hierarchy.vectorise import vectorise_arrays

    arrays = arrays_of(kernel)
    best = vectorise_arrays(arrays, kernel.launch).best
    if best is None or len(best.instances) < 2 or best.hazards:
        return
    read_only = {it.name for it in arrays if it.is_read_only}
    changed = [it for it in best.rules if it.moves_data]
    switched = any(it.relation.dimension != it.instance.n_dimensions - 1 for it in best.rules)
    if not changed or switched or any(it.instance.array not in read_only for it in changed):
        return
    names = ", ".join(dict.fromkeys(f"`{it.instance.array}`" for it in changed))
    steps = ", ".join(dict.fromkeys(step for it in changed for step in it.steps))
    message = (
        f"{len(best.instances)} array instances vectorise together along `{best.direction}` after "
        f"{steps} of {names} (Q_V {best.qv_percent:.0f} %)."
    )
    yield RULE.finding(
        changed[0].instance.accesses[0].span,
        message,
        kernel=kernel.name,
        data={"qv_percent": best.qv_percent, "transformations": list(best.transformations)},
    )
