"""Every row of the threat model names the tests that show it, and they exist."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from fuzz.targets import DRIVERS  # noqa: E402

PAGE = (ROOT / "docs" / "threat_model.md").read_text("utf-8")


def rows() -> list[tuple[str, str, str]]:
    """Return input with what it may try, what holds it, and what shows that."""
    table = PAGE.partition("| Input |")[2].partition("\n\n")[0].splitlines()[2:]
    cells = [[it.strip() for it in line.strip("|").split("|")] for line in table]
    return [(f"{it[0]}: {it[1]}", it[2], it[3]) for it in cells]


def test_there_are_rows():
    assert len(rows()) > 15


@pytest.mark.parametrize(("what", "held", "shown"), rows(), ids=[it[0] for it in rows()])
def test_a_row_names_tests_that_exist(what: str, held: str, shown: str):
    if held.startswith("Not held."):
        assert not shown
        return
    named = re.findall(r"`([^`]+)`", shown)
    files = [ROOT / it for it in named if it.endswith(".py")]
    drivers = [it for it in named if not it.endswith(".py")]
    assert files or drivers, "names no test"
    assert [it for it in files if not it.is_file() or "def test_" not in it.read_text("utf-8")] == []
    assert [it for it in drivers if it not in DRIVERS] == []


def test_other_pages_of_it_name_files_that_exist():
    named = set(re.findall(r"`((?:tests|clmap_lsp|fuzz)/[\w/.]+)`", PAGE))
    assert [it for it in sorted(named) if not (ROOT / it).exists()] == []
