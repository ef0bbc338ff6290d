"""What a turn of a loop does with its counter, as the rooms above ask it of `clmap_lsp.source.ir`."""

from __future__ import annotations

import pytest

from clmap_lsp.source import ir
from clmap_lsp.source.read import read_program


def _turn(step: str) -> tuple[ir.Expression, ir.Variable]:
    text = f"kernel void k(global int *a, short s, long l) {{ for (short i = s; i < 90; {step}) a[i] = 0; }}"
    (kernel,) = read_program(text, "k.cl").kernels
    loop = next(it for it in ir.walk(kernel.body) if isinstance(it, ir.Loop))
    (assign,) = loop.step
    assert isinstance(assign, ir.Assign)
    return assign.value, assign.variable


@pytest.mark.parametrize(
    ("step", "amount"),
    [("i++", 1), ("i -= 3", -3), ("i = i + 64", 64), ("i = 64 + i", 64), ("i = (short)(4 + i)", 4)],
)
def test_what_is_added_to_the_counter(step: str, amount: int) -> None:
    assert ir.added(*_turn(step)) == amount


@pytest.mark.parametrize("step", ["i = 64 - i", "i *= 2", "i <<= 1", "i += s", "i = s + 1"])
def test_what_adds_no_constant_to_the_counter(step: str) -> None:
    assert ir.added(*_turn(step)) is None


def test_an_operation_with_a_constant_is_a_step() -> None:
    op, by = ir.step_of(*_turn("i *= 2")) or (None, None)
    assert (op, by.value if by else None) == (ir.BinaryOp.MUL, 2)
    assert ir.step_of(*_turn("i = 64 - i")) is None
