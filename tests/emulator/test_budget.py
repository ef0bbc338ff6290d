"""Where a run ends depends on its work, not on the machine."""

from __future__ import annotations

import itertools
import time
from dataclasses import replace

import pytest

from clmap_lsp.emulator import budget, jit
from clmap_lsp.emulator.result import EmulationResult, Engine, Limit, Method
from clmap_lsp.emulator.run import emulate
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.launch.arguments import parse_argument
from clmap_lsp.launch.model import Launch
from clmap_lsp.source.read import read_program

ROWS = """__kernel void k(__global const int *n, __global float *y) {
  int i = get_global_id(0);
  float sum = 0;
  for (int j = 0; j < n[i]; j++) sum += j * 0.5f;
  y[i] = sum;
}"""
SPIN = """__kernel void k(__global const int *n, __global float *y) {
  while (n[0] >= 0) y[get_global_id(0)] += 1;
}"""
ONE_SPINS = SPIN.replace("while (", "while (get_global_id(0) == 5000 && ")


def run(source: str, items: int = 8192, group: int = 64, **changes: object) -> EmulationResult:
    program = read_program(source, "k.cl")
    arguments = {"n": f"formula({items},(i//64*2654435761)%97*20)", "y": f"zeros({items})"}
    launch = Launch("k", (items,), (group,), {name: parse_argument(it) for name, it in arguments.items()})
    settings = EmulationSettings(engine=Engine.JIT, time_limit_s=0.1)
    return emulate(program, program.kernels[0], launch, replace(settings, **changes))  # type: ignore[arg-type]


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time never ends these runs, however slow this machine is."""
    monkeypatch.setattr(budget.TimeBudget, "left", lambda _: 60.0)


def told(result: EmulationResult) -> EmulationResult:
    return replace(result, seconds=replace(result.seconds, compile=0, run=0, metrics=0, inputs=0, symbolic=0))


@pytest.mark.parametrize("source", [ROWS, SPIN, ONE_SPINS])
@pytest.mark.usefixtures("patient")
def test_a_slower_machine_gets_the_same_answer(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run(source)
    monkeypatch.setattr(jit, "_upgrade", lambda *_: True)  # Several times slower: unoptimised to the end.
    assert told(run(source)) == told(first)


@pytest.mark.parametrize("source", [ROWS, SPIN])
def test_the_clock_on_the_wall_decides_nothing(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run(source)
    hours = itertools.count(step=3600.0)
    monkeypatch.setattr(time, "perf_counter", lambda: next(hours))  # Others have the processor meanwhile.
    assert told(run(source)) == told(first)


def test_a_row_of_one_lane_is_weighed_like_a_full_one() -> None:
    """A SIMD group takes the emulator as long, however few work-items it has."""
    lone, full = (_work(group) for group in (1, 64))
    assert 4 * full < lone < 64 * full


def _work(group: int) -> float:
    program = read_program("__kernel void k(__global int *y) { y[get_global_id(0)] = 1; }", "k.cl")
    launch = Launch("k", (8192,), (group,), {"y": parse_argument("zeros(8192)")})
    return jit.run(program, program.kernels[0], launch, EmulationSettings(engine=Engine.JIT)).work


@pytest.mark.usefixtures("patient")
def test_what_is_too_large_is_sampled_by_default() -> None:
    whole, part = run(ROWS, time_limit_s=60.0), run(ROWS)
    assert (whole.method, whole.is_whole, whole.stopped) == (Method.FULL, True, None)
    assert (part.method, part.is_whole, part.stopped) == (Method.SAMPLED, False, None)
    assert part.sampling is not None
    assert 2 <= part.sampling.groups < 128
    error = max(part.sampling.accesses_error, 1.0)
    assert abs(part.metrics.accesses - whole.metrics.accesses) < 4 * error
    assert any("takes more work" in it for it in part.notes)


@pytest.mark.usefixtures("patient")
def test_an_endless_loop_is_cut_and_no_fault() -> None:
    found = run(SPIN)
    assert (found.method, found.faults) == (Method.TRUNCATED, ())
    assert found.stopped is not None
    assert found.stopped.limit is Limit.WORK
    assert "not one work-group ended" in found.stopped.detail


@pytest.mark.usefixtures("patient")
def test_without_samples_a_run_goes_to_its_limit() -> None:
    found = run(ROWS, may_sample=False)
    assert found.method is Method.TRUNCATED
    assert found.stopped is not None
    assert 0 < found.groups_run < 128


@pytest.mark.usefixtures("patient")
def test_tables_that_do_not_fit_leave_a_sample() -> None:
    source = "__kernel void k(__global const int *n, __global float *y) { y[get_global_id(0)] += n[0]; }"
    found = run(source, items=1 << 23, memory_limit_mib=250, time_limit_s=10.0)
    assert found.method is Method.SAMPLED
    assert any("races on global memory were not looked for" in it for it in found.notes)


def test_time_is_the_outer_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget.TimeBudget, "left", lambda _: 0.0)
    found = run(SPIN)
    assert found.stopped is not None
    assert found.stopped.limit is Limit.TIME


APART = """__kernel void k(__global const int *n, __global float *y) {
  for (int j = 0; j < N; j++) if (get_local_id(0) & 1) barrier(CLK_LOCAL_MEM_FENCE);
  y[get_global_id(0)] = n[0];
}"""


def test_sorting_out_who_waits_where_is_work() -> None:
    """Else only the clock ends a run in which work-items come to barriers apart at every turn of a loop."""
    few, many = (
        run(APART.replace("N", str(turns)), items=64, time_limit_s=60.0).work for turns in (100, 1100)
    )
    assert many - few > 1000 * 100_000


@pytest.mark.usefixtures("patient")
def test_barriers_that_are_met_apart_for_ever_end_by_work() -> None:
    result = run(APART.replace("j < N", "n[0] >= 0"), items=64)
    assert result.stopped is not None
    assert result.stopped.limit is Limit.WORK


def test_a_kernel_that_is_too_large_to_optimise_has_less_work_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(ROWS, time_limit_s=60.0).is_whole
    small = run(ROWS, time_limit_s=60.0).work
    monkeypatch.setattr(jit, "is_huge", lambda _: True)
    assert run(ROWS, time_limit_s=60.0).work > 1.2 * small
