"""Every feature at every token gives an answer: on some of `fixtures/`, which as a whole take long."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from warm import clmap

FIXTURES = Path(__file__).parents[2] / "fixtures"


@pytest.mark.parametrize("folder", ["transpose", "stencil", "sparse"])
def test_every_feature_answers_at_every_token(folder: str):
    done = clmap("--check", "--selftest", str(FIXTURES / folder))
    summaries = re.findall(r"(\S+): (\d+) requests, (\d+) errors", done.stdout)
    assert len(summaries) == len(list((FIXTURES / folder).glob("*.cl"))), done.stdout + done.stderr
    for path, requests, errors in summaries:
        assert int(requests) > 100 and errors == "0", (path, done.stdout)
