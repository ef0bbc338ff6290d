"""Messages of clients that are broken, or mean harm: each is answered in one line, and none is lost."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "server"))

from raw_client import RawClient

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
