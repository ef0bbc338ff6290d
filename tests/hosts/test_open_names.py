"""Kernel files whose names depend on the run: each that is meant gets the launch."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clmap_lsp.cli import main

KERNEL = "__kernel void axpy(__global float *y, int n) { y[get_global_id(0) * n] = 1; }\n"
PYTHON = """\
import sys
import pyopencl as cl
import numpy as np
kind = {kind}
program = cl.Program(ctx, open({name}).read()).build()
program.axpy(queue, (4096,), (64,), y, np.int32(7))
"""
CPP = """\
std::string text_of(const std::string &path) {{
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}}
int main(int argc, char **argv) {{
  bool isReal = argc > 1;
  {load}
  const char *source = text.c_str();
  cl_program program = clCreateProgramWithSource(ctx, 1, &source, NULL, NULL);
  clBuildProgram(program, 1, &device, "", NULL, NULL);
  cl_kernel k = clCreateKernel(program, "axpy", NULL);
  size_t whole = 1024, group = 32;
  clEnqueueNDRangeKernel(queue, k, 1, NULL, &whole, &group, 0, NULL, NULL);
}}
"""
FOLDERS = ("kernel/complex/axpy.cl", "kernel/real/axpy.cl")


def _files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    assert main(["launches", str(tmp_path), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["launches"]
    return sorted(str(Path(it["kernel_file"]).relative_to(tmp_path)) for it in found)


def _write(tmp_path: Path, *names: str) -> None:
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(KERNEL)


@pytest.mark.parametrize(
    ("kind", "name", "meant"),
    [
        ('"real" if len(sys.argv) > 1 else "complex"', '"kernel/" + kind + "/axpy.cl"', FOLDERS),
        ('"real" if len(sys.argv) > 1 else "complex"', 'f"kernel/{kind}/axpy.cl"', FOLDERS),
        ("sys.argv[1]", '"kernel/" + kind + "/axpy.cl"', (*FOLDERS[:1], "kernel/half/axpy.cl", *FOLDERS[1:])),
        ('"r" if len(sys.argv) > 1 else "c"', '"kernel/" + kind + "_axpy.cl"',
         ("kernel/c_axpy.cl", "kernel/r_axpy.cl")),
    ],
)  # fmt: skip
def test_python(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str, name: str, meant: tuple[str, ...]
) -> None:
    _write(
        tmp_path, *FOLDERS, "kernel/half/axpy.cl", "kernel/r_axpy.cl", "kernel/c_axpy.cl", "else/real/axpy.cl"
    )
    (tmp_path / "main.py").write_text(PYTHON.format(kind=kind, name=name))
    assert _files(tmp_path, capsys) == list(meant)


@pytest.mark.parametrize(
    "load",
    [
        'std::string folder = isReal ? "real" : "complex";'
        ' std::string text = text_of("kernel/" + folder + "/axpy.cl");',
        "std::string text;"
        ' if (isReal) text = text_of("kernel/real/axpy.cl"); else text = text_of("kernel/complex/axpy.cl");',
    ],
)
def test_cpp(tmp_path: Path, capsys: pytest.CaptureFixture[str], load: str) -> None:
    _write(tmp_path, *FOLDERS, "kernel/half/axpy.cl")
    (tmp_path / "main.cpp").write_text(CPP.format(load=load))
    assert _files(tmp_path, capsys) == list(FOLDERS)


def test_nothing_known_before_the_name_means_the_nearest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _write(tmp_path, "axpy.cl", "far/axpy.cl")
    (tmp_path / "main.py").write_text(PYTHON.format(kind="sys.argv[1]", name='kind + "/axpy.cl"'))
    assert _files(tmp_path, capsys) == ["axpy.cl"]
