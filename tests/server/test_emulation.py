"""The second tier through a real server: findings on save, progress, cancel, a killed worker, trust."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from session import Session

from clmap_lsp.server.progress import BEGIN_AFTER_S

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


_numbers = itertools.count(1)


def anew(text: str) -> str:
    """Return a text that means the same and that no server has met yet: results are kept by tokens."""
    return text.replace("\n}\n", "\n" + ";" * next(_numbers) + "}\n")


@pytest.fixture(scope="module")
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CLMAP_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, cache_folder: None) -> Iterator[Session]:
    found = Session(tmp_path_factory.mktemp("workspace"))
    yield found
    found.client.__exit__()


@pytest.fixture
def session(server: Session, tmp_path: Path) -> Session:
    """A session in a folder of its own; the server is that of the tests before."""
    server.begin_anew(tmp_path)
    return server


@pytest.fixture
def start(tmp_path: Path, cache_folder: None) -> Iterator[Callable[..., Session]]:
    """Start servers that are nobody else's."""
    sessions: list[Session] = []

    def begin(**options: Any) -> Session:
        sessions.append(Session(tmp_path, **options))
        return sessions[-1]

    yield begin
    for session in sessions:
        session.client.__exit__()


def test_a_fault_shows_after_saving_once_with_the_place_where_its_value_is_used(
    session: Session,
):
    uri = session.open(anew(FAULTY))
    session.save(uri)
    fault = session.wait_for_code("CM301")
    assert fault["range"]["start"] == {"line": 4, "character": 21}
    assert fault["severity"] == 1
    assert fault["message"] == "reads in[64] of 64 elements (4 bytes at byte offset 256 of 256)"
    declaration, use = fault["relatedInformation"]
    assert declaration["location"]["range"]["start"]["line"] == 1
    assert declaration["message"] == "in is declared here"
    assert (
        use["location"]["range"]["start"] == {"line": 4, "character": 4} and "is used here" in use["message"]
    )
    place = {"textDocument": {"uri": uri}, "position": fault["range"]["start"]}
    whole = session.request("textDocument/hover", place)["contents"]["value"]
    assert "**CM301** " in whole and r"work-item \(63, 0, 0\)" in whole, whole
    last = [it for it in session.messages if it.get("method") == "textDocument/publishDiagnostics"][-1]
    assert [it["code"] for it in last["params"]["diagnostics"] if it["code"].startswith("CM3")] == ["CM301"]


def test_lens_and_hover_show_what_the_emulator_saw(session: Session):
    uri = session.open(anew(FAULTY))
    session.save(uri)
    session.wait_for_code("CM301")
    lenses = session.request("textDocument/codeLens", {"textDocument": {"uri": uri}})
    titles = [it["command"]["title"] for it in lenses]
    assert any(it.startswith("✗ 1 fault") for it in titles) and "emulated" in titles, titles
    place = {"textDocument": {"uri": uri}, "position": {"line": 4, "character": 15}}
    hover = session.request("textDocument/hover", place)["contents"]["value"]
    assert "emulator: 64 executions" in hover
    view = session.request("clmap/kernelView", place)
    assert view["name"] == "neighbours" and len(view["psl"]) == 11
    (fault,) = view["faults"]
    assert fault["line"] == 4
    assert len(view["accesses"][0]["lanes"]) == 32


def test_an_edit_elsewhere_moves_the_finding_without_another_run(session: Session):
    text = anew(FAULTY)
    uri = session.open(text)
    session.save(uri)
    session.wait_for_code("CM301")
    session.change(uri, "// a new first line\n" + text, 2)
    assert session.wait_for_code("CM301")["range"]["start"] == {"line": 5, "character": 21}


def test_progress_shows_what_runs_for_long_and_can_be_cancelled(session: Session):
    before = time.monotonic()
    session.save(session.open(anew(SPINNING)))
    begin = session.wait_for_progress("begin")
    assert time.monotonic() - before >= BEGIN_AFTER_S
    assert begin["value"]["title"] == "Emulating spin 64" and begin["value"]["cancellable"]
    session.client.notify("window/workDoneProgress/cancel", {"token": begin["token"]})
    assert session.wait_for_progress("end")["token"] == begin["token"]
    assert lens_of(session, session.uri, "clmap.emulate") == "emulate"


