"""Each kind of rewrite: where it is right, and where it must decline."""

from __future__ import annotations

import re

import fix_kernels as kernels
import pytest
from fixing import CPU, PASCAL, first_verified, offered, proposed, proved, verified

from clmap_lsp.devices import load_model
from clmap_lsp.findings import FixSafety

# ------------------------------------------------------------------------------------------- tiles of loops


def test_a_matrix_multiply_is_tiled_and_keeps_its_text():
    text, proof = verified(kernels.MATMUL, "stage-loop")
    assert "            sum += A_tile[ly][k - k0] * B_tile[k - k0][lx];\n" in text
    assert "A_tile[ly][lx] = k0 + lx < N ? A[row * N + k0 + lx] : 0;" in text  # Turns left over add zeros.
    assert "// The work-group loads A and B in tiles of 16 iterations: each element once." in text
    assert "__attribute__((reqd_work_group_size(16, 16, 1)))" in text
    assert proof.compared == "bit for bit"
    assert proof.proposal.host_change is None  # The launch has that size.
    assert [it.text for it in proof.proposal.assumptions] == [
        "local size 16x16",
        "A and C do not overlap",
        "B and C do not overlap",
    ]
    # 64 turns of 2 + 2 sectors for 128 SIMD groups, and 4 to store; then each element is loaded once a group.
    assert proof.before.totals.sectors == 128 * (64 * 4 + 4)
    assert proof.after.totals.sectors == 128 * (4 * (4 + 4) + 4)


@pytest.mark.parametrize("text", [kernels.GUARDED, kernels.IN_CONDITION], ids=["return", "condition"])
def test_barriers_come_out_of_guards(text: str):
    after, proof = verified(text, "stage-loop")
    assert proof.compared == "bit for bit"
    assert "const bool inside = " in after
    assert after.count("if (inside)") == 1


@pytest.mark.parametrize("text", [kernels.HALVED, kernels.GUARDED_HALVED], ids=["bare", "guarded"])
def test_turns_left_over_run_as_before_where_zeros_would_count(text: str):
    after, proof = verified(text, "stage-loop")
    assert proof.compared == "bit for bit"
    assert "for (; k0 + 16 <= N; k0 += 16) {" in after
    assert after.count("sum = 0.5f * sum + ") == 2
    assert " : 0;" not in after


def test_neighbours_change_places_to_load_rows_side_by_side():
    after, proof = verified(kernels.ACROSS, "stage-loop")
    assert "const int row_t = row - lx + ly;" in after
    assert "A_tile[lx][ly] = k0 + lx < N ? A[row_t * N + k0 + lx] : 0;" in after
    assert "A_tile[16][17]" in after
    assert proof.after.totals.sectors < proof.before.totals.sectors / 10


def test_rows_of_their_own_are_loaded_by_neighbours_side_by_side():
    after, proof = verified(kernels.ROWS, "stage-loop")
    assert "A_tile[64][33]" in after
    assert "if ((row - lx + j) < rows)" in after
    assert proof.after.totals.sectors < proof.before.totals.sectors / 3


def test_tiles_of_rows_say_from_which_launch_on_they_pay():
    """Measured on an H200: below 8 SIMD groups a compute unit slower, above up to 3 times faster."""
    ((_, fix),) = offered(kernels.ROWS, "stage-loop")
    assert fix.verified is not None
    assert fix.verified["expected"] == "in launches of about 528 work-groups or more on H200"
    ((_, fix),) = offered(kernels.ROWS, "stage-loop", PASCAL)
    assert fix.verified is not None
    assert fix.verified["expected"] == "in launches of 8 SIMD groups a compute unit or more"
    large = kernels.ROWS.replace("global=256", "global=33792").replace("rows=250", "rows=33792")
    ((_, proposal),) = proposed(large.replace("N=100", "N=32"), "stage-loop")
    assert proposal.promise == ""
    ((_, proposal),) = proposed(kernels.MATMUL, "stage-loop")
    assert proposal.promise == ""  # Shared tiles pay in small launches too.


def test_accesses_out_of_macros_are_tiled_in_the_kernels_own_text():
    macros = "#define A_OF A[row * N + k]\n#define B_OF B[k * N + column]\n"
    text = macros + kernels.MATMUL.replace("A[row * N + k] * B[k * N + column]", "A_OF * B_OF")
    after, proof = verified(text, "stage-loop")
    assert after.startswith(macros)
    assert "sum += A_tile[ly][k - k0] * B_tile[k - k0][lx];" in after
    assert proof.compared == "bit for bit"


