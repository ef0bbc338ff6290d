"""What clients send in another order, or spelling, than the protocol's authors had in mind."""

from pathlib import Path

import pytest
from session import Session

KERNEL = "__kernel void k(__global float *a) { a[get_global_id(0) * 32] = 1; }\n"


def closed_as(session: Session, opened: str, closed: str) -> list[object]:
    """Close a document under a spelling of its URI; return what was published of it since."""
    session.messages.clear()
    session.close(closed)
    session.command("clmap.debug")
    published = [it for it in session.messages if it.get("method") == "textDocument/publishDiagnostics"]
    return [it["params"]["diagnostics"] for it in published if it["params"]["uri"] == opened]


def test_findings_go_when_a_document_is_closed_under_another_spelling(tmp_path: Path) -> None:
    session = Session(tmp_path)
    with session.client:
        uri = session.open(KERNEL)
        assert session.diagnostics(uri)
        assert closed_as(session, uri, uri.replace(".cl", "%2Ecl")) == [[]]


def test_closed_and_opened_again_at_once_a_document_has_its_findings(tmp_path: Path) -> None:
    session = Session(tmp_path)
    with session.client:
        uri = session.open(KERNEL)
        expected = session.diagnostics(uri)
        session.close(uri)
        session.close(uri)
        session.open(KERNEL)
        assert session.diagnostics(uri, 1) == expected
        session.command("clmap.debug")
        assert session.diagnostics_now(uri) == expected


def test_an_edit_without_a_version_is_made(tmp_path: Path) -> None:
    session = Session(tmp_path)
    with session.client:
        uri = session.open("")
        edit = {"contentChanges": [{"text": KERNEL}]}
        session.client.notify(
            "textDocument/didChange", {"textDocument": {"uri": uri, "version": None}, **edit}
        )
        assert session.wait_for_code("CM102")["range"]["start"]["line"] == 0


@pytest.mark.parametrize(("line", "character"), [(-1, 7), (0, -1), (-2, -2)])
def test_an_edit_before_the_start_is_made_at_the_start(tmp_path: Path, line: int, character: int) -> None:
    session = Session(tmp_path)
    with session.client:
        uri = session.open("")
        place = {"line": line, "character": character}
        edit = {"contentChanges": [{"range": {"start": place, "end": place}, "text": KERNEL}]}
        session.client.notify("textDocument/didChange", {"textDocument": {"uri": uri, "version": 2}, **edit})
        assert session.wait_for_code("CM102")["range"]["start"]["line"] == 0


def test_a_request_that_waits_when_the_session_is_shut_down_is_answered(tmp_path: Path) -> None:
    session = Session(tmp_path)
    kernels = "".join(KERNEL.replace(" k(", f" k{number}(") for number in range(400))
    with session.client as client:
        uri = session.open(kernels)
        place = {"textDocument": {"uri": uri}, "position": {"line": 3, "character": 50}}
        client.send({"id": "waits", "method": "textDocument/hover", "params": place})
        client.send(
            {"id": "lenses", "method": "textDocument/codeLens", "params": {"textDocument": {"uri": uri}}}
        )
        client.send({"id": "ends", "method": "shutdown", "params": None})
        missing = {"waits", "lenses", "ends"}
        while missing:
            missing.discard(str(client.receive().get("id")))
        client.notify("exit")
        assert client.process.wait(60) == 0
