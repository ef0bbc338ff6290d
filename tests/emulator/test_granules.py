"""Each buffer's shadow is as fine as the accesses of that buffer."""

from __future__ import annotations

import pytest

from clmap_lsp.emulator.plan import make_plan
from clmap_lsp.source.read import read_program

HEAD = (
    "__kernel void k(__global const uchar *bytes, __global int *whole, __global double2 *wide, int n) {"
    "  __local ushort half[64]; int l = get_local_id(0);"
)


@pytest.mark.parametrize(
    ("body", "granules"),
    {
        "each its own": (
            "half[l] = bytes[l]; barrier(1); whole[l] = half[l]; wide[l] = 1;",
            {"bytes": 1, "whole": 4, "wide": 16, "half": 2},
        ),
        "the smaller of two": (
            "half[l] = 1; whole[l] = 1; ((__global short *)whole)[2 * l] = bytes[l]; wide[l].x = 1;",
            {"bytes": 1, "whole": 2, "wide": 8, "half": 2},
        ),
        "a pointer to either": (
            "__global char *p = n ? (__global char *)whole : (__global char *)wide;"
            "p[l] = half[l] = bytes[l]; whole[l] = 1; wide[l] = 1;",
            {"bytes": 1, "whole": 1, "wide": 1, "half": 1},
        ),
    }.values(),
)
def test_granules(body: str, granules: dict[str, int]) -> None:
    plan = make_plan(read_program(HEAD + body + "}", "k.cl").kernels[0])
    assert {it.variable.name: plan.granules[it.number] for it in plan.buffers} == granules
    assert plan.granule == 1
