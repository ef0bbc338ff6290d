"""Frames that lie about their length, or are none: the server answers, waits or ends."""

from __future__ import annotations

import contextlib
import json
import tempfile

import pytest
import warm

HELLO = json.dumps(
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}
).encode()
SHUTDOWN = json.dumps({"jsonrpc": "2.0", "id": 2, "method": "shutdown"}).encode()
FRAMES = {
    "too long": b"Content-Length: 99999\r\n\r\n" + HELLO,
    "too short": b"Content-Length: 5\r\n\r\n" + HELLO,
    "nothing": b"Content-Length: 0\r\n\r\n",
    "negative": b"Content-Length: -1\r\n\r\n" + HELLO,
    "a sign": b"Content-Length: +%d\r\n\r\n" % len(HELLO) + HELLO,
    "hexadecimal": b"Content-Length: 0x10\r\n\r\n" + HELLO,
    "a fraction": b"Content-Length: 1e3\r\n\r\n" + HELLO,
    "an underscore": b"Content-Length: 1_0\r\n\r\n" + HELLO,
    "other digits": "Content-Length: \u0663\r\n\r\n".encode() + HELLO,
    "2^63": b"Content-Length: 9223372036854775808\r\n\r\n" + HELLO,
    "thousands of digits": b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n" + HELLO,
    "twice": b"Content-Length: 3\r\nContent-Length: %d\r\n\r\n" % len(HELLO) + HELLO,
    "none": b"Content-Type: x\r\n\r\n" + HELLO,
    "a header without end": b"Content-Length" * 10_000,
    "headers without end": b"X: y\r\n" * 10_000,
    "bare line ends": b"Content-Length: %d\n\n" % len(HELLO) + HELLO,
    "no text": b"Content-Length: 4\r\n\r\n\xff\xfe\x00\xd8",
    "half of a surrogate": b'Content-Length: 12\r\n\r\n{"\\ud800": 1}',
    "nested": b"Content-Length: 200000\r\n\r\n" + b"[" * 100_000 + b"]" * 100_000,
    "zeros": bytes(5_000),
}


def framed(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


@pytest.mark.parametrize("name", FRAMES)
def test_a_frame_that_lies(name: str):
    sent = framed(HELLO) + FRAMES[name]
    code = (
        "import sys; from clmap_lsp.server.main import ServeOptions, serve; sys.exit(serve(ServeOptions()))"
    )
    with tempfile.TemporaryFile() as errors:
        process = warm.server(code, errors=errors)
        assert process.stdin is not None and process.stdout is not None
        with contextlib.suppress(BrokenPipeError):  # It may end before it has read all.
            process.stdin.write(sent + framed(SHUTDOWN))
            process.stdin.close()
        rest = process.stdout.read()
        code_of_end = process.wait(300)
        errors.seek(0)
        said = errors.read()
    assert code_of_end in (0, 1), said[-500:]
    assert b"Traceback" not in said
    while rest:  # Nothing but frames that are what they say.
        head, blank, rest = rest.partition(b"\r\n\r\n")
        assert blank and head.startswith(b"Content-Length: "), head[:80]
        length = int(head.split(b"\r\n")[0].removeprefix(b"Content-Length: "))
        assert json.loads(rest[:length])["jsonrpc"] == "2.0"
        rest = rest[length:]
