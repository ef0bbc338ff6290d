"""Launches from options, comments and the kernel itself."""

from __future__ import annotations

import pytest
from launch_helpers import read, refused, resolved

from clmap_lsp.launch import (
    BufferArgument,
    Fill,
    Launch,
    LaunchProblem,
    LocalArgument,
    Origin,
    PartialLaunch,
    ScalarArgument,
    as_comment,
    from_options,
    open_parts,
    resolve,
)

MATMUL = """__kernel void mm(__global const float *A, __global const float *B, __global float *C, int N) {
  __local float a[16][16], b[16][16];
  int lr = get_local_id(1), lc = get_local_id(0), row = get_global_id(1), col = get_global_id(0);
  float s = 0;
  for (int i = 0; i < N / 16; i++) {
    a[lr][lc] = A[row * N + i * 16 + lc];
    b[lr][lc] = B[(i * 16 + lr) * N + col];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 16; k++) s += a[lr][k] * b[k][lc];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  C[row * N + col] = s;
}
"""


def test_nothing_given_everything_inferred() -> None:
    launch = resolved(MATMUL)
    assert (launch.global_size, launch.local_size) == ((256, 256), (16, 16))
    assert launch.origin is Origin.INFERRED
    assert launch.inferred == {"global", "local", "A", "B", "C", "N"}
    assert launch.scalar("N") == 256
    assert launch.arguments["A"] == BufferArgument(Fill.RANDOM, 65536)
    assert launch.arguments["C"] == BufferArgument(Fill.ZEROS, 65536)


def test_options_come_first_and_the_rest_follows_them() -> None:
    given = from_options("mm", "512,512", None, ["N=512", "A=iota(N*N)"])
    assert isinstance(given, PartialLaunch)
    launch = resolved(MATMUL, given)
    assert launch.origin is Origin.GIVEN
    assert launch.global_size == (512, 512)
    assert launch.arguments["A"] == BufferArgument(Fill.IOTA, 512 * 512)
    assert launch.arguments["B"] == BufferArgument(Fill.RANDOM, 512 * 512)
    assert list(open_parts(launch)) == ["local", "B", "C"]


@pytest.mark.parametrize("place", ["before", "inside"])
def test_comments(place: str) -> None:
    comment = "// clmap: global=128,128 local=16,16 N=128 A=random(N*N, 3)\n"
    source = comment + MATMUL if place == "before" else MATMUL.replace("  float s = 0;\n", comment, 1)
    launch = resolved(
        source.replace("s +=", "C[0] +=").replace("= s", "= 0") if place == "inside" else source
    )
    assert launch.origin is Origin.CONFIGURED
    assert launch.global_size == (128, 128)
    assert launch.arguments["A"] == BufferArgument(Fill.RANDOM, 128 * 128, 3)
    assert "global" not in launch.inferred


def test_a_comment_belongs_to_the_next_kernel() -> None:
    body = "(__global int *a) { a[get_global_id(0)] = 1; }\n"
    source = f"// clmap: global=64 local=64\n__kernel void f{body}// clmap: global=32\n__kernel void g{body}"
    program, first = read(source)
    sizes = []
    for kernel in program.kernels:
        launch = resolve(program, kernel)
        assert isinstance(launch, Launch)
        sizes.append(launch.global_size)
    assert first.name == "f"
    assert sizes == [(64,), (32,)]


def test_other_directives_are_no_launches() -> None:
    source = "// clmap: ignore=CM001\n__kernel void f(__global int *a) { a[get_global_id(0)] = 1; }"
    assert resolved(source).origin is Origin.INFERRED


def test_options_win_over_comments() -> None:
    kernel = "__kernel void f(__global int *a, int n) { a[get_global_id(0)] = n; }"
    source = f"// clmap: global=64 local=32 n=5\n{kernel}"
    launch = resolved(source, PartialLaunch(arguments={"n": "6"}, source="command line"))
    assert launch.scalar("n") == 6
    assert (launch.global_size, launch.local_size) == ((64,), (32,))
    assert launch.origin is Origin.GIVEN


@pytest.mark.parametrize(("value", "shown"), [("1.5", "1.5"), ("nan", "nan"), ("-1e999", "-inf")])
def test_a_sampler_takes_whole_numbers(value: str, shown: str) -> None:
    text = "__kernel void k(read_only image2d_t i, sampler_t s, __global float4 *a) {}"
    assert f"cannot be {shown}" in refused(text, PartialLaunch(arguments={"s": value}, source="x")).cause
    assert resolved(text, PartialLaunch(arguments={"s": "16"})).arguments["s"] == ScalarArgument((16,))


def test_pinning_a_launch_gives_it_back() -> None:
    launch = resolved(MATMUL)
    again = resolved(as_comment(launch) + "\n" + MATMUL)
    assert (again.global_size, again.local_size) == (launch.global_size, launch.local_size)
    assert again.arguments == launch.arguments
    assert not again.inferred


