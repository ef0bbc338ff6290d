"""Macros that nothing defines and that name a work-group, and what else says how wide a group is."""

from __future__ import annotations

from launch_helpers import read, resolved

from clmap_lsp.emulator.result import Engine
from clmap_lsp.emulator.run import emulate
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.launch import ScalarArgument

DOTS = """__kernel void dots(__global const float *a, __global const float *b, __local float *part,
                   __global float *sums, int n) {
  int i = get_global_id(0), l = get_local_id(0);
  for (int r = 0; r < ROWS; r++) part[l + r * WG_SIZE] = i < n ? a[i + r * n] * b[i + r * n] : 0.0f;
  for (int step = WG_SIZE / 2; step > 0; step /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < step)
      for (int r = 0; r < ROWS; r++) part[l + r * WG_SIZE] += part[l + r * WG_SIZE + step];
  }
  const int groups = get_global_size(0) / WG_SIZE;
  if (l == 0)
    for (int r = 0; r < ROWS; r++) sums[get_group_id(0) + r * groups] = part[r * WG_SIZE];
}
"""
WAVES = """__kernel void rows(__global const float *x, __global const int *starts, __global float *y, int n) {
  int row = get_global_id(0) / WAVE_SIZE;
  float sum = 0;
  for (int k = starts[row] + get_local_id(0) % WAVE_SIZE; k < starts[row + 1]; k += WAVE_SIZE) sum += x[k];
  if (row < n) y[row * WAVE_SIZE + get_local_id(0) % WAVE_SIZE] = sum;
}
"""


def test_a_group_is_as_wide_as_the_rows_that_its_work_items_fill() -> None:
    program, kernel = read(DOTS)
    guessed = {it.name: it.value for it in kernel.guesses}
    launch = resolved(DOTS)
    assert launch.local_size == (int(guessed["WG_SIZE"] or 0),) == (64,)
    result = emulate(program, kernel, launch, EmulationSettings(engine=Engine.JIT))
    assert result.faults == ()


def test_a_group_is_a_part_of_the_global_size_that_a_constant_divides() -> None:
    counted = """__kernel void k(__global float *sums) {
      sums[get_group_id(0) + get_local_id(0) * (get_global_size(0) / 32)] = 1;
    }"""
    assert resolved(counted).local_size == (32,)
    assert resolved(counted.replace("/ 32", "/ 2")).local_size == (256,)
    assert resolved(counted.replace("get_global_size(0)", "get_global_size(0) * 4")).local_size == (256,)


def test_rows_of_a_simd_group_each_are_as_many_as_there_are_of_them() -> None:
    launch = resolved(WAVES)
    assert launch.scalar("n") == launch.global_size[0] // 32
    shifted = WAVES.replace("int row = get_global_id(0) / WAVE_SIZE;", "int row = get_global_id(0) / 8;")
    assert resolved(shifted).scalar("n") == resolved(shifted).global_size[0] // 8


def test_tiles_of_two_dimensions_stay_small() -> None:
    tile = """__kernel void k(__global float *a) {
      __local float t[BLOCK_SIZE][BLOCK_SIZE];
      t[get_local_id(0)][get_local_id(0)] = a[get_global_id(0)];
    }"""
    _, kernel = read(tile)
    assert [it.value for it in kernel.guesses] == ["16"]
    _, kernel = read(tile.replace("t[get_local_id(0)]", "t[get_local_id(1)]"))
    assert [it.value for it in kernel.guesses] == ["16"]


def test_what_is_cast_to_a_pointer_of_an_unknown_name_is_of_a_type() -> None:
    """`(NAME *) &x` was taken for a product, and the error that followed for the author's."""
    cast = """__kernel void k(__global float4 *a, uint n) {
      uint4 mask;
      for (int j = 0; j < n; j++) ((lane_s *) &mask)[j] = (j + 1) % n;
      a[get_global_id(0)] = shuffle(a[get_global_id(0)], mask);
    }"""
    program, kernel = read(cast)
    assert [(it.role, it.value) for it in kernel.guesses] == [("type", None)]
    assert [it.code for it in program.problems] == ["undefined-name"]


def test_a_radius_may_be_counted_by_a_lane() -> None:
    window = """__kernel void blur(__global const float *a, __global float *b, int w, int reach) {
      int2 at, me = (int2)(get_global_id(0), get_global_id(1));
      float sum = 0;
      for (at.y = -reach; at.y <= reach; at.y++)
        for (at.x = -reach; at.x <= reach; at.x++) {
          int2 p = clamp(me + at, (int2)(0), (int2)(w - 1));
          sum += a[p.y * w + p.x];
        }
      b[me.y * w + me.x] = sum;
    }"""
    assert resolved(window).scalar("reach") == 2
    counted = "int y = -reach; y <= reach; y++"
    assert resolved(window.replace("at.y = -reach; at.y <= reach; at.y++", counted)).scalar("reach") == 2


def test_rows_are_as_long_as_a_guard_lets_ids_go_along_them() -> None:
    """`block < 25 * batch`, rows of `pitch`: with less than that the rows would overlap."""
    rows = """__kernel void put(__global float *v, int pitch, int batch) {
      int block = get_global_id(0), row = get_global_id(1);
      if (block < batch * 25) v[row * pitch + block] = 1;
    }"""
    launch = resolved(rows)
    assert launch.scalar("pitch") == launch.global_size[0] == 25 * (launch.scalar("batch") or 0)


def test_an_image_has_few_channels() -> None:
    launch = resolved("""
        __kernel void k(__global const float *in, __global float *out, uint width, uint numChannels) {
            uint x = get_global_id(0), y = get_global_id(1);
            for (int c = 0; c < 3; c++)
                out[(y * width + x) * numChannels + c] = in[(y * width + x) * numChannels + c];
        }""")
    channels = launch.arguments["numChannels"]
    assert isinstance(channels, ScalarArgument)
    assert channels.values == (4,)
