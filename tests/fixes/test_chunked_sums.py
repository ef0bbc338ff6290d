"""Chunks whose elements work-items add up, each for itself, before their group adds up what all have."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fixing import SETTINGS, mutant, offered, proposed, rejected
from natively import all_of, natively_the_same

from clmap_lsp.findings import FixSafety
from clmap_lsp.fixes.model import Verified
from clmap_lsp.fixes.trials import Trials
from clmap_lsp.fixes.verification import verify

SUMMED = """\
// clmap: global=512 local=64 n=4000 chunk=8 a=random(n) out=zeros(8) part=64
__kernel void summed(__global const int *a, __global int *out, __local int *part, const int n,
                     const int chunk)
{
    const int lid = get_local_id(0);
    const int start = get_global_id(0) * chunk;
    int sum = 0;
    for (int i = start; i < min(start + chunk, n); i++)
        sum += a[i];
    part[lid] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = get_local_size(0) / 2; step > 0; step >>= 1) {
        if (lid < step)
            part[lid] += part[lid + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lid == 0)
        out[get_group_id(0)] = part[0];
}
"""
HEAD = "for (int i = start; i < min(start + chunk, n); i++)"
TREE = SUMMED[SUMMED.index("    part[lid] = sum") : SUMMED.index("    if (lid == 0)")]
BY_TURN = """\
// clmap: global=512 local=64 n=4000 chunk=8 a=random(n) out=zeros(1)
__kernel void counted(__global const int *a, __global int *out, const uint n, const uint chunk)
{
    __local int total;
    if (get_local_id(0) == 0)
        total = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint first = get_global_id(0) * chunk;
    int count = 0;
    for (uint k = 0; k < chunk; k++) {
        if (first + k >= n)
            break;
        if (a[first + k] > 10)
            count++;
    }
    atomic_add(&total, count);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        atomic_add(out, total);
}
"""
MAPPED = """\
// clmap: global=512 local=64 n=4003 a=random(n) b=zeros(n)
#define CHUNK 8
__kernel void roots(__global const float *restrict a, __global float *restrict b, const int n)
{
    const int start = get_global_id(0) * CHUNK;
    int end = start + CHUNK;
    if (end > n)
        end = n;
    for (int i = start; i < end; ++i)
        b[i] = sqrt(a[i]);
}
"""
FLOATS = SUMMED.replace("int *", "float *").replace("int sum", "float sum").replace("a[i]", "a[i] * a[i]")
SERIAL = """\
    part[lid] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid == 0) {
        for (int other = 1; other < get_local_size(0); other++)
            part[0] += part[other];
    }
"""
UNROLLED = """\
    part[lid] = sum;
    for (int step = 32; step >= 4; step /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lid < step)
            part[lid] = part[lid + step] + part[lid];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid == 0)
        part[0] += part[1] + part[2] + part[3];
"""
LARGEST = (
    SUMMED.replace("int sum = 0", "int sum = INT_MIN")
    .replace("sum += a[i];", "sum = max(sum, a[i]);")
    .replace("part[lid] += part[lid + step];", "part[lid] = max(part[lid], part[lid + step]);")
)
HELPED = """\
// clmap: global=512 local=64 n=4096 a=random(n) out=zeros(8)
#define JOINED(p, v, total) { \\
    const int l = get_local_id(0); \\
    p[l] = v; \\
    barrier(CLK_LOCAL_MEM_FENCE); \\
    for (int s = get_local_size(0) >> 1; s > 0; s >>= 1) { \\
        if (l < s) p[l] += p[l + s]; \\
        barrier(CLK_LOCAL_MEM_FENCE); \\
    } \\
    total = p[0]; }
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void helped(__global const int *restrict a, __global int *restrict out, const int n)
{
    __local int scratch[64];
    const int each = n / get_global_size(0);
    int v = 0, total;
    for (int i = 0; i < each; i++)
        v += a[get_global_id(0) * each + i];
    JOINED(scratch, v, total)
    if (get_local_id(0) == 0)
        out[get_group_id(0)] = total;
}
"""
BEGINNING = """\
    int start = get_group_id(0) * get_local_size(0) * chunk + lid * chunk;