@pytest.mark.parametrize(
    ("given", "cause"),
    [
        (PartialLaunch(arguments={"M": "3"}, source="x"), "no parameter `M`"),
        (PartialLaunch(arguments={"A": "3"}, source="x"), "`A` is a buffer"),
        (PartialLaunch(arguments={"N": "zeros(3)"}, source="x"), "`N` has the type int"),
        (PartialLaunch(arguments={"N": "1e999"}, source="x"), "`N` (int) cannot be inf"),
        (PartialLaunch(arguments={"N": "1e308"}, source="x"), "`N` (int) cannot be 1e+308"),
        (PartialLaunch(arguments={"N": "-1e19"}, source="x"), "`N` (int) cannot be -1e+19"),
        (PartialLaunch(arguments={"A": "random(K)"}, source="x"), "`K`"),
        (PartialLaunch(local_size=(1024, 1024), source="x"), "too large"),
    ],
)
def test_what_does_not_fit_is_refused(given: PartialLaunch, cause: str) -> None:
    problem = refused(MATMUL, given)
    assert problem.place == "x"
    assert cause in problem.cause


@pytest.mark.parametrize(
    ("options", "place"),
    [
        ({"global_size": "64,"}, "--global"),
        ({"global_size": "0"}, "--global"),
        ({"local_size": "1,2,3,4"}, "--local"),
        ({"arguments": ["N"]}, "--arg N"),
        ({"arguments": ["N=1", "N=2"]}, "--arg N=2"),
    ],
)
def test_bad_options(options: dict[str, object], place: str) -> None:
    problem = from_options(None, **options)  # type: ignore[arg-type]
    assert isinstance(problem, LaunchProblem)
    assert problem.place == place


