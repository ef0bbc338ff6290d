"""Counters of narrow types, private arrays at indices that vary, and pointers that may be null."""

from __future__ import annotations

import pytest
from reading import access_of, accesses_of, body, launch_of, summary_of, values

INTS = "__global int *A, __global int *B, int N, int M"


@pytest.mark.parametrize("kind", ["char", "uchar", "short", "ushort"])
def test_a_counter_of_few_bits_that_the_test_stops(kind: str) -> None:
    access = access_of(body(f"for ({kind} i = 0; i < N; i++) A[i*M + x] = 0;"), "A")
    assert access.known
    assert access.index_text == "i*M + x"
    assert [str(loop.trip) for loop in access.loops] == ["<N>"]


def test_one_that_counts_down() -> None:
    access = access_of(body("for (short i = 99; i >= 0; i -= 2) A[i] = 0;"), "A")
    assert access.known
    (loop,) = access.loops
    assert (str(loop.start), str(loop.step)) == ("<99>", "<-2>")


def test_what_rises_with_such_a_counter() -> None:
    """Not followed before: the counter was cut to its type in every iteration."""
    text = body("int at = x; for (ushort i = 0; i < N; i++) { A[at] = 0; at += M; }")
    access = access_of(text, "A")
    assert access.known
    assert values(access.index, launch_of((8,), (8,), N=4, M=10), i=3).tolist() == [30 + x for x in range(8)]


def test_one_that_nothing_stops_starts_again() -> None:
    text = body("uchar k = 250; for (int i = 0; i < N; i++) { A[k] = 0; k += 3; }")
    access = access_of(text, "A")
    assert access.known
    assert [values(access.index, launch_of((1,), (1,), N=9), i=turn).item() for turn in range(5)] == [
        *(250, 253, 0, 3, 6)
    ]


def test_one_that_its_test_cannot_stop() -> None:
    access = access_of(body("for (uchar i = 0; i < 256; i++) A[i] = 0;"), "A")
    (loop,) = access.loops
    assert loop.trip is None


def test_an_element_chosen_by_the_index() -> None:
    text = body("int s[3] = {N, M, N + M}; A[s[x]] = 0;", INTS)
    access = access_of(text, "A")
    assert access.known
    assert values(access.index, launch_of((3,), (3,), N=5, M=9)).tolist() == [5, 9, 14]


def test_a_store_that_changes_one_of_the_elements() -> None:
    text = body("int s[4] = {0, 1, 2, 3}; s[M] = x; A[s[0] + 10*s[1] + 100*s[2] + 1000*s[3]] = 0;", INTS)
    access = access_of(text, "A")
    assert access.known
    for chosen in range(4):
        digits = [0, 1, 2, 3]
        digits[chosen] = 7
        expected = sum(digit * 10**place for place, digit in enumerate(digits))
        assert values(access.index, launch_of((8,), (8,), M=chosen)).ravel()[7] == expected


def test_rows_and_columns_of_an_array() -> None:
    text = body("int s[2][2] = {{N, 1}, {2, 3}}; s[1][x & 1] = M; A[s[x & 1][1]] = 0;", INTS)
    access = access_of(text, "A")
    assert access.known
    assert values(access.index, launch_of((2,), (2,), N=50, M=60)).tolist() == [1, 60]


@pytest.mark.parametrize(
    "statements",
    [
        "int s[3]; s[0] = N; s[2] = M; A[s[x]] = 0;",  # the one between holds anything
        "int s[3] = {N, M, 1}; s[x] = B[x]; A[s[1]] = 0;",
        "int s[3] = {N, M, 1}; *(short *)((char *)s + x) = 7; A[s[1]] = 0;",
        "int s[40] = {1}; A[s[x]] = 0;",
    ],
)
def test_elements_that_are_not_known(statements: str) -> None:
    assert not access_of(body(statements, INTS), "A").known


def test_no_access_where_a_pointer_is_null() -> None:
    """A place of an unknown buffer was reported beside the only one there can be."""
    text = body("__global int *m = 0; if (N) m = B + M; if (m) A[x] = m[x];", INTS)
    summary = summary_of(text)
    assert [it.place_text for it in summary] == ["B[x + M]", "A[x]"]


def test_a_pointer_that_is_always_null_is_shown() -> None:
    (access,) = accesses_of(body("__global int *m = 0; A[x] = m[x];", INTS), "?")
    assert access.unknown == "the pointer is null"


def test_pointers_in_a_union() -> None:
    """What a pointer leads to is no part of how it is kept."""
    before = "typedef struct { union { __global int *ints; __global float *floats; }; int n; } u_t;\n"
    text = before + body("u_t u; u.ints = A + N; u.floats[x] = 0;", INTS)
    assert access_of(text, "A").index_text == "x + N"
    other = "typedef union { __global int *far; __local int *near; } u_t;\n"
    text = other + body("__local int L[4]; u_t u; u.far = A + N; u.near = L; u.far[x] = 0;", INTS)
    assert not accesses_of(text, "A")


