"""Elements that are reached by sums, `*(a + i * n + k)`, are rewritten as subscripts are."""

from __future__ import annotations

import pytest
from fixing import SETTINGS, offered, proposed, proved
from natively import all_of, natively_the_same

from clmap_lsp.fixes.edits import apply
from clmap_lsp.fixes.trials import Trials

COLUMN = """\
// clmap: global=256 local=64 n=256 t=10 m=random(65536) a=random(65536)
__kernel void eliminate(__global float *m, __global const float *a, const int n, const int t)
{
    const int i = get_global_id(0);
    if (i < n - 1 - t)
        *(m + n * (i + t + 1) + t) = *(a + n * (i + t + 1) + t) / *(a + n * t + t);
}
"""
ROWS = """\
// clmap: global=64 local=16 n=64 a=random(4096) o=zeros(64)
__kernel void rows(__global const float *restrict a, __global float *restrict o, const int n)
{
    const int i = get_global_id(0);
    float s = 0;
    for (int k = 0; k < n; k++)
        s += *(a + (i * n) + k);
    *(o + i) = s;
}
"""
BACKWARDS = """\
// clmap: global=256 local=64 n=256 a=random(65536) x=random(65536)
__kernel void backwards(__global const float *restrict a, __global float *restrict x, int n)
{
    int i = get_global_id(0);
    if (i < n)
        for (int j = 0; j < n - 2; j++)
            x[i * n + (n - j - 2)] = x[i * n + (n - 2 - j)] - x[i * n + (n - 3 - j)] * a[i * n + (n - j - 3)];
}
"""


def test_a_column_that_sums_reach_is_stored_as_a_row():
    (subject, proposal), *_ = proposed(COLUMN, "transpose-buffer")
    after, proof = proved(COLUMN, subject, proposal)
    assert "m[t * n + i + t + 1] = a[t * n + i + t + 1] / a[t * n + t];" in after
    assert proof.compared == "bit for bit"
    assumed = [it.text for it in proposal.assumptions]
    assert {"m has fewer than 2^31 elements", "t >= 0"} <= set(assumed)
    assert not any("<" in it for it in assumed if "2^31" not in it)  # The guard says so.


def test_a_sum_of_one_number_needs_no_short_buffer():
    text = ROWS.replace("(i * n) + k", "(i * n + k)")
    (_, proposal), *_ = proposed(text, "vectorise")
    assert not any("2^31" in it.text for it in proposal.assumptions)


def test_rows_that_sums_reach_are_loaded_by_vectors():
    subject, found = all_of(ROWS, "vectorise")
    assert found
    assert "(__global const float4 *)&a[(i * n) + k0]" in apply(subject.text, found[0].edits, subject.path)
    trials = Trials(subject, SETTINGS)
    for it in found:
        natively_the_same(subject, it, trials)


@pytest.mark.parametrize(
    "element",
    [
        "*(a + i * n /* the row */ + k)",
        "*(a + i * n + (k > 3 ? k : 3))",
        "*(a + i * n + k++ * 0)",
        "*(a + (n - one) + i * wide - n + k)",
    ],
)
def test_what_is_no_plain_sum_stays(element: str):
    text = ROWS.replace("float s = 0;", "float s = 0; const uint one = 1; const size_t wide = n;")
    text = text.replace("*(a + (i * n) + k)", element)
    for after, _ in offered(text, "vectorise"):
        assert element in after


def test_rows_that_are_walked_backwards_are_stored_by_columns():
    subject, found = all_of(BACKWARDS, "transpose-buffer")
    after = apply(subject.text, found[0].edits, subject.path)
    assert "x[(n - j - 2) * n + i] = x[(n - j - 2) * n + i]" in after
    assert "- x[(n - j - 3) * n + i] * a[(n - j - 3) * n + i];" in after
    assert not any(">=" in it.text or "elements" in it.text for it in found[0].assumptions)


def test_sums_in_local_memory_need_no_short_buffer():
    text = """\
// clmap: global=64 local=64 a=random(64) o=zeros(64)
__kernel void turned(__global const float *restrict a, __global float *restrict o)
{
    __local float part[1024];
    const int l = get_local_id(0);
    for (int k = 0; k < 16; k++)
        *(part + (k * 64) + l) = a[(l + k) & 63];
    barrier(CLK_LOCAL_MEM_FENCE);
    float s = 0;
    for (int k = 0; k < 16; k++)
        s += *(part + mul24(l, 16) + k);
    o[l] = s;
}
"""
    found = proposed(text, "pad-local")
    assert found
    for subject, it in found:
        after, proof = proved(text, subject, it)
        assert "*(part" not in after and not it.assumptions
        assert proof.compared == "bit for bit"
