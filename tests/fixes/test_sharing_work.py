"""Rewrites that divide work anew among work-items: right on odd sizes in the emulator and on PoCL."""

from __future__ import annotations

import pytest
from elsewhere import launch_of
from fixing import CPU, SETTINGS, offered
from natively import H200, all_of, natively_the_same

from clmap_lsp.findings import FixSafety
from clmap_lsp.fixes.assumptions import Case
from clmap_lsp.fixes.edits import apply
from clmap_lsp.fixes.model import Verified
from clmap_lsp.fixes.trials import Trials
from clmap_lsp.fixes.verification import verify

ROWS = """\
// clmap: global=256 local=64 n=77 rows=250 A=random(rows*n) x=random(n,1) y=random(rows,2)
__kernel void matvec(__global const float *A, __global const float *x, __global float *y, const int n,
                     const int rows)
{
    const int row = get_global_id(0);
    if (row >= rows)
        return;
    float sum = 0.0f;
    for (int k = 0; k < n; k++)
        sum += A[row * n + k] * x[k];
    y[row] = sum;
}
"""
SCALED_ROWS = """\
// clmap: global=300 local=50 n=61 A=random(300*n) x=random(n,1) y=random(300,2) beta=0.5
__kernel void gemv(__global const float *A, __global const float *x, __global float *y, const int n,
                   const float beta)
{
    int i = get_global_id(0);
    if (i < 290) {
        float sum = y[i] * beta;
        int k;
        for (k = 0; k < n; k++)
        {
            sum = fma(A[i * n + k], x[k], sum);
        }
        y[i] = sum;
    }
}
"""
SOFTMAX = """\
// clmap: global=96 local=32 n=45 rows=90 in=random(rows*n) out=zeros(rows*n)
__kernel void softmax(__global const float *restrict in, __global float *restrict out, const int n,
                      const int rows)
{
    const int row = get_global_id(0);
    if (row >= rows) return;
    float most = -INFINITY;
    for (int k = 0; k < n; k++)
        most = fmax(most, in[row * n + k]);
    float sum = 0.0f;
    for (int k = 0; k < n; k++)
        sum += exp(in[row * n + k] - most);
    for (int k = 0; k < n; k++)
        out[row * n + k] = exp(in[row * n + k] - most) / sum;
}
"""
SPARSE = """\
// clmap: global=128 local=64 rows=120 first=formula(rows+1,i*7) column=formula(rows*7,(i*37)%rows)
// clmap: value=random(rows*7) x=random(rows,1) y=zeros(rows)
__kernel void spmv(__global const int *first, __global const int *column, __global const float *value,
                   __global const float *x, __global float *y, const int rows)
{
    const int row = get_global_id(0);
    if (row < rows) {
        float sum = 0;
        for (int at = first[row]; at < first[row + 1]; at++)
            sum += value[at] * x[column[at]];
        y[row] = sum;
    }
}
"""
COUNTS = """\
// clmap: global=4096 local=256 n=4001 data=random(4096) hist=zeros(256)
__kernel void histogram(__global const uchar *data, __global uint *hist, const int n)
{
    const int i = get_global_id(0);
    if (i >= n)
        return;
    atomic_inc(&hist[data[i]]);
}
"""
COUNTS_OF_AN_IMAGE = """\
// clmap: global=64,32 local=16,4 w=61 h=30 data=random(2048) hist=zeros(256)
__kernel void histogram(__global const uchar *data, __global uint *hist, const int w, const int h)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x < w && y < h)
        atomic_inc(&hist[data[y * w + x]]);
}
"""
COUNTS_INSIDE = COUNTS_OF_AN_IMAGE.replace(
    "if (x < w && y < h)\n", "if (x >= w || y >= h)\n        return;\n"
)
COUNTER = """\
// clmap: global=4096 local=64 x=random(4096) found=zeros(1) least=0.5
__kernel void count(__global const float *x, __global int *found, const float least)
{
    if (x[get_global_id(0)] > least)
        atomic_add(found, 1);
}
"""
SAXPY = """\
// clmap: global=4096 local=64 n=4000 a=2.5 x=random(4096) y=random(4096,1)
__kernel void saxpy(__global const float *x, __global float *y, const float a, const int n)
{
    const int i = get_global_id(0);
    if (i < n)
        y[i] = a * x[i] + y[i];
}
"""
ONE_ROW = """\
// clmap: global=48 local=16 n=37 m=48 k=29 A=random(m*k) B=random(k*n,1) C=zeros(m*n)
__kernel void rows(__global const float *A, __global const float *B, __global float *C, const int m,
                   const int n, const int k)
{
    int i = get_global_id(0);
    int j, p;
    if (i < m) {
        for (j = 0; j < n; j++) {
            float sum = 0.0f;
            for (p = 0; p < k; p++)
                sum += A[i * k + p] * B[p * n + j];
            C[i * n + j] = sum;
        }
    }
}
"""
COLUMNS = ONE_ROW.replace("C[i * n + j]", "C[j * m + i]").replace("int j, p;", "int p;")
COLUMNS = COLUMNS.replace("for (j = 0", "for (int j = 0")
TREE = """\
#define GROUP 128
// clmap: global=1024 local=128 in=random(1024) sums=zeros(8)
__kernel void reduce(__global const float *in, __global float *sums)
{
    __local float part[GROUP];
    const int lane = get_local_id(0);
    part[lane] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = 1; step < GROUP; step *= 2) {
        if (lane % (2 * step) == 0)
            part[lane] += part[lane + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lane == 0)
        sums[get_group_id(0)] = part[0];
}
"""
HALVED = """\
// clmap: global=1024 local=128 in=random(1024) products=zeros(8)
__kernel void reduce(__global const uint *in, __global uint *products)
{
    __local uint part[128];
    const int lane = get_local_id(0);
    part[lane] = 2 * in[get_global_id(0)] + 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = 64; step > 0; step >>= 1) {
        if (lane < step)
            part[lane] = part[lane] * part[lane + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lane == 0)
        products[get_group_id(0)] = part[0];
}
"""
GUARDED_TREE = """\
// clmap: global=1024 local=128 n=1001 part=local(128) in=random(1024) sums=zeros(8)
__kernel void reduce(__global const int *in, __global int *sums, const uint n, __local int *part)
{
    uint tid = get_local_id(0);
    uint i = get_global_id(0);
    part[tid] = (i < n) ? in[i] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (unsigned int s = 1; s < get_local_size(0); s *= 2) {
        int index = 2 * s * tid;
        if (index < get_local_size(0)) {
            part[index] += part[index + s];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (tid == 0) sums[get_group_id(0)] = part[0];
}
"""
BY_COLUMNS = ROWS.replace("A[row * n + k]", "A[k * rows + row]")
COLUMNS_IN_A_BLOCK = BY_COLUMNS.replace("    if (row >= rows)\n        return;\n", "    if (row < rows) {\n")
COLUMNS_IN_A_BLOCK = COLUMNS_IN_A_BLOCK.replace("    y[row] = sum;\n", "    y[row] = sum;\n    }\n")
PLAIN_ROWS = ROWS.replace("    if (row >= rows)\n        return;\n", "").replace(
    "=256 local=64", "=254 local=2"
)
PLAIN_ROWS = PLAIN_ROWS.replace("rows=250", "rows=254")
PLAIN_SOFTMAX = SOFTMAX.replace("    if (row >= rows) return;\n", "").replace("rows=90", "rows=96")
NORMALISED = """\
// clmap: global=96 local=32 n=45 a=random(96*n) o=zeros(96*n)
__kernel void normalised(__global const float *a, __global float *o, const int n)
{
    const int row = get_global_id(0);
    float sum = 0.0f, squares = 0.0f;
    int k;
    for (k = 0; k < n; k++) {
        const float v = a[row * n + k];
        sum += v;
        squares += v * v;
    }
    const float mean = sum / n, f = rsqrt(squares / n - mean * mean + 1e-5f);
    for (k = 0; k < n; k++)
        o[row * n + k] = (a[row * n + k] - mean) * f;
}
"""
IN_PLACE = """\
// clmap: global=96 local=32 n=45 x=random(96*n)
__kernel void softmax(__global float *x, const int n)
{
    const int row = get_global_id(0);
    float most = x[row * n];
    for (int i = 1; i < n; i++)
        if (x[row * n + i] > most)
            most = x[row * n + i];
    float sum = 0.0f;
    for (int i = 0; i < n; i++) {
        x[row * n + i] = exp(x[row * n + i] - most);
        sum += x[row * n + i];
    }
    for (int i = 0; i < n; i++)
        x[row * n + i] /= sum;
}
"""
CHOSEN = """\
// clmap: global=96 local=32 n=45 x=random(96*n) o=zeros(96) p=zeros(96)
__kernel void extremes(__global const float *x, __global float *o, __global float *p, const int n)
{
    const int row = get_global_id(0);
    float most = -INFINITY, least = INFINITY;
    for (int i = 0; i < n; i++) {
        const float v = x[row * n + i];
        most = (v >= most) ? v : most;
        if (least > v) least = v;
    }
    for (int i = 0; i < n; i++)
        most = x[row * n + i] * 0.5f > most ? x[row * n + i] * 0.5f : most;
    o[row] = most;
    p[row] = least;
}
"""
REVERSED = IN_PLACE.replace("x[row * n + i] /= sum", "y[row * n + i] = x[row * n + n - 1 - i] / sum")
REVERSED = REVERSED.replace("float *x,", "float *x, __global float *y,").replace(
    "x=random(96*n)", "x=random(96*n) y=zeros(96*n)"
)
CASES = {
    "normalised": (NORMALISED, "row-to-group"),
    "softmax in place": (IN_PLACE, "row-to-group"),
    "extremes that are chosen": (CHOSEN, "row-to-group"),
    "read in the other direction": (REVERSED, "row-to-group"),
    "rows": (ROWS, "row-to-group"),
    "columns": (BY_COLUMNS, "row-to-group"),
    "columns in a block": (COLUMNS_IN_A_BLOCK, "row-to-group"),
    "columns with a start": (BY_COLUMNS.replace("sum = 0.0f", "sum = y[row]"), "row-to-group"),
    "rows without a guard": (PLAIN_ROWS, "row-to-group"),
    "softmax without a guard": (PLAIN_SOFTMAX, "row-to-group"),
    "rows with a start": (SCALED_ROWS, "row-to-group"),
    "softmax": (SOFTMAX, "row-to-group"),
    "sparse": (SPARSE, "row-to-group"),
    "histogram": (COUNTS, "local-counts"),
    "histogram of an image": (COUNTS_OF_AN_IMAGE, "local-counts"),
    "histogram inside of a picture": (COUNTS_INSIDE, "local-counts"),
    "counter": (COUNTER, "local-counts"),
    "saxpy": (SAXPY, "coarsen"),
    "one row": (ONE_ROW, "spread-loop"),
    "one column": (COLUMNS, "spread-loop"),
    "tree": (TREE, "tree-reduction"),
    "guarded tree": (GUARDED_TREE, "tree-reduction"),
    "tree of maxima": (
        TREE.replace("+= part[lane + step]", "= fmax(part[lane], part[lane + step])"),
        "tree-reduction",
    ),
    "tree of products": (HALVED, "tree-reduction"),
}