def test_a_loop_whose_head_a_macro_writes_is_tiled():
    macro = "#define EACH for (int k = 0; k < N; k++)\n"
    after, proof = verified(
        macro + kernels.MATMUL.replace("for (int k = 0; k < N; k++)", "EACH"), "stage-loop"
    )
    assert after.startswith(macro)
    assert "for (int k = k0; k < k0 + 16; k++)" in after
    assert proof.compared == "bit for bit"


@pytest.mark.parametrize(
    "text",
    [
        kernels.MATMUL.replace("const float *A", "float *A")
        .replace("B[k * N", "A[k * N")
        .replace("C[row * N + column] = sum", "A[0] = sum"),
        kernels.MATMUL.replace("k++)", "k++) { if (sum > 9.0f) break;").replace("product", "product\n    }"),
        kernels.MATMUL.replace("sum += A", "if (row > k) sum += A"),
        kernels.MATMUL.replace("k < N;", "k < row;"),
        kernels.MATMUL.replace("A[row * N + k]", "A[row * N + (int)A[k]]").replace(
            "B[k * N", "B[(int)A[k] * N"
        ),
        kernels.MATMUL.replace("local=16,16", "local=1,1"),
        kernels.MATMUL.replace("global=64,64", "global=60,60").replace("N=64", "N=60"),
    ],
    ids=[
        "stored to",
        "early exit",
        "load under a condition",
        "turns differ in a group",
        "address from memory",
        "nobody to share with",
        "partial groups",
    ],
)
def test_loops_are_not_tiled(text: str):
    assert proposed(text, "stage-loop") == []


def test_an_access_whose_macro_takes_the_index_is_tiled():
    text = "#define AT(m, y, x) m[(y) * N + (x)]\n" + kernels.MATMUL.replace(
        "A[row * N + k]", "AT(A, row, k)"
    )
    ((_, proposal),) = proposed(text, "stage-loop")
    assert "`A`" not in proposal.title  # Its element cannot be written anew; B's can.


HINTS = ["#pragma unroll 4", "__attribute__((opencl_unroll_hint(4)))"]


@pytest.mark.parametrize("hint", HINTS)
@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_a_pragma_stays_with_the_loop_that_takes_its_turns(hint: str, newline: str):
    text = kernels.MATMUL.replace("    for (int k", f"    {hint}\n    for (int k").replace("\n", newline)
    after, proof = verified(text, "stage-loop")
    assert f"{hint}{newline}        for (int k = k0; k < k0 + 16; k++)" in after
    assert after.count(hint) == after.count("for (int k =")
    assert proof.after.totals.sectors < proof.before.totals.sectors / 2


def test_a_pragma_at_the_start_of_its_line_leaves_the_code_in_its_column():
    text = kernels.HALVED.replace("    for (int k", "#pragma unroll 4\n    for (int k")
    after, _ = verified(text, "stage-loop")
    assert "\n    int k0 = 0;\n    for (; k0 + 16 <= N; k0 += 16) {\n" in after
    assert "\n    #pragma unroll 4\n    for (int k = k0; k < N; k++)" in after


def test_a_guarded_loop_with_a_pragma_is_put_in_braces():
    text = kernels.GUARDED_HALVED
    after, _ = verified(re.sub(r"( +)for \(int k", r"\1#pragma unroll 4\n\1for (int k", text), "stage-loop")
    assert len(re.findall(r"if \(inside\) \{\n +#pragma unroll 4\n +for", after)) == 2


@pytest.mark.parametrize("hint", HINTS)
def test_what_is_around_a_loop_with_a_pragma_may_change(hint: str):
    text = kernels.MATMUL.replace("    for (int k", f"    {hint}\n    for (int k")
    swapped = text.replace("get_global_id(1)", "get_global_id(2)").replace(
        "get_global_id(0)", "get_global_id(1)"
    )
    after, _ = verified(swapped.replace("get_global_id(2)", "get_global_id(0)"), "swap-dimensions")
    assert after == text


def test_statements_after_a_loop_with_an_attribute_are_their_own():
    text = kernels.TILED_TRANSPOSE.replace(
        "    barrier(", "    __attribute__((opencl_unroll_hint)) for (int i = 0; i < 2; i++) {}\n    barrier("
    )
    assert len(offered(text, "pad-local")) == 2


