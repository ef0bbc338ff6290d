"""Loops that data end: given up before they are followed for most of what they may cost, and only then."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from clmap_lsp.emulator import address_space
from clmap_lsp.emulator.result import EmulationResult, Engine
from clmap_lsp.emulator.run import emulate
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.emulator.symbolic import memory
from clmap_lsp.emulator.symbolic.control import Bail, Budget, OverBudgetError, Spending
from clmap_lsp.emulator.symbolic.counts import run_boxes
from clmap_lsp.emulator.symbolic.measure import measured
from clmap_lsp.emulator.symbolic.space import boxes_of
from clmap_lsp.launch.arguments import parse_argument
from clmap_lsp.launch.contents import buffer_contents
from clmap_lsp.launch.model import Launch
from clmap_lsp.source.read import read_program

SPARSE = """__kernel void k(__global const int *start, __global const int *column, __global const float *x,
                __global float *y) {
  int row = get_global_id(0);
  float sum = 0;
  for (int j = start[row]; j < start[row + 1]; j++) sum += x[column[j]];
  y[row] = sum;
}"""


def launch_of(rows: int, each: int) -> Launch:
    arguments = {
        "start": f"formula({rows + 1},i*{each})",
        "column": f"formula({rows * each},(i*7919)%{rows})",
        "x": f"random({rows})",
        "y": f"zeros({rows})",
    }
    return Launch("k", (rows,), (64,), {name: parse_argument(it) for name, it in arguments.items()})


def spent(source: str, launch: Launch, budget: Budget) -> Spending:
    """Return what it took to see that a launch is too large."""
    spending = Spending(budget)
    kernel = read_program(source, "k.cl").kernels[0]
    with pytest.raises(OverBudgetError):
        run_boxes(kernel, launch, 32, spending, (), boxes_of(launch), follow_ordinals=True)
    return spending


SMALL = Budget(cells=1 << 14, work_cells=1 << 17, mask_cells=0)


def test_a_launch_that_is_too_large_is_given_up_at_its_loop() -> None:
    """Of 65,536 look-ups in each of 16 iterations not even the first are made."""
    spending = spent(SPARSE, launch_of(16_384, 64), SMALL)
    assert spending.cells < SMALL.work_cells / 2


@pytest.mark.parametrize(
    "body",
    [
        "for (int j = start[row]; j < start[row + 1]; j++) { if (column[j] >= 0) break; }",
        "for (int j = start[row], end = start[row + 1]; j < end; j++) end = column[j] - 100000;",
    ],
    ids=["everybody leaves", "the end changes"],
)
def test_a_loop_that_ends_sooner_is_followed(body: str) -> None:
    """One iteration of 64 fits."""
    source = SPARSE[: SPARSE.index("for")] + body + SPARSE[SPARSE.index("  y[row]") - 1 :]
    launch = launch_of(16_384, 64)
    kernel = read_program(source, "k.cl").kernels[0]
    run_boxes(kernel, launch, 32, Spending(SMALL), (), boxes_of(launch), follow_ordinals=True)


def test_what_fits_is_followed() -> None:
    found = measured(read_program(SPARSE, "k.cl").kernels[0], launch_of(1024, 16))
    assert not isinstance(found, Bail)
    assert found.metrics.accesses == 1024 * (1 + 17 + 2 * 16 + 1)


def emulated(source: str, launch: Launch, engine: Engine) -> EmulationResult:
    program = read_program(source, "k.cl")
    return emulate(program, program.kernels[0], launch, EmulationSettings(engine=engine))


GATHER = """__kernel void k(__global const int *start, __global const int *column, __global const float *x,
                __global float *y) {
  int i = get_global_id(0);
  y[i] = x[column[i]] + start[i];
}"""


@pytest.mark.parametrize("source", [SPARSE, GATHER], ids=["given up", "followed"])
def test_inputs_are_made_once(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made: Counter[str] = Counter()

    def noted(argument: Any, *arguments: Any, **options: Any) -> Any:
        made[str(argument)] += 1
        return buffer_contents(argument, *arguments, **options)

    monkeypatch.setattr(memory, "buffer_contents", noted)
    monkeypatch.setattr(address_space, "buffer_contents", noted)
    launch = launch_of(1 << 18, 32) if source == SPARSE else launch_of(4096, 1)
    result = emulated(source, launch, Engine.AUTO)
    assert result.engine is (Engine.JIT if source == SPARSE else Engine.SYMBOLIC)
    assert set(made.values()) == {1}
    assert len(made) == 4
    other = emulated(source, launch, Engine.JIT)
    for name, buffer in other.buffers.items():
        assert np.array_equal(buffer.data, result.buffers[name].data), name
