"""All microbenchmarks in our own emulator: the same sums as the reference, bit for bit, and no fault."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from clmap_lsp.aristotle.elements import Element, values_at
from clmap_lsp.aristotle.generate import Approach, Part, generate, is_distinct
from clmap_lsp.aristotle.layout import layout_of
from clmap_lsp.aristotle.maps import Map, all_maps
from clmap_lsp.aristotle.reference import all_items, reference
from clmap_lsp.emulator.result import Engine
from clmap_lsp.emulator.run import emulate
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.launch.model import BufferArgument, Fill, Launch, ScalarArgument
from clmap_lsp.source.read import read_program

FLOAT = Element("float")
SETTINGS = EmulationSettings(
    engine=Engine.JIT, time_limit_s=60, trace=False, races=False, control=False, strides=False
)


@cache
def expected(pattern: Map, size: int, radius: int) -> np.ndarray:
    return reference((pattern,), size, (radius,), FLOAT, all_items(size))[:, 0]


@pytest.mark.parametrize("pattern", all_maps(), ids=str)
def test_sums_are_those_of_the_reference(pattern: Map, tmp_path: Path) -> None:
    for size in (128, 144):
        for approach in Approach:
            for padded in (False, True):
                part = Part(pattern, approach, padded)
                if not is_distinct(part):
                    continue
                layout = layout_of(pattern, size, part.reach)
                data = tmp_path / f"{size}.bin"
                if not data.exists():
                    values_at(FLOAT, np.arange(layout.elements), 0).tofile(data)
                kernel = generate([part], FLOAT)
                program = read_program(kernel.source, "microbenchmark.cl")
                launch = Launch(
                    kernel.name,
                    (size, size),
                    (16, 16),
                    {
                        "in0": BufferArgument(Fill.FILE, layout.elements, text=str(data)),
                        "out": BufferArgument(Fill.ZEROS, size * size),
                        "origin0": ScalarArgument((layout.origin,)),
                        "pitch0": ScalarArgument((layout.pitch,)),
                        "n": ScalarArgument((size,)),
                    },
                )
                found = program.kernel(kernel.name)
                assert found is not None, kernel.source
                result = emulate(program, found, launch, SETTINGS)
                assert result.faults == (), f"{kernel.name} at {size}: {result.faults}"
                out = result.buffers["out"].data.view(np.float32)
                assert np.array_equal(out, expected(pattern, size, part.reach)), f"{kernel.name} at {size}"