# ------------------------------------------------------------------------------------- blocks with borders


def test_a_stencil_is_staged_with_its_border_inside_the_guard():
    text, proof = verified(kernels.STENCIL, "stage-block")
    assert "__local float in_tile[18][18];" in text
    assert "y - ly + j - 1 < N && x - lx + i - 1 >= 0 && x - lx + i - 1 < N" in text
    assert "in_tile[ly][lx + 1] + in_tile[ly + 2][lx + 1]);" in text
    assert proof.compared == "bit for bit"


def test_a_convolution_is_staged_by_its_loop_variables():
    text, proof = verified(kernels.CONVOLUTION, "stage-block")
    assert "in_tile[ly + v][lx + u];" in text
    assert "__local float in_tile[20][20];" in text
    assert proof.after.totals.sectors < proof.before.totals.sectors / 2


@pytest.mark.parametrize(
    "text",
    [
        kernels.STENCIL.replace("const float *in", "float *in").replace("out[y", "in[y"),
        kernels.CONVOLUTION.replace("TAPS 5", "TAPS 1"),
        kernels.CONVOLUTION.replace("u < TAPS", "u < N - 60"),
        kernels.CONVOLUTION.replace("x + u]", "(x ^ u)]"),
    ],
    ids=["in place", "no reuse", "border of unknown width", "not a sum"],
)
def test_blocks_are_not_staged(text: str):
    assert proposed(text, "stage-block") == []


# -------------------------------------------------------------------------------------------- local layouts


def test_a_square_tile_is_swizzled_without_more_memory_or_padded():
    (swizzle, fix), (padded, _) = offered(kernels.TILED_TRANSPOSE, "pad-local")
    assert "tile[lx][ly ^ lx]" in swizzle
    assert "__local float tile[TILE][TILE + 1]; // read by columns" in padded
    assert fix.title.endswith("xor: 8.8x less traffic")
    assert fix.safety is FixSafety.SAFE


def test_a_tile_whose_width_is_no_power_of_two_is_padded_only():
    text = kernels.TILED_TRANSPOSE.replace("TILE 32", "TILE 24").replace("32,32", "24,24")
    text = text.replace("64,64", "48,48").replace("N=64", "N=48")
    assert [fix.title.split()[0] for _, fix in offered(text, "pad-local")] == ["Pad"]


def test_strided_elements_are_spread_over_the_banks():
    text, proof = first_verified(kernels.STRIDED_REDUCTION, "pad-local")
    assert proof.after.wavefronts_per_request == 1
    assert "sums[get_group_id(0)] = part[0];" in text


@pytest.mark.parametrize(
    "text",
    [
        kernels.TILED_TRANSPOSE.replace("tile[lx][ly];", "*(&tile[0][0] + lx * TILE + ly);"),
        kernels.TILED_TRANSPOSE.replace("tile[lx][ly];", "tile[ly][lx];"),
    ],
    ids=["its address is taken", "no conflicts"],
)
def test_layouts_stay(text: str):
    assert proposed(text, "pad-local") == []


def test_memory_without_banks_needs_no_layout():
    assert proposed(kernels.TILED_TRANSPOSE, "pad-local", CPU) == []


# ---------------------------------------------------------------------------------- exchange through a tile


@pytest.mark.parametrize(
    "text", [kernels.NAIVE_TRANSPOSE, kernels.GUARDED_TRANSPOSE], ids=["plain", "guarded"]
)
def test_a_transpose_is_made_through_a_tile(text: str):
    after, proof = verified(text, "transpose-tile")
    assert "out[x_t * N + y_t] = out_tile[lx][ly];" in after
    assert proof.compared == "bit for bit"
    assert proof.after.totals.sectors < proof.before.totals.sectors / 1.8


def test_loads_that_run_across_are_exchanged_too():
    text = kernels.NAIVE_TRANSPOSE.replace("out[x * N + y] = in[y * N + x]", "out[y * N + x] = in[x * N + y]")
    after, _ = verified(text, "transpose-tile")
    assert "in_tile[lx][ly] = in[x_t * N + y_t];" in after
    assert "out[y * N + x] = in_tile[ly][lx];" in after


