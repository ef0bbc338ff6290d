"""A short run of every fuzz driver, and the inputs that once broke one. `python -m fuzz` runs for longer."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from fuzz.runner import failure_of, fuzz  # noqa: E402
from fuzz.targets import DRIVERS  # noqa: E402

CASES = int(os.environ.get("CLMAP_FUZZ_CASES", "24"))
KEPT = sorted((ROOT / "fuzz" / "corpus").glob("*/*"))


@pytest.mark.parametrize("name", sorted(DRIVERS))
def test_a_short_run_finds_nothing(name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    outcome = fuzz(name, cpu_s=60.0, seed=7, max_cases=CASES)
    assert outcome.cases == CASES
    assert outcome.failures == {}


@pytest.mark.parametrize("path", KEPT, ids=lambda it: f"{it.parent.name}/{it.name}")
def test_what_broke_once_does_not_break_again(path: Path):
    assert failure_of(DRIVERS[path.parent.name], path.read_bytes()) == ""
