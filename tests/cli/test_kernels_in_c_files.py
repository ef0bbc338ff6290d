"""Kernels in files that are called as C is."""

from __future__ import annotations

from pathlib import Path

import pytest

from clmap_lsp.cli import main

KERNEL = """\
// kernel void not_this(int a)
__kernel void shifted(__global float *a) { a[get_global_id(0) - 1] = 1.0f; }
"""
HOST = """\
#include <CL/cl.h>
/* __kernel void nor_this(int a) */
int main() { cl_kernel kernel = clCreateKernel(program, "shifted", NULL); return kernel == NULL; }
"""


@pytest.mark.parametrize("name", ["kernels.c", "kernels.h", "kernels.cpp"])
def test_a_folder_without_other_kernel_files_has_those_that_are_called_as_c_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    (tmp_path / name).write_text(KERNEL)
    (tmp_path / "main.c").write_text(HOST)
    assert main(["check", str(tmp_path), "--emulate", "--global", "64"]) == 1
    printed = capsys.readouterr().out
    assert "CM301" in printed and name in printed
    assert "main.c" not in printed
    assert "1 kernel in 1 file" in printed


def test_host_code_that_speaks_of_kernels_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "main.c").write_text(HOST)
    assert main(["check", str(tmp_path)]) == 2
    assert "no kernels below this directory" in capsys.readouterr().err


def test_a_kernel_in_the_body_of_a_macro_makes_no_kernel_file_of_a_header(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    macro = "#define FILL \\\n    __kernel void fill(__global int *a) \\\n    { a[0] = 1; }\n"
    (tmp_path / "host.h").write_text(f"#pragma once\n#include <missing>\n{macro}")
    (tmp_path / "k.cl").write_text("__kernel void k(__global int *a) { a[get_global_id(0)] = 1; }\n")
    assert main(["check", str(tmp_path)]) == 0
    assert "host.h" not in capsys.readouterr().out
    (tmp_path / "k.cl").unlink()
    assert main(["check", str(tmp_path)]) == 2
