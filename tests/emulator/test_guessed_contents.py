"""Races that hang on what a buffer holds, where nobody said what it holds."""

from __future__ import annotations

import re

import pytest

from clmap_lsp.config.model import Settings
from clmap_lsp.emulator.result import EmulationResult, FaultKind, Grounds
from clmap_lsp.workbench.workbench import Workbench

SCATTER = """
__kernel void k(__global const int *to, __global float *out) {
    int i = get_global_id(0);
    out[to[i]] = i;
}
"""
WIDTH_IN_A_BUFFER = """
__kernel void k(__global const int *width, __global float *out) {
    int w = *width;
    out[get_global_id(1) * w + get_global_id(0)] = get_global_id(0) + 7 * get_global_id(1);
}
"""
TWO_WIDTHS = """
__kernel void k(__global const int *width, __global const int *height, __global float *out) {
    int w = *width, h = height[0], z = get_global_id(2);
    out[(z * h + get_global_id(1)) * w + get_global_id(0)] = z + get_global_id(0) + 7 * get_global_id(1);
}
"""
COUNTS = """
__kernel void k(__global const int *of, __global int *out) {
    out[of[get_global_id(0)] & 3]++;
}
"""
ALL_IN_ONE = """
__kernel void k(__global const int *of, __global int *out) {
    out[0] = of[get_global_id(0)] + get_global_id(0);
}
"""


def _emulated(text: str, comment: str = "") -> EmulationResult:
    file = Workbench().open_text("k.cl", comment + text, Settings(), looks_beside=False, reads_hosts=False)
    (kernel,) = file.analysis.kernels
    result = file.run(kernel.kernel, kernel.launch)
    assert isinstance(result, EmulationResult)
    return result


@pytest.mark.parametrize("text", [WIDTH_IN_A_BUFFER, TWO_WIDTHS])
def test_writes_where_a_guessed_buffer_says_race_only_if_it_says_so(text: str) -> None:
    second = text.replace("*width", "width[1]").replace("height[0]", "height[1]")
    races = [it for it in _emulated(second).faults if it.kind is FaultKind.DATA_RACE]
    assert races
    assert {it.grounds for it in races} == {Grounds.CONTENTS}
    assert all(re.match(r"if `(width|height)` holds what was guessed for it: ", it.detail) for it in races)


@pytest.mark.parametrize("text", [WIDTH_IN_A_BUFFER, TWO_WIDTHS])
def test_a_buffer_of_one_number_is_taken_to_hold_a_size(text: str) -> None:
    assert not _emulated(text).faults


@pytest.mark.parametrize("text", [COUNTS, ALL_IN_ONE])
def test_races_that_no_contents_prevent_are_said_outright(text: str) -> None:
    races = [it for it in _emulated(text).faults if it.kind is FaultKind.DATA_RACE]
    assert races
    assert not any(it.grounds.is_guess for it in races)


def test_given_contents_are_no_guess() -> None:
    comment = "// clmap: global=256 local=64 to=zeros(256)\n"
    races = [it for it in _emulated(SCATTER, comment).faults if it.kind is FaultKind.DATA_RACE]
    assert races
    assert not any(it.grounds.is_guess for it in races)


FIRST_OF_A_ROW = """
__kernel void k(__global const int *rows, __global const float *a, __global float *out, int n) {
    int id = get_global_id(0), first = -1;
    for (int i = id; i < n; i++)
        if (rows[i] == id && first == -1) first = i;
    out[id] = a[first];
}
"""
GATHERED_FROM_LOCAL = """
__kernel void k(__global const int *from, __global float *out) {
    __local float t[64];
    int l = get_local_id(0);
    if (l < 8) t[l] = l;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = t[from[get_global_id(0)] & 63];
}
"""


@pytest.mark.parametrize(
    ("text", "kind"),
    [(FIRST_OF_A_ROW, FaultKind.OUT_OF_BOUNDS_READ), (GATHERED_FROM_LOCAL, FaultKind.UNINITIALISED_READ)],
)
def test_places_that_guessed_contents_decide_on_say_so(text: str, kind: FaultKind) -> None:
    comment = "// clmap: global=256 local=64\n"
    found = [it for it in _emulated(text, comment).faults if it.kind is kind]
    assert found
    assert {it.grounds for it in found} == {Grounds.CONTENTS}


