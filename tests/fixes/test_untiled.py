"""Products that are tiled already: register tiles out of what is behind their tiles."""

from __future__ import annotations

import pytest
from fixing import SETTINGS
from natively import all_of, natively_the_same

from clmap_lsp.findings import FixSafety
from clmap_lsp.fixes.edits import apply
from clmap_lsp.fixes.model import Verified
from clmap_lsp.fixes.trials import Trials
from clmap_lsp.fixes.verification import verify

LAUNCH = "// clmap: global=128,128 local=16,16 n=128 a=random(16384) b=random(16384,1) c=random(16384,2)\n"
TEXTBOOK = f"""\
{LAUNCH}#define T 16
__kernel void product(__global const float *a, __global const float *b, __global float *c, const int n)
{{
    __local float ta[T][T];
    __local float tb[T][T];
    const int lx = get_local_id(0);
    const int ly = get_local_id(1);
    const int x = get_global_id(0);
    const int y = get_global_id(1);
    float sum = 0.0f;
    for (int tile = 0; tile < n / T; tile++) {{
        ta[ly][lx] = a[y * n + tile * T + lx];
        tb[ly][lx] = b[(tile * T + ly) * n + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < T; k++)
            sum += ta[ly][k] * tb[k][lx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }}
    c[y * n + x] = sum;
}}
"""
ANY_SIZE = """\
// clmap: global=112,128 local=16,16 n=110 a=random(13200) b=random(12100,1) c=random(13200,2)
#define T 16
__kernel void product(__global const float *a, __global const float *b, __global float *c, const int n)
{
    __local float ta[T][T], tb[T][T];
    const int i = get_local_id(0), j = get_local_id(1), x = get_global_id(0), y = get_global_id(1);
    float sum = 0.0f;
    for (int t = 0; t < n; t += T) {
        ta[j][i] = y < n && t + i < n ? a[y * n + t + i] : 0.0f;
        tb[j][i] = x < n && t + j < n ? b[(t + j) * n + x] : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < T; k++)
            sum += ta[j][k] * tb[k][i];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (x < n && y < n)
        c[y * n + x] = sum;
}
"""
WALKING = """\
// clmap: global=128,64 local=16,16 wa=96 wb=128 rows=60 a=random(6144) b=random(12288,1) c=random(8192,2)
// clmap: ta=local(256) tb=local(256)
#ifndef BLOCK
#define BLOCK 16
#endif
#define TA(i, j) ta[j + i * BLOCK]
#define TB(i, j) tb[j + i * BLOCK]
__kernel void product(__global float *c, __global float *a, __global float *b, __local float *ta,
                      __local float *tb, int wa, int wb, int rows)
{
    int lx = get_local_id(0);
    int ly = get_local_id(1);
    int first = wa * BLOCK * get_group_id(1);
    int last = first + wa - 1;
    float part = 0.0f;
    for (int at = first, bt = BLOCK * get_group_id(0); at <= last; at += BLOCK, bt += BLOCK * wb) {
        TA(ly, lx) = a[at + wa * ly + lx];
        TB(ly, lx) = b[bt + wb * ly + lx];
        barrier(CLK_LOCAL_MEM_FENCE);
        #pragma unroll
        for (int k = 0; k < BLOCK; ++k)
            part += TA(ly, k) * TB(k, lx);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (get_global_id(1) < rows)
        c[get_global_id(1) * get_global_size(0) + get_global_id(0)] = part;
}
"""
SIZED = "__attribute__((reqd_work_group_size(T, T, 1)))"
FORMS = {
    "textbook": TEXTBOOK,
    "of any size": ANY_SIZE,
    "with bases that walk": WALKING,
    "the first id is the row": TEXTBOOK.replace("x = get_global_id(0)", "x = get_global_id(1)")
    .replace("y = get_global_id(1)", "y = get_global_id(0)")
    .replace("lx = get_local_id(0)", "lx = get_local_id(1)")
    .replace("ly = get_local_id(1)", "ly = get_local_id(0)"),
    "one operand is tiled": TEXTBOOK.replace("* tb[k][lx]", "* b[(tile * T + k) * n + x]")
    .replace("    __local float tb[T][T];\n", "")
    .replace("        tb[ly][lx] = b[(tile * T + ly) * n + x];\n", ""),
    "padded and turned": TEXTBOOK.replace("ta[T][T]", "ta[T][T + 1]")
    .replace("ta[ly][lx]", "ta[lx][ly]")
    .replace("ta[ly][k]", "ta[k][ly]"),
    "ids worked out": TEXTBOOK.replace("= get_global_id(0)", "= T * get_group_id(0) + lx").replace(
        "= get_global_id(1)", "= T * get_group_id(1) + ly"
    ),
    "a size that is required": TEXTBOOK.replace("__kernel void", f"__kernel {SIZED}\nvoid"),
    "a size that is required first": TEXTBOOK.replace("__kernel void", f"{SIZED} __kernel void"),
    "the group's size": TEXTBOOK.replace("k < T", "k < get_local_size(0)"),
    "copied under a condition": ANY_SIZE.replace(
        "ta[j][i] = y < n && t + i < n ? a[y * n + t + i] : 0.0f;",
        "float here = 0.0f;\n        if (y < n && t + i < n)\n            here = a[y * n + t + i];\n"
        "        ta[j][i] = here;",
    ),
    "copied or cleared": ANY_SIZE.replace(
        "ta[j][i] = y < n && t + i < n ? a[y * n + t + i] : 0.0f;",
        "if (y >= n || t + i >= n)\n            ta[j][i] = 0;\n        else\n"
        "            ta[j][i] = a[y * n + t + i];",
    ),
    "a barrier first": TEXTBOOK.replace(
        "        ta[ly][lx] =", "        barrier(1);\n        ta[ly][lx] ="
    ).replace("        barrier(CLK_LOCAL_MEM_FENCE);\n    }", "    }"),
    "named": TEXTBOOK.replace(
        "            sum += ta[ly][k] * tb[k][lx];",
        "        {\n            const float p = ta[ly][k];\n"
        "            sum = mad(p, tb[k][lx], sum);\n        }",
    ),
    "scaled": TEXTBOOK.replace("= sum;", "= 0.5f * c[y * n + x] + 2.0f * sum;"),
    "left at the end": ANY_SIZE.replace(
        "    if (x < n && y < n)\n        c", "    if (x >= n || y >= n)\n        return;\n    c"
    ),
    "integers": TEXTBOOK.replace("float", "int").replace("0.0f", "0"),
    "unsigned": TEXTBOOK.replace("const int", "const uint").replace("(int tile", "(uint tile"),
}


