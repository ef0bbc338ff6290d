"""What an analysis and its index of names make goes with the last reference, without the collector."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

import clmap_lsp

FIXTURES = sorted((Path(__file__).parents[2] / "fixtures").rglob("*.cl"))


@pytest.mark.parametrize("path", FIXTURES, ids=lambda it: it.stem)
def test_an_analysis_leaves_no_cycles(path: Path):
    text = path.read_text(encoding="utf-8")
    clmap_lsp.analyze(text)
    gc.collect()
    gc.disable()
    try:
        clmap_lsp.analyze(text + "\n")
        assert gc.collect() == 0
    finally:
        gc.enable()
