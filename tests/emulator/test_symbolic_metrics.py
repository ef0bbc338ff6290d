"""Metrics without enumeration, against AIWC's reference values and against plain enumeration."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clmap_lsp.emulator.symbolic import Bail
from clmap_lsp.emulator.symbolic.histogram import add_region
from clmap_lsp.emulator.symbolic.measure import measure
from clmap_lsp.emulator.symbolic.progressions import Progressions
from clmap_lsp.emulator.symbolic.runs import add_runs
from clmap_lsp.launch import BufferArgument, Fill, Launch, Origin, ScalarArgument
from clmap_lsp.locality.address_totals import AddressTotals
from clmap_lsp.locality.definition import Definition, LocalAddresses
from clmap_lsp.locality.entropy import covering, entropy_levels
from clmap_lsp.source.read import read_program

# The paper's matrix multiplies: dimension 0 is the row, TILE_DIM is 16.
_HEAD = """__kernel void {name}(__global const float *a, __global const float *b, __global float *c, int N) {{
  int row = get_global_id(0), col = get_global_id(1);
  int lr = get_local_id(0), lc = get_local_id(1);
  float sum = 0.0f;
"""
_TILED = """  __local float A[16][16];
  {b_tile}
  for (int i = 0; i < N / 16; i++) {{
    {store_a} = a[row * N + i * 16 + lc];
    {store_b}
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 16; k++)
      sum += {load_a} * {load_b};
    barrier(CLK_LOCAL_MEM_FENCE);
  }}
"""
_TAIL = "  c[row * N + col] = sum;\n}\n"
_B = {"b_tile": "__local float B[16][16];", "store_b": "B[lr][lc] = b[(i * 16 + lr) * N + col];"}
KERNELS = {
    "simple": "  for (int i = 0; i < N; i++)\n    sum += a[row * N + i] * b[i * N + col];\n",
    "coalescedA": _TILED.format(
        b_tile="", store_b="", store_a="A[lr][lc]", load_a="A[lr][k]", load_b="b[(i * 16 + k) * N + col]"
    ),
    "coalescedAB": _TILED.format(**_B, store_a="A[lr][lc]", load_a="A[lr][k]", load_b="B[k][lc]"),
    "coalescedABT": _TILED.format(**_B, store_a="A[lc][lr]", load_a="A[k][lr]", load_b="B[k][lc]"),
    "coalescedABTprinted": _TILED.format(**_B, store_a="A[lc][lr]", load_a="A[lr][k]", load_b="B[k][lc]"),
}
PROGRAM = read_program("".join(_HEAD.format(name=it) + body + _TAIL for it, body in KERNELS.items()), "mm.cl")

REFERENCE: dict[tuple[int, str, str], dict[str, float]] = defaultdict(dict)
with (Path(__file__).parents[1] / "data" / "aiwc" / "matmul_reference.csv").open(encoding="utf-8") as stream:
    for line in csv.DictReader(stream):
        REFERENCE[int(line["n"]), line["view"].removeprefix("local="), line["kernel"]][line["metric"]] = (
            float(line["value"])
        )


def launch_of(kernel: str, n: int) -> Launch:
    buffers = {name: BufferArgument(Fill.ZEROS, n * n) for name in "abc"}
    return Launch(kernel, (n, n), (16, 16), {**buffers, "N": ScalarArgument((n,))}, Origin.GIVEN)


@pytest.mark.parametrize("key", sorted(REFERENCE), ids=lambda it: f"{it[2]}-{it[0]}-{it[1]}")
def test_matrix_multiplies_agree_with_aiwc(key: tuple[int, str, str]) -> None:
    n, view, name = key
    kernel = PROGRAM.kernel(name)
    assert kernel is not None
    launch, addresses = launch_of(name, n), LocalAddresses(view)
    paper = measure(kernel, launch, local_addresses=addresses)
    aiwc = measure(kernel, launch, local_addresses=addresses, definition=Definition.AIWC)
    assert not isinstance(paper, Bail)
    assert not isinstance(aiwc, Bail)
    whole = {
        "accesses": paper.accesses,
        "loads": paper.loads,
        "stores": paper.stores,
        "footprint": paper.footprint,
        "fp90": paper.footprint_90,
    }
    real = {
        "gmae": paper.gmae,
        "rel_local": paper.relative_local,
        **{f"lmae{i + 1}": value for i, value in enumerate(paper.lmae)},
        **{f"psl{i}": value for i, value in enumerate(paper.psl)},
    }
    printed = {f"psl_aiwc1t_{i}": value for i, value in enumerate(aiwc.psl)}
    for metric, expected in REFERENCE[key].items():
        if metric in whole:
            assert whole[metric] == expected, metric
        elif metric in real:
            assert real[metric] == pytest.approx(expected, abs=1.5e-6), metric
        else:
            assert printed[metric] == pytest.approx(expected, rel=6e-4), metric


def test_large_launches_are_exact_too() -> None:
    """19 billion accesses: totals follow from the algorithm."""
    kernel = PROGRAM.kernel("coalescedAB")
    assert kernel is not None
    n = 2048
    metrics = measure(kernel, launch_of("coalescedAB", n))
    assert not isinstance(metrics, Bail)
    assert metrics.loads == 2 * n**3 // 16 + 2 * n**3
    assert metrics.stores == 2 * n**3 // 16 + n * n
    assert metrics.footprint == 3 * n * n + 2 * 256


def test_what_data_decides_is_not_guessed() -> None:
    program = read_program(
        "__kernel void f(__global const int *n, __global float *a) {"
        " for (int i = 0; i < n[0]; i++) a[get_global_id(0)] += i; }",
        "f.cl",
    )
    kernel = program.kernels[0]
    arguments = {"n": BufferArgument(Fill.RANDOM, 1), "a": BufferArgument(Fill.ZEROS, 64)}
    bailed = measure(kernel, Launch("f", (64,), (64,), arguments, Origin.GIVEN, frozenset({"n"})))
    assert isinstance(bailed, Bail)
    assert "`n`" in bailed.reason


PARTS = st.builds(
    lambda lanes, dims, times: Progressions(np.array(lanes, np.int64) * 4, tuple(dims), times),
    st.lists(st.integers(0, 300), min_size=1, max_size=12),
    st.lists(st.tuples(st.integers(-60, 60).map(lambda it: 4 * it), st.integers(1, 9)), max_size=3),
    st.integers(1, 3),
)


def spelt_out(part: Progressions) -> np.ndarray:
    addresses = part.lanes
    for coef, n in part.dims:
        addresses = (addresses[:, None] + np.arange(n) * coef).ravel()
    return np.repeat(addresses, part.times)


@given(st.lists(PARTS, min_size=1, max_size=4), st.booleans(), st.sampled_from([1 << 18, 16]), st.booleans())
def test_histograms_equal_enumeration(
    parts: list[Progressions], by_running_sums: bool, flat: int, whole: bool
) -> None:
    """However a region is made: by windows or as a whole, by running sums or address by address."""
    import clmap_lsp.emulator.symbolic.histogram as module

    shift = -min(it.span()[0] for it in parts)  # Offsets in a buffer are never negative.
    parts = [Progressions(it.lanes + shift, it.dims, it.times) for it in parts]
    limits = module._ENUMERATE, module._FLAT, module._MANY_PARTS
    module._ENUMERATE = -1 if by_running_sums else limits[0]
    module._FLAT, module._MANY_PARTS = flat, 0 if whole else limits[2]
    try:
        counts = AddressTotals()
        assert add_region(counts, parts)
    finally:
        module._ENUMERATE, module._FLAT, module._MANY_PARTS = limits
    equals_enumeration(counts, parts)


STRETCHES = st.builds(
    lambda lanes, dims, times, step: Progressions(
        np.array(lanes, np.int64) * 4 * step, tuple((4 * coef * step, n) for coef, n in dims), times
    ),
    st.lists(st.integers(0, 40), min_size=1, max_size=40),
    st.lists(
        st.tuples(st.sampled_from([-8, -4, -1, 0, 1, 2, 3, 4, 8, 16, 64]), st.integers(1, 20)), max_size=3
    ),
    st.integers(1, 3),
    st.sampled_from([1, 2, 64]),
)


@given(
    st.lists(st.one_of(PARTS, STRETCHES), min_size=1, max_size=4),
    st.integers(1, 3),
    st.sampled_from([4, 8, 1 << 20]),
)
def test_runs_equal_enumeration(parts: list[Progressions], copies: int, remembered: int) -> None:
    """Neighbouring addresses, rows that touch, overlap or lie apart, and what is touched several times."""
    import clmap_lsp.emulator.symbolic.runs as module

    shift = 1024 - min(it.span()[0] for it in parts)
    parts = [Progressions(it.lanes + shift, it.dims, it.times) for it in parts]
    limit, module._REMEMBERED_LANES = module._REMEMBERED_LANES, remembered
    try:
        counts = AddressTotals()
        assert add_runs(counts, parts, 1024, 4, 1 << 20, copies)
    finally:
        module._REMEMBERED_LANES = limit
    assert counts.total % copies == 0
    once = AddressTotals(counts.total // copies, counts.sums / copies)
    once.by_count = {value: times // copies for value, times in counts.by_count.items()}
    equals_enumeration(once, parts)


def test_runs_are_left_where_there_are_too_many() -> None:
    scattered = Progressions(np.arange(0, 1 << 16, 64, np.int64), ((1 << 16, 128),))
    counts = AddressTotals()
    assert not add_runs(counts, [scattered], 0, 4, 1 << 20, 1)
    assert not counts.total


def equals_enumeration(counts: AddressTotals, parts: list[Progressions]) -> None:
    distinct, times = np.unique(np.concatenate([spelt_out(it) for it in parts]), return_counts=True)
    assert counts.footprint == len(distinct)
    assert counts.total == times.sum()
    assert counts.covering() == covering(times)
    assert counts.entropies() == pytest.approx(entropy_levels(distinct, times), abs=1e-9)
