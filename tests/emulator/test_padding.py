"""Nobody writes the padding of an object, and copies of it may do so."""

from __future__ import annotations

import pytest

from clmap_lsp.api import emulate
from clmap_lsp.emulator.result import FaultKind

SOURCE = """typedef struct {{ char c; int n; short a[5]; }} Job;
__kernel void k(__global int *q) {{
  __local Job t[16];
  int l = get_local_id(0);
  {written}
  barrier(CLK_LOCAL_MEM_FENCE);
  Job mine = t[15 - l];
  q[get_global_id(0)] = mine.n + mine.c + mine.a[4];
}}
"""
ALL = "t[l].c = l; t[l].n = l; for (int j = 0; j < 5; j++) t[l].a[j] = j;"


@pytest.mark.parametrize(
    ("written", "faults"),
    [
        (ALL, set()),
        (ALL.replace("t[l].n = l;", ""), {FaultKind.UNINITIALISED_READ}),
        (ALL.replace("j < 5", "j < 4"), {FaultKind.UNINITIALISED_READ}),
        ("", {FaultKind.UNINITIALISED_READ}),
        (ALL + "t[0].n = l;", {FaultKind.DATA_RACE}),
    ],
)
def test_padding_is_no_value_that_is_missing(written: str, faults: set[FaultKind]) -> None:
    result = emulate(
        SOURCE.format(written=written),
        kernel="k",
        global_size=(32,),
        local_size=(16,),
        args={"q": "zeros(32)"},
    ).result
    assert {it.kind for it in result.faults} == faults