def test_required_work_group_sizes() -> None:
    source = "__kernel __attribute__((reqd_work_group_size(8, 4, 1))) void f(__global int *a) {" + (
        " a[get_global_id(1) * 64 + get_global_id(0)] = 1; }"
    )
    assert resolved(source).local_size == (8, 4)
    assert (
        "8,4" in refused(source, PartialLaunch(global_size=(64, 64), local_size=(16, 16), source="x")).cause
    )


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("int i = get_global_id(0); if (i >= n) return; a[i] = 1;",
         {"n": 4096, "global": (4096,), "a": 4096}),
        ("int i = get_global_id(0); if (i < 1000) a[i] = 1;", {"global": (1024,), "a": 1000}),
        ("__local int t[64]; int l = get_local_id(0); t[l] = 1; a[get_global_id(0)] = t[l];",
         {"local": (64,)}),
        ("__local int t[16][17]; int x = get_local_id(0), y = get_local_id(1); t[x][y] = 1; a[0] = t[y][x];",
         {"local": (16, 16)}),
        ("int i = get_group_id(0) * 128 + get_local_id(0); a[i] = 1;", {"local": (128,), "a": 4096}),
        ("int s = 0; for (int k = 0; k < n; k++) s += k; a[get_global_id(0) * n] = s;",
         {"n": 256, "a": 4095 * 256 + 1}),
        ("int x = get_global_id(0), y = get_global_id(1);"
         " if (x > 0 && y > 0 && x < n - 1 && y < n - 1) a[y * n + x + 1] = 1;",
         {"n": 256, "global": (256, 256), "a": 254 * 256 + 256}),
        # Groups are told apart in dimension 1, work-items are not.
        ("int i = get_group_id(0) * 64 + get_local_id(0); a[get_group_id(1) + i] = 1;", {"local": (64, 1)}),
        # Work-items of dimension 0 would meet in the tile.
        ("__local int t[64]; t[get_local_id(1)] = 1; barrier(1); a[get_global_id(0)] = t[get_local_id(1)];",
         {"local": (1, 64)}),
        # What a few work-items do bounds no group.
        ("__local int t[9 * 40]; int l = get_local_id(0); if (l < 9) t[l * 40] = 1; a[get_global_id(0)] = 1;",
         {"local": (256,)}),
        # A scalar that spaces work-items is mostly 1; one that a row is walked with is not.
        ("a[get_global_id(0) * n] = 1;", {"n": 1}),
        ("for (int k = 0; k < 7; k++) a[get_global_id(0) * n + k] = 1;", {"n": 256}),
        # A part for each work-item is not all of them.
        ("int g = get_global_id(0); for (int k = g * n; k < (g + 1) * n; k++) a[k] = 1;", {"n": 256}),
        # Nothing tells groups of dimension 0 apart: they would do the same.
        ("__local int t[16][16]; int x = get_local_id(0), y = get_local_id(1); t[y][x] = a[x]; barrier(1);"
         " a[get_global_id(1) * 16 + x] = t[y][x];", {"global": (16, 256), "local": (16, 16)}),
        # Several elements a work-item: their number is that of all work-items.
        ("for (int k = 0; k < 8; k++) { int i = get_global_id(0) * 8 + k; if (i < n) a[i] = 1; }",
         {"n": 32768, "a": 32768}),
        ("int i = get_group_id(0) * 2 * get_local_size(0) + get_local_id(0); if (n > i) a[i] = 1;",
         {"n": 8192}),
        # A radius: what a loop goes to on both sides of something.
        ("int s = 0; for (int k = -n; k <= n; k++) s += k; a[get_global_id(0)] = s;", {"n": 2}),
        ("int x = get_global_id(0); for (int k = x + n; k >= x - n; --k) a[k + n] = 1;", {"n": 2}),
        ("int s = 0; for (int k = 0; k <= n; k++) s += k - n; a[get_global_id(0)] = s;", {"n": 256}),
        # What walks around an id is within the id's bounds.
        ("int x = get_global_id(0); for (int k = x - 1; k <= x + 1; ++k) if (k >= 0 && k < n) a[k] = 1;",
         {"n": 4096, "a": 4096}),
        # Whose index is kept inside by the last one goes as far as there are indices.
        ("int x = get_global_id(0), y = get_global_id(1); int s = 0;"
         " for (int k = -1; k <= 1; k++) s += a[clamp(y + k, 0, n - 1)]; a[x] = s;",
         {"n": 256, "global": (256, 256)}),
        ("int x = get_global_id(0), y = get_global_id(1); a[x] = a[min(max(y - 3, 0), n - 1)];",
         {"n": 256, "global": (256, 256)}),
        ("int2 p = (int2)(get_global_id(0), get_global_id(1));"
         " a[p.x] = a[clamp(p + 1, (int2)(0), (int2)(7, n - 1)).y];", {"n": 256, "global": (256, 256)}),
        ("int x = get_global_id(0); a[x] = a[min(x + 1, n - 1)]; if (x < 100) a[x] = 1;",
         {"n": 1, "global": (256,)}),
        # So does what neighbours on a torus come back at; an id alone is cut into rows and columns.
        ("int x = get_global_id(0), y = get_global_id(1); a[x] = a[(y + n - 1) % n];",
         {"n": 256, "global": (256, 256)}),
        ("int x = get_global_id(0); a[x] = a[(x + 1) % n];", {"n": 4096, "global": (4096,)}),
        ("int x = get_global_id(0); a[x] = a[x % n];", {"n": 1, "global": (4096,)}),
        # Any other end says nothing about ids.
        ("int x = get_global_id(0); a[x] = min(x, n);", {"n": 1, "global": (4096,)}),
        ("int x = get_global_id(0); a[x] = a[clamp(a[x], 0, n - 1)];", {"n": 1, "global": (4096,)}),
        # What is counted down in the test is a limit, too.
        ("int y = get_global_id(0); for (int k = n; k-- > 0;) a[y * n + k] = 1;",
         {"n": 256, "a": 4096 * 256}),
        ("a[get_global_id(2) * 4 + get_global_id(0)] = get_global_id(1);", {"global": (64, 64, 64)}),
        ("__global int *p = a + get_global_id(0); for (int k = 0; k < 8; k++) { *p = 1; p += n; }",
         {"n": 256, "a": 4095 + 7 * 256 + 1}),
    ],
)  # fmt: skip
def test_inference(body: str, expected: dict[str, object]) -> None:
    launch = resolved(f"__kernel void f(__global int *a, int n) {{ {body} }}")
    for name, value in expected.items():
        match name:
            case "global":
                assert launch.global_size == value
            case "local":
                assert launch.local_size == value
            case "n":
                assert launch.scalar("n") == value
            case _:
                argument = launch.arguments[name]
                assert isinstance(argument, BufferArgument)
                assert argument.count == value


def test_tables_of_indices_are_permutations() -> None:
    source = "__kernel void f(__global float *o, __global const float *a, __global const int *I) {" + (
        " int i = get_global_id(0); o[i] = a[I[i]]; }"
    )
    launch = resolved(source)
    assert launch.arguments["I"] == BufferArgument(Fill.PERMUTATION, 4096)
    assert launch.arguments["a"] == BufferArgument(Fill.RANDOM, 4096)


def test_local_arguments_get_what_the_group_touches() -> None:
    source = "__kernel void f(__global float *a, __local float *t) {" + (
        " int l = get_local_id(0); t[2 * l + 1] = a[get_global_id(0)]; }"
    )
    launch = resolved(source)
    assert launch.arguments["t"] == LocalArgument(2 * launch.local_size[0])


def test_a_group_divides_what_is_given() -> None:
    launch = resolved(
        "__kernel void f(__global int *a) { a[get_global_id(0)] = 1; }", PartialLaunch(None, (96,))
    )
    assert 96 % launch.local_size[0] == 0


def test_scalar_of_float_type() -> None:
    launch = resolved(
        "__kernel void f(__global float *a, float x, float4 v) { a[get_global_id(0)] = x + v.x; }"
    )
    assert launch.arguments["x"] == ScalarArgument((1.0,))
    assert launch.arguments["v"] == ScalarArgument((1.0,) * 4)
