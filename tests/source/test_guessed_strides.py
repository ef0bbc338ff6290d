"""Macros that nothing defines and that an index steps by in two dimensions."""

from __future__ import annotations

import pytest

from clmap_lsp.source.read import read_program

KERNEL = """\
__kernel void k(__global const float *a, __global float *c)
{{
    int row = get_global_id(1), column = get_global_id(0);
    c[{}] = a[row * FIRST + column * SECOND];
}}
"""


def guessed(index: str) -> dict[str, str | None]:
    program = read_program(KERNEL.format(index), "k.cl")
    return {it.name: it.value for it in program.kernels[0].guesses}


@pytest.mark.parametrize(
    "index", ["row * TO_ROW + column * TO_NEXT", "(row + 1) * TO_ROW + column * TO_NEXT"]
)
def test_the_last_stride_is_that_of_neighbours(index: str) -> None:
    found = guessed(index)
    assert (found["TO_ROW"], found["TO_NEXT"], found["FIRST"], found["SECOND"]) == ("16", "1", "16", "1")


@pytest.mark.parametrize(
    "index", ["column * TO_NEXT", "row * TO_NEXT + column", "row * 64 + column * TO_NEXT"]
)
def test_one_stride_is_none_that_another_needs(index: str) -> None:
    assert guessed(index)["TO_NEXT"] == "16"
