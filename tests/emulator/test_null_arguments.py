"""Null pointers for buffer arguments compare as null, and only what follows them is a fault."""

from __future__ import annotations

import numpy as np
import pytest

from clmap_lsp.devices.catalogue import load_model
from clmap_lsp.emulator.result import EmulationResult, Engine, FaultKind
from clmap_lsp.emulator.run import emulate
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.emulator.symbolic.counts import count
from clmap_lsp.emulator.symbolic.measure import Measured, measured
from clmap_lsp.launch.arguments import parse_argument
from clmap_lsp.launch.model import Launch
from clmap_lsp.source.read import read_program

HEAD = """float bias(__global const float *b, int i) { return b ? b[i] : 0.5f; }
__kernel void k(__global const float *a, __global const float *b, __global float *o) {
  int i = get_global_id(0);
"""
USES = [
    "o[i] = b ? a[i] + b[i] : a[i] + 0.5f;",
    "o[i] = a[i]; if (b) o[i] += b[i]; else o[i] += 0.5f;",
    "o[i] = a[i] + (b == NULL ? 0.5f : b[i]);",
    "o[i] = a[i] + (!b ? 0.5f : b[i]);",
    "o[i] = a[i] + bias(b, i);",
    "float plus = b == 0 ? 0.5f : 0; if (b == 0) b = a; o[i] = b[i] + plus;",
    "__global const float *p = b; o[i] = a[i] + (p != 0 ? p[i] : 0.5f);",
]


def launch(b: str) -> Launch:
    arguments = {"a": parse_argument("iota(16)"), "b": parse_argument(b), "o": parse_argument("zeros(16)")}
    return Launch("k", (16,), (8,), arguments)


def run(body: str, b: str) -> EmulationResult:
    program = read_program(f"{HEAD}{body} }}", "k.cl")
    return emulate(program, program.kernels[0], launch(b), EmulationSettings(engine=Engine.JIT))


@pytest.mark.parametrize("body", USES)
def test_a_null_argument_is_null(body: str) -> None:
    result = run(body, "null")
    assert not result.faults
    assert result.buffers["o"].data.view(np.float32).tolist() == [it + 0.5 for it in range(16)]


def test_an_argument_that_is_there_is_not_null() -> None:
    result = run(USES[0], "iota(16)")
    assert not result.faults
    assert result.buffers["o"].data.view(np.float32).tolist() == [2.0 * it for it in range(16)]


@pytest.mark.parametrize(("b", "loads"), [("null", 16), ("iota(16)", 32)])
def test_the_symbolic_engine_counts_what_is_reached(b: str, loads: int) -> None:
    kernel = read_program(f"{HEAD}{USES[0]} }}", "k.cl").kernels[0]
    result = measured(kernel, launch(b))
    assert isinstance(result, Measured)
    assert result.metrics.loads == loads
    found = count(kernel, launch(b), load_model("nvidia-hopper"))
    assert found.is_exact
    assert sum(it.executions for it in found.sites.values()) == result.metrics.accesses


def test_what_follows_a_null_pointer_is_a_fault() -> None:
    first, *_ = run("o[i] = a[i] + b[i];", "null").faults
    assert first.kind is FaultKind.OUT_OF_BOUNDS_READ
    assert "null" in first.detail
