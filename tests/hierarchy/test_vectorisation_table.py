"""Table 3 of the paper: patterns, transformations and Q_V of five loops, from our own writing of them."""

from __future__ import annotations

import pytest
from nests import analysed, kernel, loop

from clmap_lsp.hierarchy.vectorise import Group, vectorise

TABLE = [
    ("livermore.c", "hydro_fragment", 100.0, {"linear", "shifted"}, {"duplicate", "shifting"}),
    (
        "livermore.c",
        "linear_recurrence",
        100.0,
        {"linear", "shifted", "reverse linear"},
        {"duplicate", "shifting", "reversing"},
    ),
    ("nas.c", "cholesky_scale", 100.0, {"linear", "non-unit stride"}, {"dimension switch (3D)"}),
    ("nas.c", "vpenta_scale", 100.0, {"linear", "non-unit stride"}, {"dimension switch (2D)"}),
]


@pytest.mark.parametrize(("file", "name", "qv", "patterns", "transformations"), TABLE)
def test_row_of_the_table(
    file: str, name: str, qv: float, patterns: set[str], transformations: set[str]
) -> None:
    found = vectorise(loop(file, name))
    assert found.qv_percent == qv
    assert found.best is not None
    assert set(found.best.patterns) == patterns
    assert set(found.best.transformations) == transformations


def test_matrix_multiply_has_three_groups_of_two() -> None:
    found = vectorise(loop("matmul.c", "matrix_multiply"))
    assert found.qv_percent == pytest.approx(66.6, abs=0.1)
    assert {frozenset(it.array for it in group.instances) for group in found.groups} == {
        frozenset("AB"),
        frozenset("AC"),
        frozenset("BC"),
    }
    chosen = next(it for it in found.groups if {i.array for i in it.instances} == {"A", "B"})
    assert set(chosen.patterns) == {"linear", "non-unit stride"}
    assert chosen.transformations == ("dimension switch (2D)",)
    # The paper takes {A, B} arbitrarily; B and C need no transformation at all and come first.
    assert found.best is not None
    assert not found.best.transformations


def shifts(group: Group) -> dict[str, int | None]:
    return {it.instance.accesses[0].index_text: it.shift[-1].value for it in group.rules}


def test_the_shifts_of_the_hydrodynamics_fragment_are_the_papers() -> None:
    best = vectorise(loop("livermore.c", "hydro_fragment")).best
    assert best is not None
    assert shifts(best) == {"k": 0, "k + 10": -10, "k + 11": -11}
    assert best.duplicated == ("z",)
    assert best.overhead.copied == 0
    assert not best.hazards


def test_a_duplicated_array_that_is_written_is_a_hazard() -> None:
    best = vectorise(loop("livermore.c", "linear_recurrence")).best
    assert best is not None
    assert [it.array for it in best.hazards] == ["b5"]


NESTS = {
    "reverse": ("for (int i = 0; i < 64; i++) X[i] = Y[63 - i] + 1;", "reverse linear", "reversing", [[-1]]),
    "stride": (
        "for (int i = 0; i < 64; i++) X[i] = Y[2 * i] + 1;",
        "non-unit stride",
        "gather of stride 2",
        None,
    ),
}


@pytest.mark.parametrize("name", NESTS)
def test_the_papers_small_examples(name: str) -> None:
    body, pattern, step, _ = NESTS[name]
    text = f"void f(float X[64], const float Y[128])\n{{\n// clmap: work-item(0)\n{body}\n}}\n"
    (found,) = analysed(text).kernels
    best = vectorise(found).best
    assert best is not None
    assert vectorise(found).qv_percent == 100.0
    assert pattern in best.patterns
    assert best.transformations == (step,)


def test_an_overlap_is_taken_away_with_the_row() -> None:
    text = """
    void f(float X[64][64], const float Y[64][128])
    {
        for (int i = 0; i < 64; i++)
            // clmap: work-item(0)
            for (int j = 0; j < 64; j++)
                X[i][j] = Y[i][i + j] + 1;
    }"""
    best = vectorise(analysed(text).kernels[0]).best
    assert best is not None
    rule = next(it for it in best.rules if it.instance.array == "Y")
    assert rule.patterns == ("overlapping",)
    assert [[int(it) for it in row] for row in rule.matrix] == [[1, 0], [-1, 1]]


def test_an_overlap_in_one_dimension_cannot_be_taken_away() -> None:
    text = """
    void f(float X[64][64], const float *Y)
    {
        for (int i = 0; i < 64; i++)
            // clmap: work-item(0)
            for (int j = 0; j < 64; j++)
                X[i][j] = Y[i + j] + 1;
    }"""
    found = vectorise(analysed(text).kernels[0])
    assert found.qv_percent == 50.0


def test_data_dependent_indices_are_left_out_with_the_reason() -> None:
    text = """
    // clmap: global=256 local=64 a=zeros(256) at=permutation(256) out=zeros(256)
    __kernel void f(__global const float *a, __global const int *at, __global float *out)
    {
        const int i = get_global_id(0);
        out[i] = a[at[i]];
    }"""
    found = vectorise(kernel(text))
    assert found.qv_percent == pytest.approx(66.7, abs=0.1)
    ((left, why),) = found.left_out
    assert left.array == "a"
    assert "not affine" in why


def test_one_offset_for_all_needs_no_shift() -> None:
    text = """
    void f(float X[64], const float Y[64])
    {
        // clmap: work-item(0)
        for (int i = 1; i < 63; i++)
            X[i] = Y[i];
    }"""
    best = vectorise(analysed(text).kernels[0]).best
    assert best is not None
    assert not best.transformations
