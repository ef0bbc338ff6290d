"""Swapping the work-item dimensions: where it is right, and where it must decline."""

from __future__ import annotations

import pytest
from fixing import proposed, rejected, verified

from clmap_lsp.findings import FixSafety

KIND = "swap-dimensions"

NAIVE = """\
// clmap: global=64,64 local=16,16 N=64 A=random(N*N) B=random(N*N,1) C=zeros(N*N)
__kernel void mm(__global const float *A, __global const float *B, __global float *C, const int N)
{
    int r = get_global_id(0); // get_global_id(0) is the row
    int c = get_global_id( 1 );
    float sum = 0.0f;
    for (int k = 0; k < N; k++)
        sum += B[k * N + c] * A[r * N + k];
    C[r * N + c] = sum;
}
"""


def test_the_naive_matrix_multiply_is_swapped_and_proved():
    text, proof = verified(NAIVE, KIND)
    assert "int r = get_global_id(1); // get_global_id(0) is the row" in text
    assert "int c = get_global_id( 0 );" in text
    assert proof.compared == "bit for bit"
    before, after = proof.before.sectors_per_request, proof.after.sectors_per_request
    assert before is not None and after is not None
    assert before == (17 * 64 + 16) / 129  # 16 + 1 sectors a turn for the two loads, 16 for the store
    assert after == (2 * 2 * 64 + 4) / 129
    assert proof.proposal.safety is FixSafety.UNSAFE  # That this launch is square says nothing of others.
    assert proof.proposal.host_change is not None


def test_unequal_sizes_need_the_host_and_say_so():
    _, proof = verified(NAIVE.replace("local=16,16", "local=8,32"), KIND)
    assert proof.after_launch.local_size == (32, 8)
    assert proof.proposal.safety is FixSafety.UNSAFE
    assert proof.proposal.host_change is not None


@pytest.mark.parametrize(
    "text",
    [
        NAIVE.replace("get_global_id(0);", "get_global_id(1);").replace(
            "get_global_id( 1 )", "get_global_id(0)"
        ),
        NAIVE.replace("get_global_id(0);", "get_global_id(DIM);").replace(
            "// clmap", "#define DIM 0\n// clmap"
        ),
        NAIVE.replace("float sum = 0.0f", "float sum = get_global_linear_id() * 0"),
    ],
    ids=["right already", "dimension from a macro", "linear id"],
)
def test_it_declines(text: str):
    assert proposed(text, KIND) == []


def test_the_verifier_catches_a_swap_that_changes_results():
    """Swapping only one of the two ids reads and writes other elements."""
    from dataclasses import replace

    ((subject, proposal),) = proposed(NAIVE, KIND)
    half = replace(proposal, edits=proposal.edits[:1])
    assert "differ" in rejected(subject, half) or "fault" in rejected(subject, half)
