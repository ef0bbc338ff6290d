"""What counts how often a distance is halved or doubled is a logarithm."""

from __future__ import annotations

import pytest
from launch_helpers import read, resolved

from clmap_lsp.emulator.run import emulate
from clmap_lsp.launch import ScalarArgument

UP_AND_DOWN = """__kernel void sweep(__global float *a, __local float *part, uint width, uint levels) {
  uint l = get_local_id(0);
  if (l < width) part[l] = a[get_group_id(0) * width + l];
  uint apart = 1;
  for (uint k = 0; k < levels; ++k) {
    barrier(CLK_LOCAL_MEM_FENCE);
    uint at = 2 * apart * (l + 1) - 1;
    if (at < width) part[at] += part[at - apart];
    apart <<= 1;
  }
  if (l == 0) part[apart - 1] = 0.0f;
  for (uint k = 0; k < levels; ++k) {
    apart >>= 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint at = 2 * apart * (l + 1) - 1;
    if (at < width) { float left = part[at - apart]; part[at - apart] = part[at]; part[at] += left; }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l < width) a[get_group_id(0) * width + l] = part[l];
}
"""
STAGES = """__kernel void stages(__global float *a, int stages) {
  int i = get_global_id(0), distance = get_global_size(0);
  for (int s = 1; s <= stages; s++) {
    distance = distance / 2;
    a[i] += distance;
  }
}
"""
BITS = """__kernel void bits(__global const uint *words, __global float *out, int count) {
  uint bit = 1, word = 0;
  float sum = 0, weight = 1;
  for (int k = 0; k < count; k++) {
    if (!(words[word] & bit)) sum += weight;
    bit <<= 1;
    if (bit == 0) { bit = 1; word++; }
    weight *= 2;
  }
  out[get_global_id(0)] = sum;
}
"""


def _scalar(source: str, name: str) -> int | float:
    argument = resolved(source).arguments[name]
    assert isinstance(argument, ScalarArgument)
    return argument.values[0]


def test_a_group_that_waits_halves_its_own_size() -> None:
    launch = resolved(UP_AND_DOWN)
    assert _scalar(UP_AND_DOWN, "levels") == launch.local_size[0].bit_length() - 1
    program, kernel = read(UP_AND_DOWN)
    assert not emulate(program, kernel, launch).faults


def test_without_a_barrier_all_work_items_are_halved() -> None:
    launch = resolved(STAGES)
    assert _scalar(STAGES, "stages") == launch.global_size[0].bit_length() - 1


@pytest.mark.parametrize("source", [BITS, BITS.replace("if (bit == 0) { bit = 1; word++; }", "bit = 1;")])
def test_what_begins_anew_or_is_no_distance_counts_something_else(source: str) -> None:
    assert _scalar(source, "count") == 256
