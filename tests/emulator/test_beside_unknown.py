"""Faults of kernels that call what nothing here can follow."""

from __future__ import annotations

from clmap_lsp.config.model import Settings
from clmap_lsp.emulator.result import EmulationResult, FaultKind, Grounds
from clmap_lsp.workbench.workbench import Workbench

KERNEL = """
__kernel void k(__global int *a, __global int *b, __local int *s) {
    int i = get_local_id(0);
    prepare(b);
    s[i] = a[i];
    a[i] = s[i + 1];
    b[i] = s[i + 2] + get_global_id(0);
    b[i + 9] = s[i + 3] + get_global_id(0);
}
"""


def test_each_kind_of_fault_is_said_once_and_counted() -> None:
    file = Workbench().open_text("k.cl", KERNEL, Settings(), looks_beside=False, reads_hosts=False)
    (kernel,) = file.analysis.kernels
    result = file.run(kernel.kernel, kernel.launch)
    assert isinstance(result, EmulationResult)
    guessed = [it for it in result.faults if it.grounds is Grounds.GUESS]
    assert guessed
    kinds = [it.kind for it in guessed]
    assert sorted(kinds, key=str) == sorted(set(kinds), key=str)
    assert all(it.detail.startswith("if `prepare`, which is not followed") for it in guessed)
    races = [it for it in guessed if it.kind is FaultKind.DATA_RACE]
    assert "more place" in races[0].detail


def test_structures_out_of_functions_that_are_not_followed() -> None:
    text = """
struct pair { float4 a; int n; };
struct pair made(int i);
__kernel void k(__global float *out) {
    struct pair one = made(3), two;
    two = made(one.n);
    out[get_global_id(0)] = one.a.x + two.a.y;
}
"""
    file = Workbench().open_text("k.cl", text, Settings(), looks_beside=False, reads_hosts=False)
    (kernel,) = file.analysis.kernels
    result = file.run(kernel.kernel, kernel.launch)
    assert isinstance(result, EmulationResult)
    assert FaultKind.UNKNOWN_FUNCTION in {it.kind for it in result.faults}
