"""Rewrites are offered and named by predicted times where the device has timing facts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clmap_lsp import cli

FIXTURES = Path(__file__).parents[2] / "fixtures"


@pytest.mark.parametrize(("file", "kernel"), [("matmul/simple.cl", "mm_simple")])
def test_rewrites_carry_the_ratio_of_times(
    file: str, kernel: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["fixes", str(FIXTURES / file), "--kernel", kernel, "--format", "json"]
    cli.main([*arguments, "--device", "nvidia-h200"])
    offered = json.loads(capsys.readouterr().out)["fixes"]
    assert offered
    for it in offered:
        assert it["predicted"]["time_ratio"] is not None, it["title"]
    best = min(it["predicted"]["time_ratio"] for it in offered)
    assert best < 1 / 1.02
    cli.main([*arguments, "--device", "nvidia-hopper"])
    for it in json.loads(capsys.readouterr().out)["fixes"]:
        assert it["predicted"]["time_ratio"] is None
