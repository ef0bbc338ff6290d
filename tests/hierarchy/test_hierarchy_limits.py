"""Resident work-groups, spilled arrays, needless barriers, and the cost summary."""

from __future__ import annotations

from functools import cache

import pytest
from nests import FIXTURES, kernel

from clmap_lsp.analysis.launching import LaunchSources
from clmap_lsp.analysis.model import KernelAnalysis
from clmap_lsp.analysis.session import AnalysisSession
from clmap_lsp.devices import load_model
from clmap_lsp.hierarchy import barriers as needless
from clmap_lsp.hierarchy.barriers import needless_barriers
from clmap_lsp.hierarchy.cost import Estimate, estimate, summarise
from clmap_lsp.hierarchy.occupancy import residency
from clmap_lsp.hierarchy.private_memory import spilled
from clmap_lsp.launch.partial import PartialLaunch, from_options
from clmap_lsp.source import ir
from clmap_lsp.source.options import BuildOptions
from clmap_lsp.source.read import read_program

HOPPER = load_model("nvidia-hopper")


@cache
def variant(file: str, name: str, block: int = 0) -> KernelAnalysis:
    options = BuildOptions(defines=(("BLOCK", str(block)),)) if block else BuildOptions()
    text = (FIXTURES / "matmul" / f"{file}.cl").read_text()
    program = read_program(text, f"{file}.cl", options)
    tiles = [f"{it}=local({block * block})" for it in ("a_block", "b_block")] if block else []
    size = "256,256" if block else None
    given = from_options(name, size, f"{block},{block}" if block else None, tiles)
    assert isinstance(given, PartialLaunch)
    (found,) = AnalysisSession().analyse(program, HOPPER, LaunchSources(given), only=name).kernels
    return found


def cost(file: str, name: str, block: int = 0) -> float:
    found = estimate(variant(file, name, block), HOPPER, 132)
    assert isinstance(found, Estimate)
    return found.cost


def test_the_course_s_variants_are_ordered_as_its_slides_have_them() -> None:
    blocked = min(cost("blocked", "mm_blocked_swapped", block) for block in (8, 16, 32))
    order = [
        blocked,
        cost("simple", "mm_simple"),
        cost("row_private_column_local", "mm_row_private_local"),
        cost("row_private", "mm_row_private"),
        cost("row_per_item", "mm_row"),
    ]
    assert order == sorted(order)
    assert cost("blocked", "mm_blocked_swapped", 8) > cost("blocked", "mm_blocked_swapped", 16)


@pytest.mark.parametrize(("size", "groups"), [(4096, 14), (48 * 256, 4)])
def test_local_memory_bounds_resident_work_groups(size: int, groups: int) -> None:
    found = residency(
        kernel(
            f"""// clmap: global=4096 local=64 out=zeros(4096)
            __kernel void f(__global float *out) {{
                __local float tile[{size}];
                tile[get_local_id(0)] = 1.0f;
                out[get_global_id(0)] = tile[63 - get_local_id(0)];
            }}""",
            "nvidia-hopper",
        ),
        HOPPER,
    )
    assert found.groups == groups
    assert "local memory" in found.limit


def test_without_published_limits_residency_is_unknown() -> None:
    found = residency(variant("simple", "mm_simple"), load_model("intel-gen9"))
    if found.groups is None:
        assert "not published" in found.limit
    else:
        assert found.groups > 0


def private(body: str) -> KernelAnalysis:
    return kernel(
        "// clmap: global=64 local=64 out=zeros(64) n=4\n"
        f"__kernel void f(__global float *out, int n) {{ float a[16]; {body} out[get_global_id(0)] = a[0]; }}"
    )


def test_short_unrolled_loops_keep_an_array_in_registers() -> None:
    kept = private("for (int i = 0; i < 16; i++) a[i] = i; for (int i = 0; i < 16; i++) a[0] += a[i];")
    assert spilled(kept, HOPPER) == ()


