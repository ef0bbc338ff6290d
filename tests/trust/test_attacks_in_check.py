"""Kernels that attack the emulator are read, counted, compiled and timed like any other: none ends the check."""

from pathlib import Path

import pytest

from clmap_lsp import cli

ATTACKS = Path(__file__).parent / "attacks"


@pytest.mark.parametrize("options", [(), ("--as-compiled",)], ids=["plain", "as compiled"])
def test_no_attack_ends_a_check(options: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["check", str(ATTACKS), "--device", "nvidia-h200", *options]) in (0, 1)
    assert "internal error" not in capsys.readouterr().err
