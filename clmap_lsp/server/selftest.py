"""Every feature at every token of a file, in the manner of `clangd --check`: errors and slow answers."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Iterator
from dataclasses import field
from pathlib import Path
from typing import Any

from clmap_lsp.dataclass import dataclass
from clmap_lsp.server.app import ClmapServer, create_server
from clmap_lsp.server.documents import Document
from clmap_lsp.server.protocol import ClmapProtocol

HANGS_S = 600
"""After what time an answer is not waited for: a busy machine may take minutes."""
SLOW_S = 0.25
"""An answer that takes longer once the file is analysed is reported as slow."""
_TOKEN = re.compile(r"[A-Za-z_]\w*|\d[\w.]*|[^\s\w]")


@dataclass(slots=True)
class Report:
    """What a self-test saw."""

    requests: int = 0
    errors: list[str] = field(default_factory=list)
    slow: list[str] = field(default_factory=list)
    slowest_s: float = 0.0


class _Wire:
    """Stands in for the client's end: keeps what the server writes."""

    def __init__(self) -> None:
        self.answers: dict[int, dict[str, Any]] = {}
        self.published: dict[str, list[dict[str, Any]]] = {}
        self.arrived = asyncio.Event()

    def write(self, data: bytes) -> None:
        for body in re.split(rb"Content-Length: [^{]*", data):
            if body:
                message = json.loads(body)
                if "id" in message and "method" not in message:
                    self.answers[message["id"]] = message
                elif message.get("method") == "textDocument/publishDiagnostics":
                    self.published[message["params"]["uri"]] = message["params"]["diagnostics"]
        self.arrived.set()

    def close(self) -> None:
        """Nothing is open."""


class _Client:
    """Sends requests to a server in this process and waits for their answers."""

    def __init__(self, server: ClmapServer, report: Report) -> None:
        protocol = server.protocol
        assert isinstance(protocol, ClmapProtocol)
        self._protocol = protocol
        self._wire = _Wire()
        self._report = report
        self._next_id = 0
        protocol.set_writer(self._wire)

    def notify(self, method: str, params: Any) -> None:
        self._send({"method": method, "params": params})

    async def request(self, method: str, params: Any, place: str, *, may_be_slow: bool = False) -> Any:
        self._next_id += 1
        number = self._next_id
        start = time.perf_counter()
        self._send({"id": number, "method": method, "params": params})
        while number not in self._wire.answers:
            self._wire.arrived.clear()
            try:
                await asyncio.wait_for(self._wire.arrived.wait(), HANGS_S)
            except TimeoutError:
                self._report.errors.append(f"{place}: {method}: no answer within {HANGS_S} s")
                return None
        seconds = time.perf_counter() - start
        answer = self._wire.answers.pop(number)
        self._report.requests += 1
        if "error" in answer:
            self._report.errors.append(f"{place}: {method}: {answer['error']['message']}")
        if not may_be_slow:
            self._report.slowest_s = max(self._report.slowest_s, seconds)
            if seconds > SLOW_S:
                self._report.slow.append(f"{place}: {method} took {seconds:.2f} s")
        return answer.get("result")

    def diagnostics(self, uri: str) -> list[dict[str, Any]]:
        """Return what was published of a document."""
        return self._wire.published.get(uri, [])

    def _send(self, message: dict[str, Any]) -> None:
        self._protocol.receive(json.dumps({"jsonrpc": "2.0", **message}).encode())


async def selftest(path: Path, text: str) -> Report:
    """Open a file and ask for everything everywhere."""
    report = Report()
    server = create_server()
    client = _Client(server, report)
    uri = path.absolute().as_uri()
    here = {"textDocument": {"uri": uri}}
    options = {"trusted": False, "settings": {"emulate": "off"}}
    can = {"textDocument": {"codeAction": {"resolveSupport": {"properties": ["edit"]}}}}
    start = {"processId": None, "rootUri": None, "capabilities": can, "initializationOptions": options}
    await client.request("initialize", start, str(path), may_be_slow=True)
    client.notify("initialized", {})
    item = {"uri": uri, "languageId": "opencl", "version": 1, "text": text}
    client.notify("textDocument/didOpen", {"textDocument": item})
    await client.request("textDocument/codeLens", here, str(path), may_be_slow=True)
    diagnostics = client.diagnostics(uri)
    await _take_actions(client, here, diagnostics, str(path))
    for label, place in _places(Document(uri, "opencl", 1, text)):
        where = f"{path}:{label}"
        at = {**here, "position": place}
        span = {"start": place, "end": place}
        await client.request("textDocument/hover", at, where)
        await client.request("clmap/kernelView", at, where)
        context = {**here, "range": span, "context": {"diagnostics": []}}
        await client.request("textDocument/codeAction", context, where)
    end = {"line": len(text), "character": 0}
    whole = {**here, "range": {"start": {"line": 0, "character": 0}, "end": end}}
    await client.request("textDocument/inlayHint", whole, str(path))
    await client.request("shutdown", None, str(path))
    return report


async def _take_actions(
    client: _Client, here: dict[str, Any], diagnostics: list[dict[str, Any]], path: str
) -> None:
    """Ask for the actions of each diagnostic, and resolve every one of them."""
    for it in diagnostics:
        where = f"{path}:{it['range']['start']['line'] + 1}: {it.get('code')}"
        context = {**here, "range": it["range"], "context": {"diagnostics": [it]}}
        for action in await client.request("textDocument/codeAction", context, where) or ():
            await client.request("codeAction/resolve", action, f"{where}: {action['title']}")


def _places(document: Document) -> Iterator[tuple[str, dict[str, int]]]:
    for token in _TOKEN.finditer(document.text):
        position = document.position(token.start())
        label = f"{position.line + 1}:{position.character + 1}"
        yield label, {"line": position.line, "character": position.character}
