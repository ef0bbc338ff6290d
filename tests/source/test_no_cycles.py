"""What is read is freed with its last reference: the cycle collector is paused meanwhile, and runs seldom."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from clmap_lsp.source.options import BuildOptions
from clmap_lsp.source.read import read_program

FIXTURE = (Path(__file__).parents[2] / "fixtures" / "matmul" / "coalesced_a.cl").read_text(encoding="utf-8")
LARGE = "".join(f"float helper{it}(float x) {{ return x * {it}.0f; }}\n" for it in range(3_000))


@pytest.mark.parametrize(
    "text",
    [
        FIXTURE,
        '#include "large.h"\n' + FIXTURE.replace("sum +=", "sum += helper17(__LINE__) +"),
        '#include "large.h"\n' + FIXTURE.replace("sum +=", "sum += helper17(__COUNTER__) +"),
        "#define A(x) x __COUNTER__\n__kernel void k(__global int *a) { int b = A(1; a[0] = b }\n",
        "#define A(x) x x x x\n__kernel void k(__global int *a) { a[0] = "
        + "A(" * 12
        + "1"
        + ")" * 12
        + "; }\n",
        "#error no\n#include <missing>\n__kernel void k(",
    ],
    ids=["fixture", "large include", "large include read again", "torn macro", "too many tokens", "errors"],
)
def test_a_reading_leaves_no_cycles(text: str):
    def read(text: str) -> None:
        files = {"large.h": LARGE}
        read_program(text, "k.cl", BuildOptions(), read_file=files.get)

    read(text)
    gc.collect()
    gc.disable()
    try:
        read(text + "\n")
        assert gc.collect() == 0
    finally:
        gc.enable()
