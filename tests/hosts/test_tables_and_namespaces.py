"""Kernels out of long tables, functions of namespaces, and handles of one of several kernels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clmap_lsp.cli import main

N = 30


def launched(folder: Path, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    assert main(["launches", str(folder), "--format", "json"]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["launches"]
    return found


def test_each_element_of_a_long_table_is_the_kernel_of_its_row(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kernels = (f"__kernel void k{i}(__global int *a) {{ a[get_global_id(0)] = {i}; }}\n" for i in range(N))
    (tmp_path / "k.cl").write_text("".join(kernels))
    names = ", ".join(f"K{i}" for i in range(N))
    rows = "".join(f'  {{ K{i}, "k{i}", NULL }},\n' for i in range(N))
    (tmp_path / "main.cpp").write_text(
        f"""\
#include <CL/cl.h>
enum Names {{ {names}, LAST }};
typedef struct {{ Names which; const char name[40]; cl_kernel kernel; }} info_t;
info_t infos[] = {{
{rows}}};
int init(int mode) {{
  cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, NULL);
  if (mode == 0)
    for (int i = K1; i < LAST; i++) infos[i].kernel = clCreateKernel(program, infos[i].name, NULL);
  else
    for (int i = K20; i < LAST; i++) infos[i].kernel = clCreateKernel(program, infos[i].name, NULL);
  return 0;
}}
int one(size_t n) {{
  return clEnqueueNDRangeKernel(queue, infos[K24].kernel, 1, NULL, &n, NULL, 0, NULL, NULL);
}}
int other(size_t n) {{
  return clEnqueueNDRangeKernel(queue, infos[K28].kernel, 1, NULL, &n, NULL, 0, NULL, NULL);
}}
"""
    )
    assert {it["host_row"]: it["kernel"] for it in launched(tmp_path, capsys)} == {45: "k24", 48: "k28"}


def test_a_function_is_that_of_the_namespace_that_the_call_names_or_stands_in(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "solve.cl").write_text("__kernel void solve(__global int *a) { a[get_global_id(0)] = 1; }\n")
    (tmp_path / "program.hpp").write_text(
        """\
namespace tools { namespace program {
static cl_program handle;
bool init(const std::string &text) {
  const char *source = text.c_str();
  handle = clCreateProgramWithSource(context, 1, &source, NULL, NULL);
  return handle != nullptr;
}
} }
"""
    )
    (tmp_path / "kernel.hpp").write_text(
        """\
#include "program.hpp"
namespace tools { namespace kernel {
static cl_kernel handle;
bool init(const std::string &name) {
  handle = clCreateKernel(program::handle, name.c_str(), NULL);
  return handle != nullptr;
}
bool start(size_t n) { return clEnqueueNDRangeKernel(queue, handle, 1, NULL, &n, NULL, 0, NULL, NULL) == 0; }
bool run(size_t n) { return start(2 * n); }
} }
bool start(size_t n) { return false; }
"""
    )
    (tmp_path / "main.cpp").write_text(
        """\
#include <CL/cl.h>
#include "kernel.hpp"
namespace tools {
bool init(const std::string &text, const std::string &name) {
  return program::init(text) && kernel::init(name);
}
}
int main() {
  tools::init(text, "solve");
  tools::kernel::run(384);
}
"""
    )
    (found,) = launched(tmp_path, capsys)
    assert (found["kernel"], found["global"]) == ("solve", [768])


def test_of_kernels_that_a_handle_may_be_those_count_that_take_as_many_arguments(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "k.cl").write_text(
        "__kernel void whole(__global float *a, int n) { a[get_global_id(0)] = n; }\n"
        "__kernel void split(__global float *a, __global float *b, int n) { a[get_global_id(0)] = b[n]; }\n"
    )
    (tmp_path / "main.c").write_text(
        """\
