"""A client that frames its own messages, to send what no well-behaved client would."""

from __future__ import annotations

import json
import select
import time
from typing import IO, Any

import warm

PATIENCE_S = 120.0
"""Seconds after which a silent server has failed: many times what it needs, for busy machines."""


class RawClient:
    """A server process and its two pipes; if `start` is set, one that Python is really started for."""

    def __init__(self, *arguments: str, start: bool = False, errors: IO[bytes] | None = None) -> None:
        code = (
            "import sys; from clmap_lsp.server.main import ServeOptions, serve;"
            "sys.exit(serve(ServeOptions()))"
        )
        self.process = warm.server(code, *arguments, start=start, errors=errors)
        self._buffer = b""
        self._next_id = 0

    def send_bytes(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.send_bytes(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def notify(self, method: str, params: Any = None) -> None:
        self.send({"method": method, "params": params})

    def request(self, method: str, params: Any = None, timeout: float = PATIENCE_S) -> dict[str, Any]:
        """Send a request and return its whole answer; other messages that come before are kept aside."""
        self._next_id += 1
        self.send({"id": self._next_id, "method": method, "params": params})
        deadline = time.monotonic() + timeout
        while True:
            message = self.receive(deadline - time.monotonic())
            if message.get("id") == self._next_id and "method" not in message:
                return message

    def receive(self, timeout: float = PATIENCE_S) -> dict[str, Any]:
        """Return the next message of the server."""
        deadline = time.monotonic() + timeout
        while (message := self._parse()) is None:
            self._fill(deadline)
        return message

    def drain(self) -> None:
        """Take in what the server has written so far, so that neither side waits for the other."""
        assert self.process.stdout is not None
        while select.select([self.process.stdout], [], [], 0)[0]:
            self._fill(time.monotonic() + 1)

    def _parse(self) -> dict[str, Any] | None:
        head, blank, rest = self._buffer.partition(b"\r\n\r\n")
        if not blank:
            return None
        length = int(head.split(b"Content-Length:")[1].split(b"\r\n")[0])
        if len(rest) < length:
            return None
        self._buffer = rest[length:]
        message: dict[str, Any] = json.loads(rest[:length])
        return message

    def _fill(self, deadline: float) -> None:
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], max(deadline - time.monotonic(), 0))
        if not ready:
            raise TimeoutError("the server sent nothing")
        chunk = self.process.stdout.read1(65536)  # type: ignore[attr-defined]
        if not chunk:
            raise EOFError("the server closed its output")
        self._buffer += chunk

    def initialize(self, **capabilities: Any) -> dict[str, Any]:
        answer = self.request(
            "initialize", {"processId": None, "rootUri": None, "capabilities": capabilities}
        )
        self.notify("initialized", {})
        return answer

    def wait(self, timeout: float = 120) -> int:
        return self.process.wait(timeout)

    def __enter__(self) -> RawClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
