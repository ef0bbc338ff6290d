"""Planted wrong rewrites: the verifier must catch every one of them."""

from __future__ import annotations

import fix_kernels as kernels
import pytest
from fixing import device_for, mutant, proposed, proved, rejected

BARRIER = "barrier(CLK_LOCAL_MEM_FENCE);"

MUTANTS = {
    # Tiles of a loop.
    "no barrier after loading": (
        kernels.MATMUL,
        "stage-loop",
        f"{BARRIER}\n        for (int k",
        "for (int k",
    ),
    "no barrier before the next tile": (kernels.MATMUL, "stage-loop", f"{BARRIER}\n    }}", "}"),
    "tile's indices exchanged": (kernels.MATMUL, "stage-loop", "A_tile[ly][lx] = k0", "A_tile[lx][ly] = k0"),
    "rows and columns of the tile exchanged on reading": (
        kernels.MATMUL,
        "stage-loop",
        "B_tile[k - k0][lx]",
        "B_tile[lx][k - k0]",
    ),
    "loader takes the other local id": (kernels.MATMUL, "stage-loop", "k0 + lx]", "k0 + ly]"),
    "turn without its tile's start": (kernels.MATMUL, "stage-loop", "(k0 + ly) * N", "ly * N"),
    "operands exchanged": (kernels.MATMUL, "stage-loop", "A_tile[ly][k - k0] *", "A_tile[k - k0][ly] *"),
    "tile one turn short": (kernels.MATMUL, "stage-loop", "k < k0 + 16;", "k < k0 + 15;"),
    "step longer than the tile": (kernels.MATMUL, "stage-loop", "k0 += 16", "k0 += 17"),
    "tile too small": (kernels.MATMUL, "stage-loop", "A_tile[16][16]", "A_tile[15][16]"),
    "no guard of the rows": (kernels.GUARDED, "stage-loop", "row < N && k0 + lx", "k0 + lx"),
    "the loader's guard is the reader's": (
        kernels.GUARDED,
        "stage-loop",
        "column < N && k0 + ly",
        "row < N && column < N && k0 + ly",
    ),
    "turns left over are dropped": (
        kernels.GUARDED_HALVED,
        "stage-loop",
        "int k = k0; k < N",
        "int k = N; k < N",
    ),
    "store without the guard": (
        kernels.GUARDED,
        "stage-loop",
        "if (inside)\n        C[",
        "if (true)\n        C[",
    ),
    "loading loop with the wrong step": (kernels.IN_CONDITION, "stage-loop", "j += 8", "j += 16"),
    "another work-item's row": (kernels.ROWS, "stage-loop", "(row - lx + j) * N", "(row + j) * N"),
    "rows beyond the end": (kernels.ROWS, "stage-loop", "(row - lx + j) < rows", "(row - lx) < rows"),
    # Blocks with borders.
    "halo off by one": (kernels.STENCIL, "stage-block", "in_tile[ly + 2][lx + 1]", "in_tile[ly + 1][lx + 1]"),
    "border on one side only": (kernels.STENCIL, "stage-block", "j < 18", "j < 17"),
    "no guard of the border": (kernels.STENCIL, "stage-block", "y - ly + j - 1 >= 0 && ", ""),
    "origin not moved by the border": (kernels.STENCIL, "stage-block", "+ x - lx + i - 1]", "+ x - lx + i]"),
    "block without a barrier": (kernels.STENCIL, "stage-block", BARRIER, ""),
    "wrong pitch": (kernels.CONVOLUTION, "stage-block", "* (N + 4) +", "* N +"),
    # Local layouts.
    "padding on one access only": (
        kernels.STRIDED_REDUCTION,
        "pad-local",
        "part[index ^ (index >> 5 & 31)]",
        "part[index]",
    ),
    "swizzle that is not one-to-one": (kernels.TILED_TRANSPOSE, "pad-local", "lx ^ ly", "lx & ly"),
    "swizzle by another mask on reading": (
        kernels.TILED_TRANSPOSE,
        "pad-local",
        "[ly ^ lx]",
        "[ly ^ (lx & 15)]",
    ),
    "function with the old index": (
        kernels.HANDED_OVER,
        "pad-local",
        "part[(2 * l) ^ ((2 * l) >> 5 & 31)] +",
        "part[2 * l] +",
    ),
    "function that is called with the old layout": (
        kernels.HANDED_OVER,
        "pad-local",
        "every_other_conflict_free(part, l);",
        "every_other(part, l);",
    ),
    "handed over by its old place": (
        kernels.COMPARED,
        "pad-local",
        "order(&keys[at ^ (at >> 5 & 31)]",
        "order(&keys[at]",
    ),
    "padded by another row": (kernels.GIVEN_LOCAL, "pad-local", "part[l + (l >> 5)]", "part[l + (l >> 4)]"),
    "padded array as long as before": (kernels.COMPARED, "pad-local", "256 + 256 / 32", "256"),
    # Exchange through a tile.
    "mirrored read not mirrored": (
        kernels.NAIVE_TRANSPOSE,
        "transpose-tile",
        "out_tile[lx][ly]",
        "out_tile[ly][lx]",
    ),
    "mirrored place on one side only": (kernels.NAIVE_TRANSPOSE, "transpose-tile", "y - ly + lx", "y"),
    "exchange without a barrier": (kernels.NAIVE_TRANSPOSE, "transpose-tile", BARRIER, ""),
    "mirror image under the own guard": (
        kernels.GUARDED_TRANSPOSE,
        "transpose-tile",
        "if (x_t < N && y_t < N)",
        "if (x < N && y < N)",
    ),
    # Private instead of local, hoisting, constants.
    "private value of another element": (kernels.OWN_COPY, "unstage", "2.0f * part", "3.0f * part"),
    "sum not stored": (kernels.SUM_IN_MEMORY, "hoist-access", "C[row * N + column] = C_value;", ""),
    "sum starts at zero": (
        kernels.SUM_IN_MEMORY,
        "hoist-access",
        "C_value = C[row * N + column];",
        "C_value = 0.0f;",
    ),
    "hoisted from another element": (
        kernels.SUM_IN_MEMORY,
        "hoist-access",
        "s_value = s[0]",
        "s_value = s[1]",
    ),
    "constant read past its end": (
        kernels.CONVOLUTION,
        "constant-data",
        "filter[v * TAPS + u]",
        "filter[v * TAPS + u + 1]",
    ),
    # Vectors and strides.
    "lanes exchanged": (kernels.CHUNK_SUM, "vectorise", "in_4.s1", "in_4.s0"),
    "vector at the wrong place": (kernels.CHUNK_SUM, "vectorise", "in[id * 20 + i0]", "in[id * 20 + i0 + 1]"),
    "turns left over are made twice": (
        kernels.CHUNK_SUM,
        "vectorise",
        "int i = i0; i < n",
        "int i = i0 - 1; i < n",
    ),
    "vectors without their stride": (kernels.SAXPY, "vectorise", "float4 *)X)[i]", "float4 *)X)[0]"),
    "stride of the group, not of the launch": (
        kernels.CHUNK_SCALE,
        "stride-order",
        "get_global_size(0)",
        "get_local_size(0)",
    ),
    "element of the neighbouring turn": (
        kernels.CHUNK_SCALE,
        "stride-order",
        "in[i * get_global_size(0) + id]",
        "in[i * get_global_size(0) + id + 1]",
    ),
    "low part forgotten": (
        kernels.GROUPS_OF_FOUR,
        "stride-order",
        "in[i * get_global_size(0) + (int)get_global_id(0)]",
        "in[i * get_global_size(0)]",
    ),
    "all elements but the last": (kernels.OWN_RANGE, "stride-order", "i < n;", "i < n - 1;"),
    "every other round": (
        kernels.OWN_RANGE,
        "stride-order",
        "i += get_global_size(0)",
        "i += 2 * get_global_size(0)",
    ),
    "columns by their own number": (kernels.BY_ROWS, "transpose-buffer", "k * n + i", "k * width + i"),
    "rows still by rows": (kernels.PLANES, "transpose-buffer", "c * rows + r", "r * width + c"),
    "planes overlap": (kernels.PLANES, "transpose-buffer", "p * rows * width", "p * rows"),
    "one place is left as it was": (kernels.LOOKED_UP, "transpose-buffer", " / 16]", " / 15]"),
    "groups counted by another size": (kernels.BINS, "transpose-buffer", "get_local_size(0)", "32"),
    "member of another name": (
        kernels.PARTICLES,
        "structure-of-arrays",
        "particles_vx[i]",
        "particles_vy[i]",
    ),
    # Faults.
    "guard off by one": (kernels.BEYOND_END, "guard-bounds", "i >= n", "i > n"),
    "guard that is never true": (kernels.BEYOND_END, "guard-bounds", "i >= n", "i >= 2 * n"),
    "guard that lets too few work": (kernels.BEYOND_END, "guard-bounds", "i >= n", "i >= n - 1"),
    "one side of the test is missing": (kernels.NEIGHBOURS, "guard-bounds", "i - 1 >= 0 && ", ""),
    "fence instead of a barrier": (
        kernels.MISSING_BARRIER,
        "add-barrier",
        BARRIER,
        "mem_fence(CLK_LOCAL_MEM_FENCE);",
    ),
    "barrier before the store": (
        kernels.MISSING_BARRIER,
        "add-barrier",
        f"t[l] = A[get_global_id(0)];\n    {BARRIER}",
        f"{BARRIER}\n    t[l] = A[get_global_id(0)];",
    ),
    "barrier still under the condition": (
        kernels.DIVERGENT,
        "move-barrier",
        f"    }}\n    {BARRIER}\n",
        f"        {BARRIER}\n    }}\n",
    ),
}


