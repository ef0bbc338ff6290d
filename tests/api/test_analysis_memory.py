"""What an analysis makes is freed with its last reference, without the collector of cycles.

The index of names, which the workbench makes beside it, holds symbols that know their unit and function:
it is left out here.
"""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from clmap_lsp.analysis.session import AnalysisSession
from clmap_lsp.devices import load_model
from clmap_lsp.source.read import read_program

FIXTURES = sorted((Path(__file__).parents[2] / "fixtures").rglob("*.cl"))


@pytest.mark.parametrize("path", FIXTURES, ids=lambda it: it.stem)
def test_an_analysis_leaves_no_cycles(path: Path):
    text = path.read_text(encoding="utf-8")
    device = load_model()
    AnalysisSession().analyse(read_program(text, path.name), device)
    gc.collect()
    gc.disable()
    try:
        AnalysisSession().analyse(read_program(text + "\n", path.name), device)
        assert gc.collect() == 0
    finally:
        gc.enable()
