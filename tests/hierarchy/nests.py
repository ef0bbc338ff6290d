"""Helpers for the tests of this folder."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from clmap_lsp.analysis.model import FileAnalysis, KernelAnalysis
from clmap_lsp.analysis.session import AnalysisSession
from clmap_lsp.devices import load_model
from clmap_lsp.hierarchy.loop_nests import LoopNests, as_kernels
from clmap_lsp.source.read import read_program

FIXTURES = Path(__file__).parents[2] / "fixtures"


def nests_of(text: str, loops: tuple[str, ...] = ()) -> LoopNests:
    return as_kernels(read_program(text, "nest.c"), loops)


def analysed(text: str, device: str = "generic-gpu", only: str | None = None) -> FileAnalysis:
    return AnalysisSession().analyse(nests_of(text).program, load_model(device), only=only)


@cache
def loop(file: str, name: str, device: str = "generic-gpu") -> KernelAnalysis:
    """Analyse one function of a file of fixture loops."""
    found = analysed((FIXTURES / "loops" / file).read_text(), device, name).kernel(name)
    assert found is not None
    return found


def kernel(text: str, device: str = "generic-gpu") -> KernelAnalysis:
    """Analyse the one kernel of an OpenCL C text."""
    program = read_program(text, "kernel.cl")
    (found,) = AnalysisSession().analyse(program, load_model(device)).kernels
    return found
