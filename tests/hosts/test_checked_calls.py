"""Launches in macros that check what calls return, of kernels that have several versions side by side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clmap_lsp.cli import main

HOST = """\
#include <CL/cl.h>
#define CHECK(...) do { \\
    cl_int status = __VA_ARGS__; \\
    if (status != CL_SUCCESS) { fprintf(stderr, "%s failed", #__VA_ARGS__); exit(1); } \\
} while (0)
int main(int argc, char **argv)
{
    cl_int error, n = 300;
    size_t global = 320;
    cl_program program = clCreateProgramWithBinary(context, 1, device, &length, &binary, NULL, &error);
    cl_kernel kernel = clCreateKernel(program, "halve", &error);
    CHECK(clSetKernelArg(kernel, 1, sizeof(cl_int), &n));
    CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
}
"""
KERNEL = "__kernel void halve(__global float *a, int n) { a[get_global_id(0)] *= 0.5f; }\n"


def launches(folder: Path, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    (folder / "main.c").write_text(HOST)
    assert main(["launches", str(folder), "--format", "json"]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["launches"]
    return found


def test_a_call_is_all_that_a_macro_is_given(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "k.cl").write_text(KERNEL)
    (found,) = launches(tmp_path, capsys)
    assert (found["global"], found["args"]) == ([320], {"n": 300})


def test_a_kernel_may_be_that_of_any_version(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"halve_v{version}.cl" for version in range(5)]
    for name in names:
        (tmp_path / name).write_text(KERNEL)
    found = launches(tmp_path, capsys)
    assert sorted(Path(it["kernel_file"]).name for it in found) == names
    assert all(it["global"] == [320] for it in found)


def test_files_that_only_share_a_kernels_name_are_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("one", "two", "three", "four"):
        (tmp_path / f"{name}.cl").write_text(KERNEL)
    (found,) = launches(tmp_path, capsys)
    assert found["kernel_file"] is None
