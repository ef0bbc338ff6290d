"""Places that many SIMD groups go to: flags, local counters, tables, and barriers at which all wait."""

from __future__ import annotations

from typing import Any

import pytest
from test_prediction import predicted

N = 1 << 22


def reading(body: str, **arguments: Any) -> Any:
    source = "__kernel void k(__global const int *x, __global int *o) { size_t i = get_global_id(0); BODY }"
    launch = {"size": (N,), "local": (256,), "x": f"formula({N},i)", "o": f"zeros({N})"}
    return predicted(source.replace("BODY", body), "nvidia-h100-sxm", **launch, **arguments)


def test_a_flag_that_all_set_takes_a_turn_for_each_simd_group() -> None:
    flag = reading("if (x[i] >= 0) o[0] = 1;")
    own = reading("if (x[i] >= 0) o[get_group_id(0)] = 1;")
    assert flag.bound == "atomics"
    # Measured on an H100: 0.5 ns each (`flag_if_larger` of benchmarks/time_kernels/hot.cl).
    assert flag.parts["atomics"] == pytest.approx(N / 32 * 0.5e-9, rel=0.1)
    assert "atomics" not in own.parts


COUNT = """__local int n; if (get_local_id(0) == 0) n = 0; barrier(CLK_LOCAL_MEM_FENCE);
    STEP; barrier(CLK_LOCAL_MEM_FENCE); if (get_local_id(0) == 0) o[get_group_id(0)] = n;"""


@pytest.mark.parametrize(
    ("step", "is_one"),
    [
        ("atomic_add(&n, x[i])", True),
        ("atomic_max(&n, x[i])", True),
        ("o[i] = atomic_inc(&n)", True),
        ("o[i] = atomic_add(&n, x[i])", False),
        ("atomic_xchg(&n, x[i])", False),
    ],
)
def test_atomics_at_one_local_address_are_one_for_a_simd_group(step: str, is_one: bool) -> None:
    found = reading(COUNT.replace("STEP", step))
    each = found.demand.atomics.local_cycles / (N / 32)
    assert each == (1.0 if is_one else 31.0)
    if is_one:
        assert found.demand.local_cycles < 3 * N / 32


def test_all_wait_for_the_simd_group_that_adds_up() -> None:
    tree = """__local int s[256]; int l = get_local_id(0); s[l] = x[i]; barrier(CLK_LOCAL_MEM_FENCE);
        for (int d = 128; d > 0; d >>= 1) { if (l < d) s[l] += s[l + d]; barrier(CLK_LOCAL_MEM_FENCE); }
        if (l == 0) o[get_group_id(0)] = s[0];"""
    alike = """__local int s[256]; int l = get_local_id(0); s[l] = x[i]; barrier(CLK_LOCAL_MEM_FENCE);
        o[i] = s[l ^ 1];"""
    assert reading(tree).demand.balance.in_group > 1.5
    assert reading(alike).demand.balance.in_group == pytest.approx(1.0)


def test_a_vector_of_constant_memory_takes_a_cycle_for_each_word() -> None:
    source = """__kernel void k(__constant TYPE *t, __global float *o, int n) { TYPE s = 0;
        for (int i = 0; i < n; i++) s = fmax(s, t[i] * 3); o[get_global_id(0)] = SUM; }"""
    launch = {"size": (1 << 20,), "local": (256,), "t": "random(64)", "o": f"zeros({1 << 20})", "n": 64}
    one = predicted(source.replace("TYPE", "float").replace("SUM", "s"), "nvidia-h100-sxm", **launch)
    four = predicted(
        source.replace("TYPE", "float4").replace("SUM", "s.x + s.w"), "nvidia-h100-sxm", **launch
    )
    assert four.parts["l1"] == pytest.approx(4 * one.parts["l1"], rel=0.1)


def test_lanes_of_constant_memory_that_are_side_by_side_share_lines() -> None:
    # `table_by_lane` of benchmarks/time_kernels/hot.cl: 32 different words, but two lines at the most.
    source = """__kernel void k(__constant float *t, __global float *o) {
        float s = 0; int l = get_local_id(0) & 31;
        for (int k = 0; k < 32; k++) s += t[(k + l) & 255];
        o[get_global_id(0)] = s; }"""
    launch = {"size": (N,), "local": (256,), "t": "random(256)", "o": f"zeros({N})"}
    found = predicted(source, "nvidia-h100-sxm", **launch)
    some = [it for it in found.demand.accesses if it.space == "constant"]
    assert sum(it.line_cycles for it in some) == pytest.approx(sum(it.requests for it in some), rel=0.05)


LOOKUP = """__kernel void k(__global int *s, SPACE const int *t) {
    int v = s[get_global_id(0)];
    for (int k = 0; k < 8; k++) v ^= t[v & MASK];
    s[get_global_id(0)] = v; }"""


@pytest.mark.parametrize("space", ["__global", "__constant"])
def test_a_small_table_is_fetched_once_a_unit_wherever_the_lanes_go(space: str) -> None:
    def lookups(words: int) -> Any:
        source = LOOKUP.replace("SPACE", space).replace("MASK", str(words - 1))
        launch = {"size": (N,), "local": (256,), "s": f"random({N})", "t": f"random({words})"}
        return predicted(source, "nvidia-h100-sxm", **launch)

    small, large = lookups(256), lookups(1 << 23)
    asked = [sum(it.l2_sectors for it in found.demand.accesses if it.is_guessed) for found in (small, large)]
    assert 0 < asked[0] <= 132 * 256 * 4 / 32 * 1.01
    assert asked[1] > 100 * asked[0]
    # 32 lanes at random words of eight lines: 3.5 in the fullest bank.
    cycles, requests = (
        sum(getattr(it, name) for it in small.demand.accesses if it.is_guessed)
        for name in ("line_cycles", "requests")
    )
    assert cycles == pytest.approx(3.5 * requests)
    # Not even at the most does it come from the second level, and nobody waits for that.
    at_most = small.extremes[-1]
    assert sum(it.l2_sectors for it in at_most.accesses if it.is_guessed) < 32 * 1.01 * asked[0]
    if space == "__global":  # Constant memory has a cache of its own that nobody is taken to wait for.
        assert small.demand.path[900.0] < 0.5 * large.demand.path[900.0]