#include <CL/cl.h>
void go(int is_split, int n, cl_mem a, cl_mem b, size_t items) {
  cl_kernel k = clCreateKernel(program, is_split ? "split" : "whole", NULL);
  clSetKernelArg(k, 0, sizeof(cl_mem), &a);
  clSetKernelArg(k, 1, sizeof(cl_mem), &b);
  clSetKernelArg(k, 2, sizeof(int), &n);
  clEnqueueNDRangeKernel(queue, k, 1, NULL, &items, NULL, 0, NULL, NULL);
}
"""
    )
    (found,) = launched(tmp_path, capsys)
    assert (found["kernel"], found["args"]) == ("split", {"n": "n"})


def test_launches_that_read_alike_are_printed_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "k.cl").write_text("__kernel void k(__global float *a) { a[get_global_id(0)] = 1; }\n")
    (tmp_path / "main.py").write_text(
        """\
import pyopencl as cl
program = cl.Program(ctx, open("k.cl").read()).build()
def go(size):
    program.k(queue, (256,), None, cl.Buffer(ctx, 0, size))
go(1024)
go(2048)
"""
    )
    assert len(launched(tmp_path, capsys)) == 2
    assert main(["launches", str(tmp_path)]) == 0
    assert capsys.readouterr().out.count("main.py:4: 256") == 1


def test_true_and_false_stay_what_they_are_where_a_declaration_looks_like_a_function(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "main.cpp").write_text(
        """\
#include <CL/cl.h>
const char *src = "__kernel void f(__global float *m, int forward) { m[get_global_id(0)] = forward; }";
struct Transform {
  cl_kernel k; size_t n;
  Transform(cl_device_id d, size_t size, bool forward) : n(size) {
    k = clCreateKernel(clCreateProgramWithSource(context, 1, &src, NULL, NULL), "f", NULL);
    int flag = forward ? 1 : 0;
    clSetKernelArg(k, 1, sizeof(int), &flag);
  }
  void run() { clEnqueueNDRangeKernel(q, k, 1, NULL, &n, NULL, 0, NULL, NULL); }
};
int main() {
  cl_device_id ids[4];
  size_t N = 16;
  Transform there(ids[0], N, true), back(ids[0], N, false);
  there.run();
}
"""
    )
    assert [it["args"] for it in launched(tmp_path, capsys)] == [{"forward": 1}]


def test_a_kernel_that_another_folders_program_keeps_is_not_that_of_its_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f"{folder}.cl").write_text(
            "__kernel void read_all(__global float *a) { a[get_global_id(0)] = 1; }\n"
        )
    shared = """\
#include <CL/cl.h>
cl_kernel read_kernel;
void setup(const char *file) {
  cl_program program = make_program(read_file(file));
  read_kernel = clCreateKernel(program, "read_all", NULL);
}
"""
    (tmp_path / "one" / "shared.c").write_text(shared)
    (tmp_path / "one" / "main.c").write_text('int main() { setup("one.cl"); }\n')
    (tmp_path / "two" / "main.c").write_text(
        """\
#include <CL/cl.h>
extern cl_kernel read_kernel;
void time_it(size_t n) { clEnqueueNDRangeKernel(queue, read_kernel, 1, NULL, &n, NULL, 0, NULL, NULL); }
"""
    )
    (found,) = launched(tmp_path, capsys)
    assert (found["kernel"], Path(found["kernel_file"]).name) == ("read_all", "two.cl")


def test_inner_namespaces_of_the_same_name_are_told_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "k.cl").write_text("__kernel void k(__global float *a) { a[get_global_id(0)] = 1; }\n")
    space = """
namespace %s {
  namespace inner { size_t size() { return %d; } }
  void go(cl_command_queue q, cl_kernel k) {
    size_t n = inner::size();
    clEnqueueNDRangeKernel(q, k, 1, NULL, &n, NULL, 0, NULL, NULL);
  }
}
"""
    last = """
int main() { cl_kernel k = clCreateKernel(program, "k", NULL); one::go(q, k); two::go(q, k); }
"""
    (tmp_path / "a.cpp").write_text("#include <CL/cl.h>" + space % ("one", 64) + space % ("two", 96) + last)
    assert main(["launches", str(tmp_path), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["launches"]
    assert sorted(it["global"] for it in found) == [[64], [96]]
