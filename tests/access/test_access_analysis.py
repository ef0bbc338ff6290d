"""What the analysis derives from kernels: indices, loops, guards, pointers, vectors, structs."""

from __future__ import annotations

import numpy as np
import pytest
from reading import access_of, accesses_of, body, launch_of, summary_of, values

from clmap_lsp.access.environment import launch_environment
from clmap_lsp.access.evaluate import evaluate
from clmap_lsp.access.records import Access, Direction
from clmap_lsp.source.types import AddressSpace

MATMUL = """__kernel void mm(__global const float *A, __global const float *B, __global float *C, int N) {
  int x = get_global_id(0), y = get_global_id(1);
  float sum = 0;
  for (int k = 0; k < N; k++) sum += A[y * N + k] * B[k * N + x];
  C[y * N + x] = sum;
}
"""


def test_matrix_multiply() -> None:
    summary = summary_of(MATMUL)
    assert [(it.buffer, it.direction.value, it.index_text) for it in summary] == [
        ("A", "load", "y*N + k"),
        ("B", "load", "k*N + x"),
        ("C", "store", "y*N + x"),
    ]
    (loop,) = summary.loops
    assert (loop.name, str(loop.trip), str(loop.start), str(loop.step)) == ("k", "<N>", "<0>", "<1>")
    assert all(it.affine and not it.indirect for it in summary)


@pytest.mark.parametrize(
    ("statements", "text"),
    [
        ("B[0] = A[x];", "x"),
        ("B[0] = A[(x + y) * N + x];", "(y + x)*N + x"),
        ("B[0] = A[(y - 1) * N + x + 1];", "(y - 1)*N + x + 1"),
        ("B[0] = A[N - 1 - x];", "N - x - 1"),
        ("B[0] = A[x / 4 * 512 + x % 4];", "x/4*512 + x%4"),
        ("B[0] = A[x / 4 * 4 + x % 4];", "x"),
        ("B[0] = A[(1 << N) * (x / (1 << N))];", "(1 << N%32)*(x/(1 << N%32))"),
        ("B[0] = A[(x / N) * (y / M)];", "x/N*(y/M)"),
        ("B[0] = A[(x & ~3) + (x & 3)];", "x"),
        ("B[0] = A[(x << 2) | 3];", "x*4 + 3"),
        ("B[0] = A[(x >> 3) & 7];", "x/8%8"),
        ("B[0] = A[x ^ 5];", "x ^ 5"),
        ("B[0] = A[min(x, N - 1)];", "min(x, N - 1)"),
        ("B[0] = A[clamp(x, 0, N)];", "min(x, N)"),
        ("B[0] = A[x < N ? x : 0];", "x < N ? x : 0"),
        ("int i = x; if (y > 0) i = x + 1; B[0] = A[i];", "x + (y > 0 ? 1 : 0)"),
        ("B[0] = A[mul24(y, N) + x];", "y*N + x"),
        ("B[0] = A[mad24(y, N, x)];", "y*N + x"),
        ("B[0] = A[(int)B[x]];", "(int)(B[x])"),
        ("int i = x; i += N; i *= 2; B[0] = A[i];", "x*2 + 2*N"),
        (
            "size_t i = get_global_id(0) + get_global_id(1) * get_global_size(0); B[0] = A[i];",
            "y*get_global_size(0) + x",
        ),
        ("B[0] = A[get_group_id(0) * get_local_size(0) + lx];", "get_group_id(0)*get_local_size(0) + lx"),
        ("B[0] = A[x % N];", "x%N"),
        ("B[0] = A[(y * N + x % N) / N];", "y"),
    ],
)
def test_index_in_the_authors_words(statements: str, text: str) -> None:
    assert access_of(body(statements), "A").index_text == text


