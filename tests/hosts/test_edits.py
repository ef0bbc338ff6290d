"""Edits of host code that a rewritten kernel asks for: right in many styles, or refused with the reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from clmap_lsp.config import Settings
from clmap_lsp.hosts.changes import LaunchChange, Resize
from clmap_lsp.hosts.edits import HostEdits, applied
from clmap_lsp.workbench.hosts import HostFiles

KERNEL = "__kernel void mm(__global float *a, __local float *t, int n) { a[get_global_id(0)] = t[0]; }\n"
OTHER = "__kernel void fill(__global float *a) { a[get_global_id(0)] = 0; }\n"
SWAP = LaunchChange(order=(1, 0))
QUARTER = LaunchChange(global_size={0: Resize(over=4)})
GROUPS = LaunchChange(local_size=(32, 8))
PADDED = LaunchChange(local_bytes={"t": Resize(times=17, over=16)})
SET = LaunchChange(local_bytes={"t": Resize(times=0, plus=4352)})


def edited(folder: Path, host: str, change: LaunchChange, name: str = "main.c") -> str:
    """Return the host text after the edits; the reason, if it is refused."""
    (folder / "clmap.toml").write_text("")
    (folder / "mm.cl").write_text(KERNEL + OTHER)
    (folder / name).write_text(host)
    found = edits(folder, change)
    assert bool(found.edits) != bool(found.reason)
    return applied(host, found.edits) if found.edits else found.reason


def edits(folder: Path, change: LaunchChange) -> HostEdits:
    return HostFiles().edits(str(folder / "mm.cl"), KERNEL + OTHER, Settings(), "mm", change)


def c(body: str, enqueue: str = "global, local") -> str:
    return f"""int main(int argc, char **argv)
{{
    cl_program program = clCreateProgramWithSource(context, 1, load("mm.cl"), NULL, &err);
    cl_kernel kernel = clCreateKernel(program, "mm", &err);
    {body}
    err = clEnqueueNDRangeKernel(queue, kernel, 2, NULL, {enqueue}, 0, NULL, NULL);
}}
"""


def test_lists_of_c_are_swapped_where_they_stand(tmp_path: Path) -> None:
    host = c("size_t global[2] = { width, 512 }, local[] = {16, 4};")
    after = edited(tmp_path, host, SWAP)
    assert after == c("size_t global[2] = { 512, width }, local[] = {4, 16};")


def test_elements_set_one_by_one(tmp_path: Path) -> None:
    host = c("size_t global[2], local[2] = {16, 4}; global[0] = 256; global[1] = rows(argc);")
    after = edited(tmp_path, host, SWAP)
    assert "global[0] = rows(argc); global[1] = 256;" in after


def test_a_size_that_is_used_elsewhere_is_left_alone(tmp_path: Path) -> None:
    host = c("size_t global[2] = {256, 512}; allocate(global[0]);", "global, NULL")
    after = edited(tmp_path, host, SWAP)
    assert "const size_t new_global[2] = { global[1], global[0] };\n    err = clEnqueue" in after
    assert "NULL, new_global, NULL, 0" in after


def test_sizes_are_divided_and_rounded_up(tmp_path: Path) -> None:
    assert "{ (n + 3) / 4, 512 }" in edited(
        tmp_path, c("size_t global[2] = { n, 512 };", "global, 0"), QUARTER
    )
    assert "{ 25, 512 }" in edited(tmp_path, c("size_t global[2] = { 98, 512 };", "global, 0"), QUARTER)


def test_groups_are_given_where_the_driver_chose(tmp_path: Path) -> None:
    after = edited(tmp_path, c("size_t global[2] = { n, 512 };", "global, NULL"), GROUPS)
    assert "const size_t new_local[2] = { 32, 8 };" in after
    assert "global, new_local, 0" in after


def test_local_memory_is_resized(tmp_path: Path) -> None:
    body = "clSetKernelArg(kernel, 1, {}, NULL); size_t global[2] = {{ n, 512 }};"
    host = c(body.format("16 * 16 * sizeof(float)"), "global, NULL")
    assert "(16 * 16 * sizeof(float)) * 17 + 15) / 16" in edited(tmp_path, host, PADDED)
    assert "1, 1088 * sizeof(float), NULL" in edited(tmp_path, host, SET)


CPP = """int main()
{
    cl::Program program(context, load("mm.cl"));
    cl::Kernel kernel(program, "mm");
    %s
}
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(n, 64), cl::NDRange(8, 2));",
            "queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(64, n), cl::NDRange(2, 8));",
        ),
        (
            "cl::NDRange whole(n, 64); queue.enqueueNDRangeKernel(kernel, cl::NullRange, whole);",
            "cl::NDRange whole(64, n); queue.enqueueNDRangeKernel(kernel, cl::NullRange, whole);",
        ),
        (
            "cl::NDRange whole(n, 64); use(whole); queue.enqueueNDRangeKernel(kernel, {}, whole);",
            "cl::NDRange whole(n, 64); use(whole); queue.enqueueNDRangeKernel(kernel, {},"
            " cl::NDRange(whole[1], whole[0]));",
        ),
        (
            'auto mm = cl::KernelFunctor<cl::Buffer>(program, "mm");'
            " mm(cl::EnqueueArgs(queue, cl::NDRange(n, 64), cl::NDRange(8, 2)), a);",
            'auto mm = cl::KernelFunctor<cl::Buffer>(program, "mm");'
            " mm(cl::EnqueueArgs(queue, cl::NDRange(64, n), cl::NDRange(2, 8)), a);",
        ),
    ],
    ids=["inline", "variable", "shared", "functor"],
)
def test_cpp(tmp_path: Path, before: str, after: str) -> None:
    assert edited(tmp_path, CPP % before, SWAP, "main.cpp") == CPP % after


