"""Integers converted to floats in a given direction land on the right neighbour, also at the types' ends."""

from __future__ import annotations

import numpy as np
import pytest

from clmap_lsp.analysis.session import AnalysisSession
from clmap_lsp.devices import load_model
from clmap_lsp.emulator.result import Engine
from clmap_lsp.emulator.run import emulate
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.source.read import read_program

VALUES = {
    "int": [2**31 - 1, -(2**31) + 1, 16777217, -16777217, 33554435, 5, -5, 0],
    "uint": [2**32 - 1, 2**31 + 1, 16777217, 33554435, 2**24 + 3, 7, 1, 0],
    "long": [2**63 - 1, 2**63 - 2, -(2**63) + 1, 16777217, -16777217, 2**62 + 1, -(2**62) - 1, 5],
    "ulong": [2**64 - 1, 2**63 + 1, 2**64 - 2**40 + 1, 16777217, 2**40 + 1, 2**24 + 3, 5, 1],
}


@pytest.mark.parametrize("kind", VALUES)
def test_directed_roundings_of_integers(kind: str) -> None:
    values = VALUES[kind]
    suffix = {"int": "", "uint": "U", "long": "L", "ulong": "UL"}[kind]
    listed = ", ".join(f"{it}{suffix}" for it in values)
    text = f"""// clmap: global=8 local=8 up=zeros(8) down=zeros(8) cut=zeros(8)
__kernel void f(__global float *up, __global float *down, __global float *cut) {{
    const {kind} v[8] = {{{listed}}};
    const int id = get_global_id(0);
    up[id] = convert_float_rtp(v[id]);
    down[id] = convert_float_rtn(v[id]);
    cut[id] = convert_float_rtz(v[id]);
}}"""
    program = read_program(text, "f.cl")
    (kernel,) = AnalysisSession().analyse(program, load_model("generic-gpu")).kernels
    assert kernel.launch is not None
    result = emulate(program, kernel.kernel, kernel.launch, EmulationSettings(engine=Engine.JIT))
    up, down, cut = (result.buffers[name].data.view("<f4") for name in ("up", "down", "cut"))
    for index, value in enumerate(values):
        above, below = int(up[index]), int(down[index])
        assert below <= value <= above
        between = int(np.nextafter(up[index], np.float32(-np.inf)))
        assert above == value or between < value
        assert below == value or int(np.nextafter(down[index], np.float32(np.inf))) > value
        assert int(cut[index]) == (below if value > 0 else above)
