"""Kernels that try to leave their buffers, end the process or use it up: every one is contained.

Each stands in `attacks/` with what is to be reported of it in its first line: faults of the run,
`stopped` where a limit ended it, `sampled` where some of its work-groups stand for the launch, `none` for a
whole run without faults, `refused` for a launch that is not run, `unread` for no kernel to run.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
ATTACKS = sorted((HERE / "attacks").glob("*.cl"))

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the runner forks and guards pages")


@pytest.fixture(scope="module")
def outcomes() -> dict[str, dict[str, Any]]:
    command = [sys.executable, "-X", "faulthandler", str(HERE / "attack_runner.py"), *map(str, ATTACKS)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    replies = [json.loads(it) for it in done.stdout.splitlines()]
    return {it["name"]: it for it in replies}


def test_there_are_enough_of_them():
    assert len(ATTACKS) >= 40


@pytest.mark.parametrize("path", ATTACKS, ids=lambda it: it.stem)
def test_attack_is_contained(path: Path, outcomes: dict[str, dict[str, Any]]):
    expected = path.read_text().splitlines()[0].removeprefix("// expect: ").split(", ")
    outcome = outcomes[path.stem]
    assert outcome["rc"] == 0, outcome  # The process lived: no signal, no exception, no hang.
    assert set(expected) <= set(outcome["outcome"]), outcome  # More may be said, never less.
    assert not outcome.get("smashed"), outcome
    if "secret=iota(16)" in path.read_text() and outcome.get("secret") is not None:
        assert outcome["secret"] == list(range(16)), "another buffer was written to"
