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
    "tile's indices exchanged": (kernels.MATMUL, "stage-loop", "A_tile[ly][lx] = A", "A_tile[lx][ly] = A"),
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
    "no guard of the rows": (kernels.GUARDED, "stage-loop", "if (row < N)", "if (true)"),
    "the loader's guard is the reader's": (
        kernels.GUARDED,
        "stage-loop",
        "if (column < N)",
        "if (row < N && column < N)",
    ),
    "turns left over are dropped": (kernels.GUARDED, "stage-loop", "int k = k0; k < N", "int k = N; k < N"),
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


@pytest.mark.parametrize("name", MUTANTS)
def test_the_verifier_catches(name: str):
    text, kind, before, after = MUTANTS[name]
    found = [
        (subject, it)
        for subject, it in proposed(text, kind, device_for(kind))
        if before in proved_text(text, it)
    ]
    assert found, "no proposal has the text that the mutant replaces"
    subject, proposal = found[0]
    proved(text, subject, proposal)  # The right rewrite passes.
    assert rejected(subject, mutant(text, subject, proposal, before, after))


def proved_text(text: str, proposal) -> str:
    from clmap_lsp.fixes.edits import apply

    return apply(text, proposal.edits, "k.cl")
