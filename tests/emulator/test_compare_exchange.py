"""Races with a compare-and-exchange: the read that it checks is none, any other is."""

from __future__ import annotations

import pytest

from clmap_lsp.config import Settings
from clmap_lsp.emulator.result import FaultKind
from clmap_lsp.workbench import Workbench

ADD = """\
void add(volatile __global float *p, float v)
{
    union { unsigned u; float f; } was, is;
    do { was.f = *p; is.f = was.f + v; }
    while (atomic_cmpxchg((volatile __global unsigned *)p, was.u, is.u) != was.u);
}
"""
ADD_LOCAL = """\
void add(volatile __local float *p, float v)
{
    int old = *(volatile __local int *)p, seen;
    do { seen = old; old = atomic_cmpxchg((volatile __local int *)p, seen, as_int(as_float(seen) + v)); }
    while (seen != old);
}
"""
HEAD = "__kernel void k(__global const float *x, __global float *sum, __global float *seen)\n"


def races(text: str) -> list[int]:
    """Return the rows of races, counted from 1."""
    file = Workbench().open_text("k.cl", text, Settings(), looks_beside=False, reads_hosts=False)
    (kernel,) = file.analysis.kernels
    assert kernel.launch is not None
    faults = file.run(kernel.kernel, kernel.launch).faults
    assert all(it.kind is FaultKind.DATA_RACE for it in faults)
    return sorted({text.count("\n", 0, it.span.start) + 1 for it in faults})


@pytest.mark.parametrize(
    "text",
    [
        ADD + HEAD + "{ add(sum, x[get_global_id(0)]); add(&sum[1], 1.0f); }",
        ADD_LOCAL
        + HEAD
        + "{ __local float part[2]; if (get_local_id(0) < 2) part[get_local_id(0)] = 0;"
        + "  barrier(CLK_LOCAL_MEM_FENCE); add(&part[get_local_id(0) & 1], 1.0f); }",
    ],
    ids=["global", "local"],
)
def test_what_an_exchange_checks_is_no_race(text: str) -> None:
    assert races(text) == []


def test_reads_that_no_exchange_checks_are_races() -> None:
    text = ADD + HEAD + "{\n    add(sum, 1.0f);\n    seen[get_global_id(0)] = sum[0];\n}"
    assert 10 in races(text)


def test_writes_beside_an_exchange_are_races() -> None:
    text = ADD + HEAD + "{\n    if (get_global_id(0) == 5) sum[0] = 3;\n    else add(sum, 1.0f);\n}"
    assert 9 in races(text)
