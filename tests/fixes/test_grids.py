"""Rewrites of kernels on a grid (transposes, stencils, convolutions), right on odd sizes and on PoCL."""

from __future__ import annotations

import pytest
from fixing import CPU, SETTINGS, offered, subject_of
from natively import all_of, natively_the_same

from clmap_lsp.findings import FixSafety
from clmap_lsp.fixes.edits import apply
from clmap_lsp.fixes.model import Verified
from clmap_lsp.fixes.offer import proposals
from clmap_lsp.fixes.trials import Trials
from clmap_lsp.fixes.verification import verify
from clmap_lsp.source.read import read_program

TRANSPOSE = """\
// clmap: global=208,176 local=16,16 w=200 h=170 s=1.5 in=random(34000) out=random(34000,2)
__kernel void scaled(__global const float *in, __global float *out, const int w, const int h, const float s)
{
    const int x = get_global_id(0);
    const int y = get_global_id(1);
    if (x >= w || y >= h)
        return;
    float v = in[y * w + x];
    v = v * s;
    out[x * h + y] = v;
}
"""
DOUBLES = """\
// clmap: global=96,64 local=16,16 n=96 m=64 in=random(n*m) out=random(n*m,1)
__kernel void twice(__global const double *restrict in, __global double *restrict out, const uint n,
                    const uint m)
{
    out[get_global_id(0) * m + get_global_id(1)] = 2 * in[get_global_id(1) * n + get_global_id(0)];
}
"""
PERMUTED = """\
// clmap: global=128,4,64 local=32,2,1 nx=128 ny=4 nz=64 in=random(32768) out=random(32768,1)
__kernel void permuted(__global const int *in, __global int *out, const int nx, const int ny, const int nz)
{
    const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    if (x < nx && y < ny && z < nz)
        out[(x * ny + y) * nz + z] = in[(z * ny + y) * nx + x];
}
"""
CHARACTERS = """\
// clmap: global=128,128 local=16,16 n=120 in=random(n*n) out=random(n*n,1)
__kernel void inverted(__global const uchar *in, __global uchar *out, const int n)
{
    int i = get_global_id(1);
    int j = get_global_id(0);
    if (i < n) { if (j < n) { out[i + j * n] = 255 - in[j + i * n]; } }
}
"""
SUM_OF_TWO = """\
// clmap: global=128,128 local=16,16 n=120 a=random(n*n) b=random(n*n,1) d=random(n) out=random(n*n,2)
__kernel void both(__global const float *a, __global const float *b, __global const float *d,
                   __global float *out, const int n)
{
    int i = get_global_id(1);
    int j = get_global_id(0);
    if (i < n && j < n)
        out[i + j * n] = (a[j + i * n] - d[i])
            + b[j + i * n];
}
"""
SHIFTED = """\
// clmap: global=144,128 local=16,16 first=8 w=144 h=120 in=random(20000) out=random(20000,1)
__kernel void shifted(__global const float *in, __global float *out, int first, int w, int h)
{
    unsigned int x = get_global_id(0);
    unsigned int y = get_global_id(1);
    if (x + first < w && y < h) {
        unsigned int from = x + first + w * y;
        unsigned int to = y + h * x;
        out[to] = in[from];
    }
}
"""
FIVE_POINTS = """\
// clmap: global=64,64 local=16,8 n=61 in=random(n*n) out=random(n*n,1)
__kernel void five(__global const float *in, __global float *out, const int n)
{
    const int x = get_global_id(0);
    const int y = get_global_id(1);
    if (x > 0 && y > 0 && x < n - 1 && y < n - 1)
        out[y * n + x] = in[y * n + x] + in[y * n + x - 1] + in[y * n + x + 1] + in[(y - 1) * n + x] +
                         in[(y + 1) * n + x];
}
"""
ONE_TEST_FOR_TWO = """\
// clmap: global=64,64 local=16,8 n=60 in=random(n*n) out=random(n*n,1)
__kernel void wrapping(__global const float *in, __global float *out, const uint n)
{
    const uint x = get_global_id(0), y = get_global_id(1);
    if (x - 1 < n - 2 && y - 1 < n - 2)
        out[y * n + x] = in[(y - 1) * n + x] + in[y * n + x] + in[(y + 1) * n + x] + in[y * n + x - 1];
}
"""
NO_NAMES = """\
// clmap: global=64,64 local=16,8 n=60 in=random(n*n) out=random(n*n,1)
__kernel void unnamed(__global const float *in, __global float *out, const int n)
{
    if (get_global_id(0) - 1 >= n - 2 || get_global_id(1) - 1 >= n - 2) return;
    const int i = get_global_id(1) * n + get_global_id(0);
    float s = 0;
    s += in[i - n];
    s += in[i];
    out[i] = s + in[i + n];
}
"""
HELD_INSIDE = """\
// clmap: global=48,32 local=16,4 w=43 h=29 in=random(4000) out=zeros(4000) f=random(64)
__kernel void smooth(__global const float *in, __global const float *f, __global float *out, int w, int h)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= w || y >= h)
        return;
    float s = 0.0f;
    for (int j = -2; j <= 2; ++j)
        for (int i = -2; i < 2; i++) {
            int row = clamp(y + j, 0, h - 1);
            int at = row * w + clamp(x + i, 0, w - 1);
            s += f[(j + 2) * 4 + i + 2] * in[at];
        }
    out[y * w + x] = s;
}
"""
PADDED = """\
// clmap: global=48,32 local=16,4 w=43 h=29 in=random(4000) out=zeros(4000)
__kernel void edges(__global const short *in, __global int *out, int w, int h)
{
    const int x = get_global_id(0);
    const int y = get_global_id(1);
    if (x < w && y < h) {
        int s = 0;
        for (int j = 0; j < 3; ++j)
            for (int i = -1; i <= 1; i++)
                if (x + i >= 0 && x + i < w && !(y + j - 1 < 0 || y + j > h))
                    s += in[(y + j - 1) * w + x + i] * (i + 3 * j);
        out[y * w + x] = s;
    }
}
"""
CONVOLUTION = """\
#define K 5
// clmap: global=64,64 local=16,8 w=50 h=41 in=random((w+4)*(h+4)) f=random(25) out=random(w*h,1)
__kernel void convolve(__global const float *in, __global const float *f, __global float *out, const int w,
                       const int h)
{
    int x = get_global_id(0);
    int y = get_global_id(1);
    float s = 0.0f, t = 2.0f;
    if (x < w) {
        if (y < h) {
            for (int v = 0; v < K; ++v) {
                for (int u = 0; u < K; ++u)
                    s += f[v * K + u] * in[(y + v) * (w + K - 1) + (x + u)];
                t += s;
            }
            out[y * w + x] = s * t;
        }
    }
}
"""
BORDER_COPIED = """\
// clmap: global=32,16,16 local=16,4,2 nx=32 ny=16 nz=16 in=random(nx*ny*nz) out=random(nx*ny*nz,1)
__kernel void seven(__global const double *in, __global double *out, const int nx, const int ny, const int nz)
{
    int x = get_global_id(0), z = get_global_id(2), y = get_global_id(1);
    const int plane = nx * ny;
    const int at = z * plane + y * nx + x;
    if (x == 0 || y == 0 || z == 0 || x == nx - 1 || y == ny - 1 || z == nz - 1) {
        out[at] = in[at];
        return;
    }
    out[at] = in[at - 1] + in[at + 1] + in[at - nx] + in[at + nx] + in[at - plane] + in[at + plane] - in[at];
}
"""
SHARING_NOTHING = """\
// clmap: global=64,60 local=16,4 w=64 h=57 a=random(w*h) m=random(w)
__kernel void centred(__global float *a, __global const float *m, const int w, const int h)
{
    const int x = get_global_id(0);
    if (get_global_id(1) < h)
        a[get_global_id(1) * w + x] -= m[x];
}
"""
CASES = {
    "transpose": (TRANSPOSE, "move-tile"),
    "doubles, without a condition": (DOUBLES, "move-tile"),
    "permuted": (PERMUTED, "move-tile"),
    "characters": (CHARACTERS, "move-tile"),
    "two loads": (SUM_OF_TWO, "move-tile"),
    "shifted": (SHIFTED, "move-tile"),
    "five points": (FIVE_POINTS, "several-rows"),
    "one test for two": (ONE_TEST_FOR_TWO, "several-rows"),
    "ids without names": (NO_NAMES, "several-rows"),
    "convolution": (CONVOLUTION, "several-rows"),
    "border copied": (BORDER_COPIED, "several-rows"),
    "held inside": (HELD_INSIDE, "several-rows"),
    "rows held inside": (HELD_INSIDE.replace("clamp(x + i, 0, w - 1)", "x + 2 + i"), "several-rows"),
    "held inside, ids unsigned": (
        HELD_INSIDE.replace("int x =", "uint x =")
        .replace("x + i", "(int)x + i")
        .replace("y + j", "(int)get_global_id(1) + j"),
        "several-rows",
    ),
    "held inside by max": (
        HELD_INSIDE.replace("clamp(y + j, 0, h - 1)", "min(h - 1, max(y + j, 0))"),
        "several-rows",
    ),
    "padded": (PADDED, "several-rows"),
    "sharing nothing": (SHARING_NOTHING, "several-rows"),
}


