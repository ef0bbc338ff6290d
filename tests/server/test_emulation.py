"""The second tier through a real server: findings on save, progress, cancel, a killed worker, trust."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from session import Session

FAULTY = """\
// clmap: global=64 local=16 in=iota(64) out=zeros(64)
__kernel void neighbours(__global const int *in, __global int *out)
{
    const int i = get_global_id(0);
    out[i] = in[i] + in[i + 1];
}
"""
SPINNING = """\
// clmap: global=64 local=16 a=zeros(2)
__kernel void spin(__global volatile int *a)
{
    int i = 0;
    while (a[0] == 0)
        i++;
    a[1] = i;
}
"""


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Session]]:
    monkeypatch.setenv("CLMAP_CACHE_DIR", str(tmp_path / "cache"))
    sessions: list[Session] = []

    def begin(**options: Any) -> Session:
        sessions.append(Session(tmp_path, **options))
        return sessions[-1]

    yield begin
    for session in sessions:
        session.client.__exit__()


def test_a_fault_shows_after_saving_with_progress(start: Callable[..., Session]):
    session = start()
    uri = session.open(FAULTY)
    session.save(uri)
    begin = session.wait_for_progress("begin")
    assert begin["value"]["title"] == "Emulating neighbours 64"
    fault = session.wait_for_code("CM301")
    assert fault["range"]["start"] == {"line": 4, "character": 21}
    assert fault["severity"] == 1 and "work-item (63, 0, 0)" in fault["message"]


def test_lens_and_hover_show_what_the_emulator_saw(start: Callable[..., Session]):
    session = start()
    uri = session.open(FAULTY)
    session.save(uri)
    session.wait_for_code("CM301")
    lenses = session.request("textDocument/codeLens", {"textDocument": {"uri": uri}})
    titles = [it["command"]["title"] for it in lenses]
    assert any("PSL" in it and "2 faults" in it for it in titles), titles
    place = {"textDocument": {"uri": uri}, "position": {"line": 4, "character": 15}}
    hover = session.request("textDocument/hover", place)["contents"]["value"]
    assert "emulator: 64 executions" in hover
    view = session.request("clmap/kernelView", place)
    assert view["name"] == "neighbours" and len(view["psl"]) == 11
    assert view["faults"][0]["line"] == 4
    assert len(view["accesses"][0]["lanes"]) == 32


def test_an_edit_elsewhere_moves_the_finding_without_another_run(start: Callable[..., Session]):
    session = start()
    uri = session.open(FAULTY)
    session.save(uri)
    session.wait_for_code("CM301")
    session.client.notify(
        "textDocument/didChange",
        {
            "textDocument": {"uri": uri, "version": 2},
            "contentChanges": [{"text": "// a new first line\n" + FAULTY}],
        },
    )
    assert session.wait_for_code("CM301")["range"]["start"] == {"line": 5, "character": 21}


def test_progress_can_be_cancelled(start: Callable[..., Session]):
    session = start()
    session.save(session.open(SPINNING))
    token = session.wait_for_progress("begin")["token"]
    time.sleep(0.5)
    before = time.monotonic()
    session.client.notify("window/workDoneProgress/cancel", {"token": token})
    assert session.wait_for_progress("end")["token"] == token
    assert time.monotonic() - before < 5
    assert session.request("shutdown", None) is None


def test_a_killed_worker_is_reported_and_the_server_lives_on(start: Callable[..., Session]):
    session = start()
    uri = session.open(SPINNING)
    session.save(uri)
    session.wait_for_progress("begin")
    time.sleep(1)
    victim = session.worker()
    assert victim is not None
    os.kill(victim, signal.SIGKILL)
    report = session.wait_for_code("CM300")
    assert "SIGKILL" in report["message"]
    document = {"uri": uri, "version": 2}
    session.client.notify(
        "textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": FAULTY}]}
    )
    session.save(uri)
    assert session.wait_for_code("CM301")


def test_nothing_runs_in_a_workspace_that_is_not_trusted(start: Callable[..., Session]):
    session = start(trusted=False)
    uri = session.open(FAULTY)
    session.save(uri)
    place = {"line": 4, "character": 15}
    answer = session.request(
        "workspace/executeCommand", {"command": "clmap.emulate", "arguments": [uri, place]}
    )
    assert answer == "kernels do not run in a workspace that is not trusted"
    assert session.worker() is None
    assert not any(it.get("method") == "$/progress" for it in session.messages)


def test_the_idle_tier_runs_by_itself(start: Callable[..., Session]):
    session = start(settings={"emulate": "onIdle"})
    session.open(FAULTY)
    assert session.wait_for_code("CM301")


def test_pinning_writes_the_launch_above_the_kernel(start: Callable[..., Session]):
    session = start()
    uri = session.open(FAULTY.partition("\n")[2])
    place = {"line": 1, "character": 0}
    session.client._next_id += 1
    session.client.send(
        {
            "id": session.client._next_id,
            "method": "workspace/executeCommand",
            "params": {"command": "clmap.pin", "arguments": [uri, place]},
        }
    )
    edit = session.wait(lambda it: it.get("method") == "workspace/applyEdit")["params"]["edit"]
    (change,) = edit["changes"][uri]
    assert change["newText"].startswith("// clmap: global=") and change["range"]["start"]["line"] == 0
