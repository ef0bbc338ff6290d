"""What macros of host code name: functions, classes, declarations, kernels."""

from __future__ import annotations

from pathlib import Path

import pytest
from host_code import KERNELS, numbers, read

from clmap_lsp.hosts.budget import STEPS, STEPS_A_CHARACTER
from clmap_lsp.hosts.kernels import kernels_in
from clmap_lsp.hosts.launches import launches_of
from clmap_lsp.workbench.hosts import project_of


def test_a_macro_that_names_the_function_and_tables_of_names_and_fields(tmp_path: Path) -> None:
    """The launch is compiled with an option only; calls go through a checking macro and a loaded table."""
    making = """
#if WITH_OPENCL
#include "state.h"
int make(state_t *s, cl_program program)
{
    static const char *names[] = { "scale", "shift" };
    cl_kernel *places[] = { &s->cl.first, &s->cl.second };
    for (int i = 0; i < COUNT(names); i++)
        *places[i] = s->api->clCreateKernel(program, names[i], &status);
    return 0;
}
#endif
"""
    running = """
#include "state.h"
#if WITH_OPENCL
#define CALL(method, ...) do { if (s->failed) return -1; \\
    status = api->method(__VA_ARGS__); if (status) { log_error(#method " failed"); return -1; } } while (0)
int run(state_t *s)
{
    size_t whole[2], group[2];
    cl_uint at = 0;
    int count = 3 * 100;
    CALL(clSetKernelArg, s->cl.second, at++, sizeof(cl_mem), &s->memory);
    CALL(clSetKernelArg, s->cl.second, at++, sizeof(int), &count);
    whole[0] = 512; whole[1] = s->rows;
    group[0] = 64; group[1] = 1;
    CALL(clEnqueueNDRangeKernel, s->queue, s->cl.second, 2, NULL, whole, group, 0, NULL, NULL);
    return 0;
}
#endif
"""
    header = "#define COUNT(array) (sizeof(array) / sizeof(array[0]))\n"
    found = read(tmp_path, make_dot_c=making, run_dot_c=running, state_dot_h=header)
    assert list(found) == ["shift"]
    assert numbers(found["shift"]) == ([512, None], [64, 1])
    assert found["shift"].arguments["n"].number == 300
    assert found["shift"].host_row == 15, "the row of the use, not of the macro"


def test_declarations_and_sources_as_arguments_of_macros(tmp_path: Path) -> None:
    main = """
#define TEXT(...) #__VA_ARGS__
static const char *source = TEXT(
    __kernel void twice(__global int *a, int n, int m) {
        if (get_global_id(0) < n) { a[get_global_id(0)] *= m; }
    }
);
int main()
{
    CL_CHECK(err, cl::Program program(context, source, false, &err));
    CL_CHECK(err, cl::Kernel kernel(program, "twice", &err));
    CL_CHECK(err, err = kernel.setArg(1, 1000));
    cl::NDRange whole(1024), group(64);
    CL_CHECK(err, err = queue.enqueueNDRangeKernel(kernel, cl::NullRange, whole, group));
    CL_CHECK(err, cl::Kernel task(program, "scale", &err));
    CL_CHECK(err, err = queue.enqueueTask(task));
}
"""
    found = read(tmp_path, main_dot_cpp=main)
    assert numbers(found["twice"]) == ([1024], [64])
    assert found["twice"].arguments["n"].number == 1000
    assert (found["twice"].kernel_row, found["twice"].host_row) == (3, 14)
    assert numbers(found["scale"]) == ([1], [1])


def test_kernels_of_a_class_that_a_macro_exports(tmp_path: Path) -> None:
    header = """
class LIBRARY_LOCAL Sorter : public Algorithm {
    cl::Kernel reduceKernel;
    size_t group;
public:
    Sorter(cl::Program program);
    void enqueue(size_t blocks);
};
"""
    source = """
#include "sorter.hpp"
Sorter::Sorter(cl::Program program) { group = 128; reduceKernel = cl::Kernel(program, "shift"); }
void Sorter::enqueue(size_t blocks)
{
    reduceKernel.setArg(1, 4);
    queue.enqueueNDRangeKernel(reduceKernel, cl::NullRange, cl::NDRange(128 * blocks), cl::NDRange(128));
}
"""
    launch = read(tmp_path, sorter_dot_hpp=header, sorter_dot_cpp=source)["shift"]
    assert numbers(launch) == ([None], [128])
    assert launch.arguments["n"].number == 4


def test_kernels_behind_a_macro_that_is_given_the_group() -> None:
    text = "KERNEL(64) turn(P(float) a, int n) { }\nkernel void other(global float *a) { }\n"
    assert [(it.name, [each.name for each in it.parameters]) for it in kernels_in(text)] == [
        ("turn", ["a", "n"]),
        ("other", ["a"]),
    ]


def test_a_macro_that_names_itself_means_the_function(tmp_path: Path) -> None:
    """C does not expand a macro within itself; in its arguments it does."""
    host = """
#include <CL/cl.h>
static void run(cl_kernel kernel, size_t n, size_t group)
{
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &n, &group, 0, NULL, NULL);
}
#define AT_LEAST(a, b) ((a) > (b) ? (a) : (b))
#define run(kernel, n) run(kernel, AT_LEAST(AT_LEAST(n, 64), 32), 16)
int main()
{
    cl_kernel scale = clCreateKernel(program, "scale", NULL);
    run(scale, 512);
}
"""
    assert numbers(read(tmp_path, main_dot_c=host)["scale"]) == ([512], [16])


