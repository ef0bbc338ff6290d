"""What host code leaves open, but says how it hangs together: guesses agree with that."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clmap_lsp.cli import main
from clmap_lsp.launch.consistent import solved
from clmap_lsp.launch.model import Launch
from clmap_lsp.launch.partial import Formulas

KERNEL = """\
__kernel void rows(__global const float *a, __global float *b, __local float *part, int n, int pitch)
{
    int row = get_group_id(0), l = get_local_id(0);
    float sum = 0;
    for (int k = l; k < n; k += get_local_size(0)) sum += a[row * pitch + k];
    part[l] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0) b[row] = part[0];
}
"""
C_HOST = """\
#include <CL/cl.h>
struct table { int columns, rows; };
void go(cl_command_queue q, cl_program p, cl_mem a, cl_mem b, struct table *t, size_t group)
{
    cl_kernel k = clCreateKernel(p, "rows", NULL);
    int pitch = %s;
    clSetKernelArg(k, 0, sizeof a, &a);
    clSetKernelArg(k, 1, sizeof b, &b);
    clSetKernelArg(k, 2, %s, NULL);
    clSetKernelArg(k, 3, sizeof(int), &t->columns);
    clSetKernelArg(k, 4, sizeof(int), &pitch);
    size_t global = %s, local = group;
    clEnqueueNDRangeKernel(q, k, 1, NULL, &global, &local, 0, NULL, NULL);
}
"""
PYTHON_HOST = """\
import numpy as np
import pyopencl as cl

