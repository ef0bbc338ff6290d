"""The branch metrics of the JIT engine, against their definitions spelled out with dictionaries.

The definitions are those of `locality.branches`.
"""

import math
from collections import Counter, defaultdict

import numpy as np
import pytest

from clmap_lsp.emulator.result import Engine
from clmap_lsp.emulator.run import emulate
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.launch.model import BufferArgument, Fill, Launch
from clmap_lsp.locality.branches import HISTORY
from clmap_lsp.source.read import read_program

ITEMS = 8


def control(body):
    """Run a kernel with 4,096 random integers in `a`; return its control category and these integers."""
    source = f"__kernel void k(__global int *o, __global const int *a) {{ int i = get_global_id(0); {body} }}"
    program = read_program(source, "kernel.cl")
    arguments = {"o": BufferArgument(Fill.ZEROS, ITEMS), "a": BufferArgument(Fill.RANDOM, 4096)}
    launch = Launch("k", (ITEMS,), (ITEMS,), arguments)
    result = emulate(program, program.kernel("k"), launch, EmulationSettings(engine=Engine.JIT))
    return result.control, result.buffers["a"].data.view(np.int32)


def by_definition(branches):
    """Return executions and both entropies of outcomes: branch -> one list of booleans a work-item."""
    patterns, after = Counter(), defaultdict(Counter)
    for branch, items in branches.items():
        for outcomes in items:
            for step, taken in enumerate(outcomes):
                history = (branch, tuple(outcomes[max(0, step - HISTORY) : step]))
                patterns[(*history, taken)] += 1
                after[history][taken] += 1
    total = patterns.total()
    yokota = -sum(n / total * math.log2(n / total) for n in patterns.values())
    linear = 2 * sum(min(seen[True], seen[False]) for seen in after.values()) / total
    return total, yokota, linear


def assert_equal(found, branches):
    assert found.unique_branches == len(branches)
    assert (found.executions, found.yokota_entropy, found.average_linear_entropy) == pytest.approx(
        by_definition(branches)
    )


def test_a_loop_that_always_runs_the_same_way_is_predictable():
    found, _ = control("for (int k = 0; k < 7; k++) o[i] += k;")
    assert_equal(found, {"loop": [[True] * 7 + [False]] * ITEMS})
    assert found.average_linear_entropy == 0.0


def test_coins_give_many_patterns():
    found, a = control("for (int k = 0; k < 200; k++) if (a[i * 200 + k] % 2 == 0) o[i] += k;")
    coins = (a[: ITEMS * 200].reshape(ITEMS, 200) % 2 == 0).tolist()
    assert_equal(found, {"loop": [[True] * 200 + [False]] * ITEMS, "coin": coins})
    assert found.yokota_entropy > 6  # Few of the 1,600 patterns of 17 outcomes are equal.


def test_history_beyond_sixteen_outcomes_is_forgotten():
    # The last outcome depends on the first, 17 before it.
    found, _ = control("for (int k = 0; k < 18; k++) if ((k == 0 || k == 17) && i % 2 == 0) o[i] += k;")
    assert found.average_linear_entropy > 0


@pytest.mark.parametrize("least", [0, 5])
def test_the_fewest_branches_that_make_up_nine_tenths(least):
    found, _ = control(f"for (int k = 0; k < 100; k++) o[i] += k; if (i > {least}) o[i] = 1;")
    assert found.branches_90 == 1