@pytest.mark.parametrize("form", FORMS)
def test_each_is_right_on_its_family_and_natively(form: str):
    subject, found = all_of(FORMS[form], "register-tile")
    assert found
    trials = Trials(subject, SETTINGS)
    for proposal in found[:2]:
        proof = verify(subject, proposal, SETTINGS, trials)
        assert isinstance(proof, Verified), proof
        assert proof.compared == "bit for bit"
        assert len(proof.tested_on) > 3
        natively_the_same(subject, proposal, trials)


def test_nothing_is_left_of_the_tiles_that_were_there():
    subject, found = all_of(TEXTBOOK, "register-tile")
    text = apply(subject.text, found[0].edits, subject.path)
    assert "a_tile[16][32 + 4]" in text and "ta[" not in text and "tile < n" not in text
    assert "a[(y0 + r) * n + k]" in text
    assumed = {it.text for it in found[0].assumptions}
    assert {"n % 16 == 0", "local size 16x16"} <= assumed
    assert found[0].safety is FixSafety.UNSAFE


def test_zeros_past_the_ends_need_no_whole_tiles():
    _, found = all_of(ANY_SIZE, "register-tile")
    assert found and not any(it.text == "n % 16 == 0" for it in found[0].assumptions)


def test_what_the_kernel_takes_from_its_launch_is_assumed():
    _, found = all_of(WALKING, "register-tile")
    assumed = {it.text for it in found[0].assumptions}
    assert {"get_global_size(0) == wb", "wa % 16 == 0", "BLOCK == 16", "local size 16x16"} <= assumed


WRONG = {
    "another element is read": TEXTBOOK.replace("tb[k][lx];", "tb[lx][k];"),
    "one is read twice": TEXTBOOK.replace("tb[k][lx];", "tb[k][lx / 2];"),
    "tiles are left half filled": TEXTBOOK.replace(
        "        ta[ly][lx] = a", "        if (lx < 8) ta[ly][lx] = a"
    ),
    "half of a tile is added up": TEXTBOOK.replace("k < T;", "k < T / 2;"),
    "tiles overlap": TEXTBOOK.replace("y * n + tile * T", "y * n + tile * 8"),
    "another condition": ANY_SIZE.replace("y < n && t + i < n", "y < n - 1 && t + i < n"),
    "ends apart": ANY_SIZE.replace("x < n && t + j < n ", "x < n && t + j < n - 3 "),
    "past the ends is one": ANY_SIZE.replace("+ i] : 0.0f", "+ i] : 1.0f"),
    "cleared afterwards": ANY_SIZE.replace(
        "a[y * n + t + i] : 0.0f;", "a[y * n + t + i] : 0.0f;\n        if (x == 3) ta[j][i] = 0;"
    ),
    "what is copied changes": TEXTBOOK.replace("+ lx];", "+ lx] * 2.0f;", 1),
    "the sum starts elsewhere": TEXTBOOK.replace("sum = 0.0f", "sum = n"),
    "the sum is halved by each tile": TEXTBOOK.replace(
        "    }\n    c[", "        sum *= 0.5f;\n    }\n    c["
    ),
    "results are left out": TEXTBOOK.replace("    c[y", "    if (sum > 1.0f) c[y"),
    "a result is changed in places": TEXTBOOK.replace("    c[y", "    if (x > 3) sum = 0.0f;\n    c[y"),
    "the tile is stored": TEXTBOOK.replace("= sum;", "= sum + ta[ly][lx];"),
    "other dimensions": TEXTBOOK.replace("a[y * n", "a[x * n"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_no_tiled_product_is_left_alone(case: str):
    assert WRONG[case] != TEXTBOOK and WRONG[case] != ANY_SIZE
    assert all_of(WRONG[case], "register-tile")[1] == []
