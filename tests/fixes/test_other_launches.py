"""Offers that were right on the launch they were made for and wrong on another: none may be left."""

from __future__ import annotations

import pytest
from elsewhere import all_offers, wrong_offers
from fixing import SETTINGS, subject_of

from clmap_lsp.findings import FixSafety
from clmap_lsp.fixes.verification import baseline
from clmap_lsp.source.options import BuildOptions

SCALE = """\
// clmap: global=64,64 local=16,16 a=random(4096) w=64 h=64 f=2.0
__kernel void scale2d(__global float *a, const int w, const int h, const float f) {
    const int y = get_global_id(0); const int x = get_global_id(1);
    if (x < w && y < h) a[y * w + x] *= f;
}
"""
SQUARE = """\
// clmap: global=256,256 local=16,16 cols=256 A=random(256*256) C=zeros(256*256)
__kernel void addm(__global const float *A, __global float *C, const int cols)
{
    const int r = get_global_id(0);
    const int c = get_global_id(1);
    C[r * cols + c] = A[r * cols + c] * 2.0f;
}
"""
SHARED_MODULO = """\
// clmap: global=256 local=64 in=random(256) out=zeros(256) m=64
__kernel void modulo(__global const float *in, __global float *out, const int m) {
    __local float s[64];
    const int l = get_local_id(0);
    if (l < m) s[l % m] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = s[l % m];
}
"""
SHARED_MASK = SHARED_MODULO.replace("l % m", "l & 63")
SHARED_STRIDE = SHARED_MODULO.replace("l % m", "l * m").replace("m=64", "m=1").replace("if (l < m) ", "")
MASKED_PAIR = """\
#define INSIDE (get_global_id(0) < w && get_global_id(1) < h)
// clmap: global=64,64 local=16,16 a=random(4096) w=64 h=64
__kernel void add2d(__global float *a, const int w, const int h) {
    const int x = get_global_id(0); const int y = get_global_id(1);
    if (INSIDE) a[x * h + y] += 1.0f;
}
"""
PIVOT = """\
// clmap: global=64 local=64 a=random(1024) pivot=random(1024,1)
__kernel void rows(__global float *a, __global const float *pivot) {
    const int i = get_global_id(0);
    for (int k = 0; k < 16; k++) a[i * 16 + k] /= pivot[i * 16];
}
"""
SHIFTED = """\
// clmap: global=64 local=64 x=random(4096) y=zeros(4096)
__kernel void shifted(__global const float *x, __global float *y) {
    const int i = get_global_id(0);
    for (int k = 0; k < 63; k++) y[i * 64 + k + 1] = x[i * 64 + k] * 0.5f;
}
"""
LOCAL_ARGUMENT = """\
// clmap: global=256 local=32 in=random(256) out=zeros(256) s=local(1024)
__kernel void columns(__global const float *in, __global float *out, __local float *s) {
    const int l = get_local_id(0);
    for (int k = 0; k < 31; k++) s[l * 32 + k] = in[get_global_id(0)] + k;
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0.0f;
    for (int k = 0; k < 31; k++) sum += s[l * 32 + k];
    out[get_global_id(0)] = sum;
}
"""
CHOICE = """\
#define SEL(c, x) ((c) ? (x) : 0.0f)
// clmap: global=64 local=64 tab=random(4096) w=random(16) out=zeros(64) m=64
__kernel void choice(__global const float *tab, __global const float *w, __global float *out, const int m) {
    const int i = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < 16; k++) s += w[k] * SEL(i < m, tab[i * 64]);
    out[i] = s;
}
"""
ROWS_OF_N = """\
#ifndef N
#define N 64
#endif
// clmap: global=64 local=64 A=random(4096) x=random(64) y=zeros(64)
__kernel void rows(__global const float *restrict A, __global const float *restrict x,
                   __global float *restrict y) {
    const int row = get_global_id(0);
    float acc = 0.0f;
    for (int k = 0; k < N; k++) acc += A[row * N + k] * x[k];
    y[row] = acc;
}
"""
SUMS = """\
// clmap: global=64 local=64 a=random(4032) y=zeros(64) n=64
__kernel void sums(__global const float *a, __global float *y, const int n) {
    const int i = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < n; k++) s += a[i * n + k];
    y[i] = s;
}
""".replace("random(4032)", "random(4096)")
MIRROR = """\
// clmap: global=64,64 local=16,16 in=random(4096) out=zeros(4096) w=64 h=64
__kernel void mirror(__global const float *in, __global float *out, const int w, const int h) {
    const int x = get_global_id(0);
    const int y = get_global_id(1);
    const bool ok = x < w && y < h;
    if (ok) out[x * h + y] = in[y * w + x];
}
"""
MIRROR_SHIFTED = """\
// clmap: global=64,64 local=16,16 in=random(4096) out=zeros(8192) w=64 h=64 e=0
__kernel void mirror(__global const float *in, __global float *out, const int w, const int h, const int e) {
    const int x = get_global_id(0);
    const int y = get_global_id(1);
    const int shift = x * e;
    out[x * h + y + shift] = in[y * w + x];
}
"""
MIRROR_LOCAL = MIRROR.replace("const bool ok = x < w && y < h;", "const int lx = get_local_id(0);").replace(
    "if (ok)", "if (lx < w)"
)
DRIFTING = """\
// clmap: global=64,64 local=16,16 A=random(8192) B=random(4096) C=zeros(4096) n=64 e=0
__kernel void drifting(__global const float *A, __global const float *B, __global float *C,
                       const int n, const int e) {
    const int row = get_global_id(1);
    const int col = get_global_id(0);
    int p = row * n;
    float acc = 0.0f;
    for (int k = 0; k < n; k++) { acc += A[p + k] * B[k * n + col]; p += e; }
    C[row * n + col] = acc;
}
"""
UNEVEN = """\
// clmap: global=64,64 local=16,16 A=random(4096) B=random(4096) C=zeros(4096) n=64 e=0
__kernel void uneven(__global const float *A, __global const float *B, __global float *C,
                     const int n, const int e) {
    const int row = get_global_id(1);
    const int col = get_global_id(0);
    const int lim = e > 0 ? row + 1 : n;
    float acc = 0.0f;
    for (int k = 0; k < lim; k++) acc += A[row * n + k] * B[k * n + col];
    C[row * n + col] = acc;
}
"""
SENTINEL = """\
// clmap: global=64 local=64 x=random(4096) y=zeros(4096) limit=1000000.0
__kernel void sentinel(__global const float *x, __global float *y, const float limit) {
    const int g = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < 64; k++) {
        s += x[g * 64 + k];
        if (s > limit) y[g * 64 + k] = s; else y[g * 64 + k] = 0.0f;
    }
}
"""
CHUNKS = """\
// clmap: global=256 local=64 x=random(8192) y=zeros(8192) n=8192 per=32
__kernel void chunks(__global const float *x, __global float *y, const int n, const int per) {
    const int s = get_global_id(0) * per;
    const int e = min(s + per, n);
    for (int i = s; i < e; i++) y[i] = x[i] * 2.0f;
}
"""
TWO_BOUNDS = """\
// clmap: global=64,16 local=16,16 in=random(2048) out=zeros(2048) w=64 valid=64
__kernel void two(__global const float *in, __global float *out, const int w, const int valid) {
    const int x = get_global_id(0);
    const int y = get_global_id(1);
    float s = 0.0f;
    if (x < w) s += in[y * 65 + x];
    if (x < valid) s += in[y * 65 + x + 1] + in[y * 65 + x + 2];
    out[y * 64 + x] = s;
}
"""