CONDITIONAL = ("rows", "rows with a start", "softmax", "sparse")
"""Their barriers stand under a condition that is the same for a whole work-group, as OpenCL allows (6.15.8);
PoCL 3.1 corrupts its heap on such kernels, so that they run in the emulator only."""


@pytest.mark.parametrize("case", CASES)
def test_each_is_right_on_its_family_and_natively(case: str):
    """The emulator compares on launches that are odd in every way; PoCL on those that it can run as well."""
    text, kind = CASES[case]
    subject, found = all_of(text, kind)
    assert found
    trials = Trials(subject, SETTINGS)
    for proposal in found:
        proof = verify(subject, proposal, SETTINGS, trials)
        assert isinstance(proof, Verified), proof
        assert proof.compared == "bit for bit" or proposal.reorders_sums
        assert len(proof.tested_on) > 2
        if case not in CONDITIONAL:
            natively_the_same(subject, proposal, trials)


def text_of(case: str, at: int = 0) -> str:
    text, kind = CASES[case]
    subject, found = all_of(text, kind)
    return apply(text, found[at].edits, subject.path)


def test_a_row_is_walked_side_by_side_and_added_up_by_a_tree():
    text = text_of("rows")
    assert "__attribute__((reqd_work_group_size(128, 1, 1)))" in text
    assert "const int row = get_group_id(0);" in text
    assert "for (int k = lane; k < n; k += 128)" in text
    assert "    if (lane == 0)\n        y[row] = sum;\n" in text