def test_zeros_of_an_initialiser_are_no_index_that_moves() -> None:
    """They are more than the turns of a loop that is taken to be unrolled; what clears an array is split."""
    text = """
    // clmap: global=64 local=32
    __kernel void k(__global float *out) {
        float sums[8][8] = {{0}};
        for (int r = 0; r < 8; r++)
            for (int c = 0; c < 8; c++)
                sums[r][c] += out[r * 8 + c];
        out[get_global_id(0)] = sums[%s][3];
    }
    """
    assert spilled(kernel(text % "7"), HOPPER) == ()
    (found,) = spilled(kernel(text % "get_global_id(0) & 7"), HOPPER)
    assert found.variable.name == "sums" and "get_global_id" in found.reason


def test_an_index_from_an_argument_spills() -> None:
    (found,) = spilled(private("for (int i = 0; i < n; i++) a[i] = i;"), HOPPER)
    assert found.variable.name == "a"
    assert "`i`" in found.reason
    assert not found.by_size


def test_a_row_of_a_matrix_is_too_large_for_registers() -> None:
    (found,) = spilled(variant("row_private", "mm_row_private"), HOPPER)
    assert found.bytes == 1024
    assert found.by_size


def barriers(body: str) -> list[str]:
    found = kernel(
        "// clmap: global=64 local=64 in=zeros(64) out=zeros(64)\n"
        "__kernel void f(__global const float *in, __global float *out) {\n"
        f"__local float t[64]; const int i = get_local_id(0); {body} }}"
    )
    return [why for _, why in needless_barriers(found.kernel)]


def test_needed_barriers_are_left_alone() -> None:
    assert not barriers("t[i] = in[i]; barrier(CLK_LOCAL_MEM_FENCE); out[i] = t[63 - i];")
    assert not barriers(
        "for (int k = 0; k < 4; k++) { t[i] = in[i]; barrier(CLK_LOCAL_MEM_FENCE); out[i] += t[63 - i];"
        " barrier(CLK_LOCAL_MEM_FENCE); }"
    )


def test_barriers_that_order_nothing_are_found() -> None:
    fence = "barrier(CLK_LOCAL_MEM_FENCE);"
    assert len(barriers(f"{fence} t[i] = in[i]; {fence} out[i] = t[63 - i];")) == 1
    assert len(barriers(f"t[i] = in[i]; {fence} {fence} out[i] = t[63 - i];")) == 1
    assert len(barriers(f"t[i] = in[i]; {fence} out[i] = t[63 - i]; {fence}")) == 1


def test_the_cost_summary_adds_up() -> None:
    found = summarise(variant("simple", "mm_simple"), HOPPER)
    analysis = variant("simple", "mm_simple")
    assert found.passes == analysis.totals.sectors + analysis.totals.wavefronts
    ideal = sum(
        round(it.per_request.ideal * it.totals.requests)
        for it in analysis.accesses
        if it.per_request is not None and it.totals is not None
    )
    assert found.coalescing_profit.passes == found.passes - ideal
    assert found.coalescing_profit.bytes == 32 * (found.passes - ideal)
    assert found.bank_conflicts.passes == 0
    assert found.channel_skew.bytes is None
    assert "not published" in found.channel_skew.reason
    # Each group of 16 x 16 needs 16 rows of A and 16 columns of B once.
    assert found.reuse_profit.passes is not None
    assert 0.5 < (found.reuse_profit.share or 0) < 1


def test_bank_conflicts_have_their_share() -> None:
    found = summarise(variant("blocked", "mm_blocked", 16), HOPPER)
    assert found.bank_conflicts.passes
    assert found.bank_conflicts.share is not None
    assert 0 < found.bank_conflicts.share < 1


def test_thousands_of_barriers_look_at_each_statement_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at = 0
    touches = needless._touches

    def counted(it: ir.Statement) -> bool:
        nonlocal looked_at
        looked_at += 1
        return touches(it)

    monkeypatch.setattr(needless, "_touches", counted)
    n = 400
    found = barriers(
        "float x = i; t[i] = x; " + "barrier(CLK_LOCAL_MEM_FENCE); x = x * 2; " * n + "out[i] = t[i] + x;"
    )
    assert len(found) == n - 1
    assert 0 < looked_at < 10 * n
