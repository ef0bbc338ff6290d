"""Global atomics by where their lanes meet, and scattered stores by the size of the work-groups."""

from __future__ import annotations

from typing import Any

import pytest
from test_prediction import predicted

N = 1 << 20


def adding(index: str, **arguments: Any) -> Any:
    source = f"__kernel void k(__global int *o) {{ int i = get_global_id(0); atomic_add(&o[{index}], i); }}"
    return predicted(source, "nvidia-h100-sxm", size=(N,), local=(256,), o=f"zeros({N})", **arguments)


@pytest.mark.parametrize(
    ("index", "measured"),
    [
        # benchmarks/time_kernels/together.cl on an H100, less an empty launch.
        ("i / 16", 13.3e-6),
        ("i / 32", 19.0e-6),
        ("i % 64 * 32", 60.5e-6),
        ("i % 64 * 64", 30.2e-6),
        ("i % 256 * 32", 15.5e-6),
        ("i % 4096 * 8", 13.4e-6),
    ],
)
def test_atomics_take_turns_where_their_lanes_meet(index: str, measured: float) -> None:
    assert adding(index).parts["atomics"] == pytest.approx(measured, rel=0.35)


def test_few_addresses_far_apart_are_counted_as_few() -> None:
    """Of 64 counters in lines of their own, not of the 4,096 words that they lie among."""
    few = adding("i % 64 * 64").demand.atomics
    assert few.same == N / 64
    assert few.spread == 32
    assert few.sectors == N


def test_lanes_that_meet_in_a_sector_take_as_many_turns_as_the_most_at_an_address() -> None:
    found = adding("i / 16").demand.atomics
    assert found.sectors == N / 32
    assert found.again == 15 * N / 32


def test_local_atomics_on_words_of_their_own_are_wavefronts_only() -> None:
    source = """__kernel void k(__global int *o, int n)
        { __local int t[256]; int l = get_local_id(0); t[l] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = 0; i < n; i++) atomic_add(&t[STEP & 255], i);
        barrier(CLK_LOCAL_MEM_FENCE); o[get_global_id(0)] = t[l]; }"""

    def cycles(step: str) -> float:
        text = source.replace("STEP", step)
        found = predicted(text, "nvidia-h100-sxm", size=(N,), local=(256,), o=f"zeros({N})", n=64)
        return float(found.demand.atomics.local_cycles) / (64 * N / 32)

    assert cycles("l + i") == 0
    assert cycles("(l >> 2) + i") == pytest.approx(3)


def storing(body: str, local: int) -> Any:
    source = f"__kernel void k(__global float *o) {{ int i = get_global_id(0) * 8; {body} }}"
    return predicted(source, "nvidia-h100-sxm", size=(N,), local=(local,), o=f"zeros({8 * N})")


def test_scattered_stores_that_follow_each_other_are_combined_less_in_large_work_groups() -> None:
    three = "o[i] = 1; o[i + 1] = 2; o[i + 2] = 3;"
    seconds = [storing(three, local).parts["l2"] for local in (64, 256, 1024)]
    assert seconds[0] < seconds[1] < seconds[2]
    assert seconds[1] / seconds[0] == pytest.approx(31.7 / 28.9, rel=0.05)


def test_single_stores_do_not_depend_on_the_work_group() -> None:
    assert storing("o[i] = 1;", 64).parts["l2"] == pytest.approx(storing("o[i] = 1;", 1024).parts["l2"])
