"""A client that answers what the server asks, keeps everything that it says, and edits like a person."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from raw_client import RawClient

PUBLISHED = "textDocument/publishDiagnostics"


class Session:
    """A client that answers what the server asks and keeps everything that it says."""

    def __init__(self, folder: Path, capabilities: dict[str, Any] | None = None, **options: Any) -> None:
        self.folder = folder
        self.client = RawClient()
        self.documents: set[str] = set()
        """The URIs of open documents."""
        self.messages: list[dict[str, Any]] = []
        self.answers: dict[str, Callable[[Any], Any]] = {}
        """What to answer to requests of the server, by method; null to all others."""
        self.settings = {"emulate": "onSave", "emulateTimeLimit": 60, **options.pop("settings", {})}
        answer = self.client.request(
            "initialize",
            {
                "processId": None,
                "rootUri": folder.as_uri(),
                "capabilities": capabilities or {"window": {"workDoneProgress": True}},
                "initializationOptions": {"settings": self.settings, **options},
            },
        )
        assert "result" in answer
        self.client.notify("initialized", {})

    def open(self, text: str, name: str = "k.cl", language: str = "opencl") -> str:
        path = self.folder / name
        self.uri = path.as_uri()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, newline="")
        document = {"uri": path.as_uri(), "languageId": language, "version": 1, "text": text}
        self.client.notify("textDocument/didOpen", {"textDocument": document})
        self.documents.add(path.as_uri())
        return path.as_uri()

    def change(self, uri: str, text: str, version: int) -> None:
        """Replace the whole text."""
        document = {"uri": uri, "version": version}
        self.client.notify(
            "textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]}
        )

    def close(self, uri: str) -> None:
        self.client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
        self.documents.discard(uri)

    def begin_anew(self, folder: Path) -> None:
        """Close everything and go to another folder, as good as another session and much sooner."""
        for uri in tuple(self.documents):
            self.close(uri)
        self.command("clmap.debug")  # Its answer comes after all that was on its way.
        self.messages.clear()
        self.answers.clear()
        self.folder = folder

    def command(self, name: str, *arguments: Any) -> Any:
        return self.request("workspace/executeCommand", {"command": name, "arguments": list(arguments)})

    def diagnostics(self, uri: str, version: int | None = None) -> list[dict[str, Any]]:
        """Wait for diagnostics to be published (for a version); return them."""

        def wanted(message: dict[str, Any]) -> bool:
            params = message.get("params") or {}
            if message.get("method") != "textDocument/publishDiagnostics" or params["uri"] != uri:
                return False
            return version is None or params.get("version") == version

        found: list[dict[str, Any]] = self.wait(wanted)["params"]["diagnostics"]
        return found

    def is_published(self, uri: str) -> bool:
        """Tell whether diagnostics of a document have come."""
        published = [it for it in self.messages if it.get("method") == "textDocument/publishDiagnostics"]
        return any(it["params"]["uri"] == uri for it in published)

    def diagnostics_now(self, uri: str) -> list[dict[str, Any]]:
        """Return what was last published of a document."""
        published = [it for it in self.messages if it.get("method") == "textDocument/publishDiagnostics"]
        mine = [it["params"]["diagnostics"] for it in published if it["params"]["uri"] == uri]
        return mine[-1] if mine else []

    def until(
        self, uri: str, wanted: Callable[[list[dict[str, Any]]], bool], version: int | None = None
    ) -> list[dict[str, Any]]:
        """Wait until what is shown of a document (of a version) is wanted; return it.

        To be used where it may be shown several times on the way, or may be there already.
        """

        def is_there() -> bool:
            ours = [it["params"] for it in self.messages if it.get("method") == PUBLISHED]
            last = next((it for it in reversed(ours) if it["uri"] == uri), None)
            if last is None or (version is not None and last.get("version") != version):
                return False
            return wanted(last["diagnostics"])

        while not is_there():
            self.wait(lambda _: True)
        return self.diagnostics_now(uri)

    def save(self, uri: str) -> None:
        self.client.notify("textDocument/didSave", {"textDocument": {"uri": uri}})

    def wait(self, wanted: Callable[[dict[str, Any]], bool], timeout: float = 180) -> dict[str, Any]:
        """Return the first message that is wanted, answering requests of the server meanwhile."""
        deadline = time.monotonic() + timeout
        while True:
            message = self.client.receive(deadline - time.monotonic())
            self.messages.append(message)
            if "id" in message and "method" in message:
                answer = self.answers.get(message["method"], lambda _: None)
                self.client.send({"id": message["id"], "result": answer(message.get("params"))})
            if wanted(message):
                return message

    def wait_for_code(self, code: str) -> dict[str, Any]:
        def wanted(message: dict[str, Any]) -> bool:
            if message.get("method") != "textDocument/publishDiagnostics":
                return False
            return any(it["code"] == code for it in message["params"]["diagnostics"])

        message = self.wait(wanted)
        found: dict[str, Any] = next(it for it in message["params"]["diagnostics"] if it["code"] == code)
        return found

    def wait_for_progress(self, kind: str) -> dict[str, Any]:
        found = self.wait(
            lambda it: it.get("method") == "$/progress" and it["params"]["value"]["kind"] == kind
        )
        params: dict[str, Any] = found["params"]
        return params

    def request(self, method: str, params: Any) -> Any:
        self.client._next_id += 1
        number = self.client._next_id
        self.client.send({"id": number, "method": method, "params": params})
        return self.wait(lambda it: it.get("id") == number and "method" not in it)["result"]

    def worker(self) -> int | None:
        text = self.request("workspace/executeCommand", {"command": "clmap.debug", "arguments": []})
        line = next(it for it in text.splitlines() if it.startswith("worker process"))
        word = line.split()[-1]
        return None if word == "None" else int(word)
