"""Types at ten keys a second in a file, through a real server on stdio, and prints what a person waits for.

    python -m benchmarks.typing_latency FILE... [--seconds 12] [--core 1] [--own-time] [--inside]

A file is opened, then a file of one line; then statements are typed into the middle kernel of the first one
(`--inside`: behind the statement in the middle of the file), with a hover, a completion or a definition asked
for at each key. `--core` holds the server to one processor
core. Diagnostics are timed from each key to the first publication of that version or a later one. Wall times
hold for a machine that does nothing else: the first line says how loaded it is. With `--own-time` each key
waits until the one before is answered, and all times are processor time of the server (Linux): what an idle
core would show, on a machine that others use too.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

TYPED = "\n    int tmp_v = get_local_id(0) * 2;"
KEY_S = 0.1
ONE_LINE = "__kernel void k(__global float *a) { a[get_global_id(0)] = 1; }\n"
REQUESTS = ("hover", "completion", "definition")
CPU_CLOCK = 2
"""`CPUCLOCK_SCHED` of Linux: with a process's number, the id of its clock."""


class Client:
    """A server process, what was asked of it, and when it answered."""

    def __init__(self, core: int | None, *, own_time: bool = False) -> None:
        held = [] if core is None or sys.platform != "linux" else ["taskset", "-c", str(core)]
        command = [*held, sys.executable, "-P", "-m", "clmap_lsp", "--stdio"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.asked: dict[int, tuple[str, float]] = {}
        self.answered: list[tuple[str, float]] = []
        """Each answer's kind and the seconds that it took."""
        self.errors: list[str] = []
        self.published: dict[str, list[tuple[int | None, float, int]]] = {}
        """By URI: version, time, and number of diagnostics."""
        self._count = 0
        self.own_time = own_time
        threading.Thread(target=self._read, daemon=True).start()

    def now(self) -> float:
        """Return the time by which answers are timed."""
        return self.cpu_s() if self.own_time else time.monotonic()

    def send(self, message: dict[str, Any]) -> None:
        """Send one message."""
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def notify(self, method: str, params: Any) -> None:
        """Send a notification."""
        self.send({"method": method, "params": params})

    def ask(self, method: str, params: Any) -> None:
        """Send a request; its answer is timed."""
        self._count += 1
        self.asked[self._count] = method.rsplit("/", 1)[-1], self.now()
        self.send({"id": self._count, "method": method, "params": params})

    def open(self, uri: str, text: str) -> None:
        """Open a document."""
        document = {"uri": uri, "languageId": "opencl", "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})

    def wait_for(self, uri: str, version: int | None = None, limit_s: float = 300) -> float:
        """Wait until a document, or that version of it, is published; return when it was."""
        deadline = time.monotonic() + limit_s
        while time.monotonic() < deadline:
            for published, when, _ in list(self.published.get(uri, ())):
                if version is None or (published or 0) >= version:
                    return when
            time.sleep(0.002)
        raise TimeoutError(f"{uri} was not published")

    def wait_quiet(self, seconds: float = 1.5) -> None:
        """Wait until nothing more is published."""
        seen = -1
        while seen != (now := sum(map(len, self.published.values()))):
            seen = now
            time.sleep(seconds)

    def cpu_s(self) -> float:
        """Return the processor time that the server has taken so far."""
        if self.own_time:
            return time.clock_gettime((~self.process.pid << 3) | CPU_CLOCK)
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def wait_answered(self, uri: str, version: int, limit_s: float = 60) -> None:
        """Wait until a version of a document is published, and nothing asked is left open."""
        self.wait_for(uri, version, limit_s)
        deadline = time.monotonic() + limit_s
        while self.asked and time.monotonic() < deadline:
            time.sleep(0.002)

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while line := stream.readline():
            length = int(line.split(b":")[1])
            while stream.readline().strip():
                pass
            self._take(json.loads(stream.read(length)), self.now())

    def _take(self, message: dict[str, Any], now: float) -> None:
        if "method" not in message:
            kind, sent = self.asked.pop(message["id"])
            self.answered.append((kind, now - sent))
            if "error" in message:
                self.errors.append(f"{kind}: {message['error']['message']}")
        elif message["method"] == "textDocument/publishDiagnostics":
            params = message["params"]
            found = params.get("version"), now, len(params["diagnostics"])
            self.published.setdefault(params["uri"], []).append(found)
        elif "id" in message:
            self.send({"id": message["id"], "result": None})


def measure(
    path: Path, seconds: float, core: int | None, *, own_time: bool = False, is_inside: bool = False
) -> None:
    """Print what typing in one file costs and how long its answers take."""
    text = path.read_text("utf-8", "replace")
    client = Client(core, own_time=own_time)
    options = {"settings": {"emulate": "off"}}
    parameters = {"processId": os.getpid(), "rootUri": None, "capabilities": {}}
    client.ask("initialize", {**parameters, "initializationOptions": options})
    while client.asked:
        time.sleep(0.01)
    client.notify("initialized", {})
    warm, uri, small = "untitled:warm", path.absolute().as_uri(), "untitled:small"
    client.open(warm, ONE_LINE)
    client.wait_for(warm)
    opened = client.now()
    client.open(uri, text)
    time.sleep(0.02)
    asked = client.now()
    client.open(small, ONE_LINE)
    small_s = client.wait_for(small) - asked
    first_s = client.wait_for(uri) - opened
    client.wait_quiet()
    print(
        f"{path.name}, {len(text):,} characters: open to first findings {first_s * 1e3:.0f} ms; one-line file"
    )
    print(f"  opened right behind it {small_s * 1e3:.0f} ms")
    client.published[uri].clear()
    client.answered.clear()
    start_cpu = client.cpu_s()
    at = behind_statement(text) if is_inside else behind_head(text)
    keys = type_into(client, uri, text, at, seconds)
    client.wait_for(uri, max(keys))
    cpu_ms = (client.cpu_s() - start_cpu) * 1e3 / len(keys)
    waits = [first_after(client, uri, version) - when for version, when in keys.items()]
    n_published = len(client.published[uri])
    print(f"  {len(keys)} keys, {n_published} publications, {cpu_ms:.0f} ms of CPU a key, requests included")
    print(f"  key to diagnostics {_shares(waits)}")
    for kind in (*REQUESTS, "codeLens"):
        print(f"  {kind} {_shares([took for it, took in client.answered if it == kind])}")
    if client.errors:
        print(f"  {len(client.errors)} errors, the first: {client.errors[0]}")
    client.process.kill()


def behind_head(text: str) -> int:
    """Return where the body of the middle kernel begins."""
    kernels = [it.start() for it in re.finditer(r"\b(?:__)?kernel\b", text)]
    return text.index("{", kernels[len(kernels) // 2]) + 1


def behind_statement(text: str) -> int:
    """Return where the statement in the middle of a file ends, if a line's end follows."""
    middle = len(text) // 2
    behind = text.find(";\n", middle)
    return (behind if behind >= 0 else text.rfind(";\n", 0, middle)) + 1


def type_into(client: Client, uri: str, text: str, at: int, seconds: float) -> dict[int, float]:
    """Type at an offset; return when each version was sent."""
    line, column = text.count("\n", 0, at), at - text.rfind("\n", 0, at) - 1
    fixed = {"line": line, "character": max(0, column - 8)}
    sent: dict[int, float] = {}
    start = time.monotonic()
    for number in range(round(seconds / KEY_S)):
        key = TYPED[number % len(TYPED)]
        place = {"line": line, "character": column}
        document = {"uri": uri, "version": number + 2}
        change = {"range": {"start": place, "end": place}, "text": key}
        sent[number + 2] = client.now()
        client.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})
        line, column = (line + 1, 0) if key == "\n" else (line, column + 1)
        kind = REQUESTS[number % len(REQUESTS)]
        here = {"line": line, "character": column} if kind == "completion" else fixed
        client.ask(f"textDocument/{kind}", {"textDocument": {"uri": uri}, "position": here})
        if number % 5 == 0:
            client.ask("textDocument/codeLens", {"textDocument": {"uri": uri}})
        if client.own_time:
            client.wait_answered(uri, number + 2)
            start = max(start, time.monotonic() - (number + 1) * KEY_S)
        time.sleep(max(0.0, start + (number + 1) * KEY_S - time.monotonic()))
    return sent


def first_after(client: Client, uri: str, version: int) -> float:
    """Return when a version, or a later one, was first published."""
    return min(when for published, when, _ in client.published[uri] if (published or 0) >= version)


def _shares(values: Sequence[float]) -> str:
    if not values:
        return "not asked"
    ordered = sorted(values)
    picked = (ordered[min(len(ordered) - 1, int(len(ordered) * share))] * 1e3 for share in (0.5, 0.95))
    return "p50 {:.0f} ms, p95 {:.0f} ms".format(*picked) + f", max {ordered[-1] * 1e3:.0f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--seconds", type=float, default=12)
    parser.add_argument("--core", type=int)
    parser.add_argument("--own-time", action="store_true", help="processor time, each key after the last")
    parser.add_argument("--inside", action="store_true", help="type in the middle of the file")
    arguments = parser.parse_args()
    load, *_ = os.getloadavg()
    print(f"{os.cpu_count()} cores, load {load:.1f}")
    for path in arguments.files:
        measure(
            path, arguments.seconds, arguments.core, own_time=arguments.own_time, is_inside=arguments.inside
        )


if __name__ == "__main__":
    main()
