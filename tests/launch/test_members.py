"""Structs and vectors that a kernel takes by value: what is guessed for the numbers in them."""

from __future__ import annotations

import pytest

from clmap_lsp.launch.model import Launch, ScalarArgument
from clmap_lsp.launch.plausible import plausible
from clmap_lsp.launch.resolve import resolve
from clmap_lsp.source.read import read_program

STRUCT = "typedef struct { int width, height; float gain; int taps; } P;\n"


def launched(source: str) -> Launch:
    program = read_program(source, "k.cl")
    launch = resolve(program, program.kernels[0])
    assert isinstance(launch, Launch)
    return launch


def numbers(launch: Launch, name: str) -> dict[str, float]:
    argument = launch.arguments[name]
    assert isinstance(argument, ScalarArgument)
    return dict(zip(argument.members, argument.values, strict=True))


@pytest.mark.parametrize(
    "body",
    [
        "if (x < p.width && y < p.height) a[y * p.width + x] *= p.gain;",
        "P mine = p; if (x < mine.width && y < mine.height) a[y * mine.width + x] *= mine.gain;",
        "int w = p.width; if (x < w && y < p.height) a[y * w + x] *= p.gain;",
        "if (inside(p, x, y)) a[y * p.width + x] *= p.gain;",
    ],
)
def test_members_take_values_as_parameters_do(body: str) -> None:
    launch = launched(
        STRUCT
        + "bool inside(P q, int x, int y) { return x < q.width && y < q.height; }\n"
        + "__kernel void k(__global float *a, P p) { int x = get_global_id(0), y = get_global_id(1);"
        + body
        + "}"
    )
    assert numbers(launch, "p") == {".width": 256, ".height": 256, ".gain": 1.0, ".taps": 1}
    assert launch.global_size == (256, 256)


def test_lanes_of_vectors_take_values_as_parameters_do() -> None:
    launch = launched("""__kernel void k(__global float *a, int2 size, int4 unused) {
        int x = get_global_id(0), y = get_global_id(1);
        if (x < size.x && y < size.y) a[y * size.x + x] = 0; }""")
    assert launch.arguments["size"] == ScalarArgument((256, 256))
    assert launch.arguments["unused"] == ScalarArgument((1, 1, 1, 1))


def test_a_changed_copy_is_no_copy() -> None:
    launch = launched(
        STRUCT
        + """__kernel void k(__global float *a, P p) { P q = p; q.width = 3;
        int x = get_global_id(0), y = get_global_id(1); a[y * q.width + x] = 0; }"""
    )
    assert numbers(launch, "p")[".width"] == 1


def test_other_plausible_values_of_members() -> None:
    source = (
        STRUCT
        + """__kernel void k(__global float *a, P p) { int i = get_global_id(0);
        if (i < p.width) a[i * p.taps + p.height] = 0; }"""
    )
    program = read_program(source, "k.cl")
    launch = launched(source)
    guesses = [numbers(launch, "p")]
    for it in plausible(program.kernels[0], launch):
        if it.invented:
            other = resolve(program, program.kernels[0], given=it.launch)
            assert isinstance(other, Launch)
            guesses.append(numbers(other, "p"))
    assert {it[".taps"] for it in guesses} == {1, 8}
    assert len({it[".width"] for it in guesses}) > 1


WINDOW = """__kernel void pool(__global const float *in, __global float *out,
                          int stride, int pad, int k, int w, int n) {
    int i = get_global_id(0), j = get_global_id(1); float m = -1e30f;
    if (i >= n) return;
    for (int a = 0; a < k; a++) for (int b = 0; b < k; b++) {
        int y = j * stride - pad + a, x = i * stride - pad + b;
        if (x >= 0 && y >= 0) m = fmax(m, in[y * w + x]);
    }
    out[j * n + i] = m; }"""


def test_the_step_of_a_window_is_no_row() -> None:
    launch = launched(WINDOW)
    assert launch.arguments["stride"] == ScalarArgument((1,))
    assert launch.arguments["w"] == ScalarArgument((256,))


def test_a_row_with_a_halo_is_a_row() -> None:
    launch = launched("""__kernel void k(__global const float *in, __global float *out, int pitch, int r) {
        int x = get_global_id(0), y = get_global_id(1); float s = 0;
        for (int a = -r; a <= r; a++) s += in[y * pitch + x + a - 1];
        out[y * pitch + x] = s; }""")
    assert launch.arguments["pitch"] == ScalarArgument((256,))


def test_arrays_say_how_much_a_loop_counts() -> None:
    launch = launched("""__kernel void k(
            __global const float *cost, __global float *best, int width, int range) {
        __local float tile[32][64];
        int y = get_global_id(1), lane = get_local_id(0);
        for (int d = lane * range / 32; d < (lane + 1) * range / 32; d++)
            for (int x = 0; x < 32; x++) tile[x][d] = cost[(y * width + x) * range + d];
        barrier(CLK_LOCAL_MEM_FENCE);
        best[y * width + lane] = tile[lane][0]; }""")
    assert launch.arguments["range"] == ScalarArgument((64,))
    assert launch.arguments["width"] == ScalarArgument((256,))