def go(queue, program, a, b, columns, group):
    local = cl.LocalMemory(group * np.dtype(np.float32).itemsize)
    sizes = (columns // 4 * group,), (group,)
    program.rows(queue, *sizes, a, b, local, np.int32(columns), np.int32(columns + 8))
"""


def launch(folder: Path, capsys: pytest.CaptureFixture[str], host: str, name: str) -> dict[str, Any]:
    (folder / ".git").mkdir()
    (folder / "k.cl").write_text(KERNEL)
    (folder / name).write_text(host)
    main(["analyze", str(folder / "k.cl"), "--format", "json"])
    ((found,),) = (it["kernels"] for it in json.loads(capsys.readouterr().out)["files"])
    made: dict[str, Any] = found["launch"]
    return made


def test_c_host_code_ties_sizes_arguments_and_local_memory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    host = C_HOST % ("t->columns + 16", "group * sizeof(float)", "t->columns * group")
    made = launch(tmp_path, capsys, host, "h.c")
    n, (group,) = made["args"]["n"], made["local"]
    assert made["args"]["pitch"] == n + 16
    assert made["global"] == [n * group]
    assert made["args"]["part"] == f"local({group})"


def test_python_host_code_ties_them_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    made = launch(tmp_path, capsys, PYTHON_HOST, "h.py")
    n, (group,) = made["args"]["n"], made["local"]
    assert (made["args"]["pitch"], made["global"]) == (n + 8, [n // 4 * group])
    assert made["args"]["part"] == f"local({group})"


@pytest.mark.parametrize(
    "size",
    ["t->columns / 0 * group", "group << 99", "next(t->columns)", "t->rows * group * 4097", "0 - group"],
)
def test_what_cannot_be_computed_is_guessed_as_before(
    size: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    host = C_HOST % ("t->columns + 16", "group * sizeof(float)", size)
    made = launch(tmp_path, capsys, host, "h.c")
    assert made["global"][0] % made["local"][0] == 0
    assert made["args"]["pitch"] == made["args"]["n"] + 16


def test_a_guess_that_follows_from_another_is_still_a_guess(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    host = C_HOST % ("t->columns + 16", "group * sizeof(float)", "t->columns * group")
    launch(tmp_path, capsys, host, "h.c")
    main(["check", str(tmp_path / "k.cl"), "--guesses"])
    printed = capsys.readouterr().out
    assert "pitch" in printed
    assert "# guessed" in printed


LINE = """\
__kernel void line(__global const float *a, __global float *b, int width, int height)
{
    int i = get_global_id(0), x = i % width, y = i / width;
    b[i] = a[min(y + 1, height - 1) * width + x];
}
"""


@pytest.mark.parametrize("size", ["w * h", "img.width * img.height"])
def test_an_image_as_one_line_is_about_as_wide_as_high(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], size: str
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "k.cl").write_text(LINE)
    one, two = size.split(" * ")
    head = "import pyopencl as cl\ndef go(queue, program, img, a, b, w, h):\n"
    host = f"{head}    program.line(queue, ({size},), (64,), a, b, {one}, {two})\n"
    (tmp_path / "a.py").write_text(host)
    main(["analyze", str(tmp_path / "k.cl"), "--format", "json"])
    ((found,),) = (it["kernels"] for it in json.loads(capsys.readouterr().out)["files"])
    made = found["launch"]
    assert made["global"] == [4096]
    assert (made["args"]["width"], made["args"]["height"]) == (64, 64)


TILES = """\
__kernel void turned(__global const float *a, __global float *b, int width, int height)
{
    int x = get_global_id(0) * 4, y = get_global_id(1);
    for (int i = 0; i < 4; i++) b[(x + i) * height + y] = a[y * width + x + i];
}
"""
TILES_HOST = """\
#include <CL/cl.h>
struct net { int *sizes; int n; cl_mem a, b; };
static void turn(cl_command_queue q, cl_kernel k, cl_mem a, cl_mem b, int width, int height)
{
    size_t global[2], local[2];
    clSetKernelArg(k, 0, sizeof a, &a);
    clSetKernelArg(k, 1, sizeof b, &b);
    clSetKernelArg(k, 2, sizeof width, &width);
    clSetKernelArg(k, 3, sizeof height, &height);
    local[0] = 8; local[1] = 32;
    global[0] = width / 4;
    global[1] = height;
    clEnqueueNDRangeKernel(q, k, 2, NULL, global, local, 0, NULL, NULL);
}
void all(struct net *net, cl_command_queue q, cl_program p)
{
    cl_kernel k = clCreateKernel(p, "turned", NULL);
    for (int i = 1; i < net->n; i++) turn(q, k, net->a, net->b, net->sizes[i], net->sizes[i - 1]);
}
"""


def test_elements_of_arrays_hang_together_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "k.cl").write_text(TILES)
    (tmp_path / "host.c").write_text(TILES_HOST)
    main(["analyze", str(tmp_path / "k.cl"), "--format", "json"])
    ((found,),) = (it["kernels"] for it in json.loads(capsys.readouterr().out)["files"])
    made = found["launch"]
    assert made["global"] == [int(made["args"]["width"]) // 4, int(made["args"]["height"])]


@pytest.mark.parametrize(
    ("formula", "size", "known", "value"),
    [
        ("n / 4", 256, {}, 1024),
        ("(n + 63) / 64 * 64", 4096, {}, 4096),
        ("groups * GROUP", 4096, {"GROUP": 128}, 32),
        ("sizes[i - 1] - 2", 254, {}, 256),
        ("1 << bits", 256, {}, None),
        ("a * b", 256, {}, None),
    ],
)
def test_what_a_size_leaves_open_is_solved_for(
    formula: str, size: int, known: dict[str, int], value: int | None
) -> None:
    launch = Launch("k", (size,), (64,), inferred=frozenset({"global"}))
    found = solved(launch, Formulas((formula,)), known)
    assert list(found.values()) == ([] if value is None else [value])


ONE_GROUP = """\
import numpy as np
import pyopencl as cl

def go(queue, program, device, a, b):
    items = device.max_work_group_size
    local = cl.LocalMemory(4 * (2 * items))
    program.rows(queue, (%s,), %s, a, b, local, np.int32(2 * items), np.int32(2 * items))
"""


def test_local_memory_as_long_as_all_work_items_is_that_of_one_group(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = launch(tmp_path, capsys, ONE_GROUP % ("items", "None"), "host.py")
    (group,) = found["local"]
    assert found["global"] == [group]
    assert (found["args"]["n"], found["args"]["pitch"]) == (2 * group, 2 * group)
    assert found["args"]["part"] == f"local({2 * group})"


@pytest.mark.parametrize("sizes", [("items * 8", "None"), ("items", "(items // 4,)")])
def test_more_work_items_than_local_memory_has_are_several_groups(
    sizes: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = launch(tmp_path, capsys, ONE_GROUP % sizes, "host.py")
    assert found["global"][0] > found["local"][0]
