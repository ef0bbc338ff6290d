"""Faults that are one mistake are one finding, which names every place."""

from __future__ import annotations

import inspect

from clmap_lsp.config import Settings
from clmap_lsp.emulator.result import FaultKind
from clmap_lsp.findings import Finding, Severity
from clmap_lsp.rules import Selection, all_rules
from clmap_lsp.workbench import Workbench

NARROW_HALO = """\
// clmap: global=64 local=64 in=iota(64) out=zeros(64)
__kernel void k(__global const int *in, __global int *out)
{
    __local int tile[64];
    int l = get_local_id(0);
    tile[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    int sum = tile[l - 1] + tile[l + 1]
            + tile[l - 2];
    out[get_global_id(0)] = sum;
    if (l == 0) out[1] = tile[70];
}
"""
LOST = """\
__kernel void k(__global const int *keys, __global int *out, __local int *bins)
{
    int l = get_local_id(0);
    bins[keys[get_global_id(0)] * 3 + 1000] = l;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = bins[l];
}
"""
CODES = """\
typedef struct { int v[4]; int n; } Part;
__kernel void k(__global const int *code, __global Part *out)
{
    int i = get_global_id(0);
    out[i].v[code[i]] = 1;
    for (int j = 0; j <= 4; j++)
        out[i].v[j] = code[i];
}
"""
FAR = """\
// clmap: global=64 local=64
__kernel void k(__global int *out, __local int *bins)
{
    uint l = get_local_id(0);
    bins[l] = 0;
    bins[l - 256u] = 1;
    out[get_global_id(0)] = bins[l];
}
"""


def found(text: str, code: str) -> list[Finding]:
    file = Workbench().open_text("k.cl", text, Settings(), looks_beside=False, reads_hosts=False)
    return [it for it in file.findings(Selection(frozenset({code})), file.run_all()) if it.code == code]


def test_taps_in_a_row_are_one_finding():
    first, other = sorted(found(NARROW_HALO, "CM301"), key=lambda it: it.span.start)
    also = [it for it in first.related if it.message.startswith("also here: reads `tile[")]
    assert len(also) == 2
    assert "So it is in 2 more places." in first.message
    assert "280" in other.message, "another statement, elsewhere, is a finding of its own"


def test_what_writes_lose_for_contents_that_nobody_gave_is_a_hint():
    both = [*found(LOST, "CM301"), *found(LOST, "CM304")]
    assert {it.severity for it in both} <= {Severity.HINT}


def test_no_length_makes_up_for_an_index_below_zero():
    (finding,) = found(FAR, "CM301")
    assert finding.severity is not Severity.INFORMATION
    assert finding.message.startswith(
        "writes `bins[4294967040]` of 64 elements (4 bytes at byte offset 17179868160"
    )


def test_an_array_inside_a_larger_object_has_an_end():
    by_data, by_loop = sorted(found(CODES, "CM301"), key=lambda it: it.span.start)
    assert by_data.severity is Severity.HINT, "nobody said what the codes are"
    assert by_loop.severity is Severity.WARNING
    assert by_loop.message.startswith("index 4 of an array of 4 elements")


_TOLD_ELSEWHERE = {
    FaultKind.UNKNOWN_FUNCTION,  # CM003, from the text alone.
    FaultKind.UNSUPPORTED,  # CM008.
    FaultKind.WRITE_TO_CONSTANT,  # CM011: no compiler takes it; else the flags of a .sim file's buffers.
    FaultKind.READ_OF_WRITE_ONLY,  # Likewise.
}


def test_every_kind_of_fault_is_found_by_a_rule():
    sources = [inspect.getsource(inspect.getmodule(it.check)) for it in all_rules()]
    told = {it for it in FaultKind if any(f"FaultKind.{it.name}" in text for text in sources)}
    assert told == set(FaultKind) - _TOLD_ELSEWHERE
