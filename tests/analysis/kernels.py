"""Read, launch and analyse a kernel in one call, for the tests of this folder."""

from __future__ import annotations

from clmap_lsp.analysis.model import FileAnalysis, KernelAnalysis
from clmap_lsp.analysis.session import AnalysisSession
from clmap_lsp.devices import load_model
from clmap_lsp.source.program import Program
from clmap_lsp.source.read import read_program


def program(text: str, path: str = "k.cl") -> Program:
    """Read a text that must have no problems."""
    found = read_program(text, path)
    assert not found.problems, found.problems
    return found


def analysed(
    text: str, device: str = "nvidia-hopper", session: AnalysisSession | None = None
) -> FileAnalysis:
    """Analyse every kernel of a text; launches are those of its comments."""
    return (session or AnalysisSession()).analyse(program(text), load_model(device))


def kernel(text: str, device: str = "nvidia-hopper") -> KernelAnalysis:
    """Analyse a text with one kernel."""
    (only,) = analysed(text, device).kernels
    return only