"""
SIZE = "get_global_size(0)"
APART = "a and out do not overlap"
ROWS = """\
// clmap: global=64,16 local=32,2 w=500 per=8 x=random(8000) out=zeros(16)
__kernel void rows(__global const int *restrict x, __global int *restrict out, const int w, const int per)
{
    const int y = get_global_id(1), start = get_global_id(0) * per;
    int sum = 0;
    for (int c = start; c < min(start + per, w); c++)
        sum += x[y * w + c];
    atomic_add(&out[y], sum);
}
"""
ROW_TREES = """\
// clmap: global=64,4 local=32,1 w=1024 x=random(4096) sums=zeros(8)
__kernel void trees(__global const int *restrict x, __global int *restrict sums, const int w)
{
    __local int part[32];
    const int lid = get_local_id(0), y = get_global_id(1);
    const int per = w / get_global_size(0);
    int sum = 0;
    for (int k = 0; k < per; k++)
        sum += x[y * w + get_global_id(0) * per + k];
TREE
    if (lid == 0)
        sums[y * get_num_groups(0) + get_group_id(0)] = part[0];
}
""".replace("TREE\n", TREE)
POWER = "local size a power of 2, 1024 at most"
JOIN = "part[lid] += part[lid + step];"
CASES = {
    "a tree of integers": (SUMMED, (POWER,)),
    "a tree of floats": (FLOATS, (POWER, "sums may be taken in another order")),
    "one work-item adds up": (SUMMED.replace(TREE, SERIAL), (POWER,)),
    "a tree of one size, four in the end": (SUMMED.replace(TREE, UNROLLED), ("local size 64",)),
    "the largest": (LARGEST, (POWER,)),
    "a condition for the largest": (
        LARGEST.replace("sum = max(sum, a[i]);", "if (a[i] > sum) sum = a[i];"), (POWER,)
    ),
    "words of bits": (
        SUMMED.replace("sum += a[i]", "sum ^= a[i]").replace("[lid] += part", "[lid] ^= part"), (POWER,)
    ),
    "any of them": (
        SUMMED.replace("sum += a[i]", "sum |= a[i] > 300").replace(JOIN, "part[lid] |= part[lid + step];"),
        (POWER,),
    ),
    "doubles in a tree of floats": (
        FLOATS.replace("__global const float", "__global const double").replace("float sum", "double sum"),
        (POWER, "sums may be taken in another order"),
    ),
    "held below two things": (
        SUMMED.replace(HEAD, "for (int i = start; i < start + chunk && i < n; ++i)"), (POWER,)
    ),
    "left at the end": (
        SUMMED.replace(HEAD, "for (int i = start; i < start + chunk; i++) {\n        if (i >= n) break;")
        .replace("a[i];", "a[i]; }"),
        (POWER,),
    ),
    "a group's beginning": (
        SUMMED.replace("    const int start = get_global_id(0) * chunk;\n", BEGINNING), (POWER,)
    ),
    "chunks for all of them": (
        SUMMED.replace("const int chunk)", "const int unused)")
        .replace("    const int st", f"    const int chunk = (n + {SIZE} - 1) / {SIZE};\n    const int st")
        .replace("chunk=8", "unused=8"),
        (POWER,),
    ),
    "atomics, in words said twice": (BY_TURN, ()),
    "a tree out of a macro": (HELPED, ()),
    "no sum": (MAPPED, ()),
    "rows of two dimensions": (ROWS, ()),
    "trees of rows": (ROW_TREES, (POWER,)),
    "members of vectors": (
        SUMMED.replace("const int *a", "const int2 *restrict a").replace("+= a[i]", "+= a[i].x * a[i].y"),
        (POWER,),
    ),
    "windows of elements": (
        SUMMED.replace("sum += a[i];", "for (int j = 0; j < 3; j++)\n            sum += a[i + j] ^ j;")
        .replace("random(n)", "random(n+3)"),
        (POWER,),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_it_is_right_on_its_family_and_natively(name: str):
    text, assumed = CASES[name]
    subject, (proposal,) = all_of(text, "share-chunk")
    apart = () if "restrict" in text or "double" in text else (APART,)
    assert tuple(it.text for it in proposal.assumptions) == (*assumed, *apart)
    trials = Trials(subject, SETTINGS)
    proof = verify(subject, proposal, SETTINGS, trials)
    assert isinstance(proof, Verified), proof
    assert len(proof.tested_on) > 8
    assert proof.compared == "bit for bit" or "sums may be taken in another order" in assumed
    natively_the_same(subject, proposal, trials)


def test_it_reads_as_one_would_write_it():
    ((text, fix),) = offered(SUMMED, "share-chunk")
    assert (
        """\
    int sum = 0;
    // Work-items take the chunks of their group together: neighbours neighbouring elements.
    const int first = (get_global_id(0) - lid) * chunk;
    const int last = min((long)(first + chunk * get_local_size(0)), (long)n);
    for (int i = first + lid; i < last; i += get_local_size(0))
        sum += a[i];
