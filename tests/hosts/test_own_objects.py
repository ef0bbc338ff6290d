"""Programs whose classes hold OpenCL's handles and turn into them, in namespaces of their own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clmap_lsp.cli import main
from clmap_lsp.hosts.budget import Budget
from clmap_lsp.hosts.project import read_project

KERNEL = "__kernel void entry(__global float *a, uint n) { a[get_global_id(0) * n] = 1; }\n"
OBJECTS = """\
#pragma once
#include <CL/cl.h>
namespace gpu {
namespace raw {
inline void run(cl_command_queue q, cl_kernel k, uint32_t whole, uint32_t group) {
  size_t wholes[1] = {whole}, groups[1] = {group};
  check(clEnqueueNDRangeKernel(q, k, 1, nullptr, &wholes[0], &groups[0], 0, nullptr, nullptr));
}
inline void run(cl_command_queue q, cl_kernel k, uint32_t whole) {
  check(clEnqueueNDRangeKernel(q, k, 1, nullptr, &whole, nullptr, 0, nullptr, nullptr));
}
inline void set(cl_kernel k, uint32_t index, size_t size, const void *value) {
  check(clSetKernelArg(k, index, size, value));
}
inline cl_program program_of(cl_context c, cl_device_id d, const unsigned char *code, size_t size) {
  cl_int status = 0, error = 0;
  cl_program p = clCreateProgramWithBinary(c, 1, &d, &size, &code, &status, &error);
  check(clBuildProgram(p, 1, &d, nullptr, nullptr, nullptr));
  return p;
}
}
class Kernel {
public:
  explicit Kernel(cl_kernel k, bool retain) { if (retain) check(clRetainKernel(k)); held = k; }
  operator cl_kernel() const { return held; }
  void set(uint32_t index, size_t size, const void *value) { raw::set(held, index, size, value); }
  void set(uint32_t index, const uint32_t value) { set(index, sizeof(value), &value); }
private:
  cl_kernel held;
};
class Program {
public:
  Program(cl_program p) { held = p; }
  std::unique_ptr<Kernel> kernel(const char *name) {
    cl_kernel k = clCreateKernel(held, name, nullptr);
    auto made = std::make_unique<Kernel>(k, false);
    return std::move(made);
  }
private:
  cl_program held;
};
class Queue {
public:
  void run(const Kernel *k, uint32_t whole, uint32_t group) { raw::run(held, *k, whole, group); }
  void run(const Kernel *k, uint32_t whole) { raw::run(held, *k, whole); }
private:
  cl_command_queue held;
};
class Device {
  Queue *own;
public:
  Device(Queue *queue) : own(queue) {}
  Queue *queue() const { return own; }
  void run(const Kernel *k, uint32_t whole, uint32_t group) const { queue()->run(k, whole, group); }
  void run(const Kernel *k, uint32_t whole) const { queue()->run(k, whole); }
};
}
"""
PROGRAM = """\
#pragma once
#include "objects.h"
#include "gpu_{name}_cl.h"
inline std::tuple<const unsigned char *, size_t> {name}_code() {{
  return std::make_tuple(reinterpret_cast<const unsigned char *>(&gpu_{name}_cl[0]), sizeof(gpu_{name}_cl));
}}
inline std::unique_ptr<gpu::Program> make_{name}(const gpu::Device *device) {{
  auto code = {name}_code();
  cl_program p = gpu::raw::program_of(*device, 0, std::get<0>(code), std::get<1>(code));
  return std::make_unique<gpu::Program>(p);
}}
"""
MAIN = """\
#include "blur.h"
#include "sum.h"
void blur(gpu::Device *device) {
  auto program = make_blur(device);
  auto kernel = program->kernel("entry");
  kernel->set(1, 4U);
  device->run(kernel.get(), 4096, 64);
}
void sum(gpu::Device *device, gpu::Queue *queue) {
  auto program = make_sum(device);
  auto kernel = program->kernel("entry");
  kernel->set(1, 2U);
  device->run(kernel.get(), 2048);
}
"""
NAMES = ("blur", "sum", "first", "second", "third")


def _launched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    for name in NAMES:
        (tmp_path / f"gpu_{name}.cl").write_text(KERNEL)
        (tmp_path / f"{name}.h").write_text(PROGRAM.format(name=name))
    (tmp_path / "objects.h").write_text(OBJECTS)
    (tmp_path / "main.cpp").write_text(MAIN)
    assert main(["launches", str(tmp_path), "--format", "json"]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["launches"]
    return found


def test_launches_come_through_and_each_program_is_made_of_its_array(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = {Path(it["kernel_file"]).name: it for it in _launched(tmp_path, capsys)}
    assert sorted(found) == ["gpu_blur.cl", "gpu_sum.cl"]
    assert (found["gpu_blur.cl"]["global"], found["gpu_blur.cl"]["local"]) == ([4096], [64])
    assert (found["gpu_sum.cl"]["global"], found["gpu_sum.cl"]["local"]) == ([2048], [None])
    assert [found[it]["args"]["n"] for it in ("gpu_blur.cl", "gpu_sum.cl")] == [4, 2]


def test_where_every_file_has_a_kernel_of_the_name_none_is_taken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "blur.h").write_text("")
    _launched(tmp_path, capsys)
    for name in NAMES:
        (tmp_path / f"{name}.h").write_text(PROGRAM.format(name=name).replace(f"gpu_{name}_cl", "other"))
    assert main(["launches", str(tmp_path), "--format", "json"]) == 0
    launches = json.loads(capsys.readouterr().out)["launches"]
    assert {it["kernel_file"] for it in launches} == {None}


def test_comments_launch_nothing(tmp_path: Path) -> None:
    text = "/**\n * As given to clEnqueueNDRangeKernel.\n */\n// clEnqueueNDRangeKernel(q, k);\nint x;\n"
    project = read_project(["a.h"], {"a.h": text}.get)
    assert project.launching_files == ()


def test_a_file_that_is_too_long_leaves_the_budget_to_others() -> None:
    budget = Budget(read=1 << 20, parsed=1000, steps=1000)
    assert not budget.take_parsed(5000)
    assert budget.take_parsed(900)
    assert budget.is_spent


STATIC = """\
template <bool used = true>
class Backend {
public:
  static void run(cl_kernel k, size_t n) {
    size_t group = 64;
    clEnqueueNDRangeKernel(queue, k, 1, NULL, &n, &group, 0, NULL, NULL);
  }
};
struct Sizes {
  static size_t pick(size_t n) { return n * 2; }
};
inline size_t pick(size_t n) { return n * 3; }
inline void run(cl_kernel k, size_t n) { Backend<>::run(k, n); }
int main() {
  cl_kernel k = clCreateKernel(program, "entry", NULL);
  run(k, Sizes::pick(512));
}
"""


def test_a_static_method_is_told_from_a_function_of_its_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "k.cl").write_text(KERNEL)
    (tmp_path / "main.cpp").write_text(STATIC)
    assert main(["launches", str(tmp_path), "--format", "json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["launches"]
    assert (found["kernel"], found["global"], found["local"]) == ("entry", [1024], [64])


def test_a_call_of_a_kernel_that_nothing_is_known_of_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "run.py").write_text(
        "import pyopencl as cl\n"
        "class Model:\n"
        "    def evaluate(self, env, model, size):\n"
        "        queue = env.queue[model.kind]\n"
        "        kernel = model.function('plain')\n"
        "        given = [size, None]\n"
        "        kernel(queue, size, None, *given)\n"
    )
    assert main(["launches", str(tmp_path)]) == 0
    assert "run.py:7: launches a kernel whose name is not known" in capsys.readouterr().out


def test_names_of_the_standard_library_are_looked_for_nowhere() -> None:
    own = "int main(int argc, char **argv) { std::string a = std::string(argv[1]); std::sort(a); }\n"
    texts = {"main.cpp": own, "far.cpp": "std::string text; void sort(std::string s) {}\n"}
    project = read_project(texts, texts.get)
    assert project.variable("string", "main.cpp", "std") is None
    assert project.class_named("std", "main.cpp") is None
    before = project.budget.parsed
    project.variable("string", "main.cpp", "std")
    assert project.budget.parsed == before == Budget().parsed
