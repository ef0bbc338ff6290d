"""A port that serves an editor takes no orders from web pages or other people's programs."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack

import pytest

from clmap_lsp.server.serve import MAX_FIRST_BYTES, MAX_WAITING, _shows
from clmap_lsp.server.wire import Garbage, read_bodies

INITIALIZE = json.dumps(
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}
).encode()


def bodies_of(data: bytes) -> list[bytes | Garbage]:
    async def collect() -> list[bytes | Garbage]:
        reader = asyncio.StreamReader()
        reader.feed_data(data)
        reader.feed_eof()
        found: AsyncIterator[bytes | Garbage] = read_bodies(reader)
        return [it async for it in found]

    return asyncio.run(collect())


@pytest.mark.parametrize(
    "head",
    [
        b"POST / HTTP/1.1\r\n", b"GET /x HTTP/1.0\r\n", b"OPTIONS * HTTP/1.1\r\n", b"post / HTTP/2\r\n",
        b"Host: localhost\r\n", b"Origin: https://evil.example\r\n", b"User-Agent: x\r\n", b"cookie: a=b\r\n",
        b"\x16\x03\x01\x02\r\n",
    ],
)  # fmt: skip
def test_a_browser_is_not_listened_to(head: bytes):
    assert bodies_of(head + b"Content-Length: %d\r\n\r\n" % len(INITIALIZE) + INITIALIZE) == []


def test_a_client_is():
    frame = b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: %d\r\n\r\n"
    assert bodies_of(frame % len(INITIALIZE) + INITIALIZE) == [INITIALIZE]


@pytest.mark.parametrize(
    "options",
    [None, {}, {"token": ""}, {"token": "wrong"}, {"token": None}, {"token": ["right"]}, [], "right"],
)
def test_only_the_token_opens_the_port(options: object):
    message = {"method": "initialize", "params": {"initializationOptions": options}}
    assert not _shows(json.dumps(message).encode(), "right")
    assert not _shows(b"[" * 100_000, "right")
    assert _shows(b'{"method":"initialize","params":{"initializationOptions":{"token":"right"}}}', "right")


def test_who_has_not_shown_the_token_may_not_fill_the_memory():
    frame = b"Content-Length: %d\r\n\r\n"

    async def first(data: bytes) -> bytes | Garbage | None:
        reader = asyncio.StreamReader()
        reader.feed_data(data)
        reader.feed_eof()
        return await anext(read_bodies(reader, MAX_FIRST_BYTES), None)

    assert isinstance(asyncio.run(first(frame % (MAX_FIRST_BYTES + 1))), Garbage)
    assert asyncio.run(first(frame % len(INITIALIZE) + INITIALIZE)) == INITIALIZE


@pytest.fixture
def port() -> Iterator[tuple[str, int]]:
    """A server on a port; its token and the port."""
    code = "from clmap_lsp.server.main import ServeOptions, serve; serve(ServeOptions(tcp_port=0))"
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    said = process.stderr.readline()
    found = re.search(r"127\.0\.0\.1:(\d+), token (\S+)", said)
    assert found is not None, said
    yield found[2], int(found[1])
    process.kill()
    process.wait()


def test_those_who_wait_without_the_token_do_not_keep_its_owner_out(port: tuple[str, int]):
    token, number = port
    with ExitStack() as stack:

        def connected() -> socket.socket:
            return stack.enter_context(socket.create_connection(("127.0.0.1", number), timeout=120))

        first = [connected() for _ in range(MAX_WAITING - 1)]
        hello: dict[str, object] = {"processId": None, "rootUri": None, "capabilities": {}}
        message = {"jsonrpc": "2.0", "id": 1, "method": "initialize"}
        body = json.dumps(
            {**message, "params": {**hello, "initializationOptions": {"token": token}}}
        ).encode()
        owner = connected()
        owner.sendall(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        assert owner.recv(20).startswith(b"Content-Length")
        late = [connected() for _ in range(3)]
        assert late[-1].recv(1) == b"", "it is served already, or too many wait"
        assert first
