"""Estimates from some of a launch's work-groups."""

from __future__ import annotations

import numpy as np
import pytest

from clmap_lsp.emulator.result import EmulationResult, Engine, FaultKind, Method
from clmap_lsp.emulator.run import emulate
from clmap_lsp.emulator.sampling import choose
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.launch.arguments import parse_argument
from clmap_lsp.launch.model import Launch
from clmap_lsp.source.read import read_program

ITEMS, GROUP = 16_384, 32
ROWS = """__kernel void rows(__global const int *n, __global const float *x, __global float *y) {
  int i = get_global_id(0);
  float sum = 0;
  for (int k = 0; k < n[i]; k++) sum += x[(i * k * 7) & 16383];
  y[i] = sum;
}"""
ARGUMENTS = {
    # Trip counts differ between work-groups, at random and with a trend.
    "n": f"formula({ITEMS},(i//32*2654435761)%97//8+i//4096)",
    "x": f"random({ITEMS})",
    "y": f"zeros({ITEMS})",
}


def run(
    source: str = ROWS, arguments: dict[str, str] = ARGUMENTS, items: int = ITEMS, **settings: object
) -> EmulationResult:
    program = read_program(source, "k.cl")
    kernel = program.kernels[0]
    launch = Launch(
        kernel.name, (items,), (GROUP,), {name: parse_argument(it) for name, it in arguments.items()}
    )
    chosen = {"engine": Engine.JIT, "time_limit_s": 60.0, **settings}
    return emulate(program, kernel, launch, EmulationSettings(**chosen))  # type: ignore[arg-type]


def test_estimates_lie_within_their_errors() -> None:
    whole, part = run(), run(sample_groups=128)
    assert whole.method is Method.FULL
    assert part.method is Method.SAMPLED
    sampling = part.sampling
    assert sampling is not None
    assert (sampling.groups, sampling.of_groups) == (128, 512)
    assert 0 < sampling.accesses_error < 0.1 * whole.metrics.accesses
    assert abs(part.metrics.accesses - whole.metrics.accesses) < 3 * sampling.accesses_error
    for found, true, error in zip(part.metrics.psl, whole.metrics.psl, sampling.psl_error, strict=True):
        assert abs(found - true) <= 3 * error
    assert 0 < part.metrics.footprint <= whole.metrics.footprint
    for one, two in zip(part.sites, whole.sites, strict=True):
        assert one.executions == pytest.approx(two.executions, rel=0.1)
        assert one.requests == pytest.approx(two.requests, rel=0.1)
    assert part.operations["load"] == pytest.approx(whole.operations["load"], rel=0.1)
    assert any("128 of 512 work-groups" in it for it in part.notes)


def test_like_work_groups_give_exact_counts() -> None:
    source = "__kernel void k(__global int *y) { int i = get_global_id(0); y[i] = i; y[i ^ 1] = i; }"
    part = run(source, {"y": f"zeros({ITEMS})"}, sample_groups=5, races=False)
    assert part.metrics.accesses == 2 * ITEMS
    assert part.sampling is not None
    assert part.sampling.accesses_error == 0
    assert set(part.sampling.psl_error) == {0.0}
    assert part.metrics.footprint == 5 * GROUP


def test_work_groups_keep_their_ids() -> None:
    source = "__kernel void k(__global int *y) { int i = get_global_id(0); y[i] = get_group_id(0) + 1; }"
    part = run(source, {"y": f"zeros({ITEMS})"}, sample_groups=16)
    written = part.buffers["y"].data.view(np.int32).reshape(-1, GROUP)
    ran = np.flatnonzero(written.any(axis=1))
    assert (written[ran] == ran[:, None] + 1).all()
    assert (ran // 32).tolist() == list(range(16))  # One of each sixteenth of the launch.
    bad = run(source.replace("y[i]", "y[i + 16384]"), {"y": f"zeros({ITEMS})"}, sample_groups=16)
    group, item = bad.faults[0].work_group, bad.faults[0].work_item
    assert group is not None
    assert item is not None
    assert group[0] in ran
    assert item[0] // GROUP == group[0]


def test_the_time_limit_leaves_an_estimate() -> None:
    """Each work-group takes long enough for the limit to fall between the second and the last."""
    source = """__kernel void k(__global int *y) {
      int i = get_global_id(0);
      for (int k = 0; k < 20000; k++) y[i] += k;
    }"""
    part = run(source, {"y": f"zeros({ITEMS})"}, sample_groups=500, time_limit_s=2.0)
    assert part.method is Method.SAMPLED
    assert part.sampling is not None
    assert 2 <= part.sampling.groups < 500
    assert part.stopped is None
    assert part.metrics.accesses == pytest.approx(2 * 20_000 * ITEMS, rel=1e-6)
    assert any("work limit" in it for it in part.notes)


def test_too_few_work_groups_are_no_estimate() -> None:
    source = "__kernel void k(__global int *y) { int i = get_global_id(0); while (1) y[i] += 1; }"
    part = run(source, {"y": f"zeros({ITEMS})"}, sample_groups=8, time_limit_s=0.3)
    assert part.method is Method.TRUNCATED
    assert part.sampling is None
    assert part.stopped is not None


def test_buffers_between_work_groups_are_named() -> None:
    source = """__kernel void k(__global int *y, __global int *count, __global const int *x) {
      int i = get_global_id(0);
      y[atomic_inc(count)] = x[i];
    }"""
    arguments = {"y": f"zeros({ITEMS})", "count": "zeros(1)", "x": f"iota({ITEMS})"}
    part = run(source, arguments, sample_groups=8)
    assert any("reads and writes `count`:" in it for it in part.notes)
    assert not any("reads and writes" in it for it in run(sample_groups=8).notes)


def test_exact_figures_stay_exact() -> None:
    source = "__kernel void k(__global int *y) { int i = get_global_id(0); y[i] = y[i ^ 1]; }"
    found = run(source, {"y": f"zeros({ITEMS})"}, engine=Engine.AUTO, sample_groups=8)
    assert found.method is Method.SYMBOLIC
    assert found.sampling is None
    assert (found.metrics.accesses, found.metrics.footprint) == (2 * ITEMS, ITEMS)
    assert any("8 of 512 work-groups" in it for it in found.notes)
    assert found.operations["store"] == ITEMS


def test_every_part_has_its_group() -> None:
    assert choose(10, 10) is None
    assert choose(10, 0) is None
    drawn = choose(1000, 7)
    assert drawn is not None
    assert sorted(int(it * 7 // 1000) for it in drawn.ids) == list(range(7))


def test_a_sample_keeps_the_faults_of_the_run_that_it_takes_the_place_of() -> None:
    """The first work-item alone reads before the start; a tenth of the launch is run before it is sampled."""
    program = read_program(
        "__kernel void k(__global const int *a, __global int *o) {"
        " int i = get_global_id(0), s = 0;"
        " for (int j = 0; j < a[i] % 8 + 20; j++) s += a[(i * 7 + j * a[i]) & 65535];"
        " o[i] = s + a[i - 1]; }",
        "k.cl",
    )
    arguments = {it: parse_argument("random(65536)" if it == "a" else "zeros(65536)") for it in "ao"}
    launch = Launch("k", (65536,), (64,), arguments)
    result = emulate(program, program.kernels[0], launch, EmulationSettings(time_limit_s=0.1))
    assert result.method is Method.SAMPLED
    (fault,) = [it for it in result.faults if it.kind is FaultKind.OUT_OF_BOUNDS_READ]
    assert fault.work_item == (0, 0, 0)
