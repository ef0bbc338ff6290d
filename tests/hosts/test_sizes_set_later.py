"""Sizes that are 0 until something sets them, and names of elements that sizes are."""

from __future__ import annotations

from pathlib import Path

from clmap_lsp.hosts.host_launch import HostLaunch
from clmap_lsp.hosts.launches import launches_of
from clmap_lsp.source.options import defines_in
from clmap_lsp.workbench.hosts import project_of

KERNEL = "__kernel void scale(__global float *a, int n, int m) { a[get_global_id(0)] *= n + m; }\n"
OBJECT = """
#include <CL/cl.h>
class Sum {
public:
    Sum(cl_program p) : groups_(0), local_(0) { k_ = clCreateKernel(p, "scale", NULL); }
    void size(int n) { groups_ = (n + 63) / 64; local_ = 64; }
    void run(cl_command_queue q)
    {
        size_t global = groups_ * GROUP, local = local_;
        clSetKernelArg(k_, 1, sizeof groups_, &groups_);
        clEnqueueNDRangeKernel(q, k_, 1, NULL, &global, &local, 0, NULL, NULL);
    }
private:
    int groups_; size_t local_;
    cl_kernel k_;
};
"""
ELEMENTS = """
#include <CL/cl.h>
void go(cl_command_queue q, cl_program p, int n, int m)
{
    cl_kernel k = clCreateKernel(p, "scale", NULL);
    size_t global[2];
    clSetKernelArg(k, 1, sizeof n, &n);
    clSetKernelArg(k, 2, sizeof m, &m);
    global[0] = n;
    global[1] = m;
    clEnqueueNDRangeKernel(q, k, 2, NULL, global, NULL, 0, NULL, NULL);
}
void all(cl_command_queue q, cl_program p, int *sizes, int first)
{
    for (int at = first; at < 9; at++) go(q, p, sizes[at], sizes[at - 1]);
}
"""
NDARRAY = """
import numpy as np
import pyopencl as cl
keys = np.ndarray((4096,), dtype=np.uint16)
context = cl.create_some_context()
queue = cl.CommandQueue(context)
program = cl.Program(context, open("kernels.cl").read()).build()
buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, keys.nbytes)
program.scale(queue, (keys.size // 2,), None, buffer, np.int32(keys.dtype.itemsize), np.int32(3))
"""


def launch(folder: Path, name: str, text: str) -> HostLaunch:
    (folder / "kernels.cl").write_text(KERNEL)
    (folder / name).write_text(text)
    (found,) = launches_of(project_of(str(folder))).launches
    return found


def test_nobody_launches_no_work_items(tmp_path: Path) -> None:
    """0 is what a constructor writes before the size is known: neither a size nor a default."""
    found = launch(tmp_path, "sum.cpp", OBJECT)
    assert [it.best for it in found.global_size] == [None]
    assert [it.best for it in found.local_size if it is not None] == [None]
    assert found.arguments["n"].best is None


def test_sizes_that_are_elements_keep_the_names_that_arguments_have(tmp_path: Path) -> None:
    found = launch(tmp_path, "go.c", ELEMENTS)
    assert [it.text for it in found.global_size] == ["sizes[at]", "sizes[at - 1]"]
    assert found.arguments["m"].text == "sizes[at - 1]"


def test_arrays_made_by_their_class(tmp_path: Path) -> None:
    found = launch(tmp_path, "go.py", NDARRAY)
    assert [it.number for it in found.global_size] == [2048]
    assert found.arguments["n"].number == 2


def test_options_that_the_run_chooses_define_nothing() -> None:
    options = "{ -DFAST or -DMODE=1 or -DMODE=2} -DWIDTH=4 -DN={n} -D SIZE=8"
    assert defines_in(options) == (("WIDTH", "4"), ("SIZE", "8"))
