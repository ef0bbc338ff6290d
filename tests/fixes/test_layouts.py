"""Buffers stored by columns, and work-groups of another shape."""

from __future__ import annotations

import fix_kernels as kernels
import numpy as np
import pytest
from fixing import first_verified, offered, proposed, verified

from clmap_lsp.findings import FixSafety
from clmap_lsp.launch.contents import buffer_contents


def test_rows_that_neighbours_walk_down_are_stored_by_columns():
    after, proof = verified(kernels.BY_ROWS, "transpose-buffer")
    assert "fabs(rows[k * n + i])" in after
    assert proof.compared == "bit for bit"
    assert [it.text for it in proof.proposal.assumptions] == ["no other argument is rows"]
    assert proof.after.totals.sectors < proof.before.totals.sectors / 3
    assert proof.proposal.host_change == (
        "wherever they are used, lay out by columns: `rows` of n rows of width, element [r][c] at [c * n + r]"
    )


def test_what_work_groups_store_side_by_side_is_counted_by_their_number():
    after, proof = verified(kernels.BINS, "transpose-buffer")
    assert "parts[(int)get_group_id(0) * get_local_size(0) + l] =" in after
    assert [it.text for it in proof.proposal.assumptions] == ["no other argument is parts"]


def test_of_planes_the_rows_change_places_with_the_columns():
    after, proof = verified(kernels.PLANES, "transpose-buffer")
    assert "a[p * rows * width + c * rows + r] *= step;" in after
    assert "no other argument is a" in [it.text for it in proof.proposal.assumptions]


def test_indices_that_are_unsigned_are_those_of_a_short_buffer():
    text = kernels.BY_ROWS.replace("i * width + k", "i * width + (uint)k").replace("int n", "uint n")
    after, proof = verified(
        text.replace("int i", "uint i").replace("int width", "uint width"), "transpose-buffer"
    )
    assert "fabs(rows[k * n + i])" in after
    assert "no other argument is rows" in [it.text for it in proof.proposal.assumptions]


def test_an_index_that_cannot_be_read_is_taken_apart():
    after, proof = verified(kernels.LOOKED_UP, "transpose-buffer")
    assert "table[3 * rows + i]" in after.replace("3 * get_global_size(0)", "3 * rows")
    assert "((at[i] & 255) * 16 + 5) % 16 *" in after
    assert any("elements" in it.text for it in proof.proposal.assumptions)


def test_the_launch_to_compare_with_has_the_same_elements_elsewhere():
    ((subject, proposal),) = proposed(kernels.BY_ROWS, "transpose-buffer")
    assert proposal.restore is not None
    parameter = subject.analysis.kernel.parameters[0].type
    data = buffer_contents(subject.launch.arguments["rows"], parameter)
    moved = buffer_contents(proposal.launched(subject.launch).arguments["rows"], parameter)
    n, width = 250, 31
    here = data.view(np.float32)[: n * width].reshape(n, width)
    there = moved.view(np.float32)[: n * width].reshape(width, n)
    assert np.array_equal(here.T, there)
    back = proposal.restored(subject.launch, {"rows": moved})["rows"]
    assert np.array_equal(back[: data.size], data)


def test_it_is_never_safe_and_never_the_first_choice():
    found = offered(kernels.BY_ROWS, "transpose-buffer")
    ((_, fix),) = found
    assert fix.safety is FixSafety.UNSAFE
    assert fix.verified is not None and fix.verified["moves_data"]


@pytest.mark.parametrize(
    "text",
    [
        kernels.BY_ROWS.replace("rows[i * width + k]", "*(&rows[i * width] + k)"),
        kernels.BY_ROWS.replace("rows[i * width + k]", "rows[i * width + k++]"),
        kernels.BY_ROWS.replace("i * width + k", "k * n + i"),
        kernels.BY_ROWS.replace("__global const float *rows", "volatile __global const float *rows"),
        kernels.BY_ROWS.replace("width + k]", "width + k + 1]"),
    ],
    ids=["from an address", "side effect", "by columns already", "volatile", "beyond the row"],
)
def test_it_is_not_proposed(text: str):
    assert [it.title for _, it in proposed(text, "transpose-buffer")] == []


def test_groups_become_as_wide_as_rows_are_read():
    after, proof = first_verified(kernels.NARROW, "group-shape")
    assert "__attribute__((work_group_size_hint(32, 8, 1)))" in after
    assert proof.after_launch.local_size == (32, 8)
    assert proof.proposal.host_change == "launch in work-groups of 32x8"
    assert proof.after.totals.sectors < proof.before.totals.sectors


ODD = """\
// clmap: global=4099 local=1 n=4099
__kernel void scale(__global float *y, const int n)
{
    const int i = get_global_id(0);
    if (i < n)
        y[i] *= 2.0f;
}
"""


def test_odd_sizes_are_rounded_up_where_a_guard_holds_what_is_touched():
    _, proof = first_verified(ODD, "group-shape")
    assert proof.after_launch.local_size == (64,) and proof.after_launch.global_size == (4160,)
    assert [it.text for it in proof.proposal.assumptions] == ["get_global_size(0) >= n"]
    assert proof.proposal.host_change is not None
    assert proof.proposal.host_change.endswith("of 64, global sizes rounded up to whole ones")
    assert proof.proposal.change is not None
    assert proof.proposal.change.global_size[0].text("count") == "(count + 63) / 64 * 64"


@pytest.mark.parametrize(
    "text",
    [
        ODD.replace("    if (i < n)\n", ""),
        ODD.replace("i < n", "i < n && n == get_global_size(0)"),
        kernels.NARROW.replace("y = get_global_id(1)", "y = get_group_id(1) * 16 + get_local_id(1)"),
        kernels.NARROW.replace("__kernel", "__attribute__((reqd_work_group_size(4, 16, 1))) __kernel"),
        kernels.MATMUL.replace("float sum", "__local float s[4]; float sum"),
    ],
    ids=["no guard", "asks for the size", "local ids", "required", "local memory"],
)
def test_groups_stay_as_they_are(text: str):
    assert proposed(text, "group-shape") == []