CASES = {
    "S1 a square launch": (SCALE, "global=32,64 local=16,16 a=random(2048) w=64 h=32 f=2.0"),
    "A1 a square launch": (SQUARE, "global=512,128 local=16,16 cols=128 A=random(65536) C=zeros(65536)"),
    "S2 a macro asks for the ids": (MASKED_PAIR, "global=64,32 local=16,16 a=random(2048) w=64 h=32"),
    "S3 elements shared by a remainder": (
        SHARED_MODULO,
        "global=256 local=64 in=random(256) out=zeros(256) m=16",
    ),
    "S3 elements shared by a mask": (SHARED_MASK, "global=256 local=128 in=random(256) out=zeros(256) m=64"),
    "S3 elements shared by a stride": (
        SHARED_STRIDE,
        "global=256 local=64 in=random(256) out=zeros(256) m=0",
    ),
    "S6 a local array cut short": (
        LOCAL_ARGUMENT,
        "global=256 local=32 in=random(256) out=zeros(256) s=local(1023)",
    ),
    "S7 a condition in a macro": (CHOICE, "global=64 local=64 tab=random(64) w=random(16) out=zeros(64) m=1"),
    "U1 rows that are not aligned": (SUMS, "global=64 local=64 a=random(4096) y=zeros(64) n=63"),
    "U3 a condition in a variable": (
        MIRROR,
        "global=64,64 local=16,16 in=random(4096) out=zeros(4096) w=50 h=40",
    ),
    "U3 a variable made from an id": (
        MIRROR_SHIFTED,
        "global=64,64 local=16,16 in=random(4096) out=zeros(8192) w=64 h=64 e=1",
    ),
    "U3 a condition on the local id": (
        MIRROR_LOCAL,
        "global=64,64 local=16,16 in=random(4096) out=zeros(4096) w=8 h=64",
    ),
    "U4 an index that drifts": (
        DRIFTING,
        "global=64,64 local=16,16 A=random(8192) B=random(4096) C=zeros(4096) n=64 e=1",
    ),
    "U4 turns that differ in a group": (
        UNEVEN,
        "global=64,64 local=16,16 A=random(4096) B=random(4096) C=zeros(4096) n=64 e=1",
    ),
    "U5 a sum that is read on the way": (
        SENTINEL,
        "global=64 local=64 x=random(4096) y=zeros(4096) limit=10.0",
    ),
    "U5 chunks that do not reach the end": (
        CHUNKS,
        "global=256 local=64 x=random(8192) y=zeros(8192) n=8192 per=8",
    ),
    "U6 the smaller of two bounds": (
        TWO_BOUNDS,
        "global=64,16 local=16,16 in=random(2048) out=zeros(2048) w=64 valid=33",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_no_offer_is_wrong_on_another_launch(name: str):
    text, other = CASES[name]
    assert wrong_offers(text, f"// clmap: {other}") == []


def test_a_swap_is_never_safe():
    for text in (SCALE, SQUARE):
        _, found = all_offers(text)
        swaps = [fix for proof, fix in found if proof.proposal.kind == "swap-dimensions"]
        assert [it.safety for it in swaps] == [FixSafety.UNSAFE]
        assert "swap the first two entries" in str(swaps[0].host_change)


@pytest.mark.parametrize("text", [PIVOT, SHIFTED], ids=["S4", "S5"])
def test_loads_that_pass_stores_assume_that_buffers_do_not_overlap(text: str):
    _, found = all_offers(text)
    moving = [
        fix for proof, fix in found if proof.proposal.kind in ("hoist-access", "vectorise", "stage-loop")
    ]
    assert moving
    for fix in moving:
        assert fix.safety is FixSafety.UNSAFE
        assert any("do not overlap" in it for it in fix.assumptions)
    promised = text.replace("float *", "float *restrict ")
    _, found = all_offers(promised)
    assert any(
        fix.safety is FixSafety.SAFE and proof.proposal.kind in ("hoist-access", "vectorise")
        for proof, fix in found
    )


@pytest.mark.parametrize("value", ["50", "63", "1", "128"])
def test_a_macro_that_a_build_may_set_is_no_constant(value: str):
    """S8: vectors were aligned, and tiles had no remainder, for 64 only."""
    options = BuildOptions(defines=(("N", value),))
    comment = f"// clmap: global=64 local=64 A=random(64*{value}) x=random({value}) y=zeros(64)"
    assert all_offers(ROWS_OF_N)[1]
    assert wrong_offers(ROWS_OF_N, comment, options) == []
    _, found = all_offers(ROWS_OF_N)
    tiled = [(proof, fix) for proof, fix in found if proof.proposal.kind == "vectorise"]
    assert tiled[0][1].safety is FixSafety.SAFE  # It tests N % 4 itself.


def test_a_macro_that_is_no_number_is_assumed():
    text = "#ifndef REAL\n#define REAL float\n#endif\n" + SUMS.replace("float", "REAL")
    _, found = all_offers(text)
    assert found
    assert all("-D REAL=float" in fix.assumptions for _, fix in found)


ALIGNED = """\
// clmap: global=256 local=64 a=random(256) b=random(256) o=zeros(256)
__kernel void mix(__global const TYPE *a, __global const TYPE *b, __global TYPE *o) {
    const int i = get_global_id(0);
    o[i] = VALUE;
}
"""


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("float", "a[i] * 0.5 + b[i]"),
        ("uchar", "(a[i] + b[i]) / 2"),
        ("short", "max(a[i], b[i]) / 3"),
        ("float", "RELU(a[i]) + b[i]"),
    ],
)
def test_what_does_not_compile_with_vectors_is_not_offered(kind: str, value: str):
    """U2: a scalar of a greater rank; U8: an edit inside a macro's argument that expands twice."""
    macro = "#define RELU(x) ((x) > 0 ? (x) : 0)\n"
    _, found = all_offers(macro + ALIGNED.replace("TYPE", kind).replace("VALUE", value))
    assert not [it for it, _ in found if it.proposal.kind == "vectorise"]


