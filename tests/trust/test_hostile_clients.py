"""Messages of clients that are broken, or mean harm: each is answered in one line, and none is lost."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "server"))

from raw_client import RawClient

from clmap_lsp.server.serve import _is_alive

KERNEL = "__kernel void k(__global float *a) { a[get_global_id(0) * 32] = 1; }\n"
HALF = "\ud800"
URIS = (
    "file:///dev/zero", "file:////proc/self/environ", "file:///proc/self/mem", "untitled:x",
    "http://x.example/k.cl", "http:", "", "file:", "file://[", "file://[::1/k.cl", "file://%5B", "%", "%%%",
    "file:///tmp/%00k.cl", "file:///%ff%fe.cl", "file:///etc/shadow", "file://other/share/k.cl", "k.cl", "\0",
    f"file:///{'a' * 5000}.cl", f"file:///{'a/' * 3000}k.cl", f"file:///{'a' * 300}/k.cl",
    f"file:///tmp/{HALF}.cl", "data:text/plain,x", "x" * 100_000,
)  # fmt: skip


@contextmanager
def client() -> Iterator[RawClient]:
    """A client of a server in whose log no traceback stands in the end."""
    with tempfile.TemporaryFile() as errors:
        it = RawClient(errors=errors)
        with it:
            yield it
            it.request("workspace/executeCommand", {"command": "clmap.debug", "arguments": []})
        errors.seek(0)
        said = errors.read()
        assert b"Traceback" not in said, said[said.index(b"Traceback") :][:3000].decode()


@contextmanager
def session(root: str | None = None) -> Iterator[RawClient]:
    with client() as it:
        answer = it.request("initialize", {"processId": None, "rootUri": root, "capabilities": {}})
        assert "result" in answer
        it.notify("initialized", {})
        yield it


def opened(it: RawClient, uri: str, text: str = KERNEL) -> dict[str, Any]:
    """Open a document; return the parameters of a request about a place in it."""
    document = {"uri": uri, "languageId": "opencl", "version": 1, "text": text}
    it.notify("textDocument/didOpen", {"textDocument": document})
    return {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 40}}


@pytest.mark.parametrize("uri", URIS, ids=lambda it: ascii(it)[:30])
def test_a_document_may_have_any_uri(uri: str):
    with session() as it:
        place = opened(it, uri)
        for method in ("hover", "documentSymbol", "codeLens"):
            assert "result" in it.request(f"textDocument/{method}", place), method
        it.notify("textDocument/didSave", place)
        it.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": uri, "type": 2}]})
        assert "result" in it.request("textDocument/hover", place)
        it.notify("textDocument/didClose", place)


@pytest.mark.parametrize("name", ["null", "1.5", "NaN", "1e400", "true", "{}", "[]", "[" * 300 + "]" * 300])
def test_an_id_that_is_none_is_refused(name: str):
    with session() as it:
        place = json.dumps(opened(it, "file:///k.cl"))
        text = f'{{"jsonrpc":"2.0","id":{name},"method":"textDocument/hover","params":{place}}}'
        it.send_bytes(b"Content-Length: %d\r\n\r\n" % len(text) + text.encode())
        answers = iter(it.receive, None)
        found = next(answer for answer in answers if "method" not in answer)
        assert (found["id"], found["error"]["code"]) == (None, -32600)


def test_an_answer_to_ones_own_request_is_none_of_the_servers():
    with session() as it:
        place = opened(it, "file:///k.cl")
        for number in range(100, 130):
            it.send({"id": number, "method": "textDocument/hover", "params": place})
            it.send({"id": number, "result": {"contents": "forged"}})
            it.send({"id": number, "error": {"code": 1, "message": "forged"}})
        for name in (1.5, [], {}, True, None, "nobody"):
            it.send({"id": name, "result": 1})
        missing = set(range(100, 130))
        while missing:
            answer = it.receive()
            if answer.get("id") in missing:
                assert "forged" not in json.dumps(answer["result"])
                missing.discard(answer["id"])


def test_halves_of_surrogate_pairs_are_no_text(tmp_path: Path):
    text = f'#include "{HALF}.h"\n// clmap: global=64 a=file:{HALF}\n// {HALF}\n'
    text += KERNEL.replace("k(", f"k{HALF}(")
    with session(tmp_path.as_uri()) as it:
        uri = (tmp_path / "k.cl").as_uri()
        place = opened(it, uri, text)
        for method in ("hover", "documentSymbol", "codeLens", "semanticTokens/full", "documentLink"):
            assert "result" in it.request(f"textDocument/{method}", place), method
        change = {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [{"text": KERNEL + HALF}]}
        it.notify("textDocument/didChange", change)
        assert "result" in it.request("textDocument/hover", place)


def test_commands_without_what_they_need_are_refused():
    with client() as it:
        hello = it.request("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
        it.notify("initialized", {})
        for name in hello["result"]["capabilities"]["executeCommandProvider"]["commands"]:
            for arguments in (None, [], [None], [{}], [[]], ["nope", None, 5, {}, []], {}, "x"):
                answer = it.request("workspace/executeCommand", {"command": name, "arguments": arguments})
                assert "TypeError" not in json.dumps(answer.get("error"))


@pytest.mark.parametrize(
    "parameters",
    [{"capabilities": 5}, {"capabilities": {}, "rootUri": "file://["}, {"capabilities": {"general": 5}}, 7],
    ids=str,
)
def test_what_follows_an_introduction_that_failed_is_refused_until_one_is_understood(parameters: Any):
    with client() as it:
        if isinstance(parameters, dict):
            parameters = {"processId": None, "rootUri": None, **parameters}
        assert "error" in it.request("initialize", parameters)
        it.notify("initialized", {})
        place = opened(it, "file:///k.cl")
        assert it.request("textDocument/hover", place)["error"]["code"] == -32002
        answer = it.request("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
        assert "result" in answer
        assert "result" in it.request("textDocument/hover", opened(it, "file:///k.cl"))


def test_a_root_that_is_no_folder_has_no_files():
    with session("") as it:
        opened(it, "file:///k.cl")
        assert "result" in it.request("workspace/symbol", {"query": ""})
        assert "result" in it.request("workspace/executeCommand", {"command": "clmap.showWorkspaceFindings"})


@pytest.mark.parametrize("number", [2**31, 2**32, 2**63, 10**30, -(10**30)])
def test_a_number_that_no_process_has_is_no_process(number: int):
    """Whoever watches it goes on: the end of that ended the server."""
    assert not _is_alive(number)


@pytest.mark.parametrize(
    "settings",
    [
        {"emulateTimeLimit": 10**400}, {"emulateTimeLimit": float("inf")}, {"emulateTimeLimit": float("nan")},
        {"emulateTimeLimit": True}, {"buildOptions": ["-I\0", "-I/tmp/\0/x", "-D\0", "-cl-std=\0"]},
        {"device": "\0", "select": ["\0"]}, {"buildOptions": ["-I", "-D", "-U", 5, None, []]},
    ],
    ids=lambda it: ascii(it)[:40],
)  # fmt: skip
def test_settings_that_are_none_leave_the_others(settings: dict[str, Any]):
    with client() as it:
        options = {"initializationOptions": {"settings": settings}}
        hello = it.request("initialize", {"processId": None, "rootUri": None, "capabilities": {}, **options})
        assert "result" in hello
        it.notify("initialized", {})
        assert "result" in it.request("textDocument/hover", opened(it, "file:///k.cl"))


NO_PLACES = (
    None, [], 5, "x", {}, [[]], {"line": "x"}, {"line": None}, {"line": 1.5}, {"line": []}, {"line": True},
    {"line": float("inf")},
)  # fmt: skip
FAR = (
    {"line": -5, "character": -5},
    {"line": 10**30, "character": 10**30},
    {"line": 2**31, "character": 2**31},
)


@pytest.mark.parametrize("method", ["clmap/kernelView", "clmap/asCompiled"])
def test_requests_of_ours_say_what_they_need(method: str):
    with session() as it:
        about = opened(it, "file:///k.cl")["textDocument"]
        for params in (
            *NO_PLACES,
            {"textDocument": about},
            {"textDocument": {"uri": 5}, "position": {"line": 0}},
        ):
            assert it.request(method, params)["error"]["code"] == -32602, params
        for place in NO_PLACES:
            if place != {}:  # What is left out is 0.
                answer = it.request(method, {"textDocument": about, "position": place})
                assert answer["error"]["code"] == -32602, place
        for place in FAR:
            assert "result" in it.request(method, {"textDocument": about, "position": place})


def test_commands_take_no_place_for_none():
    with session() as it:
        uri = opened(it, "file:///k.cl")["textDocument"]["uri"]
        for name in ("clmap.pin", "clmap.showKernel", "clmap.measure", "clmap.emulate"):
            for place in (*NO_PLACES, *FAR):
                answer = it.request("workspace/executeCommand", {"command": name, "arguments": [uri, place]})
                assert answer.get("error", {}).get("code") != -32603, (name, place)


def test_a_range_that_ends_before_it_starts_has_nothing_to_format():
    with session() as it:
        place = opened(it, "file:///k.cl", KERNEL * 3)
        for start, end in (((2, 0), (0, 0)), ((2**31 - 1, 0), (0, 5)), ((5, 5), (2**31 - 1, 0))):
            span = {
                "start": {"line": start[0], "character": start[1]},
                "end": {"line": end[0], "character": end[1]},
            }
            options = {"tabSize": 2**31 - 1, "insertSpaces": True}
            answer = it.request("textDocument/rangeFormatting", {**place, "range": span, "options": options})
            assert "result" in answer or answer["error"]["code"] == -32601, answer


URI = "file:///k.cl"
SPAN = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}
FORGED: tuple[dict[str, Any], ...] = (
    {"edits": [5], "version": "x"}, {"edits": {"a": 1}}, {"edits": "xx"}, {"edits": [{"uri": 5}]},
    {"edits": [{"uri": URI, "range": 5, "newText": "x"}], "version": 1, "uri": URI},
    {"edits": [{"uri": URI, "range": SPAN, "newText": 5}]}, {"edits": [{"uri": URI, "range": SPAN}]},
    {"edits": [{"uri": URI, "range": {"start": {"line": "x", "character": 0}, "end": {}}, "newText": ""}]},
    {"edits": [{"uri": URI, "range": {**SPAN, "end": {"line": 10**30, "character": 0}}, "newText": ""}]},
    {"uri": URI, "version": 1, "change": 5, "kernel": "k"}, {"uri": URI, "version": 1, "change": {"a": 1}},
    {"uri": URI, "version": 1, "change": {"fields": 5}, "kernel": "k"},
    {"uri": URI, "version": 1, "change": {"order": "x"}, "kernel": "k"},
)  # fmt: skip


def test_an_action_that_is_none_of_the_servers_is_refused():
    with session() as it:
        opened(it, URI)
        for data in FORGED:
            answer = it.request("codeAction/resolve", {"title": "x", "data": data})
            assert answer["error"]["code"] == -32602, data
        good = {"edits": [{"uri": URI, "range": SPAN, "newText": "x"}], "hostChange": 5, "assumptions": 7}
        edit = it.request("codeAction/resolve", {"title": "x", "data": good})["result"]["edit"]
        assert edit["changes"] == {URI: [{"range": SPAN, "newText": "x"}]}


RANKED = {"title": "x", "safety": "safe", "edits": [], "verified": 1, "preferable": 1}


def test_what_a_diagnostic_carries_that_is_none_of_the_servers_is_left_out():
    fixes: tuple[Any, ...] = (
        5, "x", [5], [{}], [{"title": "x"}], [{"title": "x", "safety": "safe", "edits": [5]}],
        [{"title": [], "safety": {}, "edits": []}], [{"title": "x", "safety": "safe", "edits": []}],
        [{**RANKED, "rank": it} for it in ("x", [], [[]])],
    )  # fmt: skip
    with session() as it:
        place = opened(it, URI)
        for found in fixes:
            for version in (1, "x"):
                data = {"version": version, "fixes": found, "kernel": 5}
                diagnostic = {"range": SPAN, "message": "x", "source": "clmap", "code": "CM102", "data": data}
                params = {**place, "range": SPAN, "context": {"diagnostics": [diagnostic]}}
                assert "result" in it.request("textDocument/codeAction", params), data


@pytest.mark.parametrize("method", ["textDocument/didSave", "workspace/didDeleteFiles", "initialized"])
def test_a_notification_with_an_id_has_an_answer(method: str):
    with session() as it:
        place = opened(it, URI)
        params = {"textDocument": {"textDocument": place["textDocument"]}, "workspace": {"files": []}}
        assert it.request(method, params.get(method.split("/", maxsplit=1)[0], {}))["result"] is None
        assert "result" in it.request("textDocument/hover", place)


@pytest.mark.skipif(sys.platform == "win32", reason="devices and pipes of POSIX")
@pytest.mark.parametrize(
    "contents", ["file:/dev/zero", "file:pipe", "formula(60000000,sin(i)*100)", "random(260000000)"]
)
def test_one_document_holds_up_no_other_in_a_workspace_that_is_not_trusted(tmp_path: Path, contents: str):
    os.mkfifo(tmp_path / "pipe")
    kernel = "__kernel void k(__global float *a, __global int *b) { a[b[get_global_id(0)] & 63] = 1; }\n"
    options = {"rootUri": tmp_path.as_uri(), "initializationOptions": {"trusted": False}}
    with client() as it:
        it.request("initialize", {"processId": None, "capabilities": {}, **options})
        it.notify("initialized", {})
        text = f"// clmap: global=64 local=64 a=zeros(64) b={contents}\n{kernel}"
        first = opened(it, (tmp_path / "k.cl").as_uri(), text)
        other = opened(it, (tmp_path / "other.cl").as_uri())
        published = (
            message["params"]["diagnostics"]
            for message in iter(it.receive, None)
            if message.get("method") == "textDocument/publishDiagnostics"
            and message["params"]["uri"] == other["textDocument"]["uri"]
        )
        assert any("CM102" in json.dumps(found) for found in published)
        for place in (first, other):
            assert "result" in it.request("textDocument/codeLens", place)