def test_closing_a_document_ends_its_run_and_answers_the_command(session: Session):
    uri = session.open(anew(SPINNING))
    session.client._next_id += 1
    number = session.client._next_id
    params = {"command": "clmap.emulate", "arguments": [uri, {"line": 1, "character": 15}]}
    session.client.send({"id": number, "method": "workspace/executeCommand", "params": params})
    session.wait_for_progress("begin")
    session.close(uri)
    answer = session.wait(lambda it: it.get("id") == number and "method" not in it, timeout=40)
    assert answer["result"] is None  # The kernel itself would run for a minute.


def test_what_the_emulator_found_stays_while_a_comment_is_typed(session: Session):
    text = anew(FAULTY)
    uri = session.open(text)
    session.save(uri)
    before = session.wait_for_code("CM301")["range"]["start"]
    lines = text.splitlines(keepends=True)
    lines.insert(before["line"], "    // why is this wrong?\n")
    session.messages.clear()
    session.change(uri, "".join(lines), 2)
    found = session.diagnostics(uri, 2)
    now = next(it for it in found if it["code"] == "CM301")["range"]["start"]
    assert now == {"line": before["line"] + 1, "character": before["character"]}


def test_work_that_is_soon_done_shows_no_progress(session: Session):
    """The second of two runs has a worker at hand; the answer of the first says that it is over."""
    uri = session.open(anew(FAULTY))
    place = {"line": 4, "character": 15}
    assert session.command("clmap.emulate", uri, place) is None
    session.messages.clear()
    before = time.monotonic()
    assert session.command("clmap.emulate", uri, place) is None
    if (
        time.monotonic() - before < BEGIN_AFTER_S
    ):  # On a machine that is very busy it takes longer, and shows.
        assert not any(it.get("method") == "$/progress" for it in session.messages)


def test_a_killed_worker_is_reported_and_the_server_lives_on(start: Callable[..., Session]):
    session = start()
    # A worker that was still starting could not have been ended by the kernel, and is replaced instead.
    session.command("clmap.emulate", session.open(anew(FAULTY)), {"line": 4, "character": 15})
    uri = session.open(SPINNING)
    session.save(uri)
    session.wait_for_progress("begin")
    while not (reports := [it for it in session.diagnostics_now(uri) if it["code"] == "CM300"]):
        if (victim := session.worker()) is not None:
            with suppress(ProcessLookupError):
                os.kill(victim, signal.SIGKILL)
    assert "SIGKILL" in reports[0]["message"]
    session.messages.clear()
    session.save(uri)
    session.wait_for_progress("begin")  # It may have been the system that ended it: it gets another chance.
    document = {"uri": uri, "version": 2}
    session.client.notify(
        "textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": FAULTY}]}
    )
    session.save(uri)
    assert session.wait_for_code("CM301")


def test_nothing_runs_in_a_workspace_that_is_not_trusted(start: Callable[..., Session]):
    session = start(trusted=False)
    uri = session.open(anew(FAULTY))
    session.save(uri)
    place = {"line": 4, "character": 15}
    answer = session.request(
        "workspace/executeCommand", {"command": "clmap.emulate", "arguments": [uri, place]}
    )
    assert answer == "kernels do not run in a workspace that is not trusted"
    assert session.worker() is None
    assert not any(it.get("method") == "$/progress" for it in session.messages)


@pytest.mark.parametrize("command", ["clmap.emulate", "clmap.measure"])
def test_a_command_that_cannot_run_says_why_in_its_answer_and_in_a_message(
    start: Callable[..., Session], command: str
):
    session = start(trusted=False)
    uri = session.open(anew(FAULTY))
    reason = "kernels do not run in a workspace that is not trusted"
    for place, expected in (((4, 15), reason), ((0, 0), "there is no kernel at the cursor")):
        session.messages.clear()
        assert session.command(command, uri, dict(zip(("line", "character"), place, strict=True))) == expected
        shown = [
            it["params"]["message"] for it in session.messages if it.get("method") == "window/showMessage"
        ]
        assert shown == [expected]
    assert session.worker() is None
    lenses = session.request("textDocument/codeLens", {"textDocument": {"uri": uri}})
    assert "clmap.measure" not in {it["command"]["command"] for it in lenses}


