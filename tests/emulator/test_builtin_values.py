"""Built-in functions against exact references, within what OpenCL allows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from builtin_cases import FLOATS, INTEGERS
from builtin_errors import float_errors, integer_differences
from numpy.typing import NDArray
from packed_cases import PACKED

from clmap_lsp.emulator.result import Engine
from clmap_lsp.emulator.run import emulate
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.index import builtins
from clmap_lsp.launch.arguments import parse_argument
from clmap_lsp.launch.model import Launch
from clmap_lsp.source.read import read_program

COUNT = 48


class Here:
    """Runs kernels in the emulator."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(
        self, text: str, name: str, buffers: Mapping[str, NDArray[Any]], items: int
    ) -> dict[str, NDArray[Any]]:
        program = read_program(text, "k.cl")
        arguments = {}
        for key, value in buffers.items():
            (self.folder / key).write_bytes(value.tobytes())
            arguments[key] = parse_argument(f"file:{self.folder / key}")
        settings = EmulationSettings(engine=Engine.JIT, trace=False, control=False, races=False)
        result = emulate(program, program.kernel(name), Launch(name, (items,), (items,), arguments), settings)
        assert not program.problems, program.problems
        assert not result.faults, result.faults
        assert not result.notes, result.notes
        return {key: result.buffers[key].data.view(value.dtype) for key, value in buffers.items()}


@pytest.mark.parametrize("kind", ["float", "double"])
def test_functions_of_floats(kind: str, tmp_path: Path) -> None:
    wrong = [it for it in float_errors(Here(tmp_path), kind, COUNT) if it.ulps > it.allowed]
    assert [f"{it.ulps:.3g} ULP, {it.allowed} are allowed: {it.worst}" for it in wrong] == []


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@pytest.mark.parametrize("signed", [True, False])
def test_functions_of_integers(bits: int, signed: bool, tmp_path: Path) -> None:
    assert [it for _, it in integer_differences(Here(tmp_path), bits, signed, COUNT)] == []


def test_there_are_enough_of_them() -> None:
    """Functions that are told apart here by more than one case count once; operators do not count."""
    cases = {re.sub(r"^integer |,.*| of .*", "", it.name) for it in (*FLOATS, *INTEGERS, *PACKED)}
    assert len(cases & set(builtins.names())) >= 180
