"""The notebook of the examples runs from the first cell to the last, and shows what it is kept with."""

import copy

import nbformat
import notebook as notebooks


def test_the_notebook_runs_and_shows_what_it_is_kept_with() -> None:
    kept, now = nbformat.read(notebooks.NOTEBOOK, as_version=4), notebooks.executed()
    seen = notebooks.shown(kept)
    assert seen == notebooks.shown(now), "run python tests/docs/notebook.py"
    assert any("CM104" in it for cell in seen for it in cell)
    assert any("sectors" in it and "->" in it for it in seen[-1])
    wrong = copy.deepcopy(kept)
    next(it for it in wrong.cells if it.get("outputs")).outputs[0].data["text/html"] = "other"
    assert notebooks.shown(wrong) != seen
