"""Kernels that attack the emulator are read, counted, compiled and timed like any other."""

from pathlib import Path

import pytest
from sweeps import drawn

from clmap_lsp import cli

ATTACKS = Path(__file__).parent / "attacks"
EVERY = drawn(4, 1)
"""Of the attacks, in the order of their names, is checked here: the emulator meets them all elsewhere."""


def test_no_attack_ends_a_check(capsys: pytest.CaptureFixture[str]) -> None:
    attacks = sorted(map(str, ATTACKS.glob("*.cl")))[::EVERY]
    assert cli.main(["check", *attacks, "--device", "nvidia-h200"]) in (0, 1)
    assert "internal error" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "name",
    [
        "vload_with_a_huge_offset",
        "too_many_loops_to_compile",
        "inlining_bomb",
        "cast_walks_from_one_buffer_to_the_next",
    ],
)
def test_no_attack_ends_what_is_said_of_its_machine_code(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    cli.main(["analyze", str(ATTACKS / f"{name}.cl"), "--device", "amd-cdna3", "--as-compiled"])
    assert "internal error" not in capsys.readouterr().err