"""
        in text
    )
    assert "start" not in text and fix.safety is FixSafety.UNSAFE
    lane = "get_local_id(0)"
    ((text, fix),) = offered(BY_TURN, "share-chunk")
    assert (
        f"""\
        const uint element = (get_global_id(0) - {lane}) * chunk + k * get_local_size(0) + {lane};
        if (element >= n)
            break;
        if (a[element] > 10)
"""
        in text
    )
    assert fix.safety is FixSafety.UNSAFE and fix.assumptions == (APART,)
    fenced = BY_TURN.replace(
        "count);\n    barrier(CLK_LOCAL", "count);\n    barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL"
    )
    ((text, fix),) = offered(fenced, "share-chunk")
    assert fix.safety is FixSafety.SAFE
    ((text, fix),) = offered(MAPPED, "share-chunk")
    assert "(get_global_id(0) - get_local_id(0)) * CHUNK;" in text and "int end" not in text
    assert fix.safety is FixSafety.SAFE


AFTER = "    if (lid == 0)\n        out[get_group_id(0)] = part[0];"
REFUSED = {
    "each has its own": SUMMED.replace("    part[lid] = sum", "    out[lid] = sum;\n    part[lid] = sum"),
    "a tree that leaves one out": SUMMED.replace("lid < step)", "lid < step && lid != 3)"),
    "a tree that ends early": SUMMED.replace("step > 0", "step > 1"),
    "a part that is added twice": SUMMED.replace("part[lid + step]", "part[lid + step / 2]"),
    "running sums": SUMMED.replace(TREE, """\
    part[lid] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = 1; step < get_local_size(0); step *= 2) {
        const int before = lid >= step ? part[lid - step] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        part[lid] += before;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[lid % 8] = part[lid];
"""),
    "a test of a part": SUMMED.replace("    part[lid] =", "    if (sum > 7) sum = 7;\n    part[lid] ="),
    "a product of a part": SUMMED.replace("part[lid] = sum", "part[lid] = sum * lid"),
    "words of bits in a tree of sums": SUMMED.replace("sum += a[i]", "sum ^= a[i]"),
    "squares": SUMMED.replace("part[lid] = sum", "part[lid] = sum * sum"),
    "a tree of another kind": SUMMED.replace(JOIN, "part[lid] = max(part[lid], part[lid + step]);"),
    "halves of integers": SUMMED.replace("part[lid] = sum", "part[lid] = sum / 2"),
    "integers of 32 bits in sums of 64": SUMMED.replace("__local int *", "__local long *"),
    "a tree before the group": SUMMED.replace(AFTER, "    if (lid < 2)\n        out[lid] = part[lid];"),
    "a part that data choose": SUMMED.replace(AFTER, "    out[get_group_id(0)] = part[a[0] & 63];"),
    "a tree that data end": SUMMED.replace("step > 0;", "step > a[0];"),
    "a tree for some": SUMMED.replace("lid < step)", "lid < step && a[lid] > 3)"),
    "the element's own number": SUMMED.replace("sum += a[i]", "sum += a[i] * lid"),
    "what it has so far": SUMMED.replace("sum += a[i]", "sum += a[i] + (sum & 1)"),
    "chunks that overlap": SUMMED.replace("start + chunk", "start + 2 * chunk"),
    "chunks with gaps": SUMMED.replace("* chunk;", "* chunk * 2;"),
    "a last chunk with the rest": SUMMED.replace(
        "min(start + chunk, n)", "(get_global_id(0) + 1 == get_global_size(0) ? n : start + chunk)"
    ),
    "trees in groups of two dimensions": ROW_TREES.replace("local=32,1", "local=16,2"),
    "rows of neighbours": ROWS.replace("x[y * w", "x[get_local_id(0) * w"),
    "rows that are added to by place": ROWS.replace("&out[y]", "&out[get_local_id(0)]"),
    "a counter of two bytes": SUMMED.replace("(int i", "(ushort i"),
    "texels": SUMMED.replace("*part, ", "*part, __write_only image2d_t image, ").replace(
        "        sum +=", "        write_imagei(image, (int2)(i / chunk, 0), a[i]), sum +="
    ).replace("part=64", "part=64 image=image(512,1)"),
    "left by data": SUMMED.replace("sum += a[i];", "{ if (a[i] == 3) break; sum += a[i]; }"),
    "counted where it is left": SUMMED.replace(
        "sum += a[i];", "{ sum++; if (i >= n - 3) break; sum += a[i]; }"
    ),
    "left before the others": BY_TURN.replace("first + k >= n", "first + k >= n - get_local_id(0)"),
    "work-items that leave": BY_TURN.replace("    int count", "    if (first >= n) return;\n    int count"),
    "atomics of some": BY_TURN.replace("    atomic_add(&total", "    if (first < n) atomic_add(&total"),
    "atomics on places": BY_TURN.replace("atomic_add(&total, count)", "atomic_add(&out[first % 3], count)"),
    "what an atomic gives": BY_TURN.replace(
        "    atomic_add(&total, count);", "    out[first % 5 + 1] = atomic_add(&total, count);"
    ),
    "stored for neighbours": MAPPED.replace("b[i] = sqrt(a[i])", "b[i + 1] = b[i] + sqrt(a[i])"),
    "used behind the loop": MAPPED.replace("for (int i", "int i;\n    for (i")
    .replace("]);\n", "]);\n    b[i] = 1;\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_who_gathered_what_must_not_show(name: str):
    assert proposed(REFUSED[name], "share-chunk") == []


MUTANTS = {
    "the group's beginning": ("(get_global_id(0) - lid) * chunk", "get_global_id(0) * chunk"),
    "the group's end": ("first + chunk * get_local_size(0)", "first + chunk"),
    "nothing that cuts it": ("min((long)(first + chunk * get_local_size(0)), (long)n)", "first + chunk * 64"),
    "the step": ("i += get_local_size(0)", "i += get_local_size(0) / 2"),
    "the first element": ("first + lid;", "first;"),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_wrong_ones_are_rejected(name: str):
    subject, proposal = proposed(SUMMED, "share-chunk")[0]
    assert rejected(subject, mutant(SUMMED, subject, proposal, *MUTANTS[name]))


DEVIATION = """\
// clmap: global=256 local=64 n=4096 per=16 x=random(n) dev=zeros(4)
__kernel void deviation(__global const float *restrict x, __global float *restrict dev, const int n,
                        const int per)
{
    __local float part[64];
    const int l = get_local_id(0), first = get_global_id(0) * per;
    float s = 0.0f;
    for (int i = first; i < first + per; i++)
        s += x[i];
TREE
    const float mean = part[0] / (64 * per);
    barrier(CLK_LOCAL_MEM_FENCE);
    s = 0.0f;
    for (int i = first; i < first + per; i++)
        s += (x[i] - mean) * (x[i] - mean);
TREE
    if (l == 0)
        dev[get_group_id(0)] = part[0];
}
""".replace(
    "TREE",
    """\
    part[l] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 32; d > 0; d /= 2) {
        if (l < d)
            part[l] += part[l + d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }""",
)


def test_what_the_group_found_before_is_known_to_all():
    subject, both = all_of(DEVIATION, "share-chunk")
    assert len(both) == 2
    for proposal in both:
        trials = Trials(subject, SETTINGS)
        assert isinstance(verify(subject, proposal, SETTINGS, trials), Verified)
        natively_the_same(subject, proposal, trials)
    told = DEVIATION.replace("const float mean = part[0]", "const float mean = part[l]")
    assert len(proposed(told, "share-chunk")) == 0
    some = DEVIATION.replace("const float mean =", "float mean = 0;\n    if (l < 9) mean =")
    assert len(proposed(some, "share-chunk")) == 1


LOCAL = """\
// clmap: global=512 local=64 n=4096 a=random(n) out=zeros(1) w=1
__kernel void weighted(__global const int *a, __global int *out, __local int *w, const int n)
{
    if (get_local_id(0) == 0)
        w[0] = get_group_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    const int start = get_global_id(0) * 8;
    int sum = 0;
    for (int i = start; i < start + 8; i++)
        sum += a[i] * w[0];
    atomic_add(out, sum);
}
"""


def test_local_memory_of_the_host_is_a_group_s_own():
    assert len(proposed(LOCAL, "share-chunk")) == 1
    assert proposed(LOCAL, "stride-order") == []
    assert len(proposed(LOCAL.replace("get_group_id(0);", "7;").replace("w[0];", "7;"), "stride-order")) == 1


SPLIT = """\
// clmap: global=64 local=64 n=4096 a=random(n) b=zeros(n)
__kernel void halves(__global const float *restrict a, __global float *restrict b, const int n)
{
    const int id = get_global_id(0);
    for (int i = id * 64; i < id * 64 + 64; i++)
        b[i] = a[i] * 0.5f;
}
"""


def test_short_counters_take_no_wide_steps():
    assert len(proposed(SPLIT, "stride-order")) == len(proposed(SPLIT, "share-chunk")) == 1
    short = SPLIT.replace("(int i", "(ushort i")
    assert proposed(short, "stride-order") == proposed(short, "share-chunk") == []


GROUP_FUNCTION = SUMMED.replace(TREE, "    sum = work_group_reduce_add(sum);\n").replace("part[0]", "sum")


@pytest.mark.parametrize(
    ("function", "fits"),
    [
        ("work_group_reduce_add(sum)", True),
        ("work_group_reduce_max(sum)", False),
        ("work_group_scan_inclusive_add(sum)", False),
        ("work_group_broadcast(sum, 0)", False),
        ("sub_group_reduce_add(sum)", False),
    ],
)
def test_group_functions_join_what_they_are_for(function: str, fits: bool):
    text = GROUP_FUNCTION.replace("work_group_reduce_add(sum)", function)
    found = proposed(text.replace(", __local int *part", "").replace(" part=64", ""), "share-chunk")
    assert len(found) == fits
    for subject, proposal in found:
        free = replace(proposal, lowers_traffic=False, least_gain=0.0)
        assert isinstance(verify(subject, free, SETTINGS), Verified)
        assert [it.text for it in proposal.assumptions] == [APART]
