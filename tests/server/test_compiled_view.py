"""`clmap/asCompiled`: the machine code of a kernel, with the line that each instruction comes from."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from session import Session

TEXT = """\
// clmap: global=4096 local=64 in=random(16384) out=zeros(4096)
__kernel void four(__global const float *restrict in, __global float *restrict out)
{
    const int i = get_global_id(0);
    float sum = in[4 * i] + in[4 * i + 1];
    sum += in[4 * i + 2] + in[4 * i + 3];
    out[i] = sum;
}
__kernel void looks(__read_only image2d_t picture, __global float4 *out)
{
    out[0] = read_imagef(picture, (int2)(0, 0));
}
__kernel void shows(__global int *out)
{
    printf("%d", out[0]);
}
"""


def view(folder: Path, device: str, line: int) -> Any:
    session = Session(folder, {}, settings={"emulate": "off", "device": device})
    with session.client:
        uri = session.open(TEXT)
        params = {"textDocument": {"uri": uri}, "position": {"line": line, "character": 4}}
        return session.request("clmap/asCompiled", params)


@pytest.mark.parametrize(("device", "word"), [("nvidia-hopper", "ld.global"), ("amd-cdna3", "global_load")])
def test_loads_stand_beside_their_lines(tmp_path: Path, device: str, word: str) -> None:
    found = view(tmp_path, device, 4)
    assert found["name"] == "four" and found["why"] is None
    assert len(found["rows"]) == len(found["lines"])
    loads = {
        row
        for row, line in zip(found["rows"], found["lines"], strict=True)
        if word in line and not line.startswith("//")
    }
    assert loads and loads <= {4, 5}, "loads of `in` come from lines 5 and 6"
    stores = [
        row
        for row, line in zip(found["rows"], found["lines"], strict=True)
        if "store" in line or "st.global" in line
    ]
    assert stores == [6]
    assert found["lines"][1].startswith("// in[") and found["rows"][1] == 4
    if device == "amd-cdna3":
        assert "4 merged into one" in found["lines"][1], "four neighbours are one load of 16 bytes"


def test_what_is_not_compiled_says_why(tmp_path: Path) -> None:
    found = view(tmp_path, "nvidia-hopper", 10)
    assert found["lines"] == [] and found["why"] == "images are not compiled"


def test_functions_that_are_left_out_are_named(tmp_path: Path) -> None:
    found = view(tmp_path, "nvidia-hopper", 14)
    assert "// without printf" in found["lines"]


def test_outside_kernels_there_is_nothing(tmp_path: Path) -> None:
    assert view(tmp_path, "nvidia-hopper", 0) is None


@pytest.mark.parametrize(
    ("device", "words"),
    [
        ("amd-cdna3", "as compiled for amdgcn gfx942: 4 loads merged into one of 16 bytes"),
        ("nvidia-hopper", "as compiled for nvptx sm_90: 1 x 4 bytes; 2,048 sectors in 128 requests"),
    ],
)
def test_a_hover_says_what_a_compiler_leaves_of_an_access(tmp_path: Path, device: str, words: str) -> None:
    session = Session(tmp_path, {}, settings={"emulate": "off", "device": device})
    with session.client:
        uri = session.open(TEXT)
        params = {"textDocument": {"uri": uri}, "position": {"line": 4, "character": 17}}
        until = time.monotonic() + 60
        shown = ""
        while "as compiled" not in shown:  # The first hover has it compiled, a later one shows it.
            assert time.monotonic() < until, shown
            shown = session.request("textDocument/hover", params)["contents"]["value"]
            time.sleep(0.05)
    assert words in shown
