"""Rewrites say by names what an analysis found: where a name stands for something else they must not."""

from __future__ import annotations

import pytest
from fixing import SETTINGS, offered, proposed, subject_of
from natively import all_of, natively_the_same

from benchmarks import awkward
from clmap_lsp.findings import Edit
from clmap_lsp.fixes import facts
from clmap_lsp.fixes.model import Proposal
from clmap_lsp.fixes.predict import rewritten
from clmap_lsp.fixes.spelt_out import SpeltOut
from clmap_lsp.fixes.trials import Trials
from clmap_lsp.source.span import Span

ROWS = """\
// clmap: global=64 local=32 n=32 a=random(2048) y=zeros(2048)
__kernel void rows(__global const float *restrict a, __global float *restrict y, int n)
{
    const int i = get_global_id(0), w = n;
    for (int k = 0; k < n; k++)
        y[i * w + k] = a[i * w + k];
}
"""
SUM = """\
// clmap: global=256 local=64 n=64 a=formula(256*64,1) b=random(4) y=zeros(256)
__kernel void sums(__global const int *restrict a, __global const int *restrict b, __global int *restrict y,
                   const int n)
{
    const int i = get_global_id(0);
    int s = 0;
    for (int k = 0; k < n; k++)
        if (a[i * n + k] > 0)
            s += b[0];
    STORE;
}
"""


def test_a_parameter_that_the_kernel_sets_is_not_said_instead_of_its_value():
    assert proposed(ROWS, "transpose-buffer")
    shrinks = ROWS.replace("a[i * w + k];", "a[i * w + k], n -= a[i * w + k] > 3.0e30f;")
    assert proposed(shrinks, "transpose-buffer") == []


def test_a_variable_that_is_set_twice_names_nothing():
    clamped = ROWS.replace("const int i", "int i").replace(
        "    for", "    if (i >= n)\n        i = n - 1;\n    for"
    )
    for text, names in ((ROWS, {"i"}), (clamped, set())):
        (first, *_) = facts.accesses(subject_of(text).analysis)
        assert set(first.names.values()) == names


def test_a_counter_that_is_stepped_before_the_access_is_not_said():
    late = ROWS.replace("for (int k = 0; k < n; k++)", "int k = -1;\n    while (++k < n)")
    for text in (ROWS, late):
        ((after, _), *_) = offered(text, "transpose-buffer")
        assert "a[k * get_global_size(0) + i]" in after or text == late


def test_what_nothing_declares_is_an_error_of_the_rewrite():
    subject = subject_of(ROWS)
    at = ROWS.index("k < n")
    found = rewritten(subject, (Edit(Span(subject.path, at, at + 5), "k < m"),))
    assert found == "nothing declares `m`"


def test_a_test_that_follows_what_is_stepped_beside_the_counter_stays():
    ends = """\
// clmap: global=64 local=32 n=32 a=random(2048) y=zeros(64)
__kernel void ends(__global const float *a, __global float *y, int n)
{
    const int row = get_global_id(0);
    float s = 0.0f;
    for (int k = 0, m = n; k < m; k++, m--)
        s += a[row * n + k] - a[row * n + m - 1];
    y[row] = s;
}
"""
    assert proposed(ends, "vectorise") == []
    assert proposed(ends.replace("k < m", "k < n"), "vectorise")


def test_only_sums_that_all_work_items_add_up_are_taken_in_another_order():
    """The data of this launch are all alike, so that nothing would be seen of other elements."""
    for store, is_made in (
        ("y[i] = s", False),
        ("atomic_add(y, s)", True),
        ("if (s > 9) atomic_add(y, s)", False),
        ("atomic_add(y, s * s)", False),
        ("atomic_max(y, s)", False),
        ("if (i < 40) atomic_add(y, s)", False),
        ("atomic_add(y + i % 2, s)", False),
        ("y[i] = atomic_add(y + 1, s)", False),
    ):
        assert bool(proposed(SUM.replace("STORE", store), "stride-order")) is is_made, store