@pytest.mark.pocl
def test_a_kernel_is_measured_on_a_device_when_a_person_asks(session: Session):
    text = anew(FAULTY)
    sound = text.replace("in=iota(64)", "in=iota(65)")
    uri, place = session.open(sound), {"line": 4, "character": 15}
    assert lens_of(session, uri, "clmap.measure") == "measure"
    answer = session.command("clmap.measure", uri, place)
    if "no OpenCL" in answer:
        pytest.skip(answer)
    assert answer.startswith("`neighbours`: ") and "outputs as emulated" in answer
    assert " ms cold" in (title := lens_of(session, uri, "clmap.measure")) and title.endswith("as emulated")
    session.change(uri, text, 2)
    assert lens_of(session, uri, "clmap.measure") == "measure"
    assert "out-of-bounds-read" in session.command("clmap.measure", uri, place)


@pytest.mark.pocl
def test_measuring_can_be_cancelled_and_leaves_no_process(start: Callable[..., Session]):
    session = start()
    uri = session.open(SPINNING.replace("while (a[0] == 0)", "while (i < 2000000000)"))
    session.client._next_id += 1
    number = session.client._next_id
    params = {"command": "clmap.measure", "arguments": [uri, {"line": 1, "character": 15}]}
    session.client.send({"id": number, "method": "workspace/executeCommand", "params": params})
    token = session.wait_for_progress("begin")["token"]
    session.client.notify("window/workDoneProgress/cancel", {"token": token})
    assert session.wait(lambda it: it.get("id") == number)["result"] == "`spin`: not measured"
    session.client.request("shutdown")
    session.client.notify("exit")
    session.client.wait()
    assert not children(session.client.process.pid)


def children(pid: int) -> list[int]:
    """Return the processes that a process has started and that still run."""
    found = []
    for status in Path("/proc").glob("[0-9]*/status"):
        with contextlib.suppress(OSError):
            if f"PPid:\t{pid}\n" in status.read_text():
                found.append(int(status.parent.name))
    return found


def lens_of(session: Session, uri: str, command: str) -> str:
    """Return the title of the lens that runs a command."""
    lenses = session.request("textDocument/codeLens", {"textDocument": {"uri": uri}})
    title: str = next(it["command"]["title"] for it in lenses if it["command"]["command"] == command)
    return title


def test_the_idle_tier_runs_by_itself(start: Callable[..., Session]):
    session = start(settings={"emulate": "onIdle"})
    session.open(anew(FAULTY))
    assert session.wait_for_code("CM301")


def test_pinning_writes_the_launch_above_the_kernel(session: Session):
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


def test_a_suppression_of_the_emulators_rules_is_judged_once_its_kernel_ran(session: Session):
    needed = anew(FAULTY).replace(
        "in[i + 1];", "in[i + 1];  // clmap: ignore[CM301] the caller pads the buffer"
    )
    needless = needed.replace("neighbours", "inside").replace("in=iota(64)", "in=iota(65)")
    text = needed + needless
    uri = session.open(text)
    assert not unused(session.diagnostics(uri, 1))
    for row, expected in ((4, []), (10, [10])):
        assert session.command("clmap.emulate", uri, {"line": row, "character": 15}) is None
        last = [it for it in session.messages if it.get("method") == "textDocument/publishDiagnostics"][-1]
        found = unused(last["params"]["diagnostics"])
        assert [it["range"]["start"]["line"] for it in found] == expected
    assert found[0]["tags"] == [1] and "finds nothing here" in found[0]["message"]


def unused(diagnostics: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [it for it in diagnostics if it["code"] == "CM004"]
