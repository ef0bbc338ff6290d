"""What docs/protocol.md shows of the server's own requests is what it answers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from session import Session

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "protocol.md").read_text("utf-8")
KERNEL = (ROOT / "fixtures" / "matmul" / "simple.cl").read_text("utf-8")


def _shown(request: str) -> str:
    """Return the answer that the page shows below a request's heading."""
    return PAGE.split(f"## `{request}`")[1].split("```")[1]


def _keys(data: Any) -> set[str]:
    if isinstance(data, dict):
        return set(data).union(*(_keys(it) for it in data.values()))
    return set().union(*map(_keys, data)) if isinstance(data, list) else set()


@pytest.mark.parametrize(
    ("request_", "unseen"),
    [
        # Keys of faults, fixes and neighbours, which this kernel has none of before it was run.
        (
            "clmap/kernelView",
            {"title", "kind", "safety", "hostChange", "assumptions", "edits", "cost", "before", "after"},
        ),
        ("clmap/asCompiled", set()),
    ],
)
def test_the_answer_has_the_keys_and_figures_of_the_page(
    tmp_path: Path, request_: str, unseen: set[str]
) -> None:
    session = Session(tmp_path, settings={"emulate": "off", "device": "nvidia-hopper"})
    try:
        uri = session.open(KERNEL)
        at = {"textDocument": {"uri": uri}, "position": {"line": 6, "character": 0}, "access": 1, "turn": 0}
        answer = session.request(request_, at)
    finally:
        session.client.__exit__()
    shown = _shown(request_)
    positions = {"start", "end", "line", "character", "text"}  # Of LSP, or in what is left out above.
    assert _keys(answer) - positions == set(re.findall(r'"(\w+)":', shown)) - unseen - positions
    if request_ == "clmap/kernelView":
        for name in ("name", "launch", "device"):
            assert f'"{name}": "{answer[name]}"' in shown
        assert f'"totals": {{ "sectors": {answer["totals"]["sectors"]}, "wavefronts": 0 }}' in shown
        turns = answer["workGroup"]["turns"]
        assert f'"turns": {turns} | null' in shown
