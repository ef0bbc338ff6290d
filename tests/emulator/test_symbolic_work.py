"""The symbolic engine's work and memory are bounded where values differ along many loops at once."""

import numpy as np
import pytest

from clmap_lsp.devices.catalogue import load_model
from clmap_lsp.emulator.symbolic.control import Budget, OverBudgetError
from clmap_lsp.emulator.symbolic.counts import count
from clmap_lsp.emulator.symbolic.rows import both, either
from clmap_lsp.launch.model import BufferArgument, Fill, Launch
from clmap_lsp.source.read import read_program

DEVICE = load_model("nvidia-hopper")


def counted(body, budget):
    program = read_program(f"__kernel void k(__global int *a) {{ {body} }}", "kernel.cl")
    launch = Launch("k", (64,), (64,), {"a": BufferArgument(Fill.ZEROS, 64)})
    return count(program.kernels[0], launch, DEVICE, budget=budget)


def test_arithmetic_on_arrays_has_a_budget():
    body = "int i = get_global_id(0); for (int j = 0; j < 100; j++) a[(i * i + (j ^ i)) & 63] = 1;"
    assert counted(body, Budget()).is_exact
    found = counted(body, Budget(computed_cells=10_000))
    assert found.bail is not None
    assert "loops" in found.bail.reason


@pytest.mark.parametrize("join", [both, either])
def test_masks_along_many_loops_are_given_up(join):
    """Two of 64 Ki elements made one of four gigabytes."""
    one = np.arange(1 << 16).reshape(-1, 1) % 3 == 0
    with pytest.raises(OverBudgetError):
        join(one, one.reshape(1, -1))