def test_macros_that_hold_themselves_often_are_read_in_few_steps(tmp_path: Path) -> None:
    host = """
#include <CL/cl.h>
#define CHECK(x) CHECK(x) + CHECK(x) + CHECK(x)
int main()
{
    cl_kernel scale = clCreateKernel(program, "scale", NULL);
    CHECK(1); CHECK(2); CHECK(3);
    size_t n = 512;
    clEnqueueNDRangeKernel(queue, scale, 1, NULL, &n, NULL, 0, NULL, NULL);
}
"""
    (tmp_path / "kernels.cl").write_text(KERNELS)
    (tmp_path / "main.c").write_text(host)
    project = project_of(str(tmp_path))
    assert [it.kernel for it in launches_of(project).launches] == ["scale"]
    assert STEPS + STEPS_A_CHARACTER * len(host) - project.budget.steps < 2_000


def test_a_class_that_a_macro_names_may_be_final(tmp_path: Path) -> None:
    """`class IMPL final` has no name but the macro's, which is no export."""
    host = """
#include <CL/opencl.hpp>
#define IMPL Scaling
template <int W> class IMPL final : public Base<W> {
public:
  [[nodiscard]] int run(int n) const override {
    auto scale = cl::KernelFunctor<cl::Buffer, int>(program, "scale");
    scale(cl::EnqueueArgs(queue, cl::NDRange(512), cl::NDRange(W)), buffer, n);
    return 0;
  }
};
"""
    assert numbers(read(tmp_path, main_dot_cpp=host)["scale"])[0] == [512]


def test_a_macro_that_is_given_a_function_and_its_arguments(tmp_path: Path) -> None:
    """`status = NAME ARGLIST;` calls the one with the other."""
    header = """
#include <CL/cl.h>
#define GUARDED(NAME, ARGLIST) \\
  { \\
    cl_int status; \\
    status = NAME ARGLIST; \\
    CHECK(status, #NAME); \\
  }
#define SET(kernel, index, value) GUARDED(clSetKernelArg, (kernel, index, sizeof(value), &value));
"""
    host = """
#include "helper.h"
int main()
{
    cl_kernel scale = clCreateKernel(program, "scale", NULL);
    int n = 1000;
    SET(scale, 1, n);
    size_t group[] = { 32 }, size[] = { ((n + group[0] - 1) / group[0]) * group[0] };
    GUARDED(clEnqueueNDRangeKernel,
        (queue, scale,
         /* dimensions */ 1, NULL, size, group, 0, NULL, NULL));
    GUARDED(clFinish, (queue));
}
"""
    launch = read(tmp_path, helper_dot_h=header, main_dot_c=host)["scale"]
    assert numbers(launch) == ([1024], [32])
    assert launch.arguments["n"].number == 1000


STATE = """
typedef struct { cl_program program; cl_command_queue queue; cl_kernel scaler, shifter; } state;
#define CHECKED(x) do { cl_int e_ = (x); if (e_ != CL_SUCCESS) { exit(1); } } while (0)
"""
SCALER = """
#include "state.h"
#define own ( s-> scaler )
#define called ( "scale" )
void make_scaler(state *s) {
  cl_int e = 0;
  own = clCreateKernel(s->program, called, &e);
  CHECKED(e);
}
void set_scaler(state *s, int *n) { clSetKernelArg(own, 1, sizeof(int), n); }
void run_scaler(state *s) {
  const size_t all[2] = { 64, 32 }, group[2] = { 8, 4 };
  CHECKED(clEnqueueNDRangeKernel(s->queue, own, 2, NULL, all, group, 0, NULL, NULL));
}
#undef own
#undef called
"""
SHIFTER = """
#include "state.h"
#define own ( s-> shifter )
#define GROUP 16
void make_shifter(state *s) {
  cl_int e = 0;
  #define making(k, name) {\\
    k = clCreateKernel(s->program, name, &e);\\
    CHECKED(e);\\
  }
  making(own, "shift");
  #undef making
}
#define launching(k, n) {\\
  size_t all = (n), group = GROUP;\\
  CHECKED(clEnqueueNDRangeKernel(s->queue, k, 1, NULL, \\
                                 &all, &group, 0, NULL, NULL));\\
}
void run_shifter(state *s) { launching(own, 4 * GROUP); }
#undef launching
#undef own
#undef GROUP
#define GROUP 8
"""
MAIN = """
#include "scaler.h"
#include "shifter.h"
int main() {
  state *s = calloc(1, sizeof(state));
  s->program = clCreateProgramWithSource(context, 1, &text, NULL, NULL);
  int n = 7;
  make_scaler(s);
  make_shifter(s);
  set_scaler(s, &n);
  run_scaler(s);
  run_shifter(s);
}
"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_macros_that_a_file_takes_back_stand_until_there(tmp_path: Path, end: str) -> None:
    """Also where lines end as on Windows, and a macro goes on behind a backslash."""
    files = {"state_dot_h": STATE, "scaler_dot_h": SCALER, "shifter_dot_h": SHIFTER, "main_dot_c": MAIN}
    for name, text in files.items():
        (tmp_path / name.replace("_dot_", ".")).write_bytes(text.replace("\n", end).encode())
    found = read(tmp_path)
    assert numbers(found["scale"]) == ([64, 32], [8, 4])
    assert found["scale"].arguments["n"].number == 7
    assert numbers(found["shift"]) == ([64], [16])


def test_a_macro_means_in_a_condition_what_it_stands_for_there(tmp_path: Path) -> None:
    host = """
#define LIMIT 4
int main() {
  size_t count = 64, group = 1;
  cl_kernel scale = clCreateKernel(program, "scale", NULL);
#undef LIMIT
#define LIMIT 100
  if (group < LIMIT - 50) group = 32;
  clEnqueueNDRangeKernel(queue, scale, 1, NULL, &count, &group, 0, NULL, NULL);
}
"""
    assert numbers(read(tmp_path, main_dot_c=host)["scale"])[1] != [1]
