"""Programs that C++ keeps in maps, and objects that braces give to functions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clmap_lsp.cli import main

KERNEL = "__kernel void k(__global float *a, int w) { a[get_global_id(1) * w + get_global_id(0)] = N; }\n"
ENGINE = """\
#include <CL/cl.h>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
struct Dim {{ size_t x = 1, y = 1; }};
class Engine {{
public:
  cl_kernel kernel(const std::string &file, const std::string &name, const std::string &opts) {{
    const std::string key = file + opts;
    {look_up}
  }}
  void run(cl_kernel k, Dim global, const Dim &local) {{
    size_t g[2] = {{global.x, global.y}}, l[2] = {{local.x, local.y}};
    clEnqueueNDRangeKernel(queue, k, 2, nullptr, g, l, 0, nullptr, nullptr);
  }}
private:
  cl_program build(const std::string &file, const std::string &opts) {{
    std::ifstream in(file);
    std::stringstream text;
    text << in.rdbuf();
    std::string source = text.str();
    const char *p = source.c_str();
    cl_program program = clCreateProgramWithSource(context, 1, &p, nullptr, nullptr);
    clBuildProgram(program, 1, &device, opts.c_str(), nullptr, nullptr);
    return program;
  }}
  cl_context context; cl_command_queue queue; cl_device_id device;
  std::map<std::string, cl_program> programs;
}};
int main() {{
  Engine e;
  int w = 2048;
  cl_kernel k = e.kernel("k.cl", "k", "-DN=" + std::to_string(7));
  clSetKernelArg(k, 1, sizeof w, &w);
  e.run(k, {global_size}, {{16, 8}});
}}
"""


@pytest.mark.parametrize(
    "look_up",
    [
        "auto it = programs.find(key);"
        " if (it == programs.end()) it = programs.emplace(key, build(file, opts)).first;"
        " return clCreateKernel(it->second, name.c_str(), nullptr);",
        "if (!programs.count(key)) programs[key] = build(file, opts);"
        " return clCreateKernel(programs[key], name.c_str(), nullptr);",
        "if (programs.find(key) == programs.end()) programs.insert(std::make_pair(key, build(file, opts)));"
        " return clCreateKernel(programs.at(key), name.c_str(), nullptr);",
        "programs.insert({key, build(file, opts)});"
        " return clCreateKernel(programs.find(key)->second, name.c_str(), nullptr);",
    ],
)
@pytest.mark.parametrize("global_size", ["{2048, 1024}", "Dim{2048, 1024}", "{(size_t)w, 1024}"])
def test_what_a_map_holds_is_known(
    look_up: str, global_size: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "k.cl").write_text(KERNEL)
    (tmp_path / "main.cpp").write_text(ENGINE.format(look_up=look_up, global_size=global_size))
    assert main(["launches", str(tmp_path), "--format", "json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["launches"]
    assert found["global"] == [2048, 1024]
    assert found["local"] == [16, 8]
    assert found["build_options"] == "-DN=7"
    assert found["args"] == {"w": 2048}


def test_strings_are_no_maps(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    look_up = 'size_t at = key.find("-D"); return clCreateKernel(build(file, opts), name.c_str(), nullptr);'
    (tmp_path / "k.cl").write_text(KERNEL)
    (tmp_path / "main.cpp").write_text(ENGINE.format(look_up=look_up, global_size="{64, 64}"))
    assert main(["launches", str(tmp_path), "--format", "json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["launches"]
    assert (found["global"], found["build_options"]) == ([64, 64], "-DN=7")


POINTER = """\
#include <CL/opencl.hpp>
#include <memory>
template <typename F> void timed(F &&f) { for (int i = 0; i < 3; ++i) f(); }
struct Step {
  explicit Step(cl::Program p) { k = std::make_unique<cl::Kernel>(p, "k"); }
  void operator()(cl::CommandQueue &q, int w) {
    k->setArg(1, w);
    q.enqueueNDRangeKernel(*k, cl::NullRange, cl::NDRange(w, 512), cl::NDRange(32, 4));
  }
  std::unique_ptr<cl::Kernel> k;
};
int main() {
  cl::CommandQueue q;
  cl::Program p;
  Step step(p);
  timed([&] { step(q, 1024); });
}
"""


def test_kernels_behind_smart_pointers_and_lambdas(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "k.cl").write_text(KERNEL)
    (tmp_path / "main.cpp").write_text(POINTER)
    assert main(["launches", str(tmp_path), "--format", "json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["launches"]
    assert (found["kernel"], found["global"], found["local"]) == ("k", [1024, 512], [32, 4])
    assert found["args"] == {"w": 1024}
