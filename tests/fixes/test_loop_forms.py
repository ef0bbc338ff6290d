"""One loop in every spelling gets the same rewrites."""

from __future__ import annotations

import pytest
from elsewhere import all_offers

KERNEL = """\
// clmap: global=64,64 local=16,16 N=64 A=random(N*N) B=random(N*N,1) C=zeros(N*N)
__kernel void mm(__global const float *restrict A, __global const float *restrict B,
                 __global float *restrict C, const int N)
{
    const int row = get_global_id(1);
    const int col = get_global_id(0);
    BEFORE
    LOOP
    C[row * N + col] = sum;
}
"""
PRODUCT = "sum += A[row * N + k] * B[k * N + col];"
IN_MEMORY = "C[row * N + col] += A[row * N + k] * B[k * N + col];"

POINTERS = "__global const float *a = A + row * N; __global const float *b = B + col;"

FORMS = {
    "declared in the loop": ("", f"for (int k = 0; k < N; k++) {PRODUCT}"),
    "declared before": ("int k;", f"for (k = 0; k < N; k++) {PRODUCT}"),
    "at most": ("", f"for (int k = 0; k <= N - 1; ++k) {{ {PRODUCT} }}"),
    "not yet": ("", f"for (int k = 0; k != N; k += 1) {{ {PRODUCT} }}"),
    "the bound first": ("int k;", f"for (k = 0; N > k; k = k + 1) {{ {PRODUCT} }}"),
    "while": ("int k = 0;", f"while (k < N) {{ {PRODUCT} k++; }}"),
    "while, at most": (
        "int k = 0;",
        f"while (k <= N - 1)\n    {{\n        {PRODUCT}\n        k += 1;\n    }}",
    ),
    "pointer to a row": (
        "__global const float *a = A + row * N;",
        "for (int k = 0; k < N; k++) sum += a[k] * B[k * N + col];",
    ),
    "what it loads has names": (
        "",
        "for (int k = 0; k < N; k++) { float a = A[row * N + k]; "
        "const float b = B[k * N + col]; sum += a * b; }",
    ),
    "a second counter": (
        "",
        "for (int k = 0, j = 0; k < N; k++, j += N) sum += A[row * N + k] * B[j + col];",
    ),
    "two pointers": (POINTERS, "for (int k = 0; k < N; k++, a++, b += N) sum += *a * *b;"),
    "two pointers, in the body": (
        POINTERS,
        "for (int k = 0; k < N; ++k)\n    {\n        sum += a[0] * b[0];\n        ++a;\n"
        "        b += N;\n    }",
    ),
    "read and stepped": (POINTERS, "for (int k = 0; k < N; k++) { sum += *a++ * *b; b += N; }"),
    "taken from a number": (f"int n = N; {POINTERS}", "while (n--) { sum += *a++ * *b; b += N; }"),
    "do": ("int k = 0;", f"do {{ {PRODUCT} k++; }} while (k < N);"),
    "do, stepped in its test": ("int k = 0;", f"do {{ {PRODUCT} }} while (++k < N);"),
    "downwards": ("int k;", f"for (k = N - 1; k >= 0; k--) {PRODUCT}"),
    "downwards in its test": ("", f"for (int k = N; k--; ) {PRODUCT}"),
    "a while downwards": ("int k = N;", f"while (--k >= 0) {PRODUCT}"),
    "the counter is used after it": (
        "int k;",
        f"for (k = 0; k < N; k++) {PRODUCT}\n    sum += k;",
    ),
}


def offered(before: str, loop: str, sum_: str = "float sum = 0.0f;") -> dict[str, str]:
    text = KERNEL.replace("BEFORE", f"{sum_} {before}").replace("LOOP", loop)
    _, found = all_offers(text)
    return {proof.proposal.kind: fix.title for proof, fix in found}


@pytest.mark.parametrize("form", FORMS)
def test_a_loop_gets_tiles_and_vectors_however_it_is_spelt(form: str):
    """Each offer was tested on the family, which has sizes that leave a remainder."""
    kinds = offered(*FORMS[form])
    assert {"stage-loop", "vectorise"} <= kinds.keys()
    assert kinds["stage-loop"].startswith("Stage `A` and `B` in tiles of 16")


