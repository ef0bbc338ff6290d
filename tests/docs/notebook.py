"""Runs the notebook of `examples/`. `python tests/docs/notebook.py` renews its outputs."""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).resolve().parents[2] / "examples" / "from_kernel_to_fix.ipynb"


def executed() -> Any:
    """Return the notebook with the outputs of a fresh kernel; raises what a cell raises."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    NotebookClient(notebook, timeout=300, record_timing=False).execute(cwd=str(NOTEBOOK.parent))
    for cell in notebook.cells:
        cell.metadata.clear()
    return notebook


def shown(notebook: Any) -> list[list[str]]:
    """Return what a reader sees below each code cell, without what another matplotlib draws otherwise.

    What a cell prints comes in as many pieces as a busy machine happens to send it in.
    """
    result = []
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        runs = groupby(cell.outputs, key=lambda it: it.get("name", id(it)))
        result.append(["".join(map(_seen, outputs)) for _, outputs in runs])
    return result


def _seen(output: Any) -> str:
    if "text" in output:
        return str(output.text)
    data = output.data
    picture = re.search('aria-label="([^"]*)"', data.get("image/svg+xml", ""))
    return "\n".join([data["text/plain"], data.get("text/html", ""), picture[1] if picture else ""])


if __name__ == "__main__":
    made = executed()
    made.metadata = {"kernelspec": made.metadata.kernelspec, "language_info": {"name": "python"}}
    nbformat.write(made, NOTEBOOK)
