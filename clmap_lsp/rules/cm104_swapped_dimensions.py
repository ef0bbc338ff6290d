"""Work-items that walk an array across its layout.

## What it does

Counts the kernel's sectors a second time with the work-items' dimensions 0 and 1 swapped, and reports
the kernel if that saves at least a quarter of them (and costs no more local memory passes than it saves).

## Why is this bad?

Work-items of a SIMD group are neighbours in dimension 0. If the kernel uses dimension 0 for the row of an
array that is stored by rows, neighbours are a whole row apart and every one of them needs a sector of its
own. Nothing else about the kernel has to change to mend it: the results are the same.

## Example

```c
// clmap: global=256,256 local=16,16 N=256 A=zeros(N*N) B=zeros(N*N) C=zeros(N*N)
__kernel void mm(__global const float *A, __global const float *B, __global float *C, const int N)
{
    const int row = get_global_id(0);
    const int column = get_global_id(1);
    float sum = 0.0f;
    for (int k = 0; k < N; k++)
        sum += A[row * N + k] * B[k * N + column];
    C[row * N + column] = sum;
}
```

## Use instead

```c
// clmap: global=256,256 local=16,16 N=256 A=zeros(N*N) B=zeros(N*N) C=zeros(N*N)
__kernel void mm(__global const float *A, __global const float *B, __global float *C, const int N)
{
    const int row = get_global_id(1);
    const int column = get_global_id(0);
    float sum = 0.0f;
    for (int k = 0; k < N; k++)
        sum += A[row * N + k] * B[k * N + column];
    C[row * N + column] = sum;
}
```

If the global size is not square, the host must change its sizes round too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from clmap_lsp.findings import Finding, Related, Severity
from clmap_lsp.rules import wording
from clmap_lsp.rules.meta import RuleMeta
from clmap_lsp.source.types import AddressSpace

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import AccessAnalysis, KernelAnalysis
    from clmap_lsp.devices.model import DeviceModel

RULE = RuleMeta("CM104", "swapped-dimensions", Severity.WARNING)


def check(kernel: KernelAnalysis, device: DeviceModel) -> Iterator[Finding]:
    """Yield the kernels that gain from swapping."""
    from clmap_lsp.rules.patterns import swap_gain, swap_mends, walks_across

    if (gain := swap_gain(kernel)) > 0:
        mended = _first_of_each([it for it in kernel.accesses if swap_mends(kernel, it)])
        # Where none is walked across, the gain comes from how narrow the groups are.
        is_guess = kernel.launch is None or "local" in kernel.launch.inferred
        if not is_guess or any(map(walks_across, mended)):
            yield _finding(kernel, gain, mended, device)


def _first_of_each(accesses: list[AccessAnalysis]) -> list[AccessAnalysis]:
    """Keep one access of each expression and direction, dearest first; global memory before local."""
    found: dict[object, AccessAnalysis] = {}
    for it in accesses:
        found.setdefault((wording.expression(it), it.access.direction), it)
    return sorted(found.values(), key=lambda it: (it.access.space is AddressSpace.LOCAL, -(it.share or 0.0)))


def _finding(
    kernel: KernelAnalysis, gain: float, mended: list[AccessAnalysis], device: DeviceModel
) -> Finding:
    from clmap_lsp.rules.patterns import walks_across

    swapped = kernel.swapped
    assert swapped is not None
    before, after = kernel.totals.sectors, swapped.totals.sectors
    walks = list(dict.fromkeys(f"`{wording.expression(it)}`" for it in mended if walks_across(it)))
    listed = ", ".join(walks[:3]) + (f" and {len(walks) - 3} more" if len(walks) > 3 else "")
    walked = listed or "the arrays"
    message = (
        f"`{kernel.name}` moves {before:,} sectors; {after:,} ({gain:.0%} fewer) with get_global_id(0) and "
        f"get_global_id(1) swapped: its work-items walk {walked} across the layout.\n"
        f"{wording.held_for(kernel, device)}."
    )
    return RULE.finding(
        kernel.kernel.name_span,
        message,
        kernel=kernel.name,
        related=_once(_related(kernel, it) for it in mended),
        data={
            "share": gain,
            "sectors": before,
            "sectors_swapped": after,
            "local_size_swapped": list(swapped.local_size),
            "accesses": [wording.figures(it) for it in mended],
        },
    )


def _once(places: Iterable[Related]) -> tuple[Related, ...]:
    """Return the places that say something else than those before: `a[i] += x` loads and stores at one."""
    found = {(it.span.path, it.span.start, it.message): it for it in reversed(tuple(places))}
    return tuple(reversed(found.values()))


def _related(kernel: KernelAnalysis, access: AccessAnalysis) -> Related:
    cost = access.per_request
    assert cost is not None
    assert kernel.swapped is not None
    after = kernel.swapped.per_request[access.access.site]
    apart = wording.distance(access)
    return Related(
        access.access.span,
        f"`{wording.expression(access)}`: {wording.plural(cost.mean, cost.unit[:-1])} a request, "
        f"{wording.number(after)} when swapped" + (f"; {apart}" if apart else ""),
    )
