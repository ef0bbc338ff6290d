"""Local arrays that the first work-item of a group filled alone."""

from __future__ import annotations

import pytest
from fixing import SETTINGS, mutant, offered, proposed, rejected
from natively import all_of, natively_the_same

from clmap_lsp.fixes.model import Verified
from clmap_lsp.fixes.trials import Trials
from clmap_lsp.fixes.verification import verify

ALONE = """\
// clmap: global=512 local=64 points=random(n*dim) centre=random(4096) out=zeros(n) s=local(dim) n=512 dim=96
__kernel void distances(__global const float *points, __global const float *centre, __global float *out,
                        __local float *s, int n, int dim)
{
    const int gid = get_global_id(0);
    const int lid = get_local_id(0);
    if (gid < n) {
        if (lid == 0)
            for (int i = 0; i < dim; i++) {
                s[i] = centre[i * 16 + n];
            }
        barrier(CLK_LOCAL_MEM_FENCE);
        float sum = 0.0f;
        for (int i = 0; i < dim; i++)
            sum += points[i * n + gid] - s[i];
        out[gid] = sum;
    }
}
"""
IN_TURNS = """\
// clmap: global=256 local=32 a=random(n*64) out=zeros(256) n=16
__kernel void in_turns(__global const float *restrict a, __global float *restrict out, const int n)
{
    __local float s[64], t[64];
    float sum = 0.0f;
    for (int k = 0; k < n; k++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (get_local_id(0) == 0) {
            #pragma unroll 4
            for (int i = 2; i < 64; i++) {
                const float value = a[k * 64 + i];
                s[i] = value;
                t[i - 2] = value * value;
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += s[2 + get_local_id(0)] + t[get_local_id(0)];
    }
    out[get_global_id(0)] = sum;
}
"""
OF_A_GROUP = ALONE.replace("    if (gid < n) {", "    const int first = get_group_id(0) * 8;\n    {").replace(
    "i * 16 + n", "first + i"
)
CASES = {"alone": ALONE, "in turns": IN_TURNS, "of a group": OF_A_GROUP}


@pytest.mark.parametrize("case", CASES)
def test_it_is_right_on_its_family_and_natively(case: str):
    subject, (proposal,) = all_of(CASES[case], "fill-together")
    trials = Trials(subject, SETTINGS)
    proof = verify(subject, proposal, SETTINGS, trials)
    assert isinstance(proof, Verified), proof
    assert proof.compared == "bit for bit" and len(proof.tested_on) > 8
    natively_the_same(subject, proposal, trials)


def test_the_group_fills_side_by_side():
    ((text, fix),) = offered(ALONE, "fill-together")
    assert "if (lid == 0)" not in text
    assert "for (int i = get_local_id(0); i < dim; i += get_local_size(0)) {" in text
    assert "all work-items of a group come to the barrier, or none" in fix.assumptions
    ((text, fix),) = offered(
        IN_TURNS.replace("        }\n        barrier", "        } // done\n        barrier"), "fill-together"
    )
    assert text.count("// done") == 1
    ((text, fix),) = offered(
        IN_TURNS.replace("== 0) {", "== 0) { // row k").replace("+ i];", "+ i]; /* all */"), "fill-together"
    )
    assert text.count("// row k\n") == text.count("; /* all */\n") == 1
    assert "#pragma unroll 4\n        for (int i = 2 + get_local_id(0); i < 64;" in text


FILL = "s[i] = centre[i * 16 + n];"
HEAD = "for (int i = 0; i < dim; i++) {"


def _first(line: str) -> str:
    """Return the kernel with a line before its condition."""
    return ALONE.replace("    if (gid", f"    {line}\n    if (gid")


REFUSED = {
    "a sum on the way": _first("float far = 0.0f;").replace(FILL, "{ far += centre[i]; s[i] = far; }"),
    "its own place": ALONE.replace("s[i] = ", "s[i + lid] = "),
    "its own value": ALONE.replace("+ n];", "+ n] * gid;"),
    "one place": ALONE.replace("s[i] = ", "s[0] = "),
    "a row of its own turn": IN_TURNS.replace("    for (int k", "    int k = 0;\n    for (", 1).replace(
        "= 0; k < n; k++) {", "; k < n; k += 1) {\n        if (sum < 0.1f) k++;"
    ),
    "what the first knows": _first("int m = 3; if (lid == 0) m = dim;").replace(
        HEAD, HEAD.replace("dim", "m")
    ),
    "a number of its own": ALONE.replace(HEAD, HEAD.replace("dim", "dim - lid")),
    "another condition too": ALONE.replace("lid == 0", "lid == 0 && dim > 5"),
    "the first of the launch": ALONE.replace("lid == 0", "gid == 0"),
    "the first of another dimension": ALONE.replace("= get_local_id(0)", "= get_local_id(1)"),
    "an id that changes": _first("lid = lid / 2;").replace("const int lid", "int lid"),
    "nobody waits": ALONE.replace("        barrier(CLK_LOCAL_MEM_FENCE);\n", ""),
    "something between": ALONE.replace("        barrier(", "        out[gid] = s[1];\n        barrier("),
    "a barrier for global memory": ALONE.replace("LOCAL_MEM", "GLOBAL_MEM"),
    "others still read": ALONE.replace("        if (lid", "        out[gid] = s[lid];\n        if (lid"),
    "others read in the turn before": IN_TURNS.replace(
        "        barrier(CLK_LOCAL_MEM_FENCE);\n        if", "if"
    ),
    "what the kernel writes": _first("centre[gid] = 1.0f;").replace("const float *centre", "float *centre"),
    "an array of its own": _first("float own[2] = {gid, lid};").replace("centre[i * 16 + n]", "own[i & 1]"),
    "a small counter": ALONE.replace(HEAD, HEAD.replace("int", "uchar").replace("dim", "96"), 1),
    "ends early": ALONE.replace(FILL, FILL + " if (s[i] > 0.9f) break;"),
    "the first has more to do": ALONE.replace(FILL, FILL + " out[i] = 1.0f;"),
    "a counter that is used later": _first("int i = 0;").replace(HEAD, HEAD.replace("int ", ""), 1),
}


@pytest.mark.parametrize("name", REFUSED)
def test_turns_that_only_the_first_can_make_stay(name: str):
    assert REFUSED[name] not in (ALONE, IN_TURNS)
    assert proposed(REFUSED[name], "fill-together") == []


@pytest.mark.parametrize(
    ("before", "after"),
    [("+= get_local_size(0)", "+= 2 * get_local_size(0)"), ("= get_local_id(0);", "= 1 + get_local_id(0);")],
)
def test_wrong_ones_are_rejected(before: str, after: str):
    subject, proposal = proposed(ALONE, "fill-together")[0]
    assert rejected(subject, mutant(ALONE, subject, proposal, before, after))
