"""Pointers that leave their buffer at its start, as loops backwards do: ordered and subtracted as others."""

from __future__ import annotations

import numpy as np
import pytest

from clmap_lsp.emulator.result import Engine
from clmap_lsp.emulator.run import emulate
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.launch.arguments import parse_argument
from clmap_lsp.launch.model import Launch
from clmap_lsp.source.read import read_program


@pytest.mark.parametrize("space", ["__global", "__local", "__private"])
def test_distances_and_order_before_the_start(space: str) -> None:
    start = "p" if space == "__global" else "a"
    declared = "" if space == "__global" else f"{space} short a[8];"
    source = f"""__kernel void k(__global short *p, __global long *o) {{
      {declared} {space} short *s = {start}, *e = s + 8, *at[2];
      long n = 0;
      while (--e >= s) n = n * 10 + (e - s);
      o[0] = n; o[1] = e - s; o[2] = e < s; o[3] = s > e; o[4] = (s - 1000) - s; o[5] = e + 1 == s;
      at[0] = s - 3; at[1] = e; o[6] = at[0] - s; o[7] = at[0] < at[1]; o[8] = (long)e - (long)s;
      *(at[0] + 4) = 5; o[9] = s[1];
    }}"""
    program = read_program(source, "k.cl")
    launch = Launch("k", (1,), (1,), {it: parse_argument("zeros(16)") for it in "po"})
    result = emulate(program, program.kernels[0], launch, EmulationSettings(engine=Engine.JIT))
    assert not result.faults
    found = result.buffers["o"].data.view(np.int64)[:10].tolist()
    assert found == [76_543_210, -1, 1, 1, -1000, 1, -3, 1, -2, 5]
