"""Play a recorded editing session against a real server over stdio, and print latencies by kind of request.

    python -m benchmarks.keystrokes session.jsonl && python -m benchmarks.replay session.jsonl

A recording is a file of JSON lines, in order of time: `{"at": SECONDS, "method": …, "params": …}`. Requests
and notifications are told apart by their method. Answers are not waited for: what is due is sent, as an
editor would; latency is the time from sending to the answer. Diagnostics are timed from the last change of
a burst: a change after which nothing changes for `BURST_S`, to the first diagnostics of its version. A
request that an edit overtook may be answered with `ContentModified`: it is counted, but neither as an error
nor with a latency.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

BURST_S = 0.3
CONTENT_MODIFIED = -32801
"""The protocol's code for a request whose answer would be about a text that is gone."""
NOTIFICATIONS = ("textDocument/did", "workspace/did", "$/", "initialized", "exit")


@dataclass(slots=True)
class Measured:
    """What was seen: seconds by kind, memory of the server in MiB by time, answers that were errors."""

    latencies: dict[str, list[float]] = field(default_factory=dict)
    memory: list[tuple[float, float]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    overtaken: Counter[str] = field(default_factory=Counter)
    """Requests by kind that an edit overtook, and that were refused for it."""
    cpu_s: float = 0.0
    """CPU time of the server's process, without its worker."""
    n_changes: int = 0
    """Edits that were sent so far."""

    def add(self, kind: str, seconds: float) -> None:
        """Note one latency."""
        self.latencies.setdefault(kind, []).append(seconds)


@dataclass(frozen=True, slots=True)
class Sent:
    """A request that is not answered yet."""

    kind: str
    at: float
    """Seconds of the monotonic clock."""
    n_changes: int
    """Edits that were sent before it."""


class Player:
    """One server process and the recording that it is played."""

    def __init__(self, events: Sequence[dict[str, Any]], speed: float) -> None:
        self.events = events
        self.speed = speed
        self.measured = Measured()
        self._sent: dict[int, Sent] = {}
        self._changes: dict[tuple[str, int], float] = {}
        self._process: asyncio.subprocess.Process | None = None
        self._quiet = asyncio.Event()

    async def play(self) -> Measured:
        """Start the server, play everything, end it."""
        process = self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "clmap_lsp", "--stdio"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=2**26,
        )
        reading = asyncio.create_task(self._read())
        start = time.monotonic()
        number = 0
        bursts = last_of_bursts(self.events)
        for index, event in enumerate(self.events):
            if event["method"] in ("textDocument/didClose", "shutdown"):
                await self._settled()  # What is still open would be cancelled, and rightly.
            await asyncio.sleep(max(0.0, start + event["at"] / self.speed - time.monotonic()))
            message = {"jsonrpc": "2.0", "method": event["method"], "params": event["params"]}
            now = time.monotonic()
            if not event["method"].startswith(NOTIFICATIONS):
                number += 1
                message["id"] = number
                self._sent[number] = Sent(event["method"], now, self.measured.n_changes)
            self.measured.n_changes += event["method"] == "textDocument/didChange"
            if index in bursts:
                document = event["params"]["textDocument"]
                self._changes[document["uri"], document["version"]] = now
            await self._write(message)
            if index % 100 == 0:
                self.measured.memory.append((now - start, memory_mib(process.pid)))
            if event["method"] == "initialize":
                await self._settled()
        await self._settled()
        self.measured.memory.append((time.monotonic() - start, memory_mib(process.pid)))
        self.measured.cpu_s = cpu_s(process.pid)
        await self._write({"jsonrpc": "2.0", "method": "exit"})
        await process.wait()
        await reading
        return self.measured

    async def _write(self, message: dict[str, Any]) -> None:
        assert self._process is not None and self._process.stdin is not None
        body = json.dumps(message).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        await self._process.stdin.drain()

    async def _read(self) -> None:
        assert self._process is not None and self._process.stdout is not None
        stream = self._process.stdout
        try:
            while True:
                header = await stream.readuntil(b"\r\n\r\n")
                length = int(header.split(b"Content-Length:")[1].split(b"\r\n")[0])
                await self._take(json.loads(await stream.readexactly(length)))
        except (asyncio.IncompleteReadError, ConnectionError):
            return

    async def _take(self, message: dict[str, Any]) -> None:
        now = time.monotonic()
        method = message.get("method")
        if method is None:
            self.answered(
                self._sent.pop(message["id"], Sent("?", now, self.measured.n_changes)), message, now
            )
        elif method == "textDocument/publishDiagnostics":
            params = message["params"]
            self._published(params["uri"], params.get("version") or 0, now)
        if method is not None and "id" in message:
            items = (message.get("params") or {}).get("items") or ()
            result = [None for _ in items] if method == "workspace/configuration" else None
            await self._write({"jsonrpc": "2.0", "id": message["id"], "result": result})

    def answered(self, sent: Sent, answer: dict[str, Any], now: float) -> None:
        """Note the answer to a request."""
        error = answer.get("error")
        if error and error["code"] == CONTENT_MODIFIED and self.measured.n_changes > sent.n_changes:
            self.measured.overtaken[sent.kind] += 1
            return
        self.measured.add(sent.kind, now - sent.at)
        if error:
            self.measured.errors.append(f"{sent.kind}: {error['message']}")

    def _published(self, uri: str, version: int, now: float) -> None:
        """Close the bursts that these diagnostics answer; those of a newer text answer older ones too."""
        for key in [it for it in self._changes if it[0] == uri and it[1] <= version]:
            self.measured.add("diagnostics after a burst", now - self._changes.pop(key))

    async def _settled(self) -> None:
        """Wait until every request is answered and every burst has its diagnostics, at most a minute."""
        end = time.monotonic() + 60
        while (self._sent or self._changes) and time.monotonic() < end:
            await asyncio.sleep(0.05)


