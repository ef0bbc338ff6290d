"""Kernels and hosts that share a header: its guard is no choice, and each half is for its side."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clmap_lsp.cli import main

HEADER = """\
#ifndef SHARED_H
#define SHARED_H
#ifdef __OPENCL_VERSION__
typedef struct { float4 place, speed; float mass; int id; } Body;
#else
#include <CL/cl.h>
typedef struct { cl_float4 place, speed; cl_float mass; cl_int id; } Body;
#endif
#endif
"""
KERNEL = """\
#include "shared.h"
__kernel void drift(__global Body *b, float dt, uint n)
{
    uint i = get_global_id(0);
    if (i < n)
        b[i].place += b[i].speed * dt;
}
"""
HOST = """\
#include "shared.h"
int main(void)
{
    cl_context context; cl_command_queue queue; cl_program program;
    cl_uint n = 65536;
    cl_float dt = 0.1f;
    cl_mem bodies = clCreateBuffer(context, CL_MEM_READ_WRITE, n * sizeof(Body), NULL, NULL);
    cl_kernel k = clCreateKernel(program, "drift", NULL);
    clSetKernelArg(k, 0, sizeof(cl_mem), &bodies);
    clSetKernelArg(k, 1, sizeof dt, &dt);
    clSetKernelArg(k, 2, sizeof n, &n);
    size_t global = 65536, local = 128;
    clEnqueueNDRangeKernel(queue, k, 1, NULL, &global, &local, 0, NULL, NULL);
    clReleaseMemObject(bodies);
}
"""


def offers(tmp_path: Path, capsys: pytest.CaptureFixture[str], header: str) -> dict[str, dict[str, object]]:
    for name, text in (("shared.h", header), ("k.cl", KERNEL), ("host.c", HOST)):
        (tmp_path / name).write_text(text)
    main(["fixes", str(tmp_path / "k.cl"), "--kernel", "drift", "--format", "json"])
    found = json.loads(capsys.readouterr().out)["fixes"]
    return {it["kind"]: it for it in found}


def test_the_halves_of_a_shared_header(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    fix = offers(tmp_path, capsys, HEADER)["structure-of-arrays"]
    assert fix["assumptions"] == []
    assert "n * sizeof(cl_float4)" in str(fix["host_diff"])
    assert "sizeof(float4)" not in str(fix["host_diff"])


def test_what_a_build_may_choose_is_still_assumed(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    chosen = HEADER.replace(
        "typedef struct { float4 place", "#ifdef SMALL\n#endif\ntypedef struct { float4 place"
    )
    chosen = chosen.replace("#ifdef SMALL\n#endif", "#ifndef SMALL").replace(
        "id; } Body;\n#else", "id; } Body;\n#endif\n#else"
    )
    fix = offers(tmp_path, capsys, chosen)["structure-of-arrays"]
    assert fix["assumptions"] == ["no -D SMALL"]