def test_elements_of_their_own_type_are_taken_by_vectors():
    for kind, value in (("float", "a[i] * 0.5f + b[i] * 2"), ("int", "a[i] * 3 + b[i]")):
        _, found = all_offers(ALIGNED.replace("TYPE", kind).replace("VALUE", value))
        assert [it for it, _ in found if it.proposal.kind == "vectorise"]


def test_bounds_between_which_nothing_decides_are_all_offered():
    """U7: two parameters had the value, and one was picked."""
    _, found = all_offers("""\
// clmap: global=128 local=64 a=random(100) first=100 n=100
__kernel void beyond(__global float *a, const int first, const int n) {
    const int i = get_global_id(0);
    a[i] = a[i] + first * n;
}
""")
    titles = [fix.title for proof, fix in found if proof.proposal.kind == "guard-bounds"]
    assert any("i >= first" in it for it in titles)
    assert any("i >= n" in it for it in titles)


def test_few_work_items_in_a_matrix_beyond_memory_are_tested_on_a_smaller_one():
    text = """\
// clmap: global=8192 local=64 n=40000 k=3 a=random(n*8200) column=zeros(8192)
__kernel void column_of(__global const float *a, __global float *column, const int n, const int k)
{
    const int row = get_global_id(0);
    column[row] = a[row * n + k] * 2.0f;
}
"""
    subject = baseline(subject_of(text), SETTINGS)
    assert subject.emulation is not None and subject.emulation.is_whole
