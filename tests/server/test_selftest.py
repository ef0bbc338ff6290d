"""Every feature at every token gives an answer: on some of `fixtures/`, which as a whole take long."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

FIXTURES = Path(__file__).parents[2] / "fixtures"


@pytest.mark.parametrize("folder", ["transpose", "stencil", "sparse"])
def test_every_feature_answers_at_every_token(folder: str):
    command = [sys.executable, "-m", "clmap_lsp", "--check", "--selftest", str(FIXTURES / folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    summaries = re.findall(r"(\S+): (\d+) requests, (\d+) errors", done.stdout)
    assert len(summaries) == len(list((FIXTURES / folder).glob("*.cl"))), done.stdout + done.stderr
    for path, requests, errors in summaries:
        assert int(requests) > 100 and errors == "0", (path, done.stdout)
