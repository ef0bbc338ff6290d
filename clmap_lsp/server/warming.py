"""What stays in memory to the end, loaded before much is kept: else it lies scattered among it.

CPython gives memory back by the mebibyte, and only where nothing of it is used. Modules, tables and device
models that are loaded while hundreds of documents are read would hold all of those mebibytes for good.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from clmap_lsp.config import Settings
from clmap_lsp.dataclass import compile_rest
from clmap_lsp.devices import list_models
from clmap_lsp.index.complete import complete
from clmap_lsp.interruption import checkpoint
from clmap_lsp.server.settings import selection_of
from clmap_lsp.workbench import Workbench

if TYPE_CHECKING:
    from cattrs import Converter


SAMPLE = """\
#ifndef TILE
#define TILE 16
#endif
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef struct { float4 place; int count; } Cell;
__constant float weights[3] = {0.25f, 0.5f, 0.25f};
inline float mixed(const float a, const float b) { return mad(a, 0.5f, fmax(b, 0.0f)); }

__kernel void multiply(__global const float *A, __global const float *B, __global float *C, const int N)
{
    const int row = get_global_id(1), column = get_global_id(0);
    float sum = 0.0f;
    for (int k = 0; k < N; k++)
        sum += A[row * N + k] * B[k * N + column];
    C[row * N + column] = sum;
}

// clmap: global=256,256 local=16,16 width=256
__kernel void transpose(__global const float *in, __global float *out, const int width)
{
    __local float tile[TILE][TILE];
    const int lx = get_local_id(0), ly = get_local_id(1);
    tile[ly][lx] = in[get_global_id(1) * width + get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[(get_group_id(0) * TILE + ly) * width + get_group_id(1) * TILE + lx] = tile[lx][ly] * UNSAID;
}

// clmap: global=4096 local=64 index=permutation(4096)
__kernel void gather(__global const Cell *cells, __global const int *index, __global double2 *out,
                     __global int *sums)
{
    const int i = get_global_id(0);
    const Cell own = cells[index[i]];
    out[i] = convert_double2(own.place.xy) + (double2)(mixed(own.place.z, weights[i % 3]));
    atomic_add(&sums[own.count & 255], 1);
}

__kernel void blur(__read_only image2d_t in, __write_only image2d_t out, sampler_t sampler)
{
    const int2 at = (int2)(get_global_id(0), get_global_id(1));
    float4 sum = 0.0f;
    for (int dx = -1; dx <= 1; dx++)
        sum += weights[dx + 1] * read_imagef(in, sampler, at + (int2)(dx, 0));
    write_imagef(out, at, sum);
}

__kernel void reduce(__global const float *in, __global float *sums, const int count, __local float *partial)
{
    const int lane = get_local_id(0);
    partial[lane] = get_global_id(0) < count ? in[get_global_id(0)] : 0.0f;
    for (int step = get_local_size(0) / 2; step > 0; step >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < step)
            partial[lane] += partial[lane + step];
    }
    if (lane == 0)
        sums[get_group_id(0)] = partial[0];
}
"""
"""A bit of everything that kernels have."""


def warm_up(settings: Settings | None, converter: Converter, methods: Iterable[str]) -> None:
    """Read, analyse and check the sample, and forget it; make what reads and writes messages.

    Args:
        settings: what files are read with, where that is known.
        converter: makes objects of messages, and messages of objects.
        methods: the messages that may come.
    """
    settings = settings or Settings()
    workbench = Workbench(remembers=True)
    opened = workbench.open_text("", SAMPLE, settings, looks_beside=False, reads_hosts=False)
    opened.findings(selection_of(settings), predicts=False)
    opened.times(waits=False)
    if opened.index is not None:
        complete(opened.index, SAMPLE.index("sum +="))
        _ = opened.index.issues
    workbench.forget("")
    list_models()
    compile_rest()
    for method in methods:
        checkpoint()
        message, answer, *_ = lsp.METHOD_TO_TYPES.get(method, (None, None))
        if message is not None:
            converter.get_structure_hook(message)
        if answer is not None:
            converter.get_unstructure_hook(answer)
    converter.unstructure(lsp.PublishDiagnosticsNotification(_published()))


def _published() -> lsp.PublishDiagnosticsParams:
    """Return diagnostics with all that those of this server may have."""
    place = lsp.Range(lsp.Position(0, 0), lsp.Position(0, 1))
    related = lsp.DiagnosticRelatedInformation(lsp.Location("", place), "")
    diagnostic = lsp.Diagnostic(
        place,
        "",
        lsp.DiagnosticSeverity.Warning,
        "CM101",
        lsp.CodeDescription(""),
        "clmap",
        [lsp.DiagnosticTag.Unnecessary],
        [related],
        {"": [0, "", True, None]},
    )
    return lsp.PublishDiagnosticsParams("", [diagnostic], 0)
