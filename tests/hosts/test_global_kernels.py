"""Kernels and programs in variables outside of functions, set by one function and launched by another."""

from __future__ import annotations

import pytest

from clmap_lsp.hosts.launches import launches_of
from clmap_lsp.hosts.project import read_project

KERNELS = """\
__kernel void scale(__global float *a, float f, int n) { int i = get_global_id(0); if (i < n) a[i] *= f; }
__kernel void shift(__global float *a, float f, int n) { int i = get_global_id(0); if (i < n) a[i] += f; }
"""
C_HOST = """\
#include <CL/cl.h>
static cl_program program;
static cl_kernel kernels[2];
static cl_command_queue queue;
void load(cl_context context) {
    cl_int e;
    program = load_program(context, "k.cl");
}
void prepare(void) {
    cl_int e;
    kernels[0] = clCreateKernel(program, "scale", &e);
    kernels[1] = clCreateKernel(program, "shift", &e);
}
void step(cl_mem a) {
    size_t all = 4096, group = 64;
    float f = 2;
    int n = 4000;
    cl_kernel shift = kernels[1];
    clSetKernelArg(shift, 1, sizeof f, &f);
    clSetKernelArg(shift, 2, sizeof n, &n);
    clEnqueueNDRangeKernel(queue, shift, 1, NULL, &all, &group, 0, NULL, NULL);
}
"""
CPP_HOST = """\
#include <CL/cl.hpp>
using namespace cl;
Program program;
Kernel scaling, shifting;
CommandQueue queue;
void setup(Context &context) {
    std::ifstream file("k.cl");
    std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    program = Program(context, text);
    program.build("-DWIDE");
    scaling = Kernel(program, "scale");
    shifting = Kernel(program, "shift");
}
void step(Buffer &a) {
    shifting.setArg(1, 2.0f);
    shifting.setArg(2, 4000);
    queue.enqueueNDRangeKernel(shifting, NullRange, NDRange(4096), NDRange(64));
}
"""


@pytest.mark.parametrize(("host", "options"), [(C_HOST, ""), (CPP_HOST, "-DWIDE")])
def test_a_function_launches_what_another_put_into_a_global_variable(host: str, options: str) -> None:
    files = {"main.cpp": host, "k.cl": KERNELS}
    (found,) = launches_of(read_project(files, files.get)).launches
    assert found.kernel == "shift"
    assert found.kernel_file == "k.cl"
    assert [it.number for it in found.global_size] == [4096]
    assert found.build_options == options
