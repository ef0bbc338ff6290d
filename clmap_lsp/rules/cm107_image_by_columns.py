"""Images that consecutive work-items walk in y, while another id walks them in x.

## What it does

Reports kernels whose work-items follow each other down the columns of their images: `get_global_id(0)` moves
y, another id moves x, and nothing else of the kernel wants it so. Kernels that turn an image round, or whose
buffers are walked well, are left alone.

## Why is this bad?

A request touches as many rows as it has work-items, and one texel of each. Where images lie by rows, as those
made of buffers (`cl_khr_image2d_from_buffer`) and those of CPUs do, each texel comes from a cache line of its
own. GPUs lay other images out in tiles and make their texture caches for texels that are near each other in
both directions (CUDA C++ Programming Guide, "Texture and Surface Memory"), but which tiles, and so what the
columns cost, is not published: the finding is information, with rows and texels instead of a cost.

## Example

```c
// clmap: global=256,256 local=32,4 from=image(256,256) to=image(256,256)
__kernel void invert(__read_only image2d_t from, __write_only image2d_t to)
{
    const int row = get_global_id(0);
    const int column = get_global_id(1);
    const int2 at = (int2)(column, row);
    write_imagef(to, at, 1.0f - read_imagef(from, at));
}
```

## Use instead

```c
// clmap: global=256,256 local=32,4 from=image(256,256) to=image(256,256)
__kernel void invert(__read_only image2d_t from, __write_only image2d_t to)
{
    const int column = get_global_id(0);
    const int row = get_global_id(1);
    const int2 at = (int2)(column, row);
    write_imagef(to, at, 1.0f - read_imagef(from, at));
}
```

If the global size is not square, the host must change its sizes round too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from clmap_lsp.findings import Finding, Related, Severity
from clmap_lsp.rules import wording
from clmap_lsp.rules.meta import RuleMeta

if TYPE_CHECKING:
    from clmap_lsp.analysis.images import ImageAnalysis
    from clmap_lsp.analysis.model import KernelAnalysis
    from clmap_lsp.devices.model import DeviceModel

RULE = RuleMeta("CM107", "image-by-columns", Severity.INFORMATION)


def check(kernel: KernelAnalysis, device: DeviceModel) -> Iterator[Finding]:
    """Yield one finding a kernel: one swap of its ids mends all of its images.

    Where the same swap mends its buffers, CM104 names it.
    """
    from clmap_lsp.rules.patterns import swap_mends, walks_across

    if any(swap_mends(kernel, it) and walks_across(it) for it in kernel.accesses):
        return
    columns = [it for it in kernel.images if _is_by_columns(it)]
    if columns and not _wants_it_so(kernel, device):
        yield _finding(kernel, columns, device)


def _is_by_columns(it: ImageAnalysis) -> bool:
    """Tell whether neighbours follow each other in y, most requests finding few texels in a row."""
    from clmap_lsp.rules.thresholds import TEXELS_OF_A_ROW

    texels, rows = it.count.texels, it.count.rows
    if texels is None or rows is None or texels.mean >= TEXELS_OF_A_ROW * rows.mean or rows.max < 2:
        return False
    others = (it.axis_of(d) for d in range(len(it.steps)) if d != it.along)
    return it.axis_of(it.along) == "y" and "x" in others


def _wants_it_so(kernel: KernelAnalysis, device: DeviceModel) -> bool:
    """Tell whether something of the kernel would lose if the ids were swapped, or may."""
    from clmap_lsp.rules.patterns import is_contiguous

    if device.simd_width < 2 or any(not it.steps or it.axis_of(it.along) == "x" for it in kernel.images):
        return True
    return any(is_contiguous(it) for it in kernel.accesses)


def _finding(kernel: KernelAnalysis, columns: list[ImageAnalysis], device: DeviceModel) -> Finding:
    first, *others = columns
    along = f"get_global_id({first.along})"
    images = ", ".join(dict.fromkeys(f"`{it.access.buffer}`" for it in columns))
    message = (
        f"consecutive work-items follow each other down the columns of {images}: a request of "
        f"`{first.access.place_text}` touches {first.request_text}. Let {along} move x.\n"
        f"What the columns cost is unknown: how {device.id} lays out texels is not published.\n"
        f"{wording.held_for(kernel, device)}."
    )
    texels, rows = first.count.texels, first.count.rows
    return RULE.finding(
        first.access.span,
        message,
        kernel=kernel.name,
        related=tuple(
            Related(it.access.span, f"also `{it.access.place_text}`: {it.request_text}") for it in others
        ),
        data={
            "image": first.access.buffer,
            "index": first.access.index_text,
            "texels": None if texels is None else texels.mean,
            "rows": None if rows is None else rows.mean,
            "box": list(first.count.box or ()),
        },
    )