@pytest.mark.parametrize(
    "text",
    [
        kernels.NAIVE_TRANSPOSE.replace("local=16,16", "local=32,8"),
        kernels.NAIVE_TRANSPOSE.replace("out[x * N + y] =", "out[y * N + x] ="),
        kernels.NAIVE_TRANSPOSE.replace("    out[x", "    if (x == 3) return;\n    out[x"),
        kernels.NAIVE_TRANSPOSE.replace("const float *in", "float *out_").replace("in[y", "out[y"),
    ],
    ids=["not square", "coalesced already", "early return", "in place"],
)
def test_nothing_is_exchanged(text: str):
    text = text.replace("__global float *out_", "__global float *in")
    assert proposed(text, "transpose-tile") == []


# ------------------------------------------------------------------------------------- arrays that do not pay


def test_an_array_that_nobody_shares_becomes_private():
    text, proof = verified(kernels.OWN_COPY, "unstage")
    assert "float part; // a copy" in text
    assert "barrier" not in text and "__local" not in text
    assert proof.after.totals.wavefronts == 0
    assert proof.proposal.safety is FixSafety.SAFE


@pytest.mark.parametrize(
    "text",
    [
        kernels.OWN_COPY.replace("2.0f * part[lane]", "2.0f * part[lane ^ 1]"),
        kernels.OWN_COPY.replace("part[lane]", "part[lane / 2]"),
        kernels.OWN_COPY.replace("2.0f * part[lane]", "2.0f * *(part + (lane ^ 1))"),
    ],
    ids=["shared", "two work-items an element", "pointer arithmetic"],
)
def test_arrays_that_are_shared_stay(text: str):
    assert proposed(text, "unstage") == []


def test_a_private_variable_that_not_all_store_to_starts_at_zero():
    """Compilers warn of those that a condition leaves without a value, where local memory had one."""
    text = """\
// clmap: global=64,4 local=16,1 a=random(256) o=zeros(256)
__kernel void kept(__global const float *restrict a, __global float *restrict o)
{
    __local float s[16];
    const int x = get_local_id(0), g = get_global_id(1) * 64 + get_global_id(0);
    if (get_local_id(1) == 0)
        s[x] = a[g];
    barrier(CLK_LOCAL_MEM_FENCE);
    o[g] = s[x] + a[g];
}
"""
    (subject, proposal), *_ = proposed(text, "unstage")
    after, _ = proved(text, subject, proposal)
    assert "    float s = 0;\n" in after
    assert [it.text for it in proposal.assumptions] == ["get_local_size(1) == 1 && get_local_size(2) == 1"]


# -------------------------------------------------------------------- constants, qualifiers, hoisted accesses


def test_a_small_uniform_filter_goes_to_constant_memory():
    text, proof = verified(kernels.CONVOLUTION, "constant-data", PASCAL)
    assert "__constant const float *filter" in text
    assert proof.proposal.safety is FixSafety.UNSAFE


@pytest.mark.parametrize(
    "text",
    [
        kernels.CONVOLUTION.replace("random(25,3)", "random(20000,3)"),
        kernels.CONVOLUTION.replace("filter[v * TAPS + u]", "filter[(v * TAPS + u + x) % 25]"),
        kernels.CONVOLUTION.replace("const float *filter", "float *filter").replace(
            "= sum;", "= sum; filter[0] = 0;"
        ),
        kernels.CONVOLUTION.replace("float sum", "__global const float *p = filter; float sum"),
    ],
    ids=["too large", "differs between work-items", "stored to", "kept in a pointer"],
)
def test_data_stays_in_global_memory(text: str):
    assert proposed(text, "constant-data", PASCAL) == []


@pytest.mark.parametrize("device", ["nvidia-hopper", "amd-cdna3", "cpu", "intel-xe-hpg"])
def test_where_caches_serve_one_address_as_well_nothing_is_promised(device: str):
    """On an H200 this rewrite of a convolution was measured to gain nothing: 0.184 ms before and after."""
    assert proposed(kernels.CONVOLUTION, "constant-data", load_model(device)) == []


def test_const_is_safe_and_restrict_is_the_hosts_promise():
    (const_text, const), (restrict_text, restrict) = offered(kernels.SUM_IN_MEMORY, "qualify-pointers")
    assert "__global const float *A, __global const float *B, __global float *C" in const_text
    assert const.safety is FixSafety.SAFE
    assert "__global float *restrict A" in restrict_text
    assert restrict.safety is FixSafety.UNSAFE and restrict.host_change is not None


def test_pointers_that_say_all_stay():
    text = kernels.MATMUL.replace("float *", "float *restrict ")
    assert proposed(text, "qualify-pointers") == []


