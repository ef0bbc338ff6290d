"""Host code that gives some dimensions of a size: these are kept, the others inferred."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clmap_lsp.cli import main

KERNELS = """\
__kernel void line(__global const float *a, __global float *b, int n)
{
    int i = get_global_id(0);
    if (i < n) b[i] = a[i] * 2.0f;
}
__kernel void plane(__global const float *a, __global float *b, int w)
{
    int c = get_global_id(0), x = get_global_id(1);
    b[x * w + c] = a[x * w + c];
}
"""
HOST = """\
#include <CL/cl.h>
void go(cl_command_queue q, cl_program p, cl_mem a, cl_mem b, int n, int rows)
{
    cl_kernel k = clCreateKernel(p, "%s", NULL);
    int w = 8;
    clSetKernelArg(k, 0, sizeof a, &a);
    clSetKernelArg(k, 1, sizeof b, &b);
    clSetKernelArg(k, 2, sizeof w, &%s);
    size_t global[] = {%s}, local[] = {%s};
    clEnqueueNDRangeKernel(q, k, %s, NULL, global, %s, 0, NULL, NULL);
}
"""


def launch(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kernel: str, *values: str
) -> dict[str, object]:
    (tmp_path / ".git").mkdir()
    (tmp_path / "k.cl").write_text(KERNELS)
    (tmp_path / "h.c").write_text(HOST % (kernel, *values[:3], values[4], values[3]))
    main(["analyze", str(tmp_path / "k.cl"), "--kernel", kernel, "--format", "json"])
    ((found,),) = (it["kernels"] for it in json.loads(capsys.readouterr().out)["files"])
    made: dict[str, object] = found["launch"]
    return made


@pytest.mark.parametrize(
    ("kernel", "values", "sizes"),
    [
        ("line", ("n", "n, 1, 1", "1", "NULL", "3"), ([4096, 1, 1], [256, 1, 1])),
        ("line", ("n", "n, 1", "64, 1", "local", "2"), ([4096, 1], [64, 1])),
        ("plane", ("w", "8, rows", "8, rows", "local", "2"), ([8, 16], [8, 16])),
        ("plane", ("n", "1024, rows", "rows, 1", "local", "2"), ([1024, 256], [256, 1])),
    ],
)
def test_known_dimensions_are_kept(
    kernel: str,
    values: tuple[str, ...],
    sizes: tuple[list[int], list[int]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
):
    made = launch(tmp_path, capsys, kernel, *values)
    assert (made["global"], made["local"]) == sizes


def test_what_is_open_is_said_to_be_guessed(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    made = launch(tmp_path, capsys, "plane", "w", "8, rows", "8, 4", "local", "2")
    assert made["global"] == [8, 4096]
    assert made["args"]["w"] == 8


def test_open_dimensions_are_called_as_the_variable_that_they_come_from(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    launch(tmp_path, capsys, "plane", "w", "8, rows", "n, 4", "local", "2")
    assert main(["launches", str(tmp_path)]) == 0
    assert "8 x rows in groups of n x 4" in capsys.readouterr().out


CHUNKS = """\
__kernel void total(__global const float *u, __global float *out, int n)
{
    float sum = 0.0f;
    int chunk = (n + get_global_size(0) - 1) / get_global_size(0);
    int start = get_global_id(0) * chunk;
    for (int i = start; i < min(start + chunk, n); i++)
        sum += u[i];
    out[get_global_id(0)] = sum;
}
"""


def test_what_work_items_share_out_is_several_times_as_long(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "k.cl").write_text(CHUNKS)
    assert main(["check", str(tmp_path / "k.cl")]) == 1
    out = capsys.readouterr().out
    assert "warning CM101" in out
    assert "n=16384" in out


REVERSED = """\
__kernel void reverse(__global const float *in, __global float *out, const uint bits)
{
    uint i = get_global_id(0), r = 0;
    for (uint b = 0; b < bits; ++b)
        r |= ((i >> b) & 1u) << (bits - 1 - b);
    out[r] = in[i];
}
__kernel void rows(__global const float *in, __global float *out, const uint shift)
{
    uint i = get_global_id(0), y = i >> shift, x = i & ((1u << shift) - 1);
    out[i] = in[(x << shift) + y];
}
"""


def test_what_is_shifted_by_is_a_logarithm(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "k.cl"
    path.write_text(REVERSED)
    main(["check", str(path), "--emulate"])
    out = capsys.readouterr().out
    assert "bits=12" in out
    assert "CM301" not in out
    main(["analyze", str(path), "--kernel", "rows", "--format", "json"])
    ((found,),) = (it["kernels"] for it in json.loads(capsys.readouterr().out)["files"])
    assert found["launch"]["args"]["shift"] == 6


NEAREST = """\
__kernel void nearest(__global const float *points, __global const float *centers, __global int *found,
                      int n, int k, int dims)
{
    int i = get_global_id(0);
    if (i >= n) return;
    float best = INFINITY;
    int at = 0;
    for (int c = 0; c < k; c++) {
        float d = 0;
        for (int j = 0; j < dims; j++) {
            float t = points[i * dims + j] - centers[c * dims + j];
            d += t * t;
        }
        if (d < best) { best = d; at = c; }
    }
    found[i] = at;
}
"""


def test_loops_in_loops_do_not_keep_a_finding_from_being_held_true(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """With sizes that are no powers of two the other launch was too much work, and a hint was left."""
    path = tmp_path / "k.cl"
    path.write_text(NEAREST)
    assert main(["check", str(path), "--select", "CM101"]) == 1
    assert "warning CM101" in capsys.readouterr().out
