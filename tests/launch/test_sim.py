"""Oclgrind's `.sim` files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from launch_helpers import read

from clmap_lsp.launch import (
    BufferArgument,
    Fill,
    Launch,
    LaunchProblem,
    LocalArgument,
    ScalarArgument,
    SimLaunch,
    bind,
    read_sim,
    resolve,
    sim_beside,
)
from clmap_lsp.launch.contents import buffer_contents
from clmap_lsp.source.types import FLOAT, AddressSpace, PointerType

SOURCE = """typedef struct { char tag; int value; } __attribute__((packed)) item;
__kernel void f(__global float *a, __global const int *b, __local float *tile, int n, float4 v,
                __global item *items, __global uchar *raw, item one) { a[get_global_id(0)] = n; }
"""
TEXT = """# a launch
f.cl f
8 2 1   # global
4 1 1
<size=64 range=0:0.5:7.5 dump>
<size=16 fill=-1 ro>
<size=256>
<size=4> 42
<size=16> 1 2.5
  -3 4
<size=10 char hex>
01 02 00 00 00
ff 0x03 00 00 00
<size=4 noinit>
<size=5 char> 1 2 3 4 5
"""


def bound(text: str, source: str = SOURCE) -> SimLaunch | LaunchProblem:
    sim = read_sim(text, "f.sim")
    if isinstance(sim, LaunchProblem):
        return sim
    return bind(sim, read(source)[1])


def test_a_file_becomes_a_launch() -> None:
    found = bound(TEXT)
    assert isinstance(found, SimLaunch)
    program, kernel = read(SOURCE)
    launch = resolve(program, kernel, given=found.launch)
    assert isinstance(launch, Launch), str(launch)
    assert not launch.inferred
    assert (launch.global_size, launch.local_size) == ((8, 2, 1), (4, 1, 1))
    arguments = launch.arguments
    assert arguments["b"] == BufferArgument(Fill.FORMULA, 4, text="-1", element="int")
    assert arguments["tile"] == LocalArgument(64)
    assert arguments["n"] == ScalarArgument((42,))
    assert arguments["v"] == ScalarArgument((1.0, 2.5, -3.0, 4.0))
    assert arguments["raw"] == BufferArgument(Fill.NOINIT, 4, element="uchar")
    assert arguments["one"] == ScalarArgument((1, 2, 3, 4, 5), "char")
    items = arguments["items"]
    assert isinstance(items, BufferArgument)
    assert items.text == "1,2,0,0,0,255,3,0,0,0"
    ramp = arguments["a"]
    assert isinstance(ramp, BufferArgument)
    values = buffer_contents(ramp, PointerType(FLOAT, AddressSpace.GLOBAL)).view(np.float32)
    assert values.tolist() == [0.5 * i for i in range(16)]
    assert [it.parameter for it in found.dumps] == ["a"]
    assert found.read_only == ("b",)


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        (("8 2 1", "8 x 1"), "`x`"),
        (("<size=4> 42", "<size=4> 42 43"), "2 values for 1"),
        (("<size=4> 42", "<size=6> 42"), "whole number of int"),
        (("<size=4> 42", "<size=8> 42 1"), "8 bytes for a int of 4"),
        (("<size=4> 42", "<int> 42"), "size is missing"),
        (("<size=4> 42", "<size=4 dump> 42"), "for buffers"),
        (("range=0:0.5:7.5", "range=0:0.5:9"), "does not give"),
        (("range=0:0.5:7.5", "range=0:0.5:7.5 fill=1"), "initialisers"),
        (("fill=-1", "fil=-1"), "`fil=-1`"),
        (("<size=4> 42", "<size=4> forty"), "`forty`"),
        (("<size=4> 42", "<size=4> 4294967296"), "beyond a int"),
        (("<size=4> 42", "<size=4 hex> " + "1" * 5000), "beyond a int"),
        (("<size=4 noinit>", ""), "7 arguments for the 8 parameters"),
        (("4 1 1\n", "4 1 1\n17\n"), "`17` comes before"),
    ],
)
def test_mistakes_are_placed(change: tuple[str, str], cause: str) -> None:
    problem = bound(TEXT.replace(*change, 1))
    assert isinstance(problem, LaunchProblem)
    assert problem.place.startswith("f.sim")
    assert cause in problem.cause


def test_a_file_that_ends_early() -> None:
    problem = read_sim("f.cl f 8 1", "f.sim")
    assert isinstance(problem, LaunchProblem)
    assert "ends" in problem.cause


def test_null_buffers() -> None:
    source = "__kernel void f(__global int *a) { if (a) a[0] = 1; }"
    found = bound("f.cl f 1 1 1 1 1 1 <null>", source)
    assert isinstance(found, SimLaunch)
    assert found.launch.parsed["a"] == BufferArgument(Fill.NULL, 0)


def test_beside(tmp_path: Path) -> None:
    (tmp_path / "a.cl").write_text("")
    assert sim_beside(str(tmp_path / "a.cl")) is None
    (tmp_path / "a.sim").write_text("")
    assert sim_beside(str(tmp_path / "a.cl")) == str(tmp_path / "a.sim")
