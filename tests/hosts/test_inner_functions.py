"""Functions of Python that stand in others, and names that it takes out of libraries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clmap_lsp.cli import main

HEAD = """\
import pyopencl as cl
src = '''
__kernel void first(__global int *m, int n) { m[get_global_id(0)] = n; }
__kernel void second(__global int *m, int n) { m[get_global_id(0)] = n; }
'''
ctx = cl.create_some_context()
"""


def launched(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str) -> list[dict[str, Any]]:
    (tmp_path / "app.py").write_text(HEAD + text)
    assert main(["launches", str(tmp_path), "--format", "json"]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["launches"]
    return found


def test_an_inner_function_knows_the_variables_of_each_call_around_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = launched(
        tmp_path,
        capsys,
        """\
def run(size):
    queue = cl.CommandQueue(ctx)
    program = cl.Program(ctx, src).build()
    i, count = 5, 0
    def step(x):
        nonlocal count
        i = x * 2
        count += 1
        program.first(queue, (size, ), None, buffer, np.int32(i))
    step(7)
    program.second(queue, (count, ), None, buffer, np.int32(i))
run(16)
run(32)
""",
    )
    steps = [(it["global"], it["args"]) for it in found if it["kernel"] == "first"]
    assert steps == [([16], {"n": 14}), ([32], {"n": 14})]
    after = [(it["global"], it["args"]) for it in found if it["kernel"] == "second"]
    assert after == [([1], {"n": 5})]


def test_an_inner_function_that_is_only_handed_on_is_run_as_well(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = launched(
        tmp_path,
        capsys,
        """\
def main():
    queue = cl.CommandQueue(ctx)
    program = cl.Program(ctx, src).build()
    n = 4096
    def update(frame):
        program.first(queue, (n, ), (64, ), buffer, np.int32(frame))
    animate(figure, update)
    timeit(lambda: program.second(queue, (2 * n, ), None, buffer, np.int32(3)))
main()
""",
    )
    assert {it["kernel"]: (it["global"], it["args"]) for it in found} == {
        "first": ([4096], {"n": "frame"}),
        "second": ([8192], {"n": 3}),
    }


@pytest.mark.parametrize(
    ("text", "size", "argument"),
    [
        ("from numpy import int32, zeros\na = zeros(1000)\n", "a.shape", "int32(5)"),
        ("from numpy import *\na = zeros(1000)\n", "a.shape", "int32(5)"),
        ("from numpy import int32 as i4, zeros as z\na = z((1000,))\n", "a.shape", "i4(5)"),
    ],
)
def test_what_a_library_is_asked_for_by_name_is_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, size: str, argument: str
) -> None:
    program = "queue = cl.CommandQueue(ctx)\nprogram = cl.Program(ctx, src).build()\n"
    call = f"program.first(queue, {size}, None, buffer, {argument})\n"
    (found,) = launched(tmp_path, capsys, text + program + call)
    assert (found["global"], found["args"]) == ([1000], {"n": 5})


def test_a_function_of_the_projects_own_is_not_taken_for_that_of_a_library(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "helpers.py").write_text("def int32(x):\n    return x + 1\n")
    text = """\
from helpers import int32
queue = cl.CommandQueue(ctx)
program = cl.Program(ctx, src).build()
program.first(queue, (64, ), None, buffer, int32(5))
"""
    (found,) = launched(tmp_path, capsys, text)
    assert found["args"] == {"n": 6}


@pytest.mark.parametrize(
    ("size", "expected"),
    [("np.float32().nbytes", 4), ("np.int64(3).itemsize", 8), ("np.dtype(np.float64).itemsize", 8)],
)
def test_a_scalar_made_on_the_spot_has_a_size(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], size: str, expected: int
) -> None:
    text = f"""\
import numpy as np
queue = cl.CommandQueue(ctx)
program = cl.Program(ctx, src).build()
program.first(queue, (64, ), None, cl.Buffer(ctx, 0, {size} * 64), np.int32(5))
"""
    (found,) = launched(tmp_path, capsys, text)
    assert found["buffers"] == {"m": 64 * expected}


def test_sizes_of_a_helper_are_told_in_words_that_mean_something_at_the_call(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = """\
def fitted(wanted):
    inner = wanted
    while inner % 7:
        inner += 1
    return inner
queue = cl.CommandQueue(ctx)
program = cl.Program(ctx, src).build()
program.first(queue, (fitted(input()), ), None, buffer, np.int32(len(input()) if mode != '' else 0))
"""
    (found,) = launched(tmp_path, capsys, text)
    assert found["global"] == ["fitted(input())"]
    assert "mode != ''" in found["args"]["n"]


def test_what_a_formatted_string_puts_in_is_what_its_kernel_is_read_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "app.py").write_text(
        """\
import pyopencl as cl
N = 8 * 32 + 2
src = f'''
__kernel void rows(__global int *m) {{ m[get_global_id(0) * {N}] = 0; }}
'''
ctx = cl.create_some_context()
queue = cl.CommandQueue(ctx)
program = cl.Program(ctx, src).build()
program.rows(queue, (64, ), (64, ), cl.Buffer(ctx, 0, N * 256))
"""
    )
    assert main(["analyze", str(tmp_path / "app.py"), "--format", "json"]) == 0
    (kernel,) = json.loads(capsys.readouterr().out)["files"][0]["kernels"]
    assert kernel["accesses"][0]["stride"]["bytes"] == 4 * 258
    macros = [it for it in kernel["rests_on"] if it["kind"] == "macro"]
    assert all(it["origin"] != "guessed" for it in macros)


def test_nonlocal_reaches_through_functions_that_have_no_such_variable(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = launched(
        tmp_path,
        capsys,
        """\
def run():
    queue = cl.CommandQueue(ctx)
    program = cl.Program(ctx, src).build()
    n = 32
    def middle():
        def inner():
            nonlocal n
            n = 96
        inner()
    middle()
    program.first(queue, (n, ), None, buffer, np.int32(n))
run()
""",
    )
    assert [it["global"] for it in found] == [[96]]


def test_a_comprehension_leaves_variables_of_its_names_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = launched(
        tmp_path,
        capsys,
        """\
def run():
    queue = cl.CommandQueue(ctx)
    program = cl.Program(ctx, src).build()
    n = 16
    sizes = [n * 2 for n in (1, 2, 3)]
    program.first(queue, (n, ), None, buffer, np.int32(sizes[2]))
run()
""",
    )
    assert [(it["global"], it["args"]["n"]) for it in found] == [([16], 6)]
