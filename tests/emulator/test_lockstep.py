"""Kernels that leave barriers out within a warp, with `--sub-group-synchronous`."""

from __future__ import annotations

import numpy as np
import pytest

from clmap_lsp.emulator.result import EmulationResult, Engine, FaultKind
from clmap_lsp.emulator.run import emulate
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.launch.arguments import parse_argument
from clmap_lsp.launch.model import Launch
from clmap_lsp.source.read import read_program

SUM = """__kernel void k(__global int *o, __global const int *in) {
  __local volatile int t[128];
  int l = get_local_id(0), i = get_global_id(0);
  t[l] = in[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l < 64) t[l] += t[l + 64];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l < 32) {
    t[l] += t[l + 32];
    if (l < 16) { t[l] += t[l + 16]; t[l] += t[l + 8]; t[l] += t[l + 4]; t[l] += t[l + 2]; t[l] += t[l + 1]; }
  }
  if (l == 0) o[get_group_id(0)] = t[0];
}"""

SCAN = """__kernel void k(__global int *o, __global const int *in) {
  __local volatile int t[128];
  int l = get_local_id(0), lane = l & 31, i = get_global_id(0);
  t[l] = in[i];
  for (int d = 1; d < 32; d *= 2) if (lane >= d) t[l] += t[l - d];
  o[i] = t[l] + t[l | 31];
}"""

UNEVEN = """__kernel void k(__global int *o, __global const int *in) {
  __local volatile int t[128];
  int l = get_local_id(0), i = get_global_id(0);
  t[l] = 1;
  for (int n = 0; n < (l & 7); n++) t[l] += in[i] & 1;
  o[i] = t[l ^ 7];
}"""


def run(source: str, lockstep: int, engine: Engine = Engine.JIT, *, trace: bool = True) -> EmulationResult:
    program = read_program(source, "k.cl")
    arguments = {"o": parse_argument("zeros(512)"), "in": parse_argument("formula(512,(i*37)%101)")}
    launch = Launch("k", (512,), (128,), arguments)
    settings = EmulationSettings(engine=engine, lockstep=lockstep, trace=trace)
    return emulate(program, program.kernels[0], launch, settings)


BETWEEN = """__kernel void k(__global int *o, __global const int *in) {
  __local volatile int t[128];
  int l = get_local_id(0), i = get_global_id(0);
  t[l] = in[i];
  o[i] = t[l ^ 32];
}"""
VALUES = np.arange(512) * 37 % 101


def out(result: EmulationResult) -> np.ndarray:
    assert not result.faults
    return result.buffers["o"].data.view(np.int32)


@pytest.mark.parametrize("trace", [True, False])
def test_a_reduction_without_barriers_within_a_warp(trace: bool) -> None:
    sums = out(run(SUM, 32, trace=trace))[:4]
    assert sums.tolist() == VALUES.reshape(4, 128).sum(axis=1).tolist()


def test_a_scan_in_a_divergent_loop() -> None:
    rows = VALUES.reshape(-1, 32)
    expected = np.cumsum(rows, axis=1) + rows.sum(axis=1, keepdims=True)
    assert out(run(SCAN, 32)).tolist() == expected.ravel().tolist()


def test_who_leaves_a_loop_waits_for_the_others() -> None:
    lane = np.arange(512)
    expected = (1 + (lane & 7) * (VALUES & 1))[lane ^ 7]
    assert out(run(UNEVEN, 8)).tolist() == expected.tolist()


@pytest.mark.parametrize(("source", "lockstep"), [(SUM, 0), (SUM, 16), (SCAN, 0), (SCAN, 16), (UNEVEN, 4)])
def test_fewer_in_lockstep_race(source: str, lockstep: int) -> None:
    assert FaultKind.DATA_RACE in {it.kind for it in run(source, lockstep).faults}


def test_more_rows_than_a_ring_holds() -> None:
    body = "for (int n = 0; n < 3000; n++) t[l] = t[(l & 96) | ((l + 1) & 31)];"
    source = SCAN.replace("for (int d = 1; d < 32; d *= 2) if (lane >= d) t[l] += t[l - d];", body)
    traced, plain = run(source, 32), run(source, 32, trace=False)
    rows = np.roll(VALUES.reshape(-1, 32), -3000 % 32, axis=1)
    expected = (rows + rows[:, 31:]).ravel().tolist()
    assert out(traced).tolist() == out(plain).tolist() == expected


def test_the_counts_are_those_of_any_order() -> None:
    plain, together = run(SUM, 0), run(SUM, 32)
    assert plain.metrics == together.metrics
    assert [it.requests for it in plain.sites] == [it.requests for it in together.sites]


@pytest.mark.parametrize(
    ("source", "is_told"),
    [
        (SUM, True),
        (SUM.replace("volatile ", ""), False),
        (BETWEEN, False),
        ("__kernel void k(__global int *o, __global const int *in) { o[get_global_id(0)] = 1; }", False),
    ],
    ids=["as for a warp", "not volatile", "between warps too", "no race"],
)
def test_a_note_says_how_to_run_what_relies_on_warps(source: str, is_told: bool) -> None:
    """Not where a barrier is simply missing: nothing says there that lockstep is meant."""
    assert any("--sub-group-synchronous 32" in it for it in run(source, 0).notes) == is_told
    assert not any("--sub-group-synchronous" in it for it in run(source, 32).notes)


def test_who_goes_on_to_the_next_turn_waits_for_who_is_still_in_this_one() -> None:
    """Threads of a warp come together at the end of a loop's body, whichever way they took."""
    text = """__kernel void k(__global int *o) {
      __local volatile int t[32]; int l = get_local_id(0), s = 0; t[l] = l;
      for (int n = 0; n < 3; n++) { s = s * 3 + t[l ^ 1]; if (l & 1) continue; t[l] = s + n; }
      o[l] = s;
    }"""
    program = read_program(text, "k.cl")
    launch = Launch("k", (32,), (32,), {"o": parse_argument("zeros(32)")})
    settings = EmulationSettings(engine=Engine.JIT, lockstep=32)
    found = emulate(program, program.kernels[0], launch, settings)
    lanes = np.arange(32)
    t, s = lanes.copy(), np.zeros(32, np.int64)
    for n in range(3):
        s = s * 3 + t[lanes ^ 1]
        t = np.where(lanes & 1, t, s + n)
    assert not found.faults
    assert found.buffers["o"].data.view(np.int32).tolist() == s.tolist()
