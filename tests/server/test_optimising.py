"""Searching for the best version of a kernel in an editor: seen before it is taken, ended, gone on with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from session import Session

ROWS = """\
// clmap: global=8192 local=64 N=512 rows=8192 A=random(rows*N) x=random(N,1) y=zeros(rows)
__kernel void matvec(__global const float *A, __global const float *x, __global float *y, const int N,
                     const int rows)
{
    const int row = get_global_id(0);
    if (row >= rows)
        return;
    float sum = 0.0f;
    for (int k = 0; k < N; k++)
        sum += A[row * N + k] * x[k];
    y[row] = sum;
}
"""
PLACE = {"line": 3, "character": 0}
CONFIRMS = {
    "window": {"workDoneProgress": True, "showDocument": {"support": True}},
    "workspace": {
        "workspaceEdit": {"documentChanges": True, "changeAnnotationSupport": {"groupsOnLabel": True}}
    },
}
PLAIN = {"window": {"workDoneProgress": True, "showDocument": {"support": True}}}


@pytest.fixture(scope="module")
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CLMAP_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


def begun(
    folder: Path, capabilities: dict[str, Any], text: str = ROWS
) -> tuple[Session, list[Any], list[str]]:
    """Return a session with a document, where edits that the server asks for go, and pages that it shows."""
    session = Session(folder, capabilities, settings={"emulate": "never", "device": "nvidia-h200"})
    edits: list[Any] = []
    pages: list[str] = []

    def taken(params: Any) -> Any:
        edits.append(params)
        return {"applied": True}

    def shown(params: Any) -> Any:
        pages.append(Path(params["uri"].removeprefix("file://")).read_text())
        return {"success": True}

    session.answers = {"workspace/applyEdit": taken, "window/showDocument": shown}
    session.open(text)
    session.diagnostics(session.uri)
    return session, edits, pages


def test_the_best_version_is_confirmed_as_a_change_and_its_steps_are_a_page(
    tmp_path: Path, cache_folder: None
):
    session, edits, pages = begun(tmp_path, CONFIRMS)
    spot = {"start": PLACE, "end": PLACE}
    params = {"textDocument": {"uri": session.uri}, "range": spot, "context": {"diagnostics": []}}
    actions = session.request("textDocument/codeAction", params)
    action = next(it for it in actions if it["title"] == "clmap: optimise this kernel…")
    assert session.command(action["command"]["command"], *action["command"]["arguments"]) is None
    (asked,) = edits
    assert asked["label"].startswith("Optimise matvec: ") and "x faster" in asked["label"]
    (note,) = asked["edit"]["changeAnnotations"].values()
    assert note["needsConfirmation"] and "launch a work-group of" in note["description"]
    (change,) = asked["edit"]["documentChanges"]
    assert change["textDocument"]["version"] == 1
    assert "barrier(CLK_LOCAL_MEM_FENCE);" in "".join(it["newText"] for it in change["edits"])
    (page,) = pages
    assert page.startswith("# matvec: ") and "| as it is |" in page and "+    const int lane" in page
    assert "assumes" in page and "Bound by" in page
    session.client.__exit__()


def test_where_changes_cannot_be_confirmed_the_user_is_asked(tmp_path: Path, cache_folder: None):
    session, edits, pages = begun(tmp_path, PLAIN)
    answers = iter([{"title": "Show"}, {"title": "Leave"}, {"title": "Apply"}])
    session.answers["window/showMessageRequest"] = lambda _: next(answers)
    session.command("clmap.optimise", session.uri, PLACE)
    assert edits == [] and len(pages) == 1
    session.command("clmap.optimise", session.uri, PLACE)
    (asked,) = edits
    assert session.uri in asked["edit"]["changes"]
    session.client.__exit__()


def test_a_kernel_that_was_edited_meanwhile_is_left_alone(tmp_path: Path, cache_folder: None):
    """The edit holds for the text that was searched; the next search is of the new one."""
    session, edits, _ = begun(tmp_path, PLAIN, ROWS.replace("0.0f", "0.5f"))
    session.client._next_id += 1
    number = session.client._next_id
    params = {"command": "clmap.optimise", "arguments": [session.uri, PLACE]}
    session.client.send({"id": number, "method": "workspace/executeCommand", "params": params})
    session.wait_for_progress("begin")
    session.change(session.uri, ROWS.replace("0.0f", "1.0f"), 2)
    answer = session.wait(lambda it: it.get("id") == number and "method" not in it, timeout=120)
    assert "was edited while it was optimised" in answer["result"]
    assert edits == []
    session.client.__exit__()


def test_a_search_that_is_cancelled_leaves_the_best_so_far(tmp_path: Path, cache_folder: None):
    session, edits, _ = begun(tmp_path, CONFIRMS, ROWS.replace("0.0f", "0.25f"))
    session.client._next_id += 1
    number = session.client._next_id
    params = {"command": "clmap.optimise", "arguments": [session.uri, PLACE]}
    session.client.send({"id": number, "method": "workspace/executeCommand", "params": params})
    begin = session.wait_for_progress("begin")
    assert begin["value"]["title"] == "Optimising matvec" and begin["value"]["cancellable"]
    session.wait(
        lambda it: (
            (
                it.get("method") == "$/progress"
                and it["params"]["value"]["kind"] == "report"
                and "x faster" in it["params"]["value"].get("message", "")
            )
            or (it.get("id") == number and "method" not in it)
        ),
        timeout=120,
    )
    session.client.notify("window/workDoneProgress/cancel", {"token": begin["token"]})
    if not edits:  # A machine with time to spare may have ended the search by itself.
        session.wait(lambda it: it.get("method") == "workspace/applyEdit", timeout=60)
    assert "x faster" in edits[0]["label"]
    session.client.__exit__()


def test_what_cannot_be_made_better_is_said(tmp_path: Path, cache_folder: None):
    text = """\
// clmap: global=64 local=64 x=random(64) y=zeros(64)
__kernel void copy(__global const float *x, __global float *y) { y[get_global_id(0)] = x[get_global_id(0)]; }
"""
    session, edits, _ = begun(tmp_path, PLAIN, text)
    found = session.command("clmap.optimise", session.uri, {"line": 1, "character": 20})
    assert found.startswith("`copy`: nothing better among ")
    assert edits == []
    session.client.__exit__()