def test_loads_and_sums_leave_the_loop():
    texts = [text for text, _ in offered(kernels.SUM_IN_MEMORY, "hoist-access")]
    assert any("const float s_value = s[0];\n    for" in it for it in texts)
    assert any(
        "C_value += s[0] * A[row * N + k]" in it and "C[row * N + column] = C_value;" in it for it in texts
    )


def test_a_sum_leaves_a_loop_that_a_condition_governs_without_braces():
    text = kernels.SUM_IN_MEMORY.replace("    for (", "    if (row < N)\n        for (").replace(
        "        C[", "            C["
    )
    (after,) = (it for it, _ in offered(text, "hoist-access") if "C_value" in it)
    lines = [
        "    if (row < N)",
        "        {",
        "            float C_value = C[row * N + column];",
        "            for (int k = 0; k < N; k++)",
        "                C_value += s[0] * A[row * N + k] * B[k * N + column];",
        "            C[row * N + column] = C_value;",
        "        }",
    ]
    assert "\n".join(lines) in after


@pytest.mark.parametrize(
    "text",
    [
        kernels.SUM_IN_MEMORY.replace("s[0]", "s[C[k] > 2.0f]").replace("C[row * N + column] +=", "C[k] +="),
        kernels.SUM_IN_MEMORY.replace("        C[row", "        if (k > row) C[row"),
        kernels.SUM_IN_MEMORY.replace("        C[row", "        barrier(CLK_GLOBAL_MEM_FENCE), C[row"),
        kernels.SUM_IN_MEMORY.replace("A[row * N + k]", "C[row * N + k]").replace("s[0] *", "s[k & 0] *"),
    ],
    ids=["element of the turn", "not in every turn", "others look on", "the loop reads others' sums"],
)
def test_accesses_stay_in_the_loop(text: str):
    kept = [it for _, it in proposed(text, "hoist-access") if "Keep `C" in it.title]
    assert kept == []


PREFIXES = """\
// clmap: global=64,16 local=16,4 stride=64 in=random(1024) out=random(1024)
__kernel void prefixes(__global const int *restrict in, __global int *restrict out, const int stride)
{
    const int x = get_global_id(0), y = get_global_id(1);
    const int at = y * stride + x;
    out[at] = 0;
    if (x > 0)
        for (int i = 0; i < x; i++)
            out[at] += in[y * stride + i];
}
"""


def test_an_element_that_all_stored_before_is_known_where_some_add_to_it():
    ((text, fix),) = offered(PREFIXES, "hoist-access")
    assert fix.assumptions == () and fix.safety is FixSafety.SAFE
    assert "            out_value += in[y * stride + i];" in text
    ((_, proposal),) = proposed(
        PREFIXES.replace("    out[at]", "    if (x > 3)\n        out[at]", 1), "hoist-access"
    )
    assert [it.text for it in proposal.assumptions] == ["0 < x"]


# --------------------------------------------------------------------------------------------------- vectors


def test_four_turns_at_a_time():
    text, proof = verified(kernels.CHUNK_SUM, "vectorise")
    assert "const float4 in_4 = *(__global const float4 *)&in[id * 20 + i0];" in text
    assert proof.proposal.safety is FixSafety.SAFE
    assert proof.compared == "bit for bit"


@pytest.mark.parametrize(
    ("hint", "kept"),
    [
        ("#pragma unroll", "#pragma unroll"),
        ("#pragma unroll 16", "#pragma unroll 4"),
        ("#pragma unroll 4", None),
        ("__attribute__((opencl_unroll_hint(8)))", "__attribute__((opencl_unroll_hint(2)))"),
    ],
)
@pytest.mark.parametrize("indent", ["    ", ""], ids=["with the code", "at the start"])
def test_a_factor_of_unrolling_counts_turns(hint: str, kept: str | None, indent: str):
    text, proof = verified(kernels.CHUNK_SUM.replace("    for", f"{indent}{hint}\n    for"), "vectorise")
    before = f"    {kept}\n" if kept else ""
    assert f"\n    int i0 = 0;\n{before}    for (; i0 + 4 <= n; i0 += 4) {{\n" in text
    assert text.count("unroll") == (kept is not None)
    assert proof.compared == "bit for bit"


def test_four_elements_a_work_item():
    text, proof = verified(kernels.SAXPY, "vectorise")
    assert (
        "((__global float4 *)Y)[i] = a * ((__global const float4 *)X)[i] + ((__global const float4 *)Y)[i];"
        in text
    )
    assert proof.after_launch.global_size == (256,)
    assert (proof.before.requests, proof.after.requests) == (96, 24)


