"""Vectors that host code hands to kernels, literals without a name, and kernels that libraries launch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clmap_lsp.cli import main

KERNEL = """\
__kernel void fill(__global float *a, const int2 size, float width, int rows) {
  a[get_global_id(1) * size.x + get_global_id(0)] = width * rows;
}
"""


def launched(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str) -> list[dict[str, Any]]:
    (tmp_path / "fill.cl").write_text(KERNEL)
    (tmp_path / "main.c").write_text(text)
    assert main(["launches", str(tmp_path), "--format", "json"]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["launches"]
    return found


def test_a_vector_is_no_number_but_its_components_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (found,) = launched(
        tmp_path,
        capsys,
        """\
int main() {
  cl_kernel kernel = clCreateKernel(program, "fill", 0);
  cl_int2 size = {640, 480};
  cl_float2 range = {{-10, 10}};
  clSetKernelArg(kernel, 0, sizeof(cl_mem), &buffer);
  clSetKernelArg(kernel, 1, sizeof(cl_int2), &size);
  clSetKernelArg(kernel, 2, sizeof(cl_float), (void *)&(cl_float){range.s1 - range.s0});
  clSetKernelArg(kernel, 3, sizeof(cl_int), &size.s[1]);
  clEnqueueNDRangeKernel(queue, kernel, 2, NULL, (size_t[]){size.x, size.y}, NULL, 0, NULL, NULL);
}
""",
    )
    assert found["global"] == [640, 480]
    assert found["args"] == {"width": 20, "rows": 480}


def test_a_library_launches_the_kernel_that_it_is_given_the_name_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = launched(
        tmp_path,
        capsys,
        """\
#include "library/run.h"
void run(int rows) {
  size_t whole[] = {1024, rows, 1}, group[] = {64, 1, 1};
  float width = 2;
  libraryRunKernel(chain, "fill", 2, whole, group, buffer, size, width, rows);
  libraryRunKernel(chain, "other", 2, whole, group, buffer, size, width, rows);
  log_run("fill", 2, whole);
}
int main() { run(16); }
""",
    )
    assert [(it["kernel"], it["global"], it["local"], it["args"]["rows"]) for it in found] == [
        ("fill", [1024, 16], [64, 1], 16)
    ]
