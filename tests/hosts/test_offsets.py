"""Where global ids start, as host code says: known, by default, or open."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clmap_lsp.cli import main

KERNEL = """\
__kernel void shifted(__global float *m) {
  m[get_global_id(0) - 64] = 1.0f;
}
"""
C = """\
#include <CL/cl.h>
int main(int argc, char **argv) {
  cl_kernel k = clCreateKernel(program, "shifted", NULL);
  size_t offset[1] = {64}, global[1] = {4096}, local[1] = {64};
  %s
  clEnqueueNDRangeKernel(queue, k, 1, offset, global, local, 0, NULL, NULL);
}
"""
CPP = """\
#include <CL/cl.hpp>
int main(int argc, char **argv) {
  cl::Kernel k(program, "shifted");
  %s
}
"""
PYTHON = """\
import pyopencl as cl
import sys
program = cl.Program(ctx, open("k.cl").read()).build()
%s
"""


def told(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: str) -> dict[str, Any]:
    (tmp_path / "k.cl").write_text(KERNEL)
    (tmp_path / name).write_text(text)
    assert main(["launches", str(tmp_path), "--format", "json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["launches"]
    assert isinstance(found, dict)
    return found


CASES = [
    ("a.c", C % "", [64]),
    ("a.c", C % "offset[0] = atoi(argv[1]) + 64;", ["atoi(argv[1]) + 64"]),
    ("a.c", C % "offset[0] = 0;", []),
    ("a.cpp", CPP % "q.enqueueNDRangeKernel(k, cl::NDRange(64), cl::NDRange(4096), cl::NDRange(64));", [64]),
    ("a.cpp", CPP % "q.enqueueNDRangeKernel(k, cl::NullRange, cl::NDRange(4096), cl::NDRange(64));", []),
    (
        "a.cpp",
        CPP
        % """cl::KernelFunctor<cl::Buffer> f(program, "shifted");
  f(cl::EnqueueArgs(q, cl::NDRange(128), cl::NDRange(4096), cl::NDRange(64)), m);""",
        [128],
    ),
    ("a.py", PYTHON % "program.shifted(queue, (4096,), (64,), m, global_offset=(64,))", [64]),
    ("a.py", PYTHON % "program.shifted(queue, (4096,), (64,), m)", []),
    (
        "a.py",
        PYTHON % "cl.enqueue_nd_range_kernel(queue, program.shifted, (4096,), (64,), (len(sys.argv) + 64,))",
        ["len(sys.argv) + 64"],
    ),
    (
        "a.py",
        PYTHON
        % "cl.enqueue_nd_range_kernel(queue, program.shifted, (4096,), (64,), global_work_offset=(64,))",
        [64],
    ),
]


@pytest.mark.parametrize(("name", "text", "offset"), CASES)
def test_launches_tell_where_global_ids_start(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: str, offset: list[object]
) -> None:
    found = told(tmp_path, capsys, name, text)
    assert (found["global"], found["local"], found.get("offset", [])) == ([4096], [64], offset)


def check(tmp_path: Path, capsys: pytest.CaptureFixture[str], setting: str) -> list[dict[str, Any]]:
    (tmp_path / "k.cl").write_text(KERNEL)
    (tmp_path / "a.c").write_text(C % setting)
    main(["check", str(tmp_path / "k.cl"), "--emulate", "--format", "json"])
    findings: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["findings"]
    return findings


def test_a_kernel_runs_with_the_offset_of_its_host_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not [it for it in check(tmp_path, capsys, "") if it["code"] == "CM301"]


def test_what_an_open_offset_decides_begins_with_if(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (found,) = [it for it in check(tmp_path, capsys, "offset[0] = first(argv);") if it["code"] == "CM301"]
    assert found["severity"] == "information"
    assert found["message"].startswith("if the global offset is 0 (guessed)")
    origins = {it["name"]: it["origin"] for it in found["rests_on"]}
    assert origins["global offset"] == "guessed"


def test_of_an_offset_with_one_open_part_the_rest_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not [
        it for it in check(tmp_path, capsys, "offset[0] = 64 + 128 * atoi(argv[1]);") if it["code"] == "CM301"
    ]


def test_a_launch_that_is_pinned_keeps_its_offset(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "k.cl").write_text(KERNEL)
    (tmp_path / "a.c").write_text(C % "offset[0] = first(argv);")
    main(["check", str(tmp_path / "k.cl"), "--emulate", "--guesses"])
    assert "offset = [0]  # guessed" in capsys.readouterr().out
    (tmp_path / "clmap.toml").write_text("[launch.shifted]\noffset = [64]\n")
    main(["check", str(tmp_path / "k.cl"), "--emulate", "--guesses"])
    assert "CM301" not in capsys.readouterr().out


SWAPPED = """\
__kernel void shifted(__global const float *a, __global float *m, int n) {
  m[get_global_id(0) * n + get_global_id(1)] = a[get_global_id(0) * n + get_global_id(1)];
}
"""


@pytest.mark.parametrize(("offset", "is_edited"), [("", True), (", global_offset=(16, 32)", False)])
def test_host_code_with_an_offset_is_not_edited_in_part(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], offset: str, is_edited: bool
) -> None:
    (tmp_path / "k.cl").write_text(SWAPPED)
    call = f"program.shifted(queue, (1024, 512), (16, 16), a, m, np.int32(2048){offset})"
    (tmp_path / "a.py").write_text(PYTHON % call)
    main(["check", str(tmp_path / "k.cl"), "--emulate"])
    printed = capsys.readouterr().out
    assert "CM104" in printed
    assert ("+++" in printed) is is_edited
    assert ("has a global offset, which changes as well" in printed) is not is_edited
