"""Macros that hide accesses are spelt out where a rewrite edits them, and nowhere else."""

from __future__ import annotations

import pytest
from fixing import offered, proposed, proved

HIDDEN = """\
// clmap: global=64 local=32 a=random(1024) b=zeros(1024)
#define WIDTH 32
#define AT(r, c) part[(c) + (r) * WIDTH]
#define FIRST(x) ((x) + 0)
__kernel void columns(__global const float *a, __global float *b)
{
    __local float part[WIDTH * WIDTH];
    const int l = get_local_id(0);
    for (int k = 0; k < WIDTH; k++)
        AT(k, l) = a[FIRST(k * WIDTH + l)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < WIDTH; k++)
        b[k * WIDTH + l] = AT(l, k);
}
"""
IDS = """\
// clmap: global=64,64 local=16,16 n=64 a=random(4096) b=zeros(4096)
#define X get_global_id(0)
#define Y get_global_id(1)
#define A(i, j) a[(i) * n + (j)]
__kernel void sums(__global const float *a, __global float *b, int n)
{
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += A(X, k) * A(k, Y);
    b[X * n + Y] = sum;
}
"""


def test_an_access_out_of_a_macro_is_edited_in_the_kernel():
    (subject, proposal), *_ = proposed(HIDDEN, "pad-local")
    after, proof = proved(HIDDEN, subject, proposal)
    assert "#define AT(r, c) part[(c) + (r) * WIDTH]\n" in after  # Others may use it.
    assert "AT(" not in after.partition("__kernel")[2]
    assert "a[FIRST(k * WIDTH + l)]" in after  # Nothing there is edited.
    assert "* WIDTH" in after.partition("__kernel")[2]
    assert proof.compared == "bit for bit"


def test_ids_out_of_macros_are_found():
    ((text, _),) = offered(IDS, "swap-dimensions")
    assert text != IDS


def test_a_macro_with_statements_stays():
    text = HIDDEN.replace(
        "#define AT(r, c) part[(c) + (r) * WIDTH]", "#define PUT(r, c, v) { part[(c) + (r) * WIDTH] = v; }"
    )
    text = text.replace("AT(k, l) = a[FIRST(k * WIDTH + l)];", "PUT(k, l, a[FIRST(k * WIDTH + l)])")
    text = text.replace("AT(l, k)", "part[k + l * WIDTH]")
    assert proposed(text, "pad-local") == []


def test_a_macro_that_is_another_later_is_left_alone():
    text = HIDDEN + "#undef AT\n#define AT(r, c) part[(r) + (c) * WIDTH]\n"
    assert proposed(text, "pad-local") == []


NAMED_INDEX = """\
// clmap: global=64 local=32 n=40 a=random(2560) x=random(40) y=zeros(64)
__kernel void rows(__global const float *restrict a, __global const float *restrict x,
                   __global float *restrict y, const int n)
{
    const int row = get_global_id(0);
    float acc = 0.0f;
    for (int k = 0; k < n; k++) {
        const int at = row * n + k;  // The row's element.
        acc += a[at] * x[k] + (at & 1);
    }
    y[row] = acc;
}
"""


@pytest.mark.parametrize("kind", ["vectorise", "stage-loop"])
def test_a_name_that_a_loop_gives_to_an_index_is_written_out(kind: str):
    subject, proposal = proposed(NAMED_INDEX, kind)[-1]
    text, proof = proved(NAMED_INDEX, subject, proposal)
    assert "`a`" in proposal.title
    assert "int at" not in text
    assert "((row * n + " in text
    assert proof.compared == "bit for bit"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("const int at = row * n + k;", "int at = row * n + k; at &= 2047;"),
        ("const int at = row * n + k;", "float at = row * n + k;"),
        ("acc += a[at]", "acc += a[at]; { int at = 3; acc += at; } acc += a[at]"),
        ("const int at = row * n + k;", "const int at = row * n + k; k += 0;"),
    ],
    ids=["changed", "converted", "hidden", "the counter changes"],
)
def test_a_name_that_is_no_plain_index_stays(before: str, after: str):
    text = NAMED_INDEX.replace(before, after).replace("* x[k]", "")
    if after.startswith("float"):
        text = text.replace("[at]", "[(int)at]").replace("(at & 1)", "at")
    assert proposed(text, "vectorise") == []


HEADED = """\
// clmap: global=32,32 local=16,16 n=32 a=random(1024) b=random(1024) c=zeros(1024)
#define FOR(v, e) for (int v = 0; v < (e); v++)
#define TWICE(v, e) for (int v = 0; v < 2; v++) for (int v##2 = 0; v##2 < (e); v##2++)
__kernel void headed(__global const float *restrict a, __global const float *restrict b,
                     __global float *restrict c, int n)
{
    const int i = get_global_id(1), j = get_global_id(0);
    float s = 0.0f;
    FOR(k, n)
        s += a[i * n + k] * b[k * n + j];
    c[i * n + j] = s;
}
"""


@pytest.mark.parametrize("kind", ["vectorise", "stage-loop"])
def test_heads_of_loops_that_macros_make_are_written_out(kind: str):
    subject, proposal = proposed(HEADED, kind)[-1]
    text, proof = proved(HEADED, subject, proposal)
    assert "FOR(k, n)" not in text
    assert "for (int k" in text
    assert proof.compared == "bit for bit"


def test_two_heads_in_one_macro_stay():
    text = HEADED.replace("FOR(k, n)", "TWICE(k, n)").replace("a[i * n + k]", "a[i * n + k2]")
    assert proposed(text, "stage-loop") == []
