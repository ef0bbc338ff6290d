"""Rows and columns, strides, alignment and reuse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading import access_of, accesses_of, body, classified, launch_of, summary_of

from clmap_lsp.access.delinearise import delinearise
from clmap_lsp.access.facts import Facts
from clmap_lsp.access.polynomial import ZERO, Parameter, Polynomial, global_id, poly
from clmap_lsp.access.reuse import reuse_of, touched
from clmap_lsp.access.strides import base_alignment, is_uniform, lane_stride, loop_stride
from clmap_lsp.access.wording import words

N = poly(Parameter("N"))


@pytest.mark.parametrize(
    ("statements", "columns", "entries", "offset", "pitches"),
    [
        ("B[x] = A[y * N + x];", "y x", ((1, 0), (0, 1)), ("0", "0"), ("N", "1")),
        ("B[x] = A[(y - 1) * N + x + 2];", "y x", ((1, 0), (0, 1)), ("-1", "2"), ("N", "1")),
        ("B[x] = A[(x + y) * N + x];", "y x", ((1, 1), (0, 1)), ("0", "0"), ("N", "1")),
        ("B[x] = A[y * 512 + x];", "y x", ((1, 0), (0, 1)), ("0", "0"), ("512", "1")),
        ("B[x] = A[(y - 1) * 512 + x + 1];", "y x", ((1, 0), (0, 1)), ("-1", "1"), ("512", "1")),
        (
            "for (int k = 0; k < N; k++) B[x] = A[k * N + x];",
            "y x k",
            ((0, 0, 1), (0, 1, 0)),
            ("0", "0"),
            ("N", "1"),
        ),
        (
            "for (int k = -3; k <= 3; k++) B[x] = A[y * N + x + k];",
            "y x k",
            ((1, 0, 0), (0, 1, 1)),
            ("0", "0"),
            ("N", "1"),
        ),
        (
            "for (int k = 0; k < 16; k++) B[x] = A[x * 16 + k];",
            "y x k",
            ((0, 1, 0), (0, 0, 1)),
            ("0", "0"),
            ("16", "1"),
        ),
        (
            "for (int z = 0; z < M; z++) B[x] = A[(z * N + y) * M + x];",
            "y x z",
            ((0, 0, 1), (1, 0, 0), (0, 1, 0)),
            ("0", "0", "0"),
            ("M*N", "M", "1"),
        ),
        (
            "for (int c = 0; c < 4; c++) B[x] = A[(y * N + x) * 4 + c];",
            "y x c",
            ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
            ("0", "0", "0"),
            ("N*4", "4", "1"),
        ),
        ("B[x] = A[x * 3 + 1];", "y x", ((0, 3),), ("1",), ("1",)),
        ("B[x] = A[M * N + y * N + x];", "y x", ((1, 0), (0, 1)), ("M", "0"), ("N", "1")),
        ("B[x] = A[y * N + x * M];", "y x", ((0, 1), (1, 0), (0, 0)), ("0", "0", "0"), ("M", "N", "1")),
        ("for (int i = x; i < N; i += 64) B[x] = A[i];", "y x turns of i", ((0, 1, 64),), ("0",), ("1",)),
    ],
)
def test_rows_and_columns(
    statements: str, columns: str, entries: tuple, offset: tuple[str, ...], pitches: tuple[str, ...]
) -> None:
    (found,) = classified(body(statements), "A")
    names = columns.replace("turns of i", "turns_of_i").split()
    spelt = {"x": "get_global_id(0)", "y": "get_global_id(1)", "turns_of_i": "turns of i"}
    assert found.columns == tuple(spelt.get(name, name) for name in names)
    assert found.entries == entries
    assert found.offset == offset
    assert tuple(it.replace("4*N", "N*4") for it in found.pitches) == pitches


@given(
    st.lists(st.integers(-3, 3), min_size=6, max_size=6),
    st.sampled_from(
        [Polynomial.constant(1), poly(Parameter("N")), poly(Parameter("N")) * poly(Parameter("M"))]
    ),
    st.booleans(),
)
def test_coordinates_times_pitches_are_the_index(
    numbers: list[int], pitch: Polynomial, numeric: bool
) -> None:
    a, b, c, d, e, f = numbers
    x, y = poly(global_id(0)), poly(global_id(1))
    row_pitch = Polynomial.constant(256) if numeric else pitch
    index = (a * x + b * y + c) * row_pitch + d * x + e * y + f
    layout = delinearise(index, Facts())
    total = sum((at * it for at, it in zip(layout.coordinates, layout.pitches, strict=True)), ZERO)
    assert total == index
    assert words(layout.pitches[-1]) == "1"


def test_group_and_local_ids_are_one_global_id_where_the_group_size_is_known() -> None:
    source = """__attribute__((reqd_work_group_size(16, 16, 1)))
