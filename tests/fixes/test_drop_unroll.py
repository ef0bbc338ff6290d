"""Hints that say how often to unroll a loop go where the compiler does better without: by predicted time."""

from __future__ import annotations

import pytest
from fixing import SETTINGS, offered
from natively import H200, all_of, natively_the_same

from clmap_lsp.findings import FixSafety
from clmap_lsp.fixes.edits import apply
from clmap_lsp.fixes.trials import Trials

KIND = "drop-unroll"
PLAIN = """\
// clmap: global=16384 local=256 n=16384 m=4003
__kernel void sums(__global const float *a, __global float *b, const int n, const int m)
{
    const int g = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < m; k++)
        s += a[k * n + g];
    b[g] = s;
}
"""


def hinted(hint: str, text: str = PLAIN) -> str:
    return text.replace("    for (", f"{hint}    for (", 1)


HINTS = {
    "pragma 1": "    #pragma unroll 1\n",
    "pragma 4": "#pragma unroll 4\n",
    "brackets": "    #pragma unroll (2)\n",
    "attribute": "    __attribute__((opencl_unroll_hint(4)))\n",
}


@pytest.mark.parametrize("hint", HINTS.values(), ids=HINTS)
def test_a_loop_that_waits_for_memory_is_left_to_the_compiler(hint: str):
    ((after, fix),) = offered(hinted(hint), KIND, H200)
    assert after.split() == PLAIN.split() and "x faster" in fix.title
    assert fix.safety is FixSafety.SAFE and not fix.assumptions


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        hinted("    #pragma unroll\n"),
        hinted("    __attribute__((opencl_unroll_hint))\n"),
        hinted("    // #pragma unroll 4\n"),
        hinted("    #pragma nounroll\n"),
    ],
)
def test_other_loops_are_left_alone(text: str):
    assert all_of(text, KIND)[1] == []


def test_where_many_groups_hide_the_wait_the_hint_stays():
    many = PLAIN.replace("=16384", "=1048576").replace("4003", "61")
    assert offered(hinted(HINTS["pragma 4"], many), KIND, H200) == []
    assert offered(hinted(HINTS["pragma 1"], many), KIND, H200)  # Measured: 1.6 times as fast without.


def test_without_times_nothing_is_offered():
    assert offered(hinted(HINTS["pragma 1"]), KIND) == []


def test_each_hint_and_all_of_them_are_proposed():
    small = PLAIN.replace("=16384", "=512").replace("4003", "37")
    two = small.replace("    b[g] = s;", "    for (int k = 0; k < m; k++)\n        s *= a[k];\n    b[g] = s;")
    both = two.replace("    for (", "    #pragma unroll 2\n    for (")
    subject, proposals = all_of(both, KIND)
    texts = [apply(both, it.edits, "k.cl") for it in proposals]
    assert [it.count("unroll") for it in texts] == [1, 1, 0] and texts[0] != texts[1]
    trials = Trials(subject, SETTINGS)
    for proposal in proposals:
        natively_the_same(subject, proposal, trials)