LAUNCH = launch_of((32, 8), (8, 4), N=37, M=5)
X, Y = np.meshgrid(np.arange(32), np.arange(8))


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        ("for (int i = 0; i < 4; i++) B[0] = A[x + i];", [X + i for i in range(4)]),
        ("for (int i = 7; i >= 0; i -= 2) B[0] = A[x + i];", [X + i for i in (7, 5, 3, 1)]),
        ("for (int i = 7; i--;) B[0] = A[x + i];", [X + i for i in range(6, -1, -1)]),
        ("int i = 10; while (i > 3) { B[0] = A[i]; i -= 3; }", [X * 0 + i for i in (10, 7, 4)]),
        ("int i = 0; do { B[0] = A[i + x]; i += 2; } while (i < 5);", [X + i for i in (0, 2, 4)]),
        ("int i = 9; do { B[0] = A[i + x]; i += 2; } while (i < 5);", [X + 9]),
        ("int i = 0; do { B[0] = A[i + x]; } while (++i < M);", [X + i for i in range(5)]),
        ("int i = 0; do { B[0] = A[i + x]; } while (i++ < M);", [X + i for i in range(6)]),
        ("int i = M; do { B[0] = A[i + x]; } while (--i);", [X + i for i in (5, 4, 3, 2, 1)]),
        ("int i = M; do { B[0] = A[i + x]; } while (i--);", [X + i for i in (5, 4, 3, 2, 1, 0)]),
        ("int i = 9; do { B[0] = A[i + x]; } while (++i < M);", [X + 9]),
        ("for (int s = 1; s < 20; s *= 2) B[0] = A[x * s];", [X * s for s in (1, 2, 4, 8, 16)]),
        ("for (int s = 16; s > 0; s >>= 1) B[0] = A[x + s];", [X + s for s in (16, 8, 4, 2, 1)]),
        ("for (uint s = 27; s > 0; s /= 3) B[0] = A[x + s];", [X + s for s in (27, 9, 3, 1)]),
        ("for (int s = 1; s <= M; s <<= 1) B[0] = A[s];", [X * 0 + s for s in (1, 2, 4)]),
        ("for (int s = N; s; s >>= 1) B[0] = A[s];", [X * 0 + s for s in (37, 18, 9, 4, 2, 1)]),
        ("for (int i = M; i < N; i += M) B[0] = A[i];", [X * 0 + i for i in range(5, 37, 5)]),
        ("for (int i = M; i != 0; i--) B[0] = A[i];", [X * 0 + i for i in range(5, 0, -1)]),
        (
            "__global float *p = A + x; for (int i = 0; i < 3; i++) { B[0] = *p; p += N; }",
            [X + 37 * i for i in range(3)],
        ),
        ("__global float *p = A + x; for (int i = 0; i < 3; i++) B[0] = *p++;", [X + i for i in range(3)]),
        ("int j = x; for (int i = 0; i < 4; i++) { B[0] = A[j]; j += i; }", [X, X, X + 1, X + 3]),
        (
            "int last = 5; for (int i = 0; i < 3; i++) { B[0] = A[last]; last = x + i; }",
            [X * 0 + 5, X, X + 1],
        ),
        ("int f = 0; for (int i = 0; i < 3; i++) { B[0] = A[f * 64 + x]; f = 1 - f; }", [X, X + 64, X]),
        ("int f = 0; for (int i = 0; i < 3; i++) { B[0] = A[f * 64 + x]; f ^= 1; }", [X, X + 64, X]),
        (
            "int f = 1; for (int i = 0; i < 4; i++) { B[0] = A[f]; f = (f + 1) % 3; }",
            [X * 0 + i for i in (1, 2, 0, 1)],
        ),
        ("for (int i = 0; i < 9; i++) { if (i >= 3) break; B[0] = A[i]; }", None),
        ("int i = 0; while (1) { if (i >= M) break; B[0] = A[i + y]; i++; }", [Y + i for i in range(5)]),
        (
            "for (int j = 0; j < 2; j++) for (int i = j; i < 3; i++) B[0] = A[j * 10 + i];",
            [X * 0 + it for it in (0, 1, 2, 11, 12)],
        ),
        ("int j = 0; for (int i = 0; i < 5; i++) j += 3; B[0] = A[x + j];", [X + 15]),
        ("int i; for (i = 0; i < M; i++) ; B[0] = A[x + i];", [X + 5]),
        ("int i; for (i = 0; i < M && N > 99; i++) ; B[0] = A[x + i];", [X]),
        ("int i; for (i = 0; i < M && N > 9; i++) ; B[0] = A[x + i];", [X + 5]),
        ("for (int i = x; i < 34; i += get_global_size(0)) B[0] = A[i];", None),
    ],
)
def test_loops_equal_running_them(statements: str, expected: list[np.ndarray] | None) -> None:
    access = access_of(body(statements), "A")
    seen = _every_turn(access)
    if expected is None:
        assert seen, "the loop must be enumerable"
        return
    assert len(seen) == len(expected)
    for got, want in zip(seen, expected, strict=True):
        assert np.array_equal(got, want)


