"""What is read of constants whose initialisers are known."""

from __future__ import annotations

import numpy as np
import pytest
from reading import launch_of, values

from clmap_lsp.access.analyse import analyse
from clmap_lsp.access.records import Access
from clmap_lsp.source.options import BuildOptions
from clmap_lsp.source.read import read_program

LAUNCH = launch_of((64,), (64,), N=64)


def access_of(declarations: str, index: str) -> Access:
    """Return the access of `A[index]` in a kernel with `x` and a loop variable `k` from 0 to 3."""
    text = (
        f"{declarations}\n__kernel void k(__global float *A, int N) {{\n"
        f"  int x = get_global_id(0);\n  for (int k = 0; k < 4; k++) A[{index}] = 1;\n}}\n"
    )
    program = read_program(text, "kernel.cl", BuildOptions())
    assert not program.problems, program.problems
    (kernel,) = program.kernels
    (access,) = analyse(kernel, constants=program.constants).of_buffer("A")
    return access


@pytest.mark.parametrize(
    ("declarations", "index", "expected"),
    [
        ("__constant int t[4] = {3, -5, 7, 9};", "x + t[2]", "x + 7"),
        ("__constant int t[4] = {3, -5, 7, 9};", "x - t[1]", "x + 5"),
        ("__constant int t[2][2] = {{1, 2}, {3, 64}};", "x * t[1][1]", "64*x"),
        ("__constant short t[] = {1, -2};", "x + t[1] + 2", "x"),
        ("__constant uchar t[] = {255};", "x + t[0]", "x + 255"),
        ("__constant int4 t[2] = {(int4)(1, 2, 3, 4), (int4)(5, 6, 7, 8)};", "x + t[1].z", "x + 7"),
        ("struct P { int a; int b; };\n__constant struct P p = {4, 32};", "x * p.b + p.a", "32*x + 4"),
        ("__constant int width = 16;", "x * width", "16*x"),
        ("__constant int t[4] = {1, 3, 5, 7};", "t[k] + 8 * x", "8*x + 2*k + 1"),
        ("__constant int t[4] = {0, 16, 32, 48};", "t[x & 3] + k", "16*(x & 3) + k"),
        ("__constant int t[4] = {6, 6, 6, 6};", "x + t[k]", "x + 6"),
    ],
)
def test_what_is_read_is_the_value(declarations: str, index: str, expected: str) -> None:
    access = access_of(declarations, index)
    assert not access.indirect
    written = access_of("", expected)
    for turn in range(4):
        here, there = (values(it.offset, LAUNCH, k=turn) for it in (access, written))
        assert np.array_equal(here, there)


@pytest.mark.parametrize(
    ("declarations", "index"),
    [
        ("__constant int t[4] = {3, -5, 7, 9};", "x + t[k]"),
        ("__constant int t[4] = {3, -5, 7, 9};", "x + t[9]"),
        ("__constant int t[4] = {3, -5, 7, 9};", "x + ((volatile __constant int *)t)[2]"),
        ("__constant float t[4] = {1, 2, 3, 4};", "x + ((__constant int *)t)[k]"),
    ],
)
def test_what_cannot_be_told_stays_data(declarations: str, index: str) -> None:
    assert access_of(declarations, index).indirect


def test_a_private_array_starts_with_its_initialiser() -> None:
    seven = private("", "7").offset
    assert private("int t[2] = {5, 7}; t[0] = N;", "t[1]").offset == seven
    assert private("int t[2] = {5, 7}; t[x & 1] = N;", "t[1]").offset != seven


def private(statements: str, index: str) -> Access:
    """Return the access of `A[x + index]` after some statements."""
    text = (
        "__kernel void k(__global float *A, int N) {\n"
        f"  int x = get_global_id(0); {statements} A[x + {index}] = 1;\n}}\n"
    )
    program = read_program(text, "kernel.cl", BuildOptions())
    (kernel,) = program.kernels
    (access,) = analyse(kernel, constants=program.constants).of_buffer("A")
    return access
