"""Processes that stand still, as when a laptop sleeps or somebody debugs them: nothing is lost."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest
from session import Session

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")

TEXT = "__kernel void k(__global float *a) { a[get_global_id(0) * 64] = 1.0f; }\n"


def test_a_server_that_was_stopped_answers_all_that_came_meanwhile(tmp_path: Path):
    session = Session(tmp_path)
    try:
        uri = session.open(TEXT)
        session.diagnostics(uri, 1)
        os.kill(session.client.process.pid, signal.SIGSTOP)
        for version in range(2, 40):
            session.change(
                uri, TEXT * (version % 7) + f"// {version}\n" + TEXT.replace("k(", "last("), version
            )
        time.sleep(2.0)
        os.kill(session.client.process.pid, signal.SIGCONT)
        found = session.diagnostics(uri, 39)
        assert "CM102" in {it["code"] for it in found}
        hover = session.request(
            "textDocument/hover",
            {"textDocument": {"uri": uri}, "position": {"line": 39 % 7 + 1, "character": 15}},
        )
        assert "last" in str(hover)
    finally:
        session.client.__exit__()
