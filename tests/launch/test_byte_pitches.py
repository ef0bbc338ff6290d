"""Scalars that count bytes are guessed so that they suit what lies there."""

from __future__ import annotations

import pytest
from launch_helpers import read, resolved

from clmap_lsp.launch.plausible import plausible

TENSORS = """__kernel void add(__global char *src, ulong offset, __global char *dst, ulong nb00, ulong nb01,
                 ulong nb0, ulong nb1, int ne0) {
  src = src + offset;
  int row = get_group_id(0);
  __global char *from = src + row*nb01;
  __global char *to = dst + row*nb1;
  for (int i = get_local_id(0); i < ne0; i += get_local_size(0))
    *((__global float *)(to + i*nb0)) = *((__global float *)(from + i*nb00)) + 1;
}
"""
WALKED = """__kernel void sums(__global const char *a, __global float *out, int n, ulong inner, ulong outer) {
  int y = get_global_id(0);
  float s = 0;
  for (int k = 0; k < n; k++) s += *(__global const float *)(a + y*outer + k*inner);
  out[y] = s;
}
"""
NUMBERED = """__kernel void copy(__global const char *a, __global char *b, int n, ulong nb0,
                   ulong nb1, ulong nb2) {
  int x = get_global_id(0), y = get_global_id(1);
  for (int z = 0; z < n; z++) {
    ulong at = x*nb%d + y*nb%d + z*nb%d;
    *(__global half *)(b + at) = *(__global const half *)(a + at);
  }
}
"""


def test_from_element_to_element_is_one_element_and_rows_follow() -> None:
    launch = resolved(TENSORS)
    assert (launch.scalar("nb00"), launch.scalar("nb0"), launch.scalar("offset")) == (4, 4, 0)
    assert launch.scalar("nb01") == launch.scalar("nb1") == 4 * 256


def test_a_loop_of_one_work_item_goes_along_a_row() -> None:
    launch = resolved(WALKED)
    assert launch.scalar("inner") == 4
    outer = launch.scalar("outer")
    assert isinstance(outer, int)
    assert outer >= 64 * 4
    assert outer % 4 == 0


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 2, 0), (2, 0, 1)])
def test_numbered_dimensions_start_with_the_inner_one(order: tuple[int, int, int]) -> None:
    launch = resolved(NUMBERED % order)
    assert [launch.scalar(f"nb{i}") == 2 for i in range(3)] == [True, False, False]


def test_other_values_suit_the_element_too() -> None:
    _, kernel = read(TENSORS)
    launch = resolved(TENSORS)
    for other in plausible(kernel, launch):
        parsed = other.launch.parsed
        for name in ("nb00", "nb01", "nb0", "nb1", "offset"):
            if name in parsed:
                assert parsed[name].values[0] % 4 == 0, (name, parsed[name])


def test_a_step_from_one_work_item_of_a_group_to_the_next_is_one() -> None:
    launch = resolved(
        "__kernel void total(__global const float *x, __global float *out, int n, int inc) {\n"
        "  float s = 0;\n"
        "  for (int i = get_local_id(0); i < n; i += get_local_size(0)) s += x[i*inc];\n"
        "  out[get_global_id(0)] = s;\n}\n"
    )
    assert launch.scalar("inc") == 1


GOES_ON = """__kernel void rows(__global const uchar *src, int step, int off, __global uchar *dst,
                   int rows, int cols) {
  int x = get_global_id(0), y = get_global_id(1) << 2;
  if (x < cols && y < rows) {
    int at = mad24(y, step, mad24(x, 4, off));
    *(__global float *)(dst + at) = *(__global const float *)(src + at);
    if (y < rows - 1) {
      at += step;
      *(__global float *)(dst + at) = *(__global const float *)(src + at);
    }
  }
}
"""


def test_a_place_that_goes_on_by_rows_counts_bytes_too() -> None:
    launch = resolved(GOES_ON)
    assert launch.scalar("off") == 0
    step = launch.scalar("step")
    assert isinstance(step, int) and step % 4 == 0 and step > 4