def _every_turn(access: Access) -> list[np.ndarray]:
    from clmap_lsp.access.environment import turns_of

    environment = launch_environment(LAUNCH)
    return [
        np.broadcast_to(evaluate(access.index, turn), X.shape)
        for turn, _ in turns_of(access, environment, 1000)
    ]


def test_grid_stride_loop_has_trip_count_of_each_work_item() -> None:
    access = access_of(body("for (int i = x; i < N; i += get_global_size(0)) B[0] = A[i];"), "A")
    assert access.index_text == "i"
    (loop,) = access.loops
    assert loop.trip is not None
    trips = values(loop.trip, LAUNCH)
    assert np.array_equal(trips, np.broadcast_to(np.where(np.arange(32) < 5, 2, 1), X.shape))


@pytest.mark.parametrize(
    ("statements", "condition"),
    [
        ("if (x < N) B[0] = A[x];", X < 37),
        ("if (x >= M) return; B[0] = A[x];", X < 5),
        ("if (x >= M || y >= 3) return; B[0] = A[x];", (X < 5) & (Y < 3)),
        ("if (x % 2 == 0) B[0] = 1; else B[0] = A[x];", X % 2 == 1),
        ("float v = x > 3 ? A[x] : 0; B[0] = v;", X > 3),
        ("if (x > 1 && A[x] > 0) B[0] = 1;", X > 1),
        ("switch (x % 4) { case 0: return; case 1: case 2: break; default: B[0] = A[x]; }", X % 4 == 3),
        ("switch (y) { case 1: B[0] = 0; case 2: B[0] = A[x]; }", (Y == 1) | (Y == 2)),
        ("for (int i = 0; i < 1; i++) { if (x < 4) continue; B[0] = A[x]; }", X >= 4),
        ("if ((uint)(x - 1) < 4u) B[0] = A[x];", (X >= 1) & (X < 5)),
        ("if (x > 2) { if (y > 2) return; } B[0] = A[x];", ~((X > 2) & (Y > 2))),
        ("if (!(x < 3)) B[0] = A[x];", X >= 3),
    ],
)
def test_guards_hold_where_the_access_runs(statements: str, condition: np.ndarray) -> None:
    access = access_of(body(statements), "A")
    active = np.ones(X.shape, bool)
    for part in access.guard:
        active &= values(part, LAUNCH) != 0
    assert np.array_equal(active, np.broadcast_to(condition, X.shape))
    assert not access.guard_unknown


def test_what_a_break_hides_is_named() -> None:
    access = access_of(body("for (int i = 0; i < N; i++) { B[0] = A[i]; if (B[i] > 0) break; }"), "A")
    assert access.loops[0].exits_early
    assert any("left the loop" in reason for reason in access.guard_unknown)


def test_helper_functions_and_pointer_arguments() -> None:
    source = """float row(__global const float *p, int n, int step) {
  float s = 0;
  for (int j = 0; j < n; j++) { s += *p; p += step; }
  return s;
}
__kernel void k(__global const float *A, __global float *B, int N) {
  int i = get_global_id(0);
  B[i] = row(A + i, 16, N) + row(A + N, N, 1);
}
"""
    first, second = accesses_of(source, "A")
    assert first.index_text == "j*N + i"
    assert second.index_text == "j + N"
    assert [frame.function for frame in first.frames] == ["row"]


def test_early_return_of_a_helper_is_a_choice() -> None:
    source = """int at(int i, int n) { if (i < 0) return 0; if (i >= n) return n - 1; return i; }
__kernel void k(__global const float *A, __global float *B, int N) {
  int x = get_global_id(0);
  B[x] = A[at(x - 1, N)];
}
"""
    access = access_of(source, "A")
    launch = launch_of((32, 8), (8, 4), N=9)
    assert np.array_equal(values(access.index, launch), np.clip(X - 1, 0, 8))
    assert access.guard == ()