ALWAYS_ASTRAY = """
__kernel void k(__global const int *flags, __global float *out) {
    int id = get_global_id(0), at = id - 1;
    if (flags[id]) { float mine = 1; out[id] = mine; }
    out[at] = 2;
}
"""
COUNTS_IN_UNSET_BINS = """
__kernel void k(__global const int *of, __global int *out) {
    __local int bins[64];
    bins[of[get_global_id(0)] & 63]++;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = bins[get_local_id(0)];
}
"""


@pytest.mark.parametrize(
    ("text", "kind"),
    [(ALWAYS_ASTRAY, FaultKind.OUT_OF_BOUNDS_WRITE), (COUNTS_IN_UNSET_BINS, FaultKind.UNINITIALISED_READ)],
)
def test_what_no_contents_prevent_stays_loud(text: str, kind: FaultKind) -> None:
    comment = "// clmap: global=256 local=64\n"
    found = [it for it in _emulated(text, comment).faults if it.kind is kind]
    assert found
    assert Grounds.KNOWN in {it.grounds for it in found}


PARTS_OF_A_BUFFER = """
__kernel void k(__global const uint *info, __global float *out, uint n) {
    uint width = info[0], i = get_global_id(0);
    out[i] = i / width + i % (info[1] * width) + i % n;
}
"""


def test_division_by_what_a_guessed_buffer_holds_says_so() -> None:
    comment = "// clmap: global=256 local=64 n=0 info=zeros(2)\n"
    given = _emulated(PARTS_OF_A_BUFFER, comment).faults
    assert {it.grounds for it in given if it.kind is FaultKind.DIVISION_BY_ZERO} == {Grounds.KNOWN}
    faults = _emulated(PARTS_OF_A_BUFFER, "// clmap: global=256 local=64 n=0\n").faults
    divisions = [it for it in faults if it.kind is FaultKind.DIVISION_BY_ZERO]
    assert [it.grounds for it in divisions if "info" not in it.detail] == [Grounds.KNOWN]
    assert all(it.grounds is Grounds.CONTENTS for it in divisions if "info" in it.detail)


SWEEP = """
struct cell { uint row, column; };
__kernel void k(__global const struct cell *cells, __global float *flux) {
    size_t cell = cells[get_global_id(1)].row * 64 + cells[get_global_id(1)].column;
    size_t i = cell * get_global_size(0) + get_global_id(0);
    float value = get_global_id(1) + 2 * flux[i];
    flux[i] = value * 3;
}
"""


def test_a_sweep_over_cells_that_a_buffer_lists_adds_nothing_to_them() -> None:
    races = [it for it in _emulated(SWEEP).faults if it.kind is FaultKind.DATA_RACE]
    assert races and all(it.grounds is Grounds.CONTENTS for it in races)
    sums = SWEEP.replace("value * 3", "value + 3").replace("2 * flux", "flux")
    races = [it for it in _emulated(sums).faults if it.kind is FaultKind.DATA_RACE]
    assert races and all(it.grounds is not Grounds.CONTENTS for it in races)


NEAREST_IN_A_TREE = """
__kernel void k(__global const int *leaf, __global const int *child, __global const float *at,
                __global float *out) {
    int id = get_global_id(0), cell = 0;
    float distance;
    while (cell >= 0) {
        if (leaf[cell] != -1) {
            out[id] = distance + leaf[cell];
            cell = -1;
        } else {
            cell = child[cell];
            if (cell != -1) distance = at[cell];
        }
    }
}
"""


def test_a_value_that_only_a_mark_in_a_buffer_leaves_out_is_no_warning() -> None:
    reads = [it for it in _emulated(NEAREST_IN_A_TREE).faults if it.kind is FaultKind.UNINITIALISED_READ]
    assert reads and all(it.grounds is Grounds.CONTENTS for it in reads)
    always = NEAREST_IN_A_TREE.replace("if (leaf[cell] != -1)", "if (id < 3)")
    reads = [it for it in _emulated(always).faults if it.kind is FaultKind.UNINITIALISED_READ]
    assert reads and all(it.grounds is not Grounds.CONTENTS for it in reads)
