"""Accesses out of bounds of a launch that is run in part, or not at all."""

from __future__ import annotations

import pytest

from clmap_lsp.emulator.result import EmulationResult, Engine, FaultKind, Method
from clmap_lsp.emulator.run import emulate
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.launch.arguments import parse_argument
from clmap_lsp.launch.model import Launch
from clmap_lsp.source.read import read_program

READ, WRITE, UNSET = (
    FaultKind.OUT_OF_BOUNDS_READ,
    FaultKind.OUT_OF_BOUNDS_WRITE,
    FaultKind.UNINITIALISED_READ,
)
_PARAMETERS = "__global const int *a, __global int *o, int n"
N = 512


def run(body: str, n: int = N, more: str = "", **settings: object) -> EmulationResult:
    program = read_program(
        f"__kernel void k({_PARAMETERS}{more}) {{ int x = get_global_id(0), y = get_global_id(1);"
        f" int i = y * n + x; {body} }}",
        "k.cl",
    )
    texts = {"a": f"random({n * n})", "o": f"zeros({n * n})", "n": str(n)}
    texts |= {"s": "local(256)"} if more else {}
    launch = Launch("k", (n, n), (16, 16), {name: parse_argument(it) for name, it in texts.items()})
    return emulate(program, program.kernels[0], launch, EmulationSettings(**settings))


def kinds(result: EmulationResult) -> set[FaultKind]:
    return {it.kind for it in result.faults}


EDGES = {
    "reads past the end": ("o[i] = a[i + 1];", {READ}),
    "reads before the start": ("o[i] = a[i - n];", {READ}),
    "writes past the end": ("if (y == n - 1) o[i + x] = a[i];", {WRITE}),
    "adds past the end": ("atomic_add(&o[i + 1], 1);", {READ, WRITE}),
    "stores an atomic past the end": ("atomic_xchg(&o[i + 1], 1);", {READ, WRITE}),
    "past a local argument": ("if (y > n - 2) s[x] = 1;", {WRITE}),
    "past a local array": ("__local int t[16]; t[y / 16] = 1; o[i] = 0;", {WRITE}),
    "guarded": ("if (i + 1 < n * n) o[i] = a[i + 1];", set()),
    "clamped": ("o[i] = a[min(i + 1, n * n - 1)];", set()),
    "to the last byte": ("o[n * n - 1 - i] = a[i];", set()),
}


@pytest.mark.parametrize("name", EDGES)
def test_what_a_sample_leaves_out_is_told(name: str) -> None:
    body, expected = EDGES[name]
    more = ", __local int *s" if "s[" in body else ""
    result = run(body, more=more, sample_groups=8)
    assert result.groups_run == 8
    assert kinds(result) == expected
    assert kinds(result) == kinds(run(body, more=more, uninitialised=False))


def test_no_run_is_needed() -> None:
    result = run("o[i] = a[i + 1];", engine=Engine.SYMBOLIC)
    (fault,) = result.faults
    assert fault.kind is READ
    assert fault.detail == (
        "reads up to byte offset 1048579 of `a` of 1048576 bytes, in a work-group that was not run"
    )
    assert "faults other than accesses out of bounds are unknown" in result.notes[0]


def test_a_fault_that_a_run_met_is_told_once_and_as_it_was_met() -> None:
    result = run("o[i] = a[i + n * n - 40];", sample_groups=8)
    (fault,) = result.faults
    assert fault.work_item is not None


def test_a_launch_that_is_too_large_to_be_traced_keeps_its_faults() -> None:
    """One work-item of a million reads past the end; a sample of the traced run would not meet it."""
    n = 1024
    result = run("o[i] = a[i + 1] - a[i];", n, time_limit_s=0.25)
    assert (result.method, result.engine) == (Method.SYMBOLIC, Engine.SYMBOLIC)
    assert result.is_whole
    (read, use) = result.faults
    assert (read.kind, read.work_item) == (READ, (n - 1, n - 1, 0))
    assert (use.kind, use.work_item) == (UNSET, (n - 1, n - 1, 0))
    assert "accesses out of bounds are among those that are counted" in result.notes
