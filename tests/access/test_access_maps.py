"""The papers' classes: all 80 combinations of eMAP and iMAP, and the factors of the 33 valid ones."""

from __future__ import annotations

from collections import Counter

import pytest
from map_kernels import source_of
from reading import body, classified

from clmap_lsp.access.maps import IMap, Map, emap_of

ALL_MAPS = [Map(emap, imap) for imap in IMap for emap in range(1, 17)]
VALID_MAPS = [it for it in ALL_MAPS if it.is_valid]
PUBLISHED = {
    IMap.SINGLE: {7, 8, 9, 10, 12, 13, 14, 15, 16},
    IMap.ROW: {4, 5, 11},
    IMap.COLUMN: {2, 3, 6},
    IMap.BLOCK: {7, 8, 9, 10, 12, 13, 14, 15, 16},
    IMap.NEIGHBOR: {7, 8, 9, 10, 12, 13, 14, 15, 16},
}
"""Table 3 of the paper."""


def test_valid_combinations_are_those_of_table_3() -> None:
    assert {imap: {it.emap for it in VALID_MAPS if it.imap is imap} for imap in IMap} == PUBLISHED
    assert len(VALID_MAPS) == 33
    assert len(ALL_MAPS) - len(VALID_MAPS) == 47


@pytest.mark.parametrize("pattern", VALID_MAPS, ids=lambda it: it.name)
def test_naive_kernel_of_a_valid_map_is_classified_as_it(pattern: Map) -> None:
    found = classified(source_of(pattern), "in")
    assert {it.map_name for it in found} == {pattern.name}
    assert {it.factors for it in found} == {pattern.factors}
    assert not any(it.map_reason for it in found)


@pytest.mark.parametrize("pattern", [it for it in ALL_MAPS if not it.is_valid], ids=lambda it: it.name)
def test_invalid_map_is_refused_with_the_papers_reason(pattern: Map) -> None:
    for it in classified(source_of(pattern), "in"):
        assert (it.emap, it.imap, it.map) == (pattern.emap, pattern.imap, None)
        assert pattern.refusal is not None
        assert it.map_reason.startswith(pattern.refusal)
        assert it.map_reason.startswith(("under-specified: ", "over-specified: "))


def test_examples_of_the_paper_have_its_reason() -> None:
    def refusal(imap: IMap, emap: int) -> str:
        return (Map(emap, imap).refusal or "").split(":")[0]

    assert refusal(IMap.SINGLE, 1) == "under-specified"
    assert refusal(IMap.ROW, 6) == "under-specified"
    assert refusal(IMap.ROW, 16) == "over-specified"


def test_factors_count_as_in_figure_10() -> None:
    counts = Counter((it.factors.reuse, it.factors.order_change) for it in VALID_MAPS)
    assert counts == {(True, False): 11, (False, True): 4, (True, True): 16, (False, False): 2}


def test_emap_numbers_are_one_to_one() -> None:
    assert [emap_of(Map(number, IMap.SINGLE).matrix) for number in range(1, 17)] == list(range(1, 17))
    assert emap_of(((2, 0), (0, 1))) is None


@pytest.mark.parametrize(
    ("statements", "emap", "imap", "reason"),
    [
        ("B[x] = A[2 * y * N + x];", None, "single", "row moves 2 for each t_y"),
        ("B[x] = A[y * N + 63 - x];", None, "single", "column runs against t_x"),
        ("B[x] = A[(x / 4) * N + y];", None, "single", "not linear in the ids"),
        ("for (int k = 0; k < N; k++) B[x] = A[k * N + y + k];", 3, None, "diagonal"),
        ("for (int k = 0; k < N; k += 16) B[x] = A[y * N + x + k];", 8, None, "steps of 16"),
        ("B[x] = A[y * N + x] + A[y * N + x + 2] + A[(y + 1) * N + x];", 8, None, "form no row"),
    ],
)
def test_what_fits_no_class_says_why(
    statements: str, emap: int | None, imap: str | None, reason: str
) -> None:
    (first, *_) = classified(body(statements), "A")
    assert first.emap == emap
    assert (first.imap.value if first.imap else None) == imap
    assert first.map is None
    assert reason in first.map_reason


@pytest.mark.parametrize(
    ("reads", "imap"),
    [
        ([(0, 0)], "single"),
        ([(j, i) for j in (-1, 0, 1) for i in (-1, 0, 1)], "block"),
        ([(j, i) for j in (-1, 0, 1) for i in (-1, 0, 1) if (j, i) != (0, 0)], "block"),
        ([(j, i) for j in (0, 1) for i in (0, 1)], "block"),
        ([(0, 0), (-1, 0), (1, 0), (0, -1), (0, 1)], "neighbor"),
        ([(-1, 0), (1, 0), (0, -1), (0, 1)], "neighbor"),
        ([(0, 0), *[(j, 0) for j in (-2, -1, 1, 2)], *[(0, i) for i in (-2, -1, 1, 2)]], "neighbor"),
        ([(0, -1), (0, 0), (0, 1)], "block"),
        ([(-1, 0), (0, 0), (1, 0)], "block"),
    ],
)
def test_accesses_of_one_array_are_taken_together(reads: list[tuple[int, int]], imap: str) -> None:
    total = " + ".join(f"A[(y + {j}) * N + x + {i}]" for j, i in reads)
    found = classified(body(f"B[y * N + x] = {total};"), "A")
    assert {it.imap.value if it.imap else None for it in found} == {imap}
    assert {it.emap for it in found} == {8}


@pytest.mark.parametrize(
    ("statements", "patterns"),
    [
        ("B[x] = A[x];", ("linear",)),
        ("B[x] = A[N - 1 - x];", ("reverse linear", "shifted")),
        ("B[x] = A[-x];", ("reverse linear",)),
        ("B[x] = A[x + 10];", ("shifted",)),
        ("for (int k = 0; k < N; k++) B[x] = A[x + k];", ("overlapping",)),
        ("B[x] = A[2 * x];", ("non-unit stride",)),
        ("B[x] = A[2 * x + 1];", ("shifted", "non-unit stride")),
        ("for (int k = 0; k < N; k += 2) B[x] = A[y * N + k];", ("non-unit stride",)),
        ("for (int k = N - 1; k >= 0; k--) B[x] = A[y * N + k];", ("reverse linear",)),
        ("B[x] = A[(int)B[x + N]];", ("random",)),
        ("B[x] = A[3];", ()),
    ],
)
def test_classes_of_jang(statements: str, patterns: tuple[str, ...]) -> None:
    (found,) = classified(body(statements), "A")
    assert found.patterns == patterns
