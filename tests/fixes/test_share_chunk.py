"""Chunks of elements that the work-items of a group take together."""

from __future__ import annotations

import pytest
from fixing import SETTINGS, mutant, offered, proposed, rejected
from natively import all_of, natively_the_same

from clmap_lsp.findings import FixSafety
from clmap_lsp.fixes.model import Verified
from clmap_lsp.fixes.trials import Trials
from clmap_lsp.fixes.verification import verify

COUNTED = """\
// clmap: global=256 local=64 n=4000 per=16 limits=random(33) data=random(n) counts=zeros(32)
__kernel void counted(__global const float *data, __global const float *limits, __global uint *counts,
                      const uint n, const uint per)
{
    __local uint here[32];
    const size_t gid = get_global_id(0);
    const int lid = get_local_id(0);
    if (lid < 32)
        here[lid] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < per; k++) {
        const size_t at = gid * per + k;
        if (at < n) {
            const float value = data[at];
            int bin = 0;
            while (bin < 31 && limits[bin] < value)
                bin++;
            atomic_inc(&here[bin]);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid < 32)
        atomic_add(&counts[lid], here[lid]);
}
"""
MAPPED = """\
// clmap: global=128 local=32 n=8 scale=1.5 a=random(1100) b=random(1100,1)
__kernel void mapped(__global const float *a, __global float *b, const int n, const float scale)
{
    const uint id = get_global_id(0);
    const uint first = 3;
    for (int k = 0; k < n; k++)
        b[id * n + k + first] += a[id * n + k + first] * scale;
}
"""
CASES = {
    "counted": COUNTED,
    "mapped": MAPPED,
    "direct": COUNTED.replace("const size_t at = gid * per + k;\n        if (at < n) ", "").replace(
        "data[at]", "data[get_global_id(0) * per + k]"
    ).replace("n=4000", "n=4096"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_it_is_right_on_its_family_and_natively(case: str):
    subject, (proposal,) = all_of(CASES[case], "share-chunk")
    trials = Trials(subject, SETTINGS)
    proof = verify(subject, proposal, SETTINGS, trials)
    assert isinstance(proof, Verified), proof
    assert proof.compared == "bit for bit" and len(proof.tested_on) > 8
    natively_the_same(subject, proposal, trials)


def test_neighbours_take_neighbours():
    ((text, fix),) = offered(COUNTED, "share-chunk")
    assert "const size_t at = (gid - lid) * per + k * get_local_size(0) + lid;" in text
    assert fix.safety is FixSafety.SAFE
    ((text, fix),) = offered(MAPPED, "share-chunk")
    assert text.count("(uint)((id - get_local_id(0)) * n + k * get_local_size(0) + get_local_id(0) + 3)") == 2
    assert fix.assumptions == ("a and b do not overlap",)


LOOP = "atomic_inc(&here[bin]);"
REFUSED = {
    "a sum of its own": MAPPED.replace("    for", "    float sum = 0;\n    for")
    .replace("b[id * n + k + first] +=", "sum +=")
    .replace("scale;\n}", "scale;\n    b[id] = sum;\n}"),
    "who it is": COUNTED.replace("here[bin]", "here[(bin + lid) % 32]"),
    "a variable that says who": COUNTED.replace("    barrier", "    uint most = per * lid;\n    barrier", 1)
    .replace("if (at < n)", "if (at < n && most > 7)"
    ),
    "a parameter that is set": COUNTED.replace("const uint n,", "uint n,").replace(
        "    barrier", "    n -= lid;\n    barrier", 1
    ),
    "its turn": COUNTED.replace("here[bin]", "here[(bin + k) % 32]"),
    "the old count": COUNTED.replace(LOOP, "counts[at % 32] = atomic_inc(&here[0]);"),
    "two kinds of counting": COUNTED.replace(LOOP, "{ atomic_inc(&here[1]); atomic_max(&here[1], 7); }"),
    "an array of its own": COUNTED.replace(
        "    barrier", "    int mine[32];\n    mine[lid % 32] = 1;\n    barrier", 1
    )
    .replace(LOOP, "{ mine[k] = 2; atomic_inc(&here[mine[k] & 31]); }"),
    "some work-items only": COUNTED.replace("    for (uint k", "    if (lid < 5)\n    for (uint k"),
    "its own number of turns": COUNTED.replace("k < per; k++", "k < per - lid % 2; k++"),
    "another meaning of a name": COUNTED.replace("int bin = 0;", "int bin = 0, per = 3;"),
    "read behind the loop": MAPPED.replace("    for", "    float last = b[id * n + first];\n    for"),
    "kept for its neighbour": MAPPED.replace("* scale;", "* scale + b[id * n + k];"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_iterations_that_know_more_than_their_element_stay(name: str):
    assert proposed(REFUSED[name], "share-chunk") == []


@pytest.mark.parametrize(
    ("before", "after"),
    [("(gid - lid)", "gid"), ("* get_local_size(0)", "* get_local_size(0) / 2"), ("+ lid;", ";")],
)
def test_wrong_ones_are_rejected(before: str, after: str):
    subject, proposal = proposed(COUNTED, "share-chunk")[0]
    assert rejected(subject, mutant(COUNTED, subject, proposal, before, after))