@pytest.mark.parametrize("case", CASES)
def test_each_is_right_on_its_family_and_natively(case: str):
    text, kind = CASES[case]
    subject, found = all_of(text, kind)
    assert found
    trials = Trials(subject, SETTINGS)
    for proposal in found:
        proof = verify(subject, proposal, SETTINGS, trials)
        assert isinstance(proof, Verified), proof
        assert proof.compared == "bit for bit"
        assert len(proof.tested_on) > 8
    natively_the_same(subject, found[0], trials)


def text_of(case: str, at: int = 0) -> str:
    text, kind = CASES[case]
    _, found = all_of(text, kind)
    return apply(text, found[at].edits, "k.cl")


def test_a_tile_is_moved_four_elements_at_once_where_rows_are_aligned():
    text = text_of("transpose")
    assert "const bool by_vectors = x0 + 63 < w && y0 + 63 < h && w % 4 == 0 && h % 4 == 0;" in text
    assert "__local float in_tile[64][65];" in text
    assert "*(__global float4 *)&out[" in text
    assert "if (x < w && y < h)" in text
    _, (proposal, *_) = all_of(TRANSPOSE, "move-tile")
    assert proposal.safety is FixSafety.UNSAFE
    assumed = {it.text for it in proposal.assumptions}
    assert {"get_global_size(0) >= w", "get_global_size(1) >= h", "in and out do not overlap"} <= assumed
    assert "in groups of 16x16" in str(proposal.host_change)


