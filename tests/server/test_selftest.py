"""Every feature at every token of every fixture gives an answer."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FIXTURES = sorted((Path(__file__).parents[2] / "fixtures").glob("**/*.cl"))


@pytest.mark.parametrize("path", FIXTURES, ids=lambda it: it.stem)
def test_every_feature_answers_at_every_token(path: Path):
    command = [sys.executable, "-m", "clmap_lsp", "--check", "--selftest", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    summary = done.stdout.splitlines()[-1] if done.stdout else done.stderr
    assert " 0 errors" in summary, done.stdout + done.stderr