def last_of_bursts(events: Sequence[dict[str, Any]]) -> set[int]:
    """Return the indices of the changes after which their document stays as it is for `BURST_S`."""
    changes: dict[str, list[tuple[float, int]]] = {}
    for index, event in enumerate(events):
        if event["method"] in ("textDocument/didChange", "textDocument/didOpen", "textDocument/didClose"):
            uri = event["params"]["textDocument"]["uri"]
            changes.setdefault(uri, []).append((event["at"], index))
    found = set()
    for mine in changes.values():
        for (at, index), (following, _) in zip(mine, [*mine[1:], (float("inf"), 0)], strict=True):
            if following - at >= BURST_S and events[index]["method"] == "textDocument/didChange":
                found.add(index)
    return found


def memory_mib(pid: int | None) -> float:
    """Return the resident memory of a process; 0 where it cannot be read."""
    try:
        for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return 0.0


def cpu_s(pid: int | None) -> float:
    """Return the CPU time of a process so far; 0 where it cannot be read."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def percentile(values: Iterable[float], part: float) -> float:
    """Return the value below which `part` of the values lie (nearest rank)."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def table(measured: Measured) -> str:
    """Return the latencies as a table, in milliseconds, then memory and errors."""
    lines = [f"{'kind':<32}{'count':>7}{'p50 ms':>9}{'p95 ms':>9}{'max ms':>9}"]
    for kind, values in sorted(measured.latencies.items()):
        figures = (percentile(values, 0.5), percentile(values, 0.95), max(values))
        lines.append(f"{kind:<32}{len(values):>7}" + "".join(f"{it * 1000:>9.1f}" for it in figures))
    resident = [it for _, it in measured.memory]
    if resident and resident[-1]:
        early = resident[min(len(resident) - 1, max(1, len(resident) // 5))]
        lines.append(
            f"memory: {resident[0]:.0f} MiB first, {early:.0f} after a fifth, {resident[-1]:.0f} at the end"
        )
    if measured.cpu_s and measured.n_changes:
        each = measured.cpu_s / measured.n_changes * 1000
        lines.append(f"cpu: {measured.cpu_s:.1f} s, {each:.1f} ms for each of {measured.n_changes} edits")
    lines += [f"overtaken by an edit: {n} {kind}" for kind, n in sorted(measured.overtaken.items())]
    lines += [f"error: {it}" for it in dict.fromkeys(measured.errors)]
    return "\n".join(lines)


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.replay", description=__doc__.split("\n")[0])
    parser.add_argument("recording", type=Path)
    parser.add_argument("--speed", type=float, default=1.0, help="times as fast as it was recorded")
    args = parser.parse_args(argv)
    measured = asyncio.run(Player(read(args.recording), args.speed).play())
    print(table(measured))
    return 1 if measured.errors else 0


if __name__ == "__main__":
    sys.exit(main())
