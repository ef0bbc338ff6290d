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


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc")
def test_a_worker_that_stands_still_does_not_outlive_a_server_that_is_killed(tmp_path: Path):
    session = Session(tmp_path)
    server = session.client.process
    workers: list[int] = []
    try:
        uri = session.open("// clmap: global=64 local=64\n" + TEXT)
        session.request(
            "workspace/executeCommand",
            {"command": "clmap.emulate", "arguments": [uri, {"line": 1, "character": 15}]},
        )
        children = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()
        # Not one that is still starting.
        workers = [int(it) for it in children if "Seccomp:\t2" in Path(f"/proc/{it}/status").read_text()]
        if not workers:
            pytest.skip("nothing confines workers here")
        for it in workers:
            os.kill(it, signal.SIGSTOP)
        server.kill()
        server.wait()
        for _ in range(600):
            if not any(map(is_there, workers)):
                break
            time.sleep(0.1)
        assert not any(map(is_there, workers))
    finally:
        for it in filter(is_there, workers):
            os.kill(it, signal.SIGKILL)
        server.kill()


def is_there(process: int) -> bool:
    """Tell whether a process is there, and not only what is left of it until somebody asks how it ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
