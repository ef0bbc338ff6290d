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


UNREADABLE = (
    [{"range": {"start": {"line": "1"}, "end": 7}, "text": "x"}],
    [{"text": None}],
    "x",
    [7],
    [{"range": {"start": {"line": 1e999}}, "text": ""}],
)


@pytest.mark.parametrize("changes", UNREADABLE)
def test_a_document_with_an_edit_that_cannot_be_read_is_closed_until_its_text_comes(
    tmp_path: Path, changes: object
) -> None:
    """What we have of it is not what the editor has: findings of it would lie."""
    session = Session(tmp_path)
    with session.client as client:
        uri = session.open(KERNEL)
        expected = session.diagnostics(uri)
        document = {"textDocument": {"uri": uri, "version": 2}}
        session.messages.clear()
        client.notify("textDocument/didChange", {**document, "contentChanges": changes})
        session.command("clmap.debug")
        shown = [it["params"] for it in session.messages if it.get("method") == "window/showMessage"]
        assert [it["message"] for it in shown] == [
            "k.cl: an edit cannot be read, so its text is not known any more: close and open it again"
        ]
        assert session.diagnostics_now(uri) == []
        place = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}
        later = {"textDocument": {"uri": uri, "version": 3}}
        client.notify("textDocument/didChange", {**later, "contentChanges": [{"range": place, "text": "x"}]})
        session.command("clmap.debug")
        assert session.diagnostics_now(uri) == []
        whole = [{"text": KERNEL.replace("32", "2")}, {"range": place, "text": "\n"}]
        client.notify(
            "textDocument/didChange", {"textDocument": {"uri": uri, "version": 4}, "contentChanges": whole}
        )
        assert session.wait_for_code(expected[0]["code"])["range"]["start"]["line"] == 1


def test_every_spelling_of_a_uri_is_the_document(tmp_path: Path) -> None:
    session = Session(tmp_path)
    with session.client as client:
        uri = session.open(KERNEL)
        other = uri.replace(".cl", "%2Ecl").replace("k", "%6B")
        assert other != uri
        session.diagnostics(uri)
        place = {"position": {"line": 0, "character": 40}}
        as_opened = client.request("textDocument/hover", {"textDocument": {"uri": uri}, **place})
        assert (
            client.request("textDocument/hover", {"textDocument": {"uri": other}, **place})["result"]
            == (as_opened["result"])
        )
        changes = [{"text": "// moved\n" + KERNEL}]
        client.notify(
            "textDocument/didChange",
            {"textDocument": {"uri": other, "version": 2}, "contentChanges": changes},
        )
        assert session.wait_for_code("CM102")["range"]["start"]["line"] == 1
        lenses = client.request("textDocument/codeLens", {"textDocument": {"uri": other}})["result"]
        assert lenses == client.request("textDocument/codeLens", {"textDocument": {"uri": uri}})["result"]
        assert lenses


def test_a_document_that_is_opened_twice_answers_who_waited_for_its_first_text(tmp_path: Path) -> None:
    session = Session(tmp_path)
    kernels = "".join(KERNEL.replace(" k(", f" k{number}(") for number in range(300))
    with session.client as client:
        uri = session.open(kernels)
        place = {"textDocument": {"uri": uri}, "position": {"line": 3, "character": 50}}
        client.send({"id": "waits", "method": "textDocument/codeLens", "params": place})
        item = {"uri": uri, "languageId": "opencl", "version": 2, "text": KERNEL}
        client.notify("textDocument/didOpen", {"textDocument": item})
        client.send({"id": "after", "method": "textDocument/codeLens", "params": place})
        missing = {"waits", "after"}
        while missing:
            missing.discard(str(client.receive().get("id")))


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