# Right on the launch that they are found on, wrong on another of its family.
ELSEWHERE = {
    "remainder dropped": (kernels.HALVED, "stage-loop", "int k = k0; k < N", "int k = N; k < N"),
    "a tile more than there is": (kernels.HALVED, "stage-loop", "k0 + 16 <= N;", "k0 < N;"),
    "length of a row as a number": (kernels.MATMUL, "stage-loop", "A[row * N + k0", "A[row * 64 + k0"),
    "length of a column as a number": (kernels.MATMUL, "stage-loop", "(k0 + ly) * N", "(k0 + ly) * 64"),
    "turns as a number": (kernels.HALVED, "stage-loop", "k0 + 16 <= N;", "k0 + 16 <= 64;"),
    "turns left over as a number": (
        kernels.GUARDED_HALVED,
        "stage-loop",
        "int k = k0; k < N",
        "int k = k0; k < 50",
    ),
    "guard as a number": (kernels.GUARDED, "stage-loop", "row < N && k0", "row < 50 && k0"),
    "loader's guard as a number": (kernels.GUARDED, "stage-loop", "column < N && k0", "column < 50 && k0"),
    "no zeros past the end": (
        kernels.MATMUL,
        "stage-loop",
        "k0 + lx < N ? A[row * N + k0 + lx] : 0",
        "A[row * N + k0 + lx]",
    ),
    "the last tile is dropped": (kernels.MATMUL, "stage-loop", "k0 < N; k0 +=", "k0 + 16 <= N; k0 +="),
    "zeros from a number on": (kernels.MATMUL, "stage-loop", "k0 + ly < N ?", "k0 + ly < 64 ?"),
    "zeros a turn too soon": (kernels.GUARDED, "stage-loop", "k0 + ly < N ?", "k0 + ly + 1 < N ?"),
    "another work-item's row not taken": (
        kernels.ACROSS,
        "stage-loop",
        "row_t = row - lx + ly",
        "row_t = row",
    ),
    "a row of the tile for a column": (kernels.ACROSS, "stage-loop", "A_tile[lx][ly]", "A_tile[ly][lx]"),
    "rows as a number": (kernels.ROWS, "stage-loop", "(row - lx + j) < rows", "(row - lx + j) < 250"),
    "pitch of rows as a number": (kernels.ROWS, "stage-loop", "(row - lx + j) * N", "(row - lx + j) * 100"),
    "border as a number": (kernels.STENCIL, "stage-block", "y - ly + j - 1 < N", "y - ly + j - 1 < 60"),
    "other border as a number": (kernels.STENCIL, "stage-block", "x - lx + i - 1 < N", "x - lx + i - 1 < 60"),
    "pitch of a block as a number": (kernels.STENCIL, "stage-block", "j - 1) * N", "j - 1) * 60"),
    "mirror image's guard as a number": (
        kernels.GUARDED_TRANSPOSE,
        "transpose-tile",
        "if (x_t < N && y_t < N)",
        "if (x_t < 50 && y_t < 50)",
    ),
    "vectors past the end": (kernels.CHUNK_SUM, "vectorise", "i0 + 4 <= n;", "i0 < 16;"),
    "turns of vectors as a number": (
        kernels.CHUNK_SUM,
        "vectorise",
        "int i = i0; i < n",
        "int i = i0; i < 18",
    ),
    "alignment not tested": (kernels.MATMUL, "vectorise", "N % 4 == 0 && ", ""),
    "alignment of another number": (kernels.MATMUL, "vectorise", "N % 4 == 0", "N % 2 == 0"),
    "magnitude instead of value": (kernels.CHUNK_SUM, "vectorise", "in_4.s1", "fabs(in_4.s1)"),
    "never below zero": (kernels.CHUNK_SUM, "vectorise", "in_4.s2", "max(in_4.s2, 0.0f)"),
    "never above one": (kernels.CHUNK_SUM, "vectorise", "in_4.s3", "min(in_4.s3, 1.0f)"),
    "one value is left out": (
        kernels.CHUNK_SUM,
        "vectorise",
        "in_4.s0",
        "(in_4.s0 == 3.0f ? 0.0f : in_4.s0)",
    ),
    "zero times anything": (kernels.CHUNK_SUM, "vectorise", "in_4.s0", "(in_4.s0 + 0.0f * in_4.s1)"),
    "work-items as a number": (
        kernels.CHUNK_SCALE,
        "stride-order",
        "in[i * get_global_size(0)",
        "in[i * 1024",
    ),
    "number of rows as a number": (kernels.BY_ROWS, "transpose-buffer", "k * n + i", "k * 250 + i"),
    "end as a number": (kernels.OWN_RANGE, "stride-order", "i < n;", "i < 1000;"),
    "step as a number": (kernels.OWN_RANGE, "stride-order", "i += get_global_size(0)", "i += 128"),
    "sum stored for one size only": (
        kernels.SUM_IN_MEMORY,
        "hoist-access",
        "C[row * N + column] = C_value;",
        "if (N == 32) C[row * N + column] = C_value;",
    ),
    "sum of another row": (
        kernels.SUM_IN_MEMORY,
        "hoist-access",
        "C_value = C[row * N + column];",
        "C_value = C[row * 32 + column];",
    ),
}