__kernel void k(__global const float *A, __global float *B, int N) {
  int lx = get_local_id(0), ly = get_local_id(1);
  B[0] = A[(get_group_id(1) * 16 + ly) * N + get_group_id(0) * 16 + lx];
}
"""
    (found,) = classified(source, "A")
    assert found.columns == ("get_global_id(1)", "get_global_id(0)")
    assert found.entries == ((1, 0), (0, 1))
    assert found.map_name == "MAP-108"


def test_tiled_load_keeps_its_thread_part() -> None:
    source = """__kernel void k(__global const float *A, __global float *B, int N) {
  int r = get_global_id(1), lx = get_local_id(0);
  for (int i = 0; i < N / 16; i++) B[0] = A[r * N + i * 16 + lx];
}
"""
    (found,) = classified(source, "A")
    assert found.columns == ("get_global_id(1)", "get_local_id(0)", "i")
    assert found.entries == ((1, 0, 0), (0, 1, 16))
    assert found.emap == 8
    assert found.imap is None
    assert "steps of 16" in found.imap_reason


@pytest.mark.parametrize(
    ("index", "text"),
    [
        ("x", "side by side"),
        ("N - x", "side by side, backwards"),
        ("y * N + 3", "at the same address"),
        ("x * N + y", "N*4 bytes apart"),
        ("x * 3", "12 bytes apart"),
        ("-2 * x", "8 bytes apart, backwards"),
        ("x * (N + 1)", "(N + 1)*4 bytes apart"),
        ("x / 4 * 512 + x % 4", "side by side in runs of 4 work-items, then 2036 bytes on"),
        ("x / 4", "the same address for runs of 4 work-items, then side by side"),
        ("x / 8 * N", "different between work-items"),
        ("B[x]", "wherever `B` says"),
    ],
)
def test_strides_between_work_items(index: str, text: str) -> None:
    stride = lane_stride(
        access_of(body(f"B[x] = A[{index}];", "__global float *A, __global int *B, int N"), "A")
    )
    if "B[x]" in index:
        assert stride.words == "wherever `B` says"
    else:
        assert stride.words == text


def test_strides_of_rows_under_floor_division_equal_enumeration() -> None:
    access = access_of(body("B[x] = A[x / 4 * 512 + x % 4];"), "A")
    lanes = np.arange(65)
    truth = np.diff((lanes // 4 * 512 + lanes % 4) * 4)
    steps = lane_stride(access).steps
    assert [steps[at % len(steps)] for at in range(64)] == truth.tolist()


def test_strides_of_loops_and_uniformity() -> None:
    access = access_of(body("for (int k = 0; k < N; k += 2) B[x] = A[k * N + y];"), "A")
    assert loop_stride(access, access.loops[0]).words == "2*N*4 bytes apart"
    assert lane_stride(access, 0).is_uniform
    assert lane_stride(access, 1).is_contiguous
    assert not is_uniform(access)
    assert is_uniform(access_of(body("B[x] = A[N];"), "A"))


@pytest.mark.parametrize(
    ("index", "alignment"),
    [
        ("x", 64),
        ("x + 1", 4),
        ("x + 8", 32),
        ("y * N + x", 64),
        ("y * 24 + x", 32),
        ("0", 4096),
        ("x * 4 + 2", 8),
    ],
)
def test_alignment_of_the_first_work_item(index: str, alignment: int) -> None:
    access = access_of(body(f"B[x] = A[{index}];"), "A")
    launch = launch_of((64, 64), (16, 1), N=64, M=1)
    assert base_alignment(access, launch) == alignment


MATMUL = body(
    "float s = 0; for (int k = 0; k < N; k++) s += A[y * N + k] * B[k * N + x]; C[y * N + x] = s;",
    "__global float *A, __global float *B, __global float *C, int N",
)


def test_reuse_of_a_matrix_multiply() -> None:
    launch = launch_of((64, 64), (16, 16), N=64)
    a, b, c = reuse_of(summary_of(MATMUL), launch)
    row = 16 * 64 * 4
    assert (a.requested, a.distinct, a.factor) == (16 * row, row, 16.0)
    assert (b.requested, b.distinct, b.factor) == (16 * row, row, 16.0)
    assert (a.overlap, b.overlap) == ((row, 0), (0, row))
    assert (c.requested, c.distinct, c.overlap) == (1024, 1024, (0, 0))


def test_reuse_joins_overlapping_pieces_of_different_sizes() -> None:
    statements = "float4 v = vload4(0, A + x); B[x] = v.x + A[x + 1];"
    launch = launch_of((32,), (8,), N=1, M=1)
    (reuse, _) = reuse_of(summary_of(body(statements)), launch)
    assert reuse.requested == 8 * (16 + 4)
    assert reuse.distinct == (8 + 3) * 4
    assert reuse.overlap == (3 * 4,)


def test_reuse_counts_guarded_and_triangular_loops() -> None:
    statements = "for (int j = 0; j <= x; j++) if (j % 2 == 0) B[x] = A[x * N + j];"
    launch = launch_of((16,), (8,), N=16, M=1)
    (access,) = accesses_of(body(statements), "A")
    pieces = touched(access, launch, (1,))
    expected = sorted((x * 16 + j) * 4 for x in range(8, 16) for j in range(0, x + 1, 2))
    assert sorted(pieces[:, 0].tolist()) == expected
    assert set((pieces[:, 1] - pieces[:, 0]).tolist()) == {4}


def test_reuse_that_cannot_be_found_says_why() -> None:
    source = body("B[x] = A[(int)B[x]];", "__global float *A, __global int *B, int N")
    a = next(it for it in reuse_of(summary_of(source), launch_of((64,), (16,), N=1)) if it.buffer == "A")
    assert a.distinct is None
    assert "`B`" in a.reason
    huge = launch_of((1 << 20, 1), (1024, 1), N=1 << 20)
    assert "more than" in reuse_of(summary_of(MATMUL), huge)[0].reason