@pytest.mark.parametrize(
    ("statements", "text", "size", "kind"),
    [
        ("float4 v = vload4(x, A); B[0] = v.x;", "x", 16, "float4"),
        ("float4 v = vload4(0, A + 4 * x + 1); B[0] = v.x;", "x*4 + 1", 16, "float4"),
        ("float3 v = vload3(x, A); B[0] = v.x;", "x*3", 12, "float3"),
        ("vstore4((float4)(0), y, A);", "y", 16, "float4"),
        ("__global float4 *v = (__global float4 *)A; B[0] = v[x].y;", "x", 16, "float4"),
        ("__global int *v = (__global int *)A; B[0] = v[x + 1];", "x + 1", 4, "int"),
        ("__global uchar *v = (__global uchar *)A; B[0] = v[x];", "x", 1, "uchar"),
        ("int2 p = (int2)(x, y); B[0] = A[p.y * N + p.x];", "y*N + x", 4, "float"),
        ("int2 p = (int2)(x, y) + (int2)(1, 2); B[0] = A[p.y * N + p.x];", "(y + 2)*N + x + 1", 4, "float"),
        ("int4 p = (int4)(x, y, N, M); p.xy = p.yx; B[0] = A[p.s0 * p.z + p.s1];", "y*N + x", 4, "float"),
    ],
)
def test_vectors_and_casts(statements: str, text: str, size: int, kind: str) -> None:
    access = access_of(body(statements), "A")
    assert (access.index_text, access.size, access.element_type) == (text, size, kind)


def test_struct_members() -> None:
    source = """typedef struct { float x, y, z, w; int id; } P;
__kernel void k(__global const P *p, __global float *B) {
  int i = get_global_id(0);
  B[p[i].id] = p[i].z;
}
"""
    load, number = sorted(accesses_of(source, "p"), key=lambda it: str(it.type))
    assert str(load.offset) == "<get_global_id(0)*20 + 8>"
    assert number.index_text == "i*5 + 4"
    store = access_of(source, "B")
    assert store.indirect_through == ("p",)


def test_struct_arguments_are_parameters() -> None:
    source = """typedef struct { int width, height; } Size;
__kernel void k(__global const float *A, __global float *B, Size size) {
  int x = get_global_id(0), y = get_global_id(1);
  B[0] = A[y * size.width + x];
}
"""
    access = access_of(source, "A")
    assert access.index_text == "y*size.width + x"
    assert access.affine


def test_private_arrays_are_followed_at_constant_indices() -> None:
    statements = "int at[2]; at[0] = x; at[1] = y; B[0] = A[at[1] * N + at[0]];"
    assert access_of(body(statements), "A").index_text == "y*N + x"


def test_data_dependent_index_names_its_buffer() -> None:
    source = """__kernel void k(__global const float *A, __global float *B, __global const int *I) {
  int x = get_global_id(0);
  int j = I[x];
  for (int k = 0; k < 4; k++) B[x] += A[j * 4 + k];
}
"""
    access = access_of(source, "A")
    assert access.index_text == "I[x]*4 + k"
    assert access.indirect_through == ("I",)
    assert not access.affine
    assert access.unknown is None


def test_a_choice_of_buffers_gives_one_access_each() -> None:
    source = body("__global float *p = x < N ? A : B; p[x] = 1;")
    first, second = summary_of(source)
    assert (first.buffer, second.buffer, first.site) == ("A", "B", second.site)
    assert (first.guard_text, second.guard_text) == ("x < N", "x >= N")


