"""Loops that divide an array among work-items by a stride that the device is slow with.

## What it does

Recognises loops in which each work-item takes elements a power of two apart: a contiguous chunk (stride
exponent 0), groups of 2, 4, 8, … work-items side by side, up to a grid stride, in whatever way the index is
written. The stride sweep of the device, or of the nearest one that has records, says what the exponent and
what the best one give; a difference of 1.3 or more is reported.

## Why is this bad?

GPUs serve neighbouring work-items together and want them to read neighbouring elements: on an H200 chunks
reach 27 % of the bandwidth of a stride of 32 and more. A CPU's work-items run one after the other: there
chunks are best, and a grid stride had a tenth.

Which elements a work-item takes changes with the split. That is free where the results are joined in the
end, as in a reduction, or written where they were read. Where each work-item owns a row of a matrix it is
not: a loop that pairs the elements with others by their place in the row (`A[row * n + k] * x[k]`), or one
of several that walk the same rows, is not reported. CM101 and CM102 say what such rows cost.

Where the device's times can be predicted, the finding says how much faster the kernel's own launch could be
at most. It is a hint if that is less than 1.3, or if another finding says what the same accesses lose.

## Example

With `--device nvidia-hopper`:

```c
// clmap: global=16384 local=64 in=random(262144) out=zeros(16384)
__kernel void sum(__global const float *in, __global float *out)
{
    const int id = get_global_id(0);
    float total = 0.0f;
    for (int i = 0; i < 16; i++)
        total += in[id * 16 + i];
    out[id] = total;
}
```

## Use instead

All work-items side by side:

```c
// clmap: global=16384 local=64 in=random(262144) out=zeros(16384)
__kernel void sum(__global const float *in, __global float *out)
{
    const int id = get_global_id(0);
    float total = 0.0f;
    for (int i = 0; i < 16; i++)
        total += in[i * get_global_size(0) + id];
    out[id] = total;
}
```
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from clmap_lsp.findings import Finding, Severity
from clmap_lsp.rules.meta import RuleMeta
from clmap_lsp.source.ir import VariableKind

if TYPE_CHECKING:
    from clmap_lsp.access.polynomial import LoopSymbol
    from clmap_lsp.analysis.model import KernelAnalysis
    from clmap_lsp.devices.model import DeviceModel
    from clmap_lsp.research import LoopSplit, SplitAdvice
    from clmap_lsp.source.span import Span

RULE = RuleMeta("CM403", "loop-split", Severity.INFORMATION)

GAINS_FROM = 1.3
"""Times the bandwidth. Neighbouring exponents of one sweep differ by a few per cent by chance."""


def check(kernel: KernelAnalysis, device: DeviceModel) -> Iterator[Finding]:
    """Yield the loops that another split would speed up, one finding for each loop and buffer."""
    if not device.is_product or kernel.fills_no_simd_group(device):
        return  # Idle lanes are to be filled first (CM505): the records are of groups that fill them.
    from clmap_lsp.research import DatabaseError, known_records, loop_splits, split_advice

    seen: set[object] = set()
    splits = loop_splits(kernel)
    rows = _loops_over_rows(kernel, splits)
    for split in splits:
        if split.loop in rows:
            continue
        if (split.buffer, split.loop, split.exponent) in seen:
            continue
        seen.add((split.buffer, split.loop, split.exponent))
        try:
            advice = split_advice(known_records(), split, device.id)
        except DatabaseError:  # Findings come from records; `db` says what is wrong with them.
            return
        if advice is not None and advice.gain >= GAINS_FROM:
            yield _finding(kernel, advice)


def _loops_over_rows(kernel: KernelAnalysis, splits: Sequence[LoopSplit]) -> frozenset[LoopSymbol]:
    """Return the loops in which it matters which work-item takes which elements.

    Those that walk another array by the iteration alone, and those that take again what another loop took.
    """
    walkers: dict[tuple[str, int, int], set[LoopSymbol]] = {}
    for it in splits:
        walkers.setdefault((it.buffer, it.exponent, it.turns), set()).add(it.loop)
    again = {loop for loops in walkers.values() if len(loops) > 1 for loop in loops}
    divided = {it.site for it in splits}
    others = [it.access for it in kernel.accesses if it.access.site not in divided]
    paired = {loop for it in others for loop in it.loops if it.known and loop in it.index.leaves}
    own = _walks_of_private_arrays(kernel) if splits else frozenset()
    return frozenset(again | paired | {it.loop for it in splits if it.loop.span in own})


def _walks_of_private_arrays(kernel: KernelAnalysis) -> frozenset[Span]:
    """Return where loops stand that walk an array of the work-item's own: what fills it is this one's."""
    if not any(it.kind is VariableKind.PRIVATE_OBJECT for it in kernel.kernel.variables):
        return frozenset()
    from clmap_lsp.access.analyse import analyse

    private = analyse(kernel.kernel, launch=kernel.launch).private
    walked = (loop for it in private for loop in it.loops if it.known and loop in it.index.leaves)
    return frozenset(it.span for it in walked if it.span is not None)


def _finding(kernel: KernelAnalysis, advice: SplitAdvice) -> Finding:
    split = advice.split
    access = kernel.access_at(split.site)
    assert access is not None
    own, best = advice.own, advice.best
    text = split.describe()
    where = "" if advice.exact else f" ({advice.why})"
    mine = "a grid stride" if split.is_grid_stride else f"exponent {own.exponent}"
    message = (
        f"{text[:1].upper()}{text[1:]} (`{split.buffer}`).\n"
        f"In the stride sweep of {own.platform} {mine} reaches {_rate(own.median)} GB/s and exponent "
        f"{best.exponent} {_rate(best.median)}, {advice.gain:.1f} times as much{where}; free to change where "
        "it does not matter which work-item takes which elements."
    )
    return RULE.finding(access.access.span, message, kernel=kernel.name, data={"split": advice.as_json()})


def _rate(gbs: float) -> str:
    """Return a bandwidth with two digits at least: a small CPU's is below 1 GB/s."""
    return f"{gbs:.0f}" if gbs >= 10 else f"{gbs:.2g}"