@pytest.mark.parametrize("name", {**MUTANTS, **ELSEWHERE})
def test_the_verifier_catches(name: str):
    text, kind, before, after = {**MUTANTS, **ELSEWHERE}[name]
    found = [
        (subject, it)
        for subject, it in proposed(text, kind, device_for(kind))
        if before in proved_text(text, it)
    ]
    assert found, "no proposal has the text that the mutant replaces"
    subject, proposal = found[0]
    proved(text, subject, proposal)  # The right rewrite passes.
    assert rejected(subject, mutant(text, subject, proposal, before, after))


DROPPED = {
    "a multiple of four work-items": (kernels.SAXPY, "vectorise", "% 4"),
    "ids from 0 on, by vectors": (kernels.SAXPY, "vectorise", "get_global_offset"),
    "ids from 0 on, striding": (kernels.CHUNK_SCALE, "stride-order", "get_global_offset"),
}


@pytest.mark.parametrize("name", DROPPED)
def test_an_assumption_that_is_not_listed_is_missed(name: str):
    """The family has a launch that does not fulfil it, and the rewrite is wrong there."""
    from dataclasses import replace

    text, kind, words = DROPPED[name]
    for subject, proposal in proposed(text, kind):
        left = tuple(it for it in proposal.assumptions if words not in it.text)
        if len(left) < len(proposal.assumptions):
            bold = replace(proposal, assumptions=left, lowers_traffic=False, least_gain=0)
            assert " on " in f" {rejected(subject, bold)}"
            return
    raise AssertionError("nothing is proposed that assumes it")


def proved_text(text: str, proposal) -> str:
    from clmap_lsp.fixes.edits import apply

    return apply(text, proposal.edits, "k.cl")