PYTHON = """import pyopencl as cl
program = cl.Program(ctx, open("mm.cl").read()).build()
%s
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "program.mm(queue, (n, 64), None, a, cl.LocalMemory(64), n)",
            "program.mm(queue, (64, n), None, a, cl.LocalMemory(64), n)",
        ),
        (
            "shape = (n, 64)\nprogram.mm(queue, shape, (8, 2), a, cl.LocalMemory(64), n)",
            "shape = (64, n)\nprogram.mm(queue, shape, (2, 8), a, cl.LocalMemory(64), n)",
        ),
        (
            "cl.enqueue_nd_range_kernel(queue, program.mm, x.shape, None)",
            "cl.enqueue_nd_range_kernel(queue, program.mm, (x.shape[1], x.shape[0]), None)",
        ),
    ],
    ids=["inline", "variable", "attribute"],
)
def test_python(tmp_path: Path, before: str, after: str) -> None:
    before = "x = np.zeros((n, 64))\n" + before if "x.shape" in before else before
    after = "x = np.zeros((n, 64))\n" + after if "x.shape" in after else after
    assert edited(tmp_path, PYTHON % before, SWAP, "main.py") == PYTHON % after


def test_python_local_memory(tmp_path: Path) -> None:
    host = PYTHON % "program.mm(queue, (n, 64), None, a, cl.LocalMemory(4 * 16), n)"
    assert "cl.LocalMemory(4352)" in edited(tmp_path, host, SET, "main.py")


SHARED = """void run(const char *name)
{
    cl_kernel kernel = clCreateKernel(program, name, &err);
    size_t global[2] = {64, 32};
    clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, NULL, 0, NULL, NULL);
}
int main() { run("mm"); run("fill"); }
"""


def test_a_call_of_several_kernels_is_refused(tmp_path: Path) -> None:
    assert edited(tmp_path, SHARED, SWAP) == "the call at main.c:5 also launches `fill`"


def test_sizes_that_come_through_a_function_are_changed_where_they_are_used(tmp_path: Path) -> None:
    host = """static void go(cl_kernel kernel, const size_t *global)
{
    clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, NULL, 0, NULL, NULL);
}
int main() { size_t global[2] = {64, 32}; go(clCreateKernel(program, "mm", &err), global); }
"""
    after = edited(tmp_path, host, SWAP)
    assert "const size_t new_global[2] = { global[1], global[0] };" in after
    assert "size_t global[2] = {64, 32};" in after


def test_where_nothing_can_be_declared_the_reason_is_said(tmp_path: Path) -> None:
    host = (
        c("if (n)")
        .replace("err = clEnq", "clEnq")
        .replace("int main", "extern size_t global[2], local[2];\nint main")
    )
    assert edited(tmp_path, host, SWAP) == "the call at main.c:7 is where no variable can be declared"
    (tmp_path / "main.c").write_text("int x;\n")
    assert edits(tmp_path, SWAP).reason == "no host code that launches it was found"
