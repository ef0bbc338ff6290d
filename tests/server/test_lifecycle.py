"""The life of a server process, seen from its pipes."""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
from collections.abc import Sized

import pytest
from raw_client import RawClient

from clmap_lsp.server.app import create_server

NOT_INITIALIZED = -32002
INVALID_REQUEST = -32600
PARSE_ERROR = -32700


def test_shutdown_then_exit_ends_with_0():
    with RawClient(start=True) as client:
        client.initialize()
        assert client.request("shutdown")["result"] is None
        client.notify("exit")
        assert client.wait() == 0


def test_exit_that_follows_shutdown_at_once_waits_for_its_answer():
    with RawClient() as client:
        client.initialize()
        client.send({"id": 9, "method": "shutdown"})
        client.notify("exit")
        answer = next(it for it in iter(client.receive, None) if it.get("id") == 9)
        assert answer["result"] is None
        assert client.wait() == 0


def test_exit_without_shutdown_ends_with_1():
    with RawClient(start=True) as client:
        client.initialize()
        client.notify("exit")
        assert client.wait() == 1


def test_the_end_of_the_input_ends_the_server_with_1():
    with RawClient(start=True) as client:
        client.initialize()
        assert client.process.stdin is not None
        client.process.stdin.close()
        assert client.wait() == 1


def test_an_input_that_is_no_pipe_ends_the_server_too():
    command = [sys.executable, "-m", "clmap_lsp", "--stdio"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
    assert done.returncode == 1 and done.stdout == b""


def test_a_request_before_initialize_is_refused_and_the_server_lives_on():
    with RawClient() as client:
        assert client.request("textDocument/hover", {})["error"]["code"] == NOT_INITIALIZED
        assert "capabilities" in client.initialize()["result"]


def test_a_request_after_shutdown_is_refused():
    with RawClient() as client:
        client.initialize()
        client.request("shutdown")
        assert client.request("textDocument/hover", {})["error"]["code"] == INVALID_REQUEST


def test_a_second_initialize_is_refused():
    with RawClient() as client:
        client.initialize()
        assert client.request("initialize", {"capabilities": {}})["error"]["code"] == INVALID_REQUEST


def test_an_edit_of_a_document_that_is_not_open_is_silent():
    with RawClient() as client:
        client.initialize()
        client.notify(
            "textDocument/didChange",
            {"textDocument": {"uri": "file:///x.cl", "version": 2}, "contentChanges": [{"text": "x"}]},
        )
        assert client.request("shutdown")["result"] is None


@pytest.mark.parametrize("offered", [["utf-8", "utf-16"], ["utf-32"], ["utf-16"], []])
def test_the_position_encoding_is_one_that_the_client_offers(offered: list[str]):
    with RawClient() as client:
        capabilities = {"general": {"positionEncodings": offered}} if offered else {}
        chosen = client.initialize(**capabilities)["result"]["capabilities"]["positionEncoding"]
        assert chosen in (offered or ["utf-16"])


def garbage(count: int) -> list[bytes]:
    """Messages that are wrong in every way that framing, JSON and JSON-RPC allow, from a fixed seed."""
    dice = random.Random(7)
    bodies = [
        b"{",
        b"[]",
        b"null",
        b'"text"',
        b"{}",
        b'{"jsonrpc":"1.0","id":1,"method":"shutdown"}',
        b'{"jsonrpc":"2.0","id":{},"method":"textDocument/hover"}',
        b'{"jsonrpc":"2.0","id":1,"method":7}',
        b'{"jsonrpc":"2.0","id":1,"method":"no/such"}',
        b'{"jsonrpc":"2.0","method":"no/such"}',
        b'{"jsonrpc":"2.0","id":1,"method":"textDocument/hover","params":[1]}',
        b'{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{}}',
        b'{"jsonrpc":"2.0","id":"nobody","result":1}',
        b"[" * 5000,
        b"\xff\xfe",
    ]
    messages = []
    for _ in range(count):
        if dice.random() < 0.1:
            messages.append(dice.choice([b"Content-Length: x\r\n\r\n", b"Hello\r\n\r\n", b"\r\n\r\n"]))
        else:
            body = dice.choice(bodies)
            messages.append(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    return messages


def test_a_thousand_malformed_messages_end_in_errors_not_in_a_dead_server():
    with RawClient() as client:
        client.initialize()
        for message in garbage(1000):
            client.send_bytes(message)
            client.drain()
        answer = client.request("shutdown")
        assert answer["result"] is None
        client.notify("exit")
        assert client.wait() == 0


def test_what_is_not_json_gets_a_parse_error():
    with RawClient() as client:
        client.initialize()
        client.send_bytes(b"Content-Length: 1\r\n\r\n{")
        assert client.receive()["error"]["code"] == PARSE_ERROR


def test_the_wire_carries_frames_only():
    """Every byte that the server writes belongs to a frame, whatever happens in it."""
    with RawClient(start=True) as client:
        client.initialize()
        client.request("shutdown")
        client.notify("exit")
        client.wait()
        assert client.process.stdout is not None
        rest = client.process.stdout.read()
        while rest:
            head, _, body = rest.partition(b"\r\n\r\n")
            length = int(head.split(b"Content-Length:")[1].split(b"\r\n")[0])
            json.loads(body[:length])
            rest = body[length:]


def test_the_answer_to_initialize_waits_for_no_heavy_module():
    """NumPy and the analysis, half of the start-up time, are loaded behind it."""
    script = (
        "import sys\n"
        "from clmap_lsp.server.app import create_server\n"
        "create_server()\n"
        "print([it for it in ('numpy', 'llvmlite', 'tree_sitter', 'sqlite3', 'http') if it in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.strip() == "[]"


async def fewest_within_a_minute(futures: Sized) -> int:
    """Let the server work until nothing is left of what it was sent; return what is after a minute."""
    for _ in range(600):
        await asyncio.sleep(0.1)
        if not len(futures):
            break
    return len(futures)


def test_nothing_stays_of_notifications_that_were_handled():
    async def type_for_a_while() -> int:
        server = create_server()
        protocol = server.protocol
        protocol.set_writer(type("Nowhere", (), {"write": lambda *_: None, "close": lambda *_: None})())

        def send(method, params, **more):
            message = {"jsonrpc": "2.0", "method": method, "params": params, **more}
            protocol.receive(json.dumps(message).encode())

        uri = "file:///typed.cl"
        options = {"settings": {"emulate": "off"}}
        send("initialize", {"capabilities": {}, "processId": None, "initializationOptions": options}, id=1)
        await asyncio.sleep(0)
        item = {"uri": uri, "languageId": "opencl", "version": 1, "text": "// empty\n"}
        send("textDocument/didOpen", {"textDocument": item})
        for version in range(2, 60):
            edit = [{"text": f"// {version}\n"}]
            send(
                "textDocument/didChange",
                {"textDocument": {"uri": uri, "version": version}, "contentChanges": edit},
            )
            await asyncio.sleep(0)
        left = await fewest_within_a_minute(protocol._request_futures)
        server.emulations.forget = lambda _: asyncio.sleep(60)
        send("textDocument/didClose", {"textDocument": {"uri": uri}})
        await asyncio.sleep(0)
        assert protocol._request_futures  # The closing still waits, and is cancelled by the shutdown.
        send("shutdown", None, id=9)
        async with asyncio.timeout(60):
            while not all(it.done() for it in protocol._request_futures.values()):
                await asyncio.sleep(0.01)
        send("exit", None)
        assert protocol.exit_code == 0
        return left

    assert asyncio.run(type_for_a_while()) == 0