def test_alignment_that_holds_on_some_launches_is_tested_in_the_kernel():
    text, proof = verified(kernels.MATMUL.replace("B[k * N + column]", "B[column]"), "vectorise")
    assert "for (; N % 4 == 0 && k0 + 4 <= N; k0 += 4) {" in text
    assert proof.proposal.assumptions == ()
    assert proof.proposal.safety is FixSafety.SAFE  # Nothing is stored in the loop.


SOME = kernels.CHUNK_SUM.replace("sum += in", "if (in[id * 20 + i] > 0.5f)\n            sum += in")
CHOSEN = SOME.replace("sum += in[id * 20 + i]", "{ const float w = in[id * 20 + i + 2]; sum += w; }")
GUARDED = kernels.CHUNK_SUM.replace("sum += in", "if (id * 20 + i < 9000)\n            sum += in")


def test_what_every_turn_loads_is_a_vector_whatever_is_done_with_it():
    text, proof = verified(SOME, "vectorise")
    assert "if (in_4.s3 > 0.5f)\n            sum += in_4.s3;" in text
    assert proof.proposal.safety is FixSafety.SAFE and proof.compared == "bit for bit"
    text, proof = verified(CHOSEN, "vectorise")
    assert "if (in_4.s1 > 0.5f)" in text and "const float w = in[id * 20 + (i0 + 1) + 2];" in text
    assert text.count("(__global const float4 *)") == 1
    hidden = kernels.CHUNK_SUM.replace("sum += in", "sum += i < 9 && in[id * 20 + i] > 0.5f ? 1.0f : in")
    left = SOME.replace("> 0.5f)", "> 0.5f) break; else")
    for single in (GUARDED, GUARDED.replace("if (id", "if (in[0] > 0 && id"), hidden, left):
        assert proposed(single, "vectorise") == []


@pytest.mark.parametrize(
    "text",
    [
        kernels.CHUNK_SUM.replace("id * 20 + i", "id * 19 + i"),
        kernels.CHUNK_SUM.replace("in[id * 20 + i]", "in[id * 20 + 2 * i]").replace("n=18", "n=9"),
        kernels.CHUNK_SUM.replace("n=18", "n=3"),
        kernels.SAXPY.replace("global=1024", "global=960").replace("(1024", "(960"),
        kernels.SAXPY.replace("a * X[i]", "(X[i] > 0.5f ? a : X[i])"),
        kernels.CHUNK_SUM.replace("    for", "    #pragma nounroll\n    for"),
        kernels.CHUNK_SUM.replace("    for", "    #pragma unroll 1\n    for"),
    ],
    ids=[
        *("never aligned", "not contiguous", "too few turns", "not a multiple", "a choice"),
        *("asked not to", "asked to take one"),
    ],
)
def test_single_elements_stay(text: str):
    assert proposed(text, "vectorise") == []


# --------------------------------------------------------------------------------------- members and strides


def test_gpus_stride_and_cpus_walk_chunks():
    text, proof = verified(kernels.CHUNK_SCALE, "stride-order")
    assert "out[i * get_global_size(0) + id] = 2.0f * in[i * get_global_size(0) + id];" in text
    assert (proof.before.sectors_per_request, proof.after.sectors_per_request) == (32, 4)
    assert proposed(kernels.CHUNK_SCALE, "stride-order", CPU) == []
    after, _ = verified(kernels.GRID_STRIDE, "stride-order", CPU)
    assert "for (int i = get_global_id(0) * chunk; i < end; i++)" in after
    assert proposed(kernels.GRID_STRIDE, "stride-order") == []


def test_any_power_of_two_split_is_made_a_grid_stride():
    text, proof = verified(kernels.GROUPS_OF_FOUR, "stride-order")
    place = "i * get_global_size(0) + (int)get_global_id(0)"
    assert f"out[{place}] = weight[0] * in[{place}];" in text
    assert (proof.before.sectors_per_request, proof.after.sectors_per_request) == (17 / 3, 3)


@pytest.mark.parametrize(
    ("last", "end"),
    [
        ("min(first + chunk, n)", "n"),
        ("first + chunk < n ? first + chunk : n", "n"),
    ],
    ids=["cut by min", "cut by a choice"],
)
def test_a_loop_whose_variable_is_the_element_gets_another_head(last: str, end: str):
    text, _ = verified(kernels.OWN_RANGE.replace("min(first + chunk, n)", last), "stride-order")
    assert (
        f"for (int i = (int)get_global_id(0); i < {end}; i += get_global_size(0)) // its own part\n"
        "        out[i] = in[i] + in[i + 1] * i;" in text
    )


