"""What language features cost while a person types ten keys a second, asked of a real server on stdio.

    python -m benchmarks.language_latency FILE... [--keys 90] [--core 1] [--behind TEXT] [--no-line]

Each key is one insertion behind a statement in the middle of the file, or behind a text, a line's end first
(unless `--no-line`, as in a macro's body); at each, one of
completion, definition (of a name behind the place) and the change of the semantic tokens is asked for in
turn, as soon as the key is sent. Printed are the processor time of the server between the key and the answer,
renewing the index included, which is what a person waits on a machine that does nothing else, and the wall
time, which depends on what else runs.
"""

from __future__ import annotations

import argparse
import os
import re
import threading
import time
from pathlib import Path
from typing import Any

from benchmarks.typing_latency import KEY_S, Client, _shares, behind_statement

TYPED = "\n    float tmp_value = get_global_id(0) * 2.0f;"
_NAME = re.compile(r"\b[A-Za-z_]\w{3,}\b")
ASKED = ("completion", "definition", "semanticTokens/full/delta")


class Typist(Client):
    """A client that waits for each answer."""

    def __init__(self, core: int | None) -> None:
        self._answer: Any = None
        self._has_answered = threading.Event()
        super().__init__(core)

    def call(self, method: str, params: Any) -> Any:
        """Ask, and return the result."""
        self._has_answered.clear()
        self.ask(method, params)
        if not self._has_answered.wait(120):
            raise TimeoutError(method)
        return self._answer

    def _take(self, message: dict[str, Any], now: float) -> None:
        super()._take(message, now)
        if "method" not in message:
            self._answer = message.get("result")
            self._has_answered.set()

    def cpu_s(self) -> float:
        """Return the processor time of the server's threads, to the nanosecond."""
        threads = Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(it.read_text().split()[0]) for it in threads) / 1e9


def named_behind(client: Typist, document: dict[str, Any], text: str, place: int) -> tuple[int, int]:
    """Return where a name stands, some lines behind a place, that has a definition before it."""
    for it in _NAME.finditer(text, place + 200):
        at = it.start()
        row, column = text.count("\n", 0, at), at - text.rfind("\n", 0, at) - 1
        position = {"line": row, "character": column}
        found = client.call("textDocument/definition", {**document, "position": position})
        if found and found[0]["range"]["start"]["line"] < row:
            return row, column
    raise SystemExit("no name behind the middle of the file has a definition")


def measure(path: Path, n_keys: int, core: int | None, behind: str, typed: str) -> None:
    """Type in one file and print what each answer cost."""
    text = path.read_text("utf-8", "replace")
    client = Typist(core)
    parameters = {"processId": os.getpid(), "rootUri": None, "capabilities": {}}
    options = {"settings": {"emulate": "off"}}
    client.call("initialize", {**parameters, "initializationOptions": options})
    client.notify("initialized", {})
    uri = path.absolute().as_uri()
    document = {"textDocument": {"uri": uri}}
    client.open(uri, text)
    client.wait_for(uri)
    client.wait_quiet()
    result = client.call("textDocument/semanticTokens/full", document)["resultId"]
    place = text.index(behind) + len(behind) if behind else behind_statement(text)
    line, character = text.count("\n", 0, place), place - text.rfind("\n", 0, place) - 1
    row, column = named_behind(client, document, text, place)
    n_lines = 0
    cpu: dict[str, list[float]] = {it: [] for it in ASKED}
    wall: dict[str, list[float]] = {it: [] for it in ASKED}
    start = time.monotonic()
    for number in range(n_keys):
        key = typed[number % len(typed)]
        here = {"line": line, "character": character}
        change = {"range": {"start": here, "end": here}, "text": key}
        kind = ASKED[number % len(ASKED)]
        before, sent = client.cpu_s(), time.monotonic()
        client.notify(
            "textDocument/didChange",
            {"textDocument": {"uri": uri, "version": number + 2}, "contentChanges": [change]},
        )
        line, character = (line + 1, 0) if key == "\n" else (line, character + 1)
        n_lines += key == "\n"
        match kind:
            case "completion":
                more: dict[str, Any] = {"position": {"line": line, "character": character}}
            case "definition":
                more = {"position": {"line": row + n_lines, "character": column}}
            case _:
                more = {"previousResultId": result}
        answer = client.call(f"textDocument/{kind}", {**document, **more})
        cpu[kind].append(client.cpu_s() - before)
        wall[kind].append(time.monotonic() - sent)
        result = answer["resultId"] if kind not in ("completion", "definition") else result
        time.sleep(max(0.0, start + (number + 1) * KEY_S - time.monotonic()))
    print(f"{path.name}, {len(text):,} characters, {n_keys} keys")
    for kind in ASKED:
        print(f"  {kind:26} CPU {_shares(cpu[kind])}; wall {_shares(wall[kind])}")
    for error in client.errors[:3]:
        print(f"  {error}")
    client.process.kill()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--keys", type=int, default=90)
    parser.add_argument("--core", type=int)
    parser.add_argument("--behind", default="", help="type behind the first such text")
    parser.add_argument("--no-line", action="store_true", help="type no line's end")
    arguments = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    for path in arguments.files:
        typed = TYPED.lstrip() if arguments.no_line else TYPED
        measure(path, arguments.keys, arguments.core, arguments.behind, typed)


if __name__ == "__main__":
    main()
