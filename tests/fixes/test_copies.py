"""Arrays that hold a copy of global memory, read where they were copied from."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fixing import SETTINGS, subject_of
from natively import all_of, natively_the_same

from benchmarks import clang
from clmap_lsp.fixes.copies import read_in_place
from clmap_lsp.fixes.edits import apply
from clmap_lsp.fixes.model import Verified
from clmap_lsp.fixes.trials import Trials
from clmap_lsp.fixes.verification import verify

PRIVATE = """\
// clmap: global=64 local=16 n=64 a=random(n*n) b=random(n*n,1) c=zeros(n*n)
__kernel void rows(const int n, __global const float *a, __global const float *b, __global float *c)
{
    int k, j;
    int i = get_global_id(0);
    float row[64];
    float sum;
    if (i < n) {
        for (k = 0; k < n; k++)
            row[k] = a[i * n + k];

        for (j = 0; j < n; j++) {
            sum = 0.0f;
            for (k = 0; k < n; k++)
                sum += row[k] * b[k * n + j];
            c[i * n + j] = sum;
        }
    }
}
"""
TOGETHER = """\
// clmap: global=64 local=16 n=64 a=random(n*n) b=random(n*n,1) c=zeros(n*n) column=local(n)
__kernel void columns(const int n, __global const float *restrict a, __global const float *restrict b,
                      __global float *restrict c, __local float *column)
{
    const int i = get_global_id(0);
    for (int j = 0; j < n; j++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = get_local_id(0); k < n; k += get_local_size(0))
            column[k] = b[k * n + j];
        barrier(CLK_LOCAL_MEM_FENCE);
        float sum = 0.0f;
        for (int k = 0; k < n; k++)
            sum += a[i * n + k] * column[k];
        c[i * n + j] = sum;
    }
}
"""


def _in_place(text: str) -> str | None:
    found = read_in_place(subject_of(text))
    return None if found is None else found.subject.text


def test_a_private_copy_goes_with_its_loop() -> None:
    after = _in_place(PRIVATE)
    assert after is not None
    assert "row[" not in after and "sum += a[i * n + k] * b[k * n + j];" in after
    assert "    if (i < n) {\n        for (j = 0; j < n; j++) {\n" in after


def test_a_copy_that_a_group_makes_goes_with_its_barriers() -> None:
    after = _in_place(TOGETHER)
    assert after is not None
    assert "barrier" not in after and "sum += a[i * n + k] * b[k * n + j];" in after
    assert "__local float *column __attribute__((unused)))" in after  # The host passes it still.


@pytest.mark.parametrize("text", [PRIVATE, TOGETHER])
def test_what_the_copy_held_back_is_spread_over_work_items(text: str) -> None:
    subject, (proposal,) = all_of(text, "spread-loop")
    trials = Trials(subject, SETTINGS)
    proof = verify(subject, replace(proposal, by_time=False, lowers_traffic=False), SETTINGS, trials)
    assert isinstance(proof, Verified), proof.reason
    assert len(proof.tested_on) > 5
    after = apply(text, proposal.edits, "k.cl")
    assert "for (j" not in after and "for (int j" not in after
    assert not list(clang.new_warnings(subject, after))
    natively_the_same(subject, proposal, trials)


def test_an_index_of_its_own_stands_in_the_copied_one() -> None:
    after = _in_place(PRIVATE.replace("row[k] * b", "row[n - 1 - k] * b"))
    assert after is not None and "sum += a[i * n + (n - 1 - k)] * b[k * n + j];" in after


def test_arrays_that_may_be_one_are_assumed_not_to_be() -> None:
    found = read_in_place(subject_of(PRIVATE))
    assert found is not None and [it.text for it in found.assumptions] == ["a and c do not overlap"]
    alone = read_in_place(subject_of(TOGETHER))
    assert alone is not None and not alone.assumptions


STAYS = {
    "the array is stored to": ("c[i * n + j] = sum;", "c[i * n + j] = sum; ((__global float *)a)[i] = 0.0f;"),
    "the copy is changed": ("sum = 0.0f;\n", "sum = 0.0f; row[j] += 1.0f;\n"),
    "the row moves": ("sum = 0.0f;\n", "sum = 0.0f; i += 0;\n"),
    "another element than its own": ("row[k] = a[", "row[n - 1 - k] = a["),
    "worked on while it is copied": ("row[k] = a[i * n + k];", "row[k] = 2.0f * a[i * n + k];"),
    "from the second on": (
        "for (k = 0; k < n; k++)\n            row",
        "for (k = 1; k < n; k++)\n            row",
    ),
    "the counter is read afterwards": (
        "\n        for (j = 0;",
        "\n        c[k - 1] = 0.0f;\n        for (j = 0;",
    ),
    "read before": (
        "        for (k = 0; k < n; k++)\n            row",
        "        c[i] = row[0];\n        for (k = 0; k < n; k++)\n            row",
    ),
    "passed on": (
        "            sum = 0.0f;\n",
        "            sum = 0.0f; float *p = row; sum += p[0] - p[0];\n",
    ),
    "in another type": ("float row[64]", "half_t row[64]"),
    "a name that means something else there": (
        "sum = 0.0f;\n",
        "sum = 0.0f; { int i = 3; sum += row[i] - row[i]; }\n",
    ),
    "left early": ("row[k] = a[i * n + k];", "{ row[k] = a[i * n + k]; if (k == 40) break; }"),
}


@pytest.mark.parametrize("what", STAYS)
def test_what_may_mean_something_else_stays_a_copy(what: str) -> None:
    before, after = STAYS[what]
    assert before in PRIVATE
    text = PRIVATE.replace(before, after, 1).replace("half_t", "int")
    assert _in_place(text) is None


TOGETHER_STAYS = {
    "each work-item's own row": ("b[k * n + j]", "b[i * n + k]"),
    "each work-item's own column": ("b[k * n + j]", "b[k * n + i]"),
    "half of it": ("k = get_local_id(0)", "k = 2 * get_local_id(0)"),
    "another step": ("k += get_local_size(0)", "k += 16"),
    "in another dimension": ("k += get_local_size(0)", "k += get_local_size(1)"),
}


@pytest.mark.parametrize("what", TOGETHER_STAYS)
def test_a_group_s_copy_that_differs_between_work_items_stays(what: str) -> None:
    before, after = TOGETHER_STAYS[what]
    assert before in TOGETHER
    assert _in_place(TOGETHER.replace(before, after, 1)) is None


def test_barriers_that_order_other_memory_stay() -> None:
    text = TOGETHER.replace(
        "        float sum = 0.0f;\n",
        "        __local float other[16];\n        other[get_local_id(0)] = 1.0f;\n"
        "        barrier(CLK_LOCAL_MEM_FENCE);\n        float sum = other[15 - get_local_id(0)];\n",
    )
    after = _in_place(text)
    assert after is not None and after.count("barrier(") == 3
    fenced = TOGETHER.replace("CLK_LOCAL_MEM_FENCE", "CLK_GLOBAL_MEM_FENCE", 1)
    after = _in_place(fenced)
    assert after is not None and after.count("barrier(") == 2


def test_local_memory_that_a_rewrite_leaves_is_marked_once() -> None:
    text = TOGETHER.replace("__local float *column)", "__local float *column __attribute__((unused)))")
    after = _in_place(text)
    assert after is not None and after.count("__attribute__((unused))") == 1


def test_a_subscript_of_its_own_keeps_its_index_as_it_is() -> None:
    text = TOGETHER.replace("b[k * n + j]", "b[k]").replace("column[k];", "column[n - 1 - k];")
    after = _in_place(text)
    assert after is not None and "* b[n - 1 - k];" in after
