"""Several results a work-item: where a product is recognised, and that it stays right on its family."""

from __future__ import annotations

import pytest
from elsewhere import all_offers, wrong_offers
from fixing import offered

from clmap_lsp.findings import FixSafety

GUARDED = """\
// clmap: global=192,160 local=16,16 M=150 N=190 K=37 A=random(M*K) B=random(K*N,1) C=random(M*N,2)
__kernel void mm(__global const float *restrict A, __global const float *restrict B,
                 __global float *restrict C, const int M, const int N, const int K)
{
    const int col = get_global_id(0);
    const int row = get_global_id(1);
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; k++)
        sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}
"""
SCALED = """\
// clmap: global=128,128 local=16,16 ni=120 nj=100 nk=40 alpha=1.5 beta=0.5
__kernel void gemm(__global const float *a, __global const float *b, __global float *c,
                   float alpha, float beta, int ni, int nj, int nk)
{
    int j = get_global_id(0);
    int i = get_global_id(1);
    if ((i < ni) && (j < nj))
    {
        float value = c[i * nj + j] * beta;
        int k;
        for (k = 0; k < nk; k++)
        {
            value += alpha * a[i * nk + k] * b[k * nj + j];
        }
        c[i * nj + j] = value;
    }
}
"""
EXCHANGED = GUARDED.replace("col = get_global_id(0)", "col = get_global_id(1)").replace(
    "row = get_global_id(1)", "row = get_global_id(0)"
)
EXCHANGED = EXCHANGED.replace("global=192,160", "global=160,192")
NAMED = """\
// clmap: global=128,64 local=16,16 lda=128 ldb=64 ldc=128 k=37 alpha=1.5 beta=0.5
__kernel void sgemm_nt(__global const float *A, int lda, __global const float *B, int ldb,
                       __global float *C, int ldc, int k, float alpha, float beta)
{
    float c = 0.0f;
    int m = get_global_id(0);
    int n = get_global_id(1);
    for (int i = 0; i < k; ++i) {
        float a = A[m + i * lda];
        const float b = B[n + i * ldb];
        c += a * b;
    }
    C[m + n * ldc] = beta * C[m + n * ldc] + alpha * c;
}
"""


def test_a_product_keeps_16_results_in_registers():
    text, fix = offered(GUARDED, "register-tile")[0]
    assert "float sums[4][4] = {{0}};" in text
    assert fix.safety is FixSafety.UNSAFE
    assert "get_global_size(1) >= M (as launched before)" in fix.assumptions
    assert not any("overlap" in it for it in fix.assumptions)
    assert "in groups of 16x8" in str(fix.host_change)


@pytest.mark.parametrize(
    "text", [GUARDED, SCALED, EXCHANGED, NAMED], ids=["guarded", "scaled", "ids exchanged", "named loads"]
)
def test_products_of_any_size_and_order_are_recognised(text: str):
    """Each was tested bit for bit on sizes that are no multiple of a tile."""
    _, found = all_offers(text)
    mine = [proof for proof, _ in found if proof.proposal.kind == "register-tile"]
    assert mine
    assert all(it.compared == "bit for bit" and len(it.tested_on) > 8 for it in mine)


def test_a_launch_that_does_not_fulfil_what_it_assumes_gets_no_offer():
    """The launch leaves out results that the rewrite would compute."""
    assert offered(GUARDED.replace("global=192,160", "global=160,160"), "register-tile") == []


def test_it_is_right_on_another_launch():
    other = (
        "// clmap: global=48,80 local=16,16 M=70 N=41 K=19 A=random(2000) B=random(2000,1) C=random(4000,2)"
    )
    assert wrong_offers(GUARDED, other) == []


@pytest.mark.parametrize(
    "text",
    [
        GUARDED.replace("B[k * N + col];", "B[k * N + col] + col;"),
        GUARDED.replace("A[row * K + k] *", "A[row * K + col] *"),
        GUARDED.replace("    C[row", "    if (sum > 1.0f) C[row"),
        GUARDED.replace("float sum = 0.0f;", "float sum = 0.0f; float other = K * 2;").replace(
            "= sum;", "= other;"
        ),
        GUARDED.replace("row >= M ||", "row * 2 >= M ||"),
        NAMED.replace("float b = B", "int b = B"),
        NAMED.replace("float a = A[m + i * lda];", "float a = A[m + i * lda] * 2;"),
        GUARDED.replace("k++)", "k++) { if (k == 7) break;").replace("+ col];", "+ col]; }"),
    ],
    ids=[
        "names an id",
        "no turn",
        "stores sometimes",
        "other variables",
        "other guards",
        "converts",
        "names more",
        "left early",
    ],
)
def test_what_is_no_product_is_left_alone(text: str):
    assert offered(text, "register-tile") == []


def test_past_the_ends_nothing_is_loaded_but_the_last_again():
    """A condition for each element keeps loads from being under way together."""
    text, _ = offered(GUARDED, "register-tile")[0]
    assert "const int k_end = N > 0 && M > 0 ? K : 0;" in text or "M > 0 && N > 0 ? K : 0;" in text
    assert "min(row0 + r, M - 1) * K" in text
    unsigned = GUARDED.replace("const int M", "const uint M")
    text, _ = offered(unsigned, "register-tile")[0]
    assert "(row0 + r < M ? row0 + r : M - 1) * K" in text
