"""What an analysis and its index of names make goes with the last reference, without the collector.

Only what LLVM's own library makes of the kernels that it compiles is left: its types and modules lead back to
each other, and to nothing of ours.
"""

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
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        clmap_lsp.analyze(text + "\n")
        n_left = gc.collect()
        owners = {type(it).__module__.partition(".")[0] for it in gc.garbage}
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert owners <= {"llvmlite", "builtins", "collections"}, "nothing of ours"
    assert n_left == 0 or "llvmlite" in owners
