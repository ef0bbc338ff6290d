"""A port that serves an editor takes no orders from web pages or other people's programs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

import pytest

from clmap_lsp.server.serve import _shows
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