def test_columns_stay_side_by_side_and_all_come_to_the_barriers():
    text = text_of("columns")
    assert "const int column = get_local_id(0) % 32;" in text
    assert "__local float sum_parts[32][32];" in text
    assert "const int row = get_group_id(0) * 32 + column;" in text
    assert "const bool inside = row < rows;" in text and "return;" not in text
    assert "    if (lane == 0 && inside)\n        y[row] = sum;\n" in text
    assert "    const bool inside = row < rows;\n    {\n" in text_of("columns in a block")
    assert "float sum = inside ? y[row] : 0;" in text_of("columns with a start")


def test_short_rows_go_several_to_a_group():
    text = text_of("rows", 3)
    assert "__attribute__((reqd_work_group_size(256, 1, 1)))" in text
    assert "__local float sum_parts[8][32];" in text


def test_what_a_sum_starts_from_counts_once():
    assert "if (lane > 0)\n            sum = 0;" in text_of("rows with a start")


def test_a_work_group_counts_before_it_adds_to_what_all_share():
    text = text_of("histogram")
    assert "atomic_inc(&hist_here[data[i]]);" in text
    assert "const int i = get_global_id(0) + turn * get_global_size(0);" in text
    assert "continue;" in text and "return;" not in text
    assert "__local int found_here[1];" in text_of("counter")


