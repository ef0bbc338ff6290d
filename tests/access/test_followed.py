"""Counters of narrow types, private arrays at indices that vary, and pointers that may be null."""

from __future__ import annotations

import pytest
from reading import access_of, accesses_of, body, launch_of, summary_of, values

from clmap_lsp.access.analyse import analyse
from clmap_lsp.source.read import read_program

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


PAIR = "typedef struct { int w, h, deep[3]; } box_t;\n"
BY_VALUE = "__global int *A, __global int *B, int N, box_t box"


def test_members_of_an_argument_that_is_copied() -> None:
    """All were taken for the first: `b.h` of a copy was `box.w`."""
    text = PAIR + "int at(box_t b, int x) { return x*b.h + b.deep[2]; }\n"
    access = access_of(text + body("A[at(box, x)] = 0;", BY_VALUE), "A")
    assert access.index_text == "x*box.h + box.deep[2]"
    access = access_of(PAIR + body("box_t b = box; b.w = 1; A[b.h*x + b.w] = 0;", BY_VALUE), "A")
    assert access.index_text == "x*box.h + 1"


def test_buffers_that_change_places() -> None:
    text = body(
        "__global int *from = A, *to = B; for (int i = 0; i < N; i++)"
        "{ to[x + i] = from[x]; __global int *t = from; from = to; to = t; } from[x] = 1;",
        INTS,
    )
    shown = [(it.direction.value, it.place_text, it.guard_text) for it in summary_of(text)]
    assert shown == [
        ("load", "A[x]", "i%2 == 0"),
        ("load", "B[x]", "i%2 != 0"),
        ("store", "B[x + i]", "i%2 == 0"),
        ("store", "A[x + i]", "i%2 != 0"),
        ("store", "A[x]", "max(N, 0)%2 == 0"),
        ("store", "B[x]", "max(N, 0)%2 != 0"),
    ]


def test_three_numbers_that_change_places() -> None:
    text = body(
        "int a = 1, b = 2, c = 3; for (int i = 0; i < N; i++) { A[a] = 0; int t = a; a = b; b = c; c = t; }"
    )
    access = access_of(text, "A")
    assert access.known
    launch = launch_of((1,), (1,), N=9)
    assert [values(access.index, launch, i=turn).item() for turn in range(5)] == [1, 2, 3, 1, 2]


def test_a_buffer_chosen_by_the_iteration_before() -> None:
    text = body(
        "__local int s[64], t[64]; __local int *v = s; int flip = 0;"
        "for (int i = 0; i < N; i++) { v[lx] = A[i]; flip = 1 - flip; v = flip ? t : s; }",
        INTS,
    )
    stores = [it for it in summary_of(text) if it.direction.value == "store"]
    assert [it.place_text for it in stores] == ["t[lx]", "s[lx]"]
    launch = launch_of((1,), (1,), N=9)
    for store, runs in zip(stores, ([0, 1, 0, 1], [1, 0, 1, 0]), strict=True):
        (guard,) = store.guard
        assert [values(guard, launch, i=turn).item() != 0 for turn in range(4)] == runs


def test_an_exchange_that_not_every_iteration_makes() -> None:
    text = body(
        "__global int *from = A, *to = B; for (int i = 0; i < N; i++)"
        "{ from[i] = 0; if (to[i]) { __global int *t = from; from = to; to = t; } }",
        INTS,
    )
    assert all(it.unknown for it in summary_of(text) if it.direction.value == "store")


def test_what_assembly_gives_comes_from_its_operands() -> None:
    """It was taken for an argument of the name `asm`, the same for every work-item."""
    text = body('int z; __asm__ volatile("bfind.u32 %0, %1;" : "=r"(z) : "r"(B[x])); A[z] = 0;', INTS)
    access = analyse(read_program(text, "k.cl").kernel("k")).of_buffer("A")[0]
    assert access.unknown == "it is the result of inline assembly"
    assert access.sources == ("B",)
    text = body('int z = N; __asm__("add %0, %0, 1;" : "+r"(z)); A[z] = 0;', INTS)
    access = analyse(read_program(text, "k.cl").kernel("k")).of_buffer("A")[0]
    assert not access.known and not access.sources
    text = body('int z; __asm__("ld.global.u32 %0, [%1];" : "=r"(z) : "l"(B + x)); A[z] = 0;', INTS)
    access = analyse(read_program(text, "k.cl").kernel("k")).of_buffer("A")[0]
    assert not access.sources


def test_a_call_without_pointers_leaves_private_arrays_alone() -> None:
    text = body("int s[2]; s[0] = N; s[1] = unheard_of(x); A[s[0]] = 0;", INTS)
    access = analyse(read_program(text, "k.cl").kernel("k")).of_buffer("A")[0]
    assert access.index_text == "N"


KEPT = "typedef struct { __local int *data; int n; } kept_t;\n"


def test_a_pointer_kept_in_local_memory() -> None:
    """Which buffer it leads to was not known."""
    text = KEPT + body(
        "__local int L[64]; __local kept_t k; if (!lx) k.data = L; barrier(1); k.data[x] = N;", INTS
    )
    access = access_of(text, "L")
    assert access.unknown == "the pointer is read from `k`"
    assert access.sources == ("k",)


@pytest.mark.parametrize(
    "others",
    [
        "__local int M2[4]; if (N) k.data = M2;",
        "unheard_of(&k);",
    ],
)
def test_a_pointer_kept_where_others_may_be(others: str) -> None:
    text = KEPT + body(f"__local int L[64]; __local kept_t k; k.data = L; {others} k.data[x] = N;", INTS)
    summary = analyse(read_program(text, "k.cl").kernel("k"))
    assert not summary.of_buffer("L")
    assert summary.of_buffer("?")


DUFF = """int c = (N + 3) / 4, k = 0, s = 0;
  switch (N % 4) {
  case 0: do { s += A[k*M + x]; k++;
  case 3: s += A[k*M + x]; k++;
    } while (--c > 0);
  }
  B[x] = s;"""


def test_a_loop_that_jumps_lead_into() -> None:
    """Its index was said to be known, for one of the ways into it."""
    summary = summary_of(body(DUFF, INTS))
    for access in summary.of_buffer("A"):
        assert access.unknown is not None and "goto" in access.unknown
        assert access.guard_unknown
    (store,) = summary.of_buffer("B")
    assert store.index_text == "x"


def _long(last: str) -> str:
    """Return functions of which a kernel cannot hold all the calls, and a kernel that makes one call more."""
    levels = ["int f0(int v) { v += 3; v ^= v << 5; v *= 7; return v; }"]
    levels += [f"int f{n}(int v) {{ {f'v = f{n - 1}(v);' * 5} return v; }}" for n in range(1, 7)]
    text = "int g(int v, __global int *p, int *into) { *into = p[v]; return v * 2; }\n" + "\n".join(levels)
    parameters = "__global int *A, __global int *B, __global int *C, __global int *D, int N"
    return text + body(f"int s[2] = {{1, 2}}; int v = f6(A[x]); D[v] = 1; {last}", parameters)


def test_what_a_function_that_is_not_followed_any_more_is_given() -> None:
    """Its results were said to come from anywhere."""
    program = read_program(_long("int w = g(v, B, s); C[w] = 0; C[s[0] + x] = 0;"), "k.cl")
    kernel = program.kernel("k")
    assert kernel is not None
    summary = analyse(kernel)
    assert [it.sources for it in summary.of_buffer("C")] == [("A", "B"), ("A", "B")]