def test_one_factor_that_is_a_multiple_is_enough_for_a_product():
    assert "nz - 1" not in text_of("permuted")
    assert "nx % 4 == 0 && nz % 4 == 0;" in text_of("permuted")


def test_rows_that_nobody_needs_are_not_loaded():
    text = text_of("five points")
    assert "needed[r + a] |= (x > 0 && y0 + r > 0 && x < n - 1 && y0 + r < n - 1);" in text
    assert "float in_rows[6];" in text
    assert "in[y * n + x - 1]" in text  # What no other row reads stays where it was.


def test_a_filter_is_promised_not_to_change_and_loops_are_unrolled():
    text = text_of("convolution")
    assert "__global const float *restrict f" in text
    assert "float in_rows[8][5];" in text
    assert text.count("#pragma unroll") == 6


def test_planes_are_rows_too():
    assert {it.title for it in all_of(BORDER_COPIED, "several-rows")[1]} == {
        f"Compute {count} {what} a work-item, neighbours in registers"
        for count in (4, 8)
        for what in ("rows", "planes")
    }


IN_PLACE = TRANSPOSE.replace("__global const float *in, __global float *out", "__global float *in")
SMOOTHED = FIVE_POINTS.replace("const float *in, __global float *out", "float *in").replace("out[y", "in[y")
LEFT_ALONE = {
    "not across": (TRANSPOSE.replace("out[x * h + y] = v;", "out[y * w + x] = v;"), "move-tile"),
    "transposed in place": (
        IN_PLACE.replace("out[x", "in[x").replace(" out=random(34000,2)", ""),
        "move-tile",
    ),
    "a lower bound": (TRANSPOSE.replace("x >= w ||", "x >= w || x < 3 ||"), "move-tile"),
    "asks for sizes": (TRANSPOSE.replace("v * s;", "v * s * get_global_size(0);"), "move-tile"),
    "smoothed in place": (SMOOTHED.replace(" out=random(n*n,1)", ""), "several-rows"),
    "knows its group": (FIVE_POINTS.replace("(y - 1) * n", "(y - get_local_id(1)) * n"), "several-rows"),
    "left early": (CONVOLUTION.replace("t += s;", "t += s; if (t > 9.0f) break;"), "several-rows"),
    "held by a size without a sign": (
        HELD_INSIDE.replace("0, h - 1", "0, (int)h - 1").replace("int h)", "uint h)"),
        "several-rows",
    ),
    "padded askew": (PADDED.replace("x + i < w", "x + i < w - j"), "several-rows"),
    "padded by data": (PADDED.replace("x + i < w", "x + i < in[j]"), "several-rows"),
    "rows apart": (HELD_INSIDE.replace("clamp(y + j,", "clamp(y - j * 2,"), "several-rows"),
    "held by the row": (
        HELD_INSIDE.replace("clamp(x + i, 0, w - 1)", "clamp(x + i, 0, max(w - 1 - y, 0))"),
        "several-rows",
    ),
    "turns that vary": (CONVOLUTION.replace("v < K", "v < h"), "several-rows"),
}


@pytest.mark.parametrize("case", LEFT_ALONE)
def test_what_does_not_fit_is_left_alone(case: str):
    text, kind = LEFT_ALONE[case]
    found = [it for it in proposals(subject_of(text)) if it.kind == kind]
    assert not [it for it in found if kind == "move-tile" or "neighbours" in it.title]


def test_a_cpu_keeps_its_order():
    assert offered(TRANSPOSE, "move-tile", CPU) == []


ONE_LINE = """\
// clmap: global=1024,1024 local=16,16 w=1024 h=1024 in=random(1048576) out=zeros(1048576)
__kernel void box(__global const float *restrict in, __global float *restrict out, int w, int h)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x == 0 || y == 0 || x >= w - 1 || y >= h - 1)
        return;
    float s = 0;
    for (int j = -1; j <= 1; j++) for (int i = -1; i <= 1; i++) s += in[(y + j) * w + x + i];
    out[y * w + x] = s;
}
"""


def test_a_pragma_before_the_second_loop_of_a_line_is_a_line():
    found = [it for it in proposals(subject_of(ONE_LINE)) if it.kind == "several-rows"]
    assert found
    for text in (apply(ONE_LINE, it.edits, "k.cl") for it in found):
        assert not read_program(text, "k.cl").problems
        assert all(it.strip() == "#pragma unroll" for it in text.splitlines() if "#pragma" in it)
        assert not any(it.endswith(" ") for it in text.splitlines())
