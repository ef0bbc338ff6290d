"""Private arrays as NVIDIA's compiler treats them: in registers, as tables, in memory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.private_arrays import kernels
from clmap_lsp.compiled.build import Compiled, compiled
from clmap_lsp.compiled.private_arrays import constant_tables, unrolled_completely
from clmap_lsp.compiled.target import nvidia
from clmap_lsp.source.read import read_program

RESULTS = Path(__file__).parents[2] / "benchmarks/results/private_arrays_h100.json"
DRIVER = json.loads(RESULTS.read_text("utf-8"))["kernels"]
LONG = {"product 16", "left_early 256", "told_to 256", "sum 256", "sums_of_products 16", "programming 256"}
"""LLVM takes a second or more for each; `python -m benchmarks.private_arrays compare` has them too."""
OTHERWISE = {"long_values 8", "bubble 16", "product 10"}
"""The driver's sine has 28 bytes of its own; two loops lie at the limit that is measured."""


def made(text: str) -> Compiled:
    program = read_program(text, "k.cl")
    found = compiled(program.kernels[0], nvidia("sm_90"), program.constants)
    assert isinstance(found, Compiled), found
    return found


@pytest.mark.parametrize("form", sorted({name.split()[0] for name, _ in kernels()}))
def test_arrays_are_in_memory_where_the_driver_has_them_there(form: str) -> None:
    wrong = []
    for name, text in kernels():
        if name.split()[0] == form and name not in LONG:
            in_memory = made(text).code.private_bytes > 0
            if (in_memory != (DRIVER[name]["ptx_local"] > 0)) != (name in OTHERWISE):
                wrong.append(name)
    assert wrong == []


def body(text: str) -> str:
    return f"__kernel void k(__global const float *x, __global float *o, int n) {{ {text} }}"


@pytest.mark.parametrize(
    ("text", "is_table"),
    [
        ("float w[3] = {1, 2, 3}; o[0] = w[n];", True),
        ("float w[3]; w[0] = 1; w[1] = 2; w[2] = n; o[0] = w[n];", False),
        ("float w[3] = {1, 2, 3}; if (n) w[1] = 5; o[0] = w[n];", False),
        ("float w[2]; if (n) w[0] = 1; else w[0] = 2; w[1] = 3; o[0] = w[n];", False),
        ("float w[9] = {1}; o[0] = w[n];", True),
        ("float w[3] = {1, 2, 3}; w[n] = 5; o[0] = w[n & 1];", False),
        ("float2 w[2] = {(float2)(1, 2), (float2)(3, 4)}; o[0] = w[n].x;", True),
        ("float w[3] = {1, 2, 3}; float *p = w; p += n; o[0] = *p;", False),
        ("struct { int a; float b; } w[2] = {{1, 2}, {3, 4}}; o[0] = w[n].b;", True),
        ("volatile float w[2] = {1, 2}; o[0] = w[n];", False),
    ],
)
def test_a_table_is_what_constants_alone_are_written_to_once(text: str, is_table: bool) -> None:
    program = read_program(body(text), "k.cl")
    tables = constant_tables(program.kernels[0])
    assert bool(tables) == is_table
    assert (made(body(text)).code.private_bytes == 0) or not is_table
    if is_table:
        ((variable, data),) = tables.items()
        assert len(data) == variable.type.size


@pytest.mark.parametrize("length", ["16385", "536870912", "4611686018427387904"])
def test_an_array_beyond_constant_memory_is_no_table(length: str) -> None:
    program = read_program(body(f"int t[{length}]; t[1] = 1; o[0] = t[n];"), "k.cl")
    assert constant_tables(program.kernels[0]) == {}


def test_contents_of_a_table_are_its_bytes() -> None:
    program = read_program(body("short w[4] = {1, -2, 3}; o[0] = w[n];"), "k.cl")
    (data,) = constant_tables(program.kernels[0]).values()
    assert data == bytes([1, 0, 254, 255, 3, 0, 0, 0])


@pytest.mark.parametrize(
    ("loop", "is_unrolled"),
    [
        ("for (int i = 0; i < 40; i++) r[i] = x[i];", True),
        ("for (int i = 39; i >= 0; i -= 2) r[i] = x[i];", True),
        ("for (int i = 1; 40 > i; i *= 2) r[i] = x[i];", False),
        ("for (int i = 0; i < n; i++) r[i] = x[i];", False),
        ("for (int i = 0; i < 40 && x[i] > 0; i++) r[i] = x[i];", False),
        ("for (int i = 0; i < 40; i++) { if (x[i] > 0) i++; r[i] = x[i]; }", False),
        ("for (int i = 0; i < 40; i++) r[0] += x[i];", False),
        ("for (int i = 0; i < 40; i++) { int k = i / 2; r[k] += x[i]; }", True),
        ("for (int i = 0; i < 40; i++) for (int k = n; k > 0; k--) r[i] += x[k];", False),
        ("for (int i = 0; i < 4000; i++) r[i & 31] += x[i] * x[i + 1];", False),
    ],
)
def test_a_loop_of_known_length_that_walks_a_small_array_is_unrolled(loop: str, is_unrolled: bool) -> None:
    program = read_program(body(f"float r[40]; {loop} o[0] = r[n] + r[3];"), "k.cl")
    assert bool(unrolled_completely(program.kernels[0])) == is_unrolled


def test_loops_in_each_other_are_unrolled_together_or_from_the_inside() -> None:
    def n_unrolled(order: int) -> int:
        text = "float a[N][N]; for (int i = 0; i < N; i++) for (int j = 0; j <= i; j++) a[i][j] = x[i * j];"
        text += " o[0] = a[n][n];"
        return len(unrolled_completely(read_program(body(text.replace("N", str(order))), "k.cl").kernels[0]))

    assert n_unrolled(10) == 2
    assert n_unrolled(16) == 2
    assert n_unrolled(17) == 0  # 1,156 bytes.
