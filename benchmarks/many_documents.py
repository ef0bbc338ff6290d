"""Opens hundreds of documents in a real server at once, and prints what a person waits for, and what is kept.

    python -m benchmarks.many_documents [--documents 500] [--core 1] [--rounds 3] [FOLDER]

The documents are the OpenCL files of a folder, or else files of one to eight kernels each that differ
(`benchmarks.keystrokes`). Right behind the opening, documents from the middle of the queue are asked, each by
one request; then one is edited and one is saved. Last come memory and processor time: before, with all open,
and after closing them, for as many rounds as are wanted. Wall times hold for a machine that does nothing
else; the first line says how loaded it is. How many documents were published before the one that was asked
about holds on every machine. Start it in an empty folder: a document without a file looks for host code in
the folder that the server was started in, and what that is counts as memory, too.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.keystrokes import source
from benchmarks.replay import memory_mib
from benchmarks.typing_latency import ONE_LINE, Client
from clmap_lsp.server.indexing import opencl_files

SETTLED_S = 2.5
"""Without news for so long, the server has given back what it gives back."""
N_AFTER = 20
"""Requests about another document after all were closed."""
REQUESTS = ("hover", "definition", "completion", "codeLens", "codeAction", "inlayHint")


def texts(n_documents: int, folder: Path | None) -> dict[str, str]:
    """Return texts by URI."""
    if folder is not None:
        found = list(opencl_files(folder.absolute()))[:n_documents]
        return {it.as_uri(): it.read_text("utf-8", "replace") for it in found}
    made = {}
    for number in range(n_documents):
        text = source(1 + number * 7 % 8, 20 + number * 13 % 60)
        made[f"file:///many/k{number}.cl"] = text.replace("* 1.0f", f"* {number}.0f")
    return made


def begin(core: int | None) -> Client:
    """Return a client of a server that has analysed one document."""
    client = Client(core)
    parameters: dict[str, Any] = {"processId": os.getpid(), "rootUri": None, "capabilities": {}}
    options = {"settings": {"emulate": "off"}}
    client.ask("initialize", {**parameters, "initializationOptions": options})
    wait_answered(client)
    client.notify("initialized", {})
    client.open("untitled:warm", ONE_LINE)
    client.wait_for("untitled:warm")
    return client


def wait_answered(client: Client) -> None:
    """Wait until everything is answered."""
    while client.asked:
        time.sleep(0.002)


def ask(client: Client, uri: str, text: str, kind: str) -> None:
    """Send one request about a place in the middle of a kernel."""
    at = text.rfind("get_global_id", 0, max(len(text) // 2, text.find("get_global_id") + 1))
    at = max(0, text.find("[", max(at, 0)) - 1)  # The name of a buffer, where it is accessed.
    place = {"line": text.count("\n", 0, at), "character": at - text.rfind("\n", 0, at) - 1}
    params: dict[str, Any] = {"textDocument": {"uri": uri}}
    if kind in ("hover", "definition", "completion"):
        params["position"] = place
    if kind in ("codeAction", "inlayHint"):
        params["range"] = {"start": place, "end": place}
    if kind == "codeAction":
        params["context"] = {"diagnostics": []}
    client.ask(f"textDocument/{kind}", params)


def measure_waits(client: Client, documents: dict[str, str]) -> None:
    """Print what requests, an edit and a save of documents in the middle of the queue wait for."""
    uris = list(documents)
    chosen = [uris[len(uris) // 2 + 5 * at] for at in range(len(REQUESTS) + 2)]
    for kind, uri in zip(REQUESTS, chosen, strict=False):
        answers, before = len(client.answered), len(client.published)
        asked = time.monotonic()
        ask(client, uri, documents[uri], kind)
        wait_answered(client)
        took = client.answered[answers][1]
        shown = client.wait_for(uri) - asked
        between = sum(1 for it in list(client.published.values()) if asked < it[0][1] < asked + shown)
        print(
            f"  {kind:<11} answered in {took * 1e3:6.0f} ms; findings {shown * 1e3:6.0f} ms after it was"
            f" asked, {between} others first ({before} were done)"
        )
    edited, saved = chosen[-2:]
    asked = time.monotonic()
    change = {"range": {"start": _START, "end": _START}, "text": "\n"}
    document = {"uri": edited, "version": 2}
    client.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})
    print(f"  findings {(client.wait_for(edited, 2) - asked) * 1e3:6.0f} ms after an edit")
    asked = time.monotonic()
    client.notify("textDocument/didSave", {"textDocument": {"uri": saved}})
    print(f"  findings {(client.wait_for(saved) - asked) * 1e3:6.0f} ms after a save")


_START = {"line": 0, "character": 0}


def open_all(client: Client, documents: dict[str, str]) -> None:
    """Open all documents at once."""
    for uri, text in documents.items():
        client.open(uri, text)


def wait_all(client: Client, documents: dict[str, str]) -> None:
    """Wait until all documents are published."""
    for uri in documents:
        client.wait_for(uri, limit_s=900)


def wait_idle(client: Client) -> None:
    """Wait until the server does nothing, which takes long on a busy machine."""
    before = -1.0
    while (now := client.cpu_s()) > before:
        before = now
        time.sleep(1.0)


def measure_memory(client: Client, documents: dict[str, str], rounds: int) -> None:
    """Print the resident memory before opening, with all open, and after closing all."""
    time.sleep(SETTLED_S)
    wait_idle(client)
    for number in range(rounds):
        before = memory_mib(client.process.pid)
        client.published.clear()
        cpu = client.cpu_s()
        open_all(client, documents)
        wait_all(client, documents)
        time.sleep(SETTLED_S)
        opened, cpu = memory_mib(client.process.pid), client.cpu_s() - cpu
        for uri in documents:
            client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
        time.sleep(SETTLED_S)
        wait_idle(client)
        for _ in range(N_AFTER):  # What served the last of them is let go of with the next.
            ask(client, "untitled:warm", ONE_LINE, "definition")
            wait_answered(client)
        closed = memory_mib(client.process.pid)
        given_back = (opened - closed) / max(opened - before, 1e-9)
        print(
            f"  round {number + 1}: {before:.0f} MiB before, {opened:.0f} with {len(documents)} open,"
            f" {closed:.0f} after closing; {given_back:.0%} given back; {cpu:.1f} s of CPU"
        )


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.many_documents", description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--documents", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--core", type=int)
    parser.add_argument("--only", choices=("waits", "memory"))
    arguments = parser.parse_args(argv)
    documents = texts(arguments.documents, arguments.folder)
    n_characters = sum(map(len, documents.values()))
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}", end="; ")
    print(f"{len(documents)} documents, {n_characters:,} characters")
    if arguments.only != "memory":
        client = begin(arguments.core)
        open_all(client, documents)
        measure_waits(client, documents)
        client.process.kill()
    if arguments.only != "waits":
        client = begin(arguments.core)
        measure_memory(client, documents, arguments.rounds)
        client.process.kill()


if __name__ == "__main__":
    main()
