"""Transformed data give the original loop's results: with NumPy, and with both versions in the emulator."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from applied_rules import restored, transformed
from hypothesis import given
from hypothesis import strategies as st
from nests import analysed, loop
from numpy.typing import NDArray

from clmap_lsp.access.polynomial import Polynomial
from clmap_lsp.analysis.model import KernelAnalysis
from clmap_lsp.hierarchy.properties import in_launch
from clmap_lsp.hierarchy.transform import Rule
from clmap_lsp.hierarchy.vectorise import Group, vectorise


def numbers_of(analysis: KernelAnalysis) -> Callable[[Polynomial], int]:
    def number(value: Polynomial) -> int:
        found = in_launch(value, analysis.launch)
        assert found is not None
        return found

    return number


def best_of(analysis: KernelAnalysis) -> Group:
    best = vectorise(analysis).best
    assert best is not None
    return best


def rules_of(group: Group) -> dict[str, Rule]:
    return {it.instance.text: it for it in group.rules}


def test_hydrodynamics_fragment() -> None:
    found = loop("livermore.c", "hydro_fragment")
    rules = rules_of(best_of(found))
    rng = np.random.default_rng(1)
    y, z = rng.random(1024), rng.random(1040)
    q, r, t, n = 1.0, 2.0, 3.0, 1000
    expected = np.array([q + y[k] * (r * z[k + 10] + t * z[k + 11]) for k in range(n)])
    z10 = transformed(rules["z[k + 10]"], z, numbers_of(found))
    z11 = transformed(rules["z[k + 11]"], z, numbers_of(found))
    # All arrays now run from 0 with the loop: whole-array arithmetic is the vector loop.
    assert np.array_equal(q + y[:n] * (r * z10[:n] + t * z11[:n]), expected)


def test_vpenta_switches_dimensions_and_back() -> None:
    found = loop("nas.c", "vpenta_scale")
    rule = next(it for it in best_of(found).rules if it.instance.array == "x")
    rng = np.random.default_rng(2)
    c, d = rng.random((128, 256)) + 1, rng.random((128, 256))
    x = np.zeros((256, 128))
    for j in range(128):
        for k in range(256):
            x[k, j] = d[j, k] * (1 / c[j, k])
    switched = transformed(rule, np.zeros((256, 128)), numbers_of(found))
    switched[:, :] = d * (1 / c)
    assert np.array_equal(restored(rule, switched, np.zeros((256, 128)), numbers_of(found)), x)


def test_cholesky_switches_two_of_three_dimensions() -> None:
    found = loop("nas.c", "cholesky_scale")
    rule = next(it for it in best_of(found).rules if it.instance.array == "b")
    rng = np.random.default_rng(3)
    a, b = rng.random((8, 1, 64)), rng.random((8, 64, 16))
    expected = b.copy()
    for k in range(8):
        for i in range(16):
            for l in range(64):  # noqa: E741
                expected[k, l, i] *= a[k, 0, l]
    turned = transformed(rule, b, numbers_of(found))
    turned *= a
    assert np.array_equal(restored(rule, turned, b, numbers_of(found)), expected)


def test_the_two_sweeps_of_the_recurrence_read_the_same_values() -> None:
    found = loop("livermore.c", "linear_recurrence")
    group = best_of(found)
    number = numbers_of(found)
    data = np.arange(1040.0)
    places = {"sa": 0, "sb": 0, "b5": 16}
    for rule in group.rules:
        first = places[rule.instance.array]
        backwards = rule.relation.scale < 0
        new = transformed(rule, data, number)
        for turn in (0, 1, 500, 999):
            at = 999 - turn if backwards else turn
            assert new[turn] == data[at + first]


def nest(stride: int, offset: int, overlap: bool) -> str:
    index = f"{'i + ' if overlap else ''}{stride} * j + {offset}"
    return f"""
    void f(float X[6][9], const float Y[6][64])
    {{
        for (int i = 0; i < 6; i++)
            // clmap: work-item(0)
            for (int j = 0; j < 9; j++)
                X[i][j] = Y[i][{index}] + 1;
    }}"""


@given(st.sampled_from([1, 2, 3, -1, -2]), st.integers(18, 30), st.booleans())
def test_every_rule_puts_elements_where_the_loop_finds_them(stride: int, offset: int, overlap: bool) -> None:
    found = analysed(nest(stride, offset, overlap)).kernels[0]
    rule = next(it for it in best_of(found).rules if it.instance.array == "Y")
    data = np.arange(6.0 * 64).reshape(6, 64)
    new = transformed(rule, data, numbers_of(found))
    for i in range(6):
        for j in range(9):
            assert new[i, j] == data[i, (i if overlap else 0) + stride * j + offset]


ORIGINAL = """
// clmap: global=256 local=64 n=256
__kernel void f(__global const float *y, __global const float *z, __global float *x, const int n)
{
    const int i = get_global_id(0);
    x[i] = y[n - 1 - i] * z[2 * i + 3];
}
"""
CHANGED = """
// clmap: global=256 local=64 n=256
__kernel void f(__global const float *y, __global const float *z, __global float *x, const int n)
{
    const int i = get_global_id(0);
    x[i] = y[i] * z[i];
}
"""


def emulated(text: str, y: NDArray[np.float32], z: NDArray[np.float32]) -> NDArray[np.float32]:
    """Run a kernel in the emulator with these contents and return `x`."""
    from clmap_lsp.emulator.run import emulate
    from clmap_lsp.launch.model import BufferArgument, Fill, Launch, ScalarArgument
    from clmap_lsp.source.read import read_program

    def values(data: NDArray[np.float32]) -> BufferArgument:
        return BufferArgument(Fill.VALUES, len(data), text=",".join(repr(float(it)) for it in data))

    program = read_program(text, "f.cl")
    arguments = {
        "y": values(y),
        "z": values(z),
        "x": BufferArgument(Fill.ZEROS, 256),
        "n": ScalarArgument((256,)),
    }
    launch = Launch("f", (256,), (64,), arguments)
    result = emulate(program, program.kernels[0], launch)
    assert not result.faults
    return result.buffers["x"].data.view(np.float32)


def test_a_transformed_kernel_gives_the_original_output_in_the_emulator() -> None:
    from nests import kernel

    found = kernel(ORIGINAL)
    rules = {it.instance.array: it for it in best_of(found).rules}
    assert best_of(found).qv_percent == 100.0
    rng = np.random.default_rng(4)
    y = rng.random(256, dtype=np.float32)
    z = rng.random(520, dtype=np.float32)
    number = numbers_of(found)
    new_y = transformed(rules["y"], y, number, (256,))
    new_z = transformed(rules["z"], z, number, (256,))
    assert np.array_equal(emulated(ORIGINAL, y, z), emulated(CHANGED, new_y, new_z))