def test_chunks_as_long_as_they_say_keep_their_total():
    source = kernels.OWN_RANGE.replace("(n + get_global_size(0) - 1) / get_global_size(0)", "n / 125")
    source = source.replace("i < last", "i < first + chunk").replace("global=128", "global=64")
    text, _ = verified(source, "stride-order")
    assert "i < chunk * (int)get_global_size(0); i += get_global_size(0))" in text
    hidden = source.replace("min(first + chunk, n)", "first + chunk").replace("i < first + chunk", "i < last")
    assert proposed(hidden, "stride-order") == []  # No author's word for the length.


def test_elements_out_of_macros_are_walked_in_the_other_order():
    macro = "#define OUT out[id * n + i]\n"
    text = macro + kernels.CHUNK_SCALE.replace("out[id * n + i] =", "OUT =")
    after, proof = verified(text, "stride-order")
    assert after.startswith(macro)
    assert "OUT =" not in after
    assert proof.compared == "bit for bit"


@pytest.mark.parametrize(
    "text",
    [
        kernels.CHUNK_SCALE.replace("2.0f *", "i *"),
        kernels.CHUNK_SCALE.replace("id * n + i] =", "id * n + i] = i == 0 ? 0.0f : out[id * n + i - 1] +"),
        kernels.CHUNK_SCALE.replace("id * n", "id * 16"),
        kernels.CHUNK_SCALE.replace("2.0f *", "in[id] *"),
        kernels.CHUNK_SCALE.replace("        out", "        if (in[0] > 2.0f) break; else out"),
        kernels.GROUPS_OF_FOUR.replace("& 3", "% 3"),
        kernels.OWN_RANGE.replace("in[i] +", "in[first] +"),
        kernels.OWN_RANGE.replace("in[i] +", "").replace("out[i]", "out[i + 0]"),
    ],
    ids=[
        "the turn means something",
        "turns hang together",
        "a split on this launch only",
        "another element of its own",
        "left early",
        "no power of two",
        "its own first element",
        "the variable is not seen to be the element",
    ],
)
def test_the_order_of_loops_stays(text: str):
    assert proposed(text, "stride-order") == []


def test_the_stride_sweep_says_what_another_order_gains():
    ((_, fix),) = offered(kernels.CHUNK_SCALE, "stride-order")
    assert fix.title == "Stride over the work-items: 16.0x less traffic"
    assert fix.verified is not None
    assert fix.verified["expected"] == "about 10 % → 95 % of copy bandwidth on H200"
    ((_, fix),) = offered(kernels.GRID_STRIDE, "stride-order", CPU)
    assert fix.title == "Walk a contiguous chunk"
    assert fix.verified is not None
    assert fix.verified["expected"] == "about 11 % → 100 % of read bandwidth on PoCL-EPYC"


@pytest.mark.parametrize("device", ["generic-gpu", "apple-m1"])
def test_without_a_sweep_the_traffic_alone_is_promised(device: str):
    ((_, fix),) = offered(kernels.CHUNK_SCALE, "stride-order", load_model("nvidia-hopper"))
    assert "bandwidth" in str(fix.verified)
    for _, fix in offered(kernels.CHUNK_SCALE, "stride-order", load_model(device)):
        assert "bandwidth" not in str(fix.verified)


def test_a_sum_for_each_chunk_is_not_reordered():
    """Striding would add up other elements, whatever they are on this launch."""
    text = kernels.CHUNK_SUM.replace("id * 20", "id * n").replace("n=18", "n=20")
    assert proposed(text, "stride-order") == []
    assert offered(text, "stride-order") == []


# ---------------------------------------------------------------------------------------------------- faults


def test_work_items_beyond_the_data_leave():
    ((text, fix),) = offered(kernels.BEYOND_END, "guard-bounds")
    assert "    if (i >= n)\n        return;\n    B[i]" in text
    assert fix.safety is FixSafety.UNSAFE