def test_local_memory_and_atomics() -> None:
    source = """__kernel void k(__global const int *A, __global int *C, __local int *h) {
  __local int t[16][17];
  int lx = get_local_id(0), ly = get_local_id(1);
  t[ly][lx] = A[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&h[t[lx][ly]], 1);
  atomic_inc(&C[lx]);
}
"""
    summary = summary_of(source)
    store, load = summary.of_buffer("t")
    assert (store.index_text, load.index_text) == ("ly*17 + lx", "lx*17 + ly")
    assert store.space is AddressSpace.LOCAL
    assert [str(it.index) for it in store.subscripts] == ["<get_local_id(1)>", "<get_local_id(0)>"]
    (atomic,) = summary.of_buffer("h")
    assert (atomic.direction, atomic.indirect_through) == (Direction.ATOMIC, ("t",))
    assert access_of(source, "C").direction is Direction.ATOMIC


def test_async_copies_run_over_their_elements() -> None:
    source = """__kernel void k(__global const float *A, __global float *B, __local float *t, int N) {
  event_t e = async_work_group_copy(t, A + get_group_id(0) * N, N, 0);
  wait_group_events(1, &e);
  B[get_global_id(0)] = t[get_local_id(0)];
}
"""
    load = access_of(source, "A")
    assert load.cooperative
    assert load.index_text == "get_group_id(0)*N + element"
    store, _ = accesses_of(source, "t")
    assert (store.direction, store.cooperative) == (Direction.STORE, True)


def test_async_copies_of_planes_run_over_planes_lines_and_elements() -> None:
    source = """__kernel void k(__global const float *A, __global float *B, __local float *t, int N) {
  event_t e = async_work_group_copy_3D3D(t, 3, A, N, sizeof(float), 8, 4, 2, N, N * N, 9, 36, 0);
  wait_group_events(1, &e);
  B[get_global_id(0)] = t[get_local_id(0)];
}
"""
    load = access_of(source, "A")
    assert load.cooperative
    assert load.index_text == "plane*N*N + (line + 1)*N + element"
    assert [(it.name, str(it.trip)) for it in load.loops] == [
        ("plane", "<2>"),
        ("line", "<4>"),
        ("element", "<8>"),
    ]
    store, _ = accesses_of(source, "t")
    assert (store.direction, store.index_text) == (Direction.STORE, "plane*36 + line*9 + element + 3")


def test_what_is_not_known_says_why() -> None:
    statements = "int r = 0; for (int b = 0; b < N; b++) r |= ((x >> b) & 1) << (N - 1 - b); B[0] = A[r];"
    access = access_of(body(statements), "A")
    assert access.unknown is not None
    assert "`r` is carried" in access.unknown
    assert access.index_text == "?"


def test_short_loops_without_a_closed_form_are_followed_turn_by_turn() -> None:
    statements = "int r = 0; for (int b = 0; b < N; b++) r |= ((x >> b) & 1) << (N - 1 - b); B[0] = A[r];"
    launch = launch_of((32, 8), (8, 4), N=5, M=1)
    access = access_of(body(statements), "A", launch)
    reversed_bits = [int(f"{x:05b}"[::-1], 2) for x in range(32)]
    assert np.array_equal(values(access.index, launch), np.broadcast_to(reversed_bits, X.shape))


def test_floating_point_indices_are_evaluated() -> None:
    source = """__kernel void k(__global const float *A, __global float *B, float scale) {
  int x = get_global_id(0);
  int s = (int)floor((x + 0.5f) * scale);
  B[x] = A[s];
}
"""
    access = access_of(source, "A")
    from clmap_lsp.access.polynomial import Parameter, global_id

    got = evaluate(access.index, {global_id(0): np.arange(10), Parameter("scale"): 0.25})  # type: ignore[dict-item]
    assert np.array_equal(got, np.floor((np.arange(10) + 0.5) * 0.25).astype(int))


def test_hashes_wrap_as_unsigned_integers_do() -> None:
    access = access_of(body("uint h = x; h = h * 1664525u + 1013904223u; B[0] = A[h % 1024u];"), "A")
    expected = (X.astype(np.uint64) * 1664525 + 1013904223) % (1 << 32) % 1024
    assert np.array_equal(values(access.index, LAUNCH), expected)


def test_negative_operands_divide_as_in_c() -> None:
    access = access_of(body("B[0] = A[(x - 20) / 3 + 7 * ((x - 20) % 3)];"), "A")
    shifted = X - 20
    expected = np.trunc(shifted / 3).astype(int) + 7 * np.fmod(shifted, 3)
    assert np.array_equal(values(access.index, LAUNCH), expected)


