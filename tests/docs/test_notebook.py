"""The notebook of the examples runs from the first cell to the last, and shows what it is kept with."""

import copy
import re
from typing import Any

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


def test_sentences_between_the_cells_state_what_the_cells_find() -> None:
    """Words are not run: that of `A`'s sectors named another ideal than the report above it."""
    cells = nbformat.read(notebooks.NOTEBOOK, as_version=4).cells
    words = " ".join(it.source for it in cells if it.cell_type == "markdown")
    said = re.findall(r"load of `(\w)` needs (\d+) sectors where (\d+) would do", words)
    assert said
    names: dict[str, Any] = {}
    for it in cells[: next(at for at, it in enumerate(cells) if "kernel = report" in it.source) + 1]:
        if it.cell_type == "code":
            exec(it.source, names)
    for buffer, sectors, ideal in said:
        found = next(it for it in names["kernel"].accesses if it["buffer"] == buffer)["per_request"]
        assert (found["mean"], found["ideal"]) == (int(sectors), int(ideal))