@pytest.mark.parametrize("order", ["const int w, const int h", "const int h, const int w"])
def test_where_sizes_are_equal_the_pitch_bounds_the_columns(order: str):
    source = (
        "// clmap: global=64,64 local=16,16 w=50 h=50 in=random(w*h) out=zeros(w*h)\n"
        f"__kernel void twice(__global const float *in, __global float *out, {order})\n{{\n"
        "    const int x = get_global_id(0);\n    const int y = get_global_id(1);\n"
        "    out[y * w + x] = 2 * in[y * w + x];\n}\n"
    )
    ((text, _),) = offered(source, "guard-bounds")
    assert "if (x >= w || y >= h)" in text


def test_neighbours_outside_are_tested():
    ((text, _),) = offered(kernels.NEIGHBOURS, "guard-bounds")
    assert "(i - 1 >= 0 && i - 1 < n ? A[i - 1] : 0) + (i + 1 < n ? A[i + 1] : 0)" in text


def test_no_parameter_no_guard():
    assert (
        offered(
            kernels.BEYOND_END.replace("n=100 A=random(n) B=zeros(n)", "n=7 A=random(100) B=zeros(100)"),
            "guard-bounds",
        )
        == []
    )


def test_the_missing_barrier_is_added_where_the_race_is():
    ((text, _),) = offered(kernels.MISSING_BARRIER, "add-barrier")
    assert "t[l] = A[get_global_id(0)];\n    barrier(CLK_LOCAL_MEM_FENCE);\n    B[" in text
    ((text, _),) = offered(kernels.RACING_LOOP, "add-barrier")
    assert "t[l] += t[l + s];\n        barrier(CLK_LOCAL_MEM_FENCE);\n    }" in text


RACING_FUNCTION = """\
// clmap: global=128 local=32 A=random(128) B=zeros(128)
float mirrored(__local float *t, float mine, int l)
{
    for (int k = 0; k < 2; k++)
        t[l + 32 * k] = mine * k;
    return t[63 - l];
}

__kernel void reverse(__global const float *A, __global float *B)
{
    __local float t[64];
    B[get_global_id(0)] = mirrored(t, A[get_global_id(0)], get_local_id(0));
}
"""


def test_a_function_of_the_kernels_own_gets_its_barrier():
    ((text, fix),) = offered(RACING_FUNCTION, "add-barrier")
    assert "= mine * k;\n    barrier(CLK_LOCAL_MEM_FENCE);\n    return" in text
    assert fix.safety is FixSafety.UNSAFE
    other = "\n__kernel void other(__global float *B)\n{\n    __local float t[64];\n"
    other += "    if (get_local_id(0) == 0)\n        B[0] = mirrored(t, B[1], 0);\n}\n"
    assert offered(RACING_FUNCTION + other, "add-barrier") == []


def test_races_of_global_memory_get_no_barrier():
    text = kernels.MISSING_BARRIER.replace("__local float t[32];", "").replace("t[l] =", "B[0] =")
    assert offered(text.replace("= t[31 - l]", "= 1.0f"), "add-barrier") == []


@pytest.mark.parametrize("text", [kernels.DIVERGENT, kernels.EARLY_RETURN], ids=["condition", "early return"])
def test_barriers_leave_divergent_flow(text: str):
    ((after, fix),) = offered(text, "move-barrier")
    assert "\n    barrier(CLK_LOCAL_MEM_FENCE);\n" in after
    assert "barrier-divergence" in fix.verified["outputs"]


def test_faulty_kernels_get_no_other_fixes():
    from fixing import SETTINGS, subject_of

    from clmap_lsp.fixes.offer import offers

    kinds = {proof.proposal.kind for proof, _ in offers(subject_of(kernels.BEYOND_END), SETTINGS)}
    assert kinds == {"guard-bounds"}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (kernels.MATMUL, "guard-bounds"),
        (kernels.TILED_TRANSPOSE, "add-barrier"),
        (kernels.STRIDED_REDUCTION, "move-barrier"),
    ],
)
def test_right_kernels_need_no_cure(text: str, kind: str):
    assert proposed(text, kind) == []


@pytest.mark.parametrize(
    ("pointer", "promised"),
    [("float *", "float *restrict "), ("float* ", "float* restrict "), ("float * ", "float * restrict ")],
)
def test_restrict_stands_as_the_author_spaces_stars(pointer: str, promised: str) -> None:
    text = f"__kernel void add(__global {pointer}a, __global {pointer}b) {{ b[get_global_id(0)] += a[0]; }}\n"
    found = {after for after, fix in offered(text, "qualify-pointers") if "restrict" in fix.title}
    assert found == {text.replace(pointer, promised)}