def test_a_launch_sharpens_but_keeps_symbols() -> None:
    statements = "B[0] = A[(x - 1) / 2 * N + x % 64];"
    without = access_of(body(statements), "A")
    with_launch = access_of(body(statements), "A", LAUNCH)
    assert without.index_text == "(x - 1)/2*N + x%64"
    assert with_launch.index_text == "(x - 1)/2*N + x"


def test_large_expressions_are_given_up_with_a_reason() -> None:
    steps = "".join(f"i = (i > {n} ? i ^ {n + 3} : i * i + y) % N;" for n in range(40))
    access = access_of(body(f"int i = x; {steps} B[0] = A[i];"), "A")
    assert access.unknown is not None
    assert "more steps" in access.unknown


def test_a_value_found_by_searching_is_not_followed_out_of_the_loop() -> None:
    source = """int find(__global const int *t, int n, int v) {
  for (int i = 0; i < n; i++) if (t[i] == v) return i;
  return -1;
}
__kernel void k(__global const int *T, __global const float *A, __global float *B, int N) {
  int x = get_global_id(0);
  int at = find(T, N, x);
  B[x] = A[at];
}
"""
    access = access_of(source, "A")
    assert access.unknown is not None
    assert access.indirect_through == ("T",)
    assert not any(getattr(leaf, "identity", None) == 1 for leaf in access.loops)


def test_code_after_a_loop_that_may_return_is_guarded() -> None:
    access = access_of(body("for (int i = 0; i < N; i++) { if (B[i] < 0) return; } B[0] = A[x];"), "A")
    assert access.index_text == "x"
    assert any("may have returned" in reason for reason in access.guard_unknown)


def test_a_null_pointer_is_no_choice() -> None:
    statements = "__global float *p = 0; if (N > 0) p = A + N; if (p) B[x] = p[x];"
    access = access_of(body(statements), "A")
    assert access.index_text == "x + N"


def test_pointers_kept_in_integers_are_followed() -> None:
    access = access_of(body("ulong p = (ulong)A; p += 4 * x; B[0] = *(__global float *)p;"), "A")
    assert access.index_text == "x"


@pytest.mark.parametrize("head", ["int i = 0; i < 0; i--", "int i = 9; i < 5; i--"])
def test_a_loop_that_never_starts_has_no_turns(head: str) -> None:
    (loop,) = summary_of(body(f"for ({head}) A[i] = 0;")).loops
    assert loop.trip is not None
    assert loop.trip.value == 0


BODIES = """typedef struct { float x, y; } Pair;
typedef struct { float4 pos; float mass; Pair uv[3]; struct { int a, b; }; uint8 tail; } Body;
__kernel void k(__global Body *p, __global float *o, __constant Body *c, int n, int m) {
  int i = get_global_id(0), j = get_global_id(1);
  __global Body *r = p + 2 * i;
  __global char *raw = (__global char *)p + 6;
  %s
}
"""


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("o[0] = p[i].mass;", "p[i].mass"),
        ("p[j * n + i].pos.y = 1;", "p[j*n + i].pos.y"),
        ("p[i].pos = 1;", "p[i].pos"),
        ("p[i].tail.s5 = 1;", "p[i].tail.s5"),
        ("p[i].uv[m].y = 1;", "p[i].uv[m].y"),
        ("(p + i)->uv[j + 1].x = 1;", "p[i].uv[j + 1].x"),
        ("r->b = 1;", "p[i*2].b"),
        ("r[1].mass = 1;", "p[i*2 + 1].mass"),
        ("o[0] = c->mass;", "c[0].mass"),
        ("((__global Body *)(raw + 1))->mass = 1;", None),
        ("o[i] = 1;", "o[i]"),
        ("(&p[i].mass)[1] = 1;", "p[i].mass[1]"),
    ],
)
def test_members_are_shown_as_members(statement: str, text: str | None) -> None:
    access = next(it for it in summary_of(BODIES % statement) if it.buffer != "o" or it.index_text == "i")
    assert access.place_text == (text or f"p[{access.index_text}]")