def test_what_decides_on_branches_only_takes_other_values():
    subject = subject_of(SUM.replace("STORE", "y[i] = s"))
    texts = {it.case.launch.arguments["a"].text for it in Trials(subject, SETTINGS).members}
    assert len(texts) >= 4


CHUNK = """\
// clmap: global=64 local=32 n=16 m=formula(64,1) a=formula(1024,1) b=zeros(1024)
__kernel void chunk(__global const int *restrict m, __global const float *restrict a,
                    __global float *restrict b, const int n)
{
    const int i = get_global_id(0);
    const int one = 1;
    for (int k = 0; k < n; k++)
        b[i * n + k] = a[i * n + k] + one;
}
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("const int one = 1", "const int one = i & 1"),
        ("const int one = 1", "const int one = m[i]"),
        ("const int one = 1", "const int one = get_group_id(0)"),
        ("    for", "    if (i % 3)\n        for"),
        ("    for", "    if (m[i] == 0)\n        return;\n    for"),
    ],
    ids=["its parity", "its number", "its group", "some work-items", "some have left"],
)
def test_only_what_any_work_item_may_do_is_done_by_another(old: str, new: str):
    assert proposed(CHUNK, "stride-order")
    assert proposed(CHUNK.replace(old, new), "stride-order") == []


def test_a_step_that_a_macro_reads_stays():
    carried = """\
#define PLACE (p)
// clmap: global=64 local=64 n=16 e=0 a=random(4096) y=random(64)
__kernel void carried(__global const float *restrict a, __global float *restrict y, const int n, const int e)
{
    const int i = get_global_id(0);
    int p = i;
    float s = 0.0f;
    for (int k = 0; k < n; k++) {
        s += a[PLACE] * k;
        p = p + e;
    }
    y[i] = s;
}
"""
    assert proposed(carried, "hoist-access") == []


def test_a_counter_that_a_macro_mentions_is_not_replaced():
    for text in (CHUNK, "#define K k\n" + CHUNK.replace("+ one", "+ K")):
        for kind in ("stride-order", "vectorise"):
            assert bool(proposed(text, kind)) is (text == CHUNK), kind


def test_the_first_round_of_a_do_loop_is_made_before_the_test():
    """Without columns it reads what the next row starts with."""
    text = dict(awkward.kernels())["a do-while over a row"]
    ((_, made),) = proposed(text, "transpose-buffer")
    assert "k < n" in {it.text for it in made.assumptions}


MERGED = """\
// clmap: global=512 local=128 d=128 up=1 keys=random(1024)
__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void merged(__global uint *keys, uint d, const uint up)
{
    __local uint s[256];
    const uint l = get_local_id(0), first = 256 * get_group_id(0);
    s[l] = keys[first + l];
    s[l + 128] = keys[first + l + 128];
    for (; d > 0; d >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint at = 2 * l - (l & (d - 1));
        const uint low = s[at], high = s[at + d];
        if ((low > high) == up) {
            s[at] = high;
            s[at + d] = low;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    keys[first + l] = s[l];
    keys[first + l + 128] = s[l + 128];
}
"""
"""A step of a bitonic sort: the distance of the pairs is an argument, which the kernel halves."""


def test_an_index_is_written_again_where_it_stands_whatever_changes_in_it():
    texts = [after for after, _ in offered(MERGED, "pad-local")]
    assert any("s[at + d + ((at + d) >> 5)] = low;" in it for it in texts)
    assert any("s[(at + d) ^ ((at + d) >> 5 & 31)] = low;" in it for it in texts)
    subject, found = all_of(MERGED, "pad-local")
    trials = Trials(subject, SETTINGS)
    for proposal in found:
        natively_the_same(subject, proposal, trials)


def test_an_index_that_something_was_spelt_out_in_is_not_what_stands_there():
    subject = subject_of(MERGED)
    made = Proposal("pad-local", "", (Edit(Span(subject.path, 0, 0), ""),), in_place=True)
    typed = SpeltOut(subject, ()).typed(made)
    assert typed is not None
    assert not typed.in_place