def test_a_work_group_of_more_dimensions_than_at_hand_would_count_twice():
    text = COUNTS_OF_AN_IMAGE.replace(", y = get_global_id(1)", "").replace("x < w && y < h", "x < w * h")
    text = text.replace("data[y * w + x]", "data[x]").replace("=64,32 local=16,4", "=2048 local=64")
    other = "// clmap: global=2048,4 local=64,2 w=61 h=30 data=random(2048) hist=zeros(256)"
    _, _, launch = launch_of(text, other)
    subject, found = all_of(text, "local-counts")
    assert found
    for it in found:
        assert [a.text for a in it.assumptions if not a.holds(Case(launch, subject.options))] == [
            "get_local_size(1) == 1 && get_local_size(2) == 1"
        ]


def test_a_row_of_results_becomes_a_dimension_of_the_launch():
    text = text_of("one column")
    assert "const int j = get_global_id(1);\n        if (j >= n)\n            return;" in text
    subject, (proposal,) = all_of(ONE_ROW, "spread-loop")
    assert proposal.relaunch is not None
    assert proposal.relaunch(subject.launch).global_size == (48, 48)  # 37 columns, rounded up.
    assert proposal.safety is FixSafety.UNSAFE


def test_rows_that_are_walked_again_have_a_tree_for_each_loop_that_gathers():
    text = text_of("softmax in place")
    assert "for (int i = 1 + lane; i < n; i += 128)" in text
    assert text.count("for (int i = lane; i < n; i += 128)") == 2
    assert text.count("barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);") == 2
    assert "const float other_most = most_parts[lane + step];" in text
    assert "if (other_most > most) most = other_most;" in text
    assert "GLOBAL_MEM_FENCE" not in text_of("normalised")


