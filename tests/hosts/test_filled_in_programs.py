"""Programs that are put together: texts that include files, templates, and objects that launch later."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clmap_lsp.cli import main
from clmap_lsp.hosts.kernels import kernels_in
from clmap_lsp.hosts.launches import launches_of
from clmap_lsp.workbench.hosts import project_of

KERNEL = "__kernel void fill(__global float a[N], int n) { a[get_global_id(0)] = n + SCALE; }\n"


def launched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    assert main(["launches", str(tmp_path), "--format", "json"]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["launches"]
    return found


def test_a_program_is_of_the_file_that_its_text_includes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "cl").mkdir()
    for name in ("first", "second"):
        (tmp_path / "cl" / f"{name}.cl").write_text(KERNEL)
    (tmp_path / "app.cpp").write_text(
        """\
cl::Kernel made(const char *file) {
  std::ostringstream defines;
  defines << "#define SCALE (" << 3 << ")" << std::endl;
  std::string source = defines.str();
  source += "#include \\"";
  source += file;
  source += "\\"";
  cl::Program program(context, source);
  program.build("-I ./");
  return cl::Kernel(program, "fill");
}
int main() {
  cl::Kernel kernel = made("cl/second.cl");
  kernel.setArg(0, values);
  kernel.setArg(1, 7);
  queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(64), cl::NullRange);
}
"""
    )
    (found,) = launched(tmp_path, capsys)
    assert found["kernel_file"] == str(tmp_path / "cl" / "second.cl")
    assert found["args"] == {"n": 7}, "an array parameter is a buffer, of which no number is known"


TEMPLATE = '''\
import pyopencl as cl
from mako.template import Template

class Plan:
    def __init__(self, queue, kernel, whole, group=None):
        self.queue, self.kernel = queue, kernel
        self.whole, self.group = whole, group

    def __call__(self):
        self.enqueue()

    def enqueue(self):
        return cl.enqueue_nd_range_kernel(self.queue, self.kernel, self.whole, self.group)

def plan_fill(queue, buffer):
    text = """
    __kernel void fill(__global ${type} *a, int n) { a[get_global_id(0)] = ${scale} * n; }
    """
    settings = dict(type="float", scale=4)
    text = Template(text).render(**settings)
    kernel = cl.Program(queue.context, text).build().fill
    kernel.set_args(buffer, 5)
    if quick:
        return Plan(queue, kernel, (32,))
    return [Plan(queue, kernel, (64,), (16,))]

def plan_twice(queue, buffer):
    text = """
    __kernel void twice(__global float *a, int n) { a[get_global_id(0)] = n; }
    """
    kernel = cl.Program(queue.context, text).build().twice
    kernel.set_args(buffer, 6)
    Plan(queue, kernel, (128,))()
'''


def test_plans_that_nothing_launches_are_asked_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "plans.py").write_text(TEMPLATE)
    found = launched(tmp_path, capsys)
    sizes = [(it["kernel"], it["global"], it["local"], it["args"]) for it in found]
    assert ("fill", [32], [None], {"n": 5}) in sizes
    assert ("fill", [64], [16], {"n": 5}) in sizes
    assert [it for it in sizes if it[0] == "twice"] == [("twice", [128], [None], {"n": 6})]
    assert {it["kernel_file"] for it in found} == {str(tmp_path / "plans.py")}


def test_a_head_with_template_text_is_read() -> None:
    (kernel,) = kernels_in("__kernel void f(__global ${type} *a, const ${other} n) {}")
    assert [it.name for it in kernel.parameters] == ["a", "n"]
    assert [it.is_value for it in kernel.parameters] == [False, True]


def test_kernels_of_other_ways_to_a_call_are_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "two.cl").write_text(
        "__kernel void one(__global float *a) { a[get_global_id(0)] = 1; }\n"
        "__kernel void two(__global float *a, int n, int m) { a[get_global_id(0)] = n; }\n"
    )
    (tmp_path / "app.c").write_text(
        """\
void run(cl_kernel kernel, size_t count) {
  clSetKernelArg(kernel, 0, sizeof(cl_mem), &buffer);
  clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &count, NULL, 0, NULL, NULL);
}
int main() {
  run(clCreateKernel(program, "one", 0), 16);
  run(clCreateKernel(program, "two", 0), 32);
}
"""
    )
    assert [(it["kernel"], it["global"]) for it in launched(tmp_path, capsys)] == [
        ("one", [16]),
        ("two", [32]),
    ]


def test_an_expression_that_a_template_is_given_is_no_number_to_guess(tmp_path: Path) -> None:
    (tmp_path / "plans.py").write_text(
        '''\
import pyopencl as cl
from mako.template import Template

def run(queue, buffer):
    text = """
    __kernel void fill(__global float *a, __constant int *pitch) { a[get_global_id(0) * ${stride}] = 1; }
    """
    text = Template(text).render(stride="pitch[3]", scale="{", other=queue)
    cl.Program(queue.context, text).build().fill(queue, (64,), None, buffer)
'''
    )
    (launch,) = launches_of(project_of(str(tmp_path))).launches
    assert dict(launch.defines) == {"stride": "pitch[3]"}


@pytest.mark.parametrize("width", ["${N}", "((int)${N})"])
def test_what_fills_a_file_is_taken_in_the_place_of_its_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], width: str
) -> None:
    (tmp_path / "scale.cl").write_text(
        f"""\
#define N {width}
__kernel void scale(__global ${{precision}} *a) {{
    a[get_global_id(0) * N] = 2;
}}
"""
    )
    (tmp_path / "host.py").write_text(
        """\
import string
import pyopencl as cl

class Scaling:
    def __init__(self, N=3):
        with open("scale.cl") as file:
            text = string.Template("".join(file.readlines())).substitute(N=N, precision="double")
        self.program = cl.Program(context, text).build()

scaling = Scaling()
scaling.program.scale(queue, (4096,), (64,), values)
"""
    )
    (launch,) = launches_of(project_of(str(tmp_path))).launches
    assert dict(launch.defines) == {"N": "3", "precision": "double"}
    assert main(["check", str(tmp_path), "--device", "nvidia-hopper", "--no-emulate"]) in (0, 1)
    said = capsys.readouterr().out
    assert "consecutive work-items are 24 bytes apart" in said
    assert "guessed" not in said.lower()