@pytest.mark.parametrize(
    ("before", "loop"),
    [
        ("int k;", f"for (k = 0; k < N; k++) {IN_MEMORY}"),
        ("int k = 0;", f"while (k < N) {{ {IN_MEMORY} k++; }}"),
        ("int k;", f"for (k = 0; k <= N - 1; k++) {{ {IN_MEMORY} }}"),
    ],
)
def test_a_sum_in_memory_is_kept_in_a_register_however_its_loop_is_spelt(before: str, loop: str):
    kinds = offered(before, loop, "C[row * N + col] = 0.5f; float sum = 1.0f; sum = C[row * N + col];")
    assert "hoist-access" in kinds


@pytest.mark.parametrize(
    ("before", "loop"),
    [
        ("int k = 0;", f"while (k < N) {{ k++; {PRODUCT} }}"),
        ("int k;", f"for (k = N - 1; k >= 0; k--) {{ {PRODUCT} sum *= 0.5f; }}"),
        ("int k;", f"for (k = N - 1; k >= 0; k--) {PRODUCT}\n    sum += k;"),
        (
            "int j = 0;",
            "for (int k = 0; k < N; k++, j += N) sum += A[row * N + k] * B[j + col];\n    sum += j;",
        ),
        (POINTERS, "for (int k = 0; k < N; k++) { if (k % 3) sum += *a++ * *b; b += N; }"),
        (f"{POINTERS} int s = 1;", "for (int k = 0; k < N; k++, a++, b += s) { sum += *a * *b; s = N; }"),
        ("int k = 0;", f"while (k < N) {{ if (k == row) {{ k++; continue; }} {PRODUCT} k++; }}"),
        ("int k = 0;", f"do {{ {PRODUCT} k++; }} while (k < N || k < 2);"),
        ("int k;", f"for (k = 0; k < N; k++) {{ if (k == row) break; {PRODUCT} }}"),
    ],
    ids=[
        "counted first",
        "the order matters",
        "where it ended matters",
        "where the second ended matters",
        "read at times",
        "steps that change",
        "continued",
        "do, with another test",
        "left early",
    ],
)
def test_other_loops_are_left_alone_or_right(before: str, loop: str):
    """Nothing wrong is offered: whatever is was tested on the family."""
    assert "stage-loop" not in offered(before, loop)


def test_a_loop_down_to_1_gets_tiles():
    kinds = offered("", "for (int k = N; k > 0; k--) sum += A[row * N + (k - 1)] * B[(k - 1) * N + col];")
    assert kinds["stage-loop"].startswith("Stage `A` and `B` in tiles of 16")


def test_a_pointer_that_is_stepped_at_times_stays():
    kinds = offered(POINTERS, "for (int k = 0; k < N; k++) { sum += *a++ * *b; if (k % 3) b += N; }")
    assert kinds["stage-loop"].startswith("Stage `A` in tiles of 16")


def test_steps_of_a_pointer_that_are_counted_as_int_are_an_assumption():
    text = KERNEL.replace("BEFORE", f"float sum = 0.0f; {POINTERS}")
    text = text.replace("LOOP", "for (int k = 0; k < N; k++, a++, b += N) sum += *a * *b;")
    found = {
        proof.proposal.kind: [it.text for it in proof.proposal.assumptions]
        for proof, _ in all_offers(text)[1]
    }
    assert "B has fewer than 2^31 elements" in found["vectorise"]
    assert "A has fewer than 2^31 elements" in found["vectorise"]  # `A + row * N` is counted as `int`, too.


@pytest.mark.parametrize("form", ["downwards", "downwards in its test", "a while downwards"])
def test_a_loop_that_is_turned_round_is_never_safe(form: str):
    """Its sum is taken in another order, which its last bits may show."""
    before, loop = FORMS[form]
    text = KERNEL.replace("BEFORE", f"float sum = 0.0f; {before}").replace("LOOP", loop)
    found = {proof.proposal.kind: proof.proposal for proof, _ in all_offers(text)[1]}
    assert "sums may be taken in another order" in [it.text for it in found["vectorise"].assumptions]
    assert found["vectorise"].safety.value == "unsafe"