def test_a_tree_halves_its_distance():
    assert "for (int step = 64; step > 0; step /= 2) {" in text_of("tree")
    text = text_of("guarded tree", 1)
    assert "sum += (i < n) ? in[i] : 0;" in text
    assert "uint i = get_group_id(0) * 128 + number;" in text


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (ROWS.replace("sum += A", "if (sum > 3.0f) sum += A"), "row-to-group"),
        (ROWS.replace("y[row] = sum;", "y[row] = sum + get_local_id(0);"), "row-to-group"),
        (ROWS.replace("x[k];", "x[k], y[k] = sum;"), "row-to-group"),
        (ROWS.replace("y[row] = sum;", "y[row] = sum; sum = y[row + 1]; y[row] += sum;"), "row-to-group"),
        (ROWS.replace("sum += A[row * n + k] * x[k]", "sum = sum * 0.5f + A[row * n + k]"), "row-to-group"),
        (IN_PLACE.replace("most = x[row * n + i];", "{ most = x[row * n + i]; x[0] = i; }"), "row-to-group"),
        (IN_PLACE.replace("sum += x[row * n + i];", "sum += x[row * n + i + 1];"), "row-to-group"),
        (REVERSED.replace("sum += x[row * n + i];\n", "").replace("/ sum", "/ 2"), "row-to-group"),
        (IN_PLACE.replace("exp(", "x[row * n + i + 1] * exp("), "row-to-group"),
        (IN_PLACE.replace("> most)", "> most + 1.0f)"), "row-to-group"),
        (CHOSEN.replace("(v >= most) ? v : most", "(most > v) ? most : v"), "row-to-group"),
        (CHOSEN.replace("(v >= most) ? v : most", "(v >= most) ? least : most"), "row-to-group"),
        (CHOSEN.replace("least = v;", "{ least = v; most += 1.0f; }"), "row-to-group"),
        (
            COUNTS.replace("atomic_inc(&hist[data[i]]);", "hist[0] = atomic_inc(&hist[data[i]]);"),
            "local-counts",
        ),
        (COUNTS.replace("atomic_inc(&hist[data[i]])", "atomic_xchg(&hist[data[i]], 3)"), "local-counts"),
        (SAXPY.replace("y[i] = a", "y[i] = get_global_size(0) + a"), "coarsen"),
        (SAXPY.replace("if (i < n)", "barrier(CLK_LOCAL_MEM_FENCE); if (i < n)"), "coarsen"),
        (ONE_ROW.replace("float sum = 0.0f", "float sum = j > 0 ? C[i * n + j - 1] : 0.0f"), "spread-loop"),
        (ONE_ROW.replace("C[i * n + j] = sum", "C[i * n] = sum"), "spread-loop"),
        (ONE_ROW.replace("j < n;", "j < i;"), "spread-loop"),
        (TREE.replace("= part[0]", "= part[1]"), "tree-reduction"),
        (TREE.replace("local=128", "local=64"), "tree-reduction"),
        (TREE.replace("part[lane + step]", "2 * part[lane + step]"), "tree-reduction"),
        (TREE.replace("+= part[lane + step]", "-= part[lane + step]"), "tree-reduction"),
        (HALVED.replace("step = 64", "step = 32"), "tree-reduction"),
    ],
)
def test_what_does_not_fit_is_left_alone(text: str, kind: str):
    assert all_of(text, kind)[1] == []


def test_what_gains_no_traffic_is_offered_by_predicted_time_only():
    """The histogram is many times faster; a launch of a few work-groups is bound by being launched."""
    large = COUNTS.replace("=4096", "=1048576").replace("4001", "1048001").replace("(4096)", "(1048576)")
    assert "x faster" in offered(large, "local-counts", H200)[0][1].title
    assert offered(SAXPY, "coarsen", H200) == []
    assert offered(SAXPY, "coarsen") == []  # A generation has no times.


@pytest.mark.parametrize("case", ["rows", "tree", "guarded tree"])
def test_devices_without_memory_on_the_chip_are_left_alone(case: str):
    """A tree by sequential addresses took 1.4 times as long as an interleaved one on PoCL."""
    text, kind = CASES[case]
    assert offered(text, kind, CPU) == []
