"""A storm of edits while workers are killed, by a real client: no wrong line, stale finding or lost answer.

    python -m benchmarks.storm [--edits 10000] [--seed 0] [--rate 60] [--every 250]

Three files are edited at random places (numbers, lines that come and go, whole kernels, faults that are taken
back), saved, and asked about. Now and then a child of the server is killed: the worker, its spare, whatever
runs. Every finding that is published must lie within the text of the version that it is published for. After
each stretch of edits everything must be answered, and what is shown of each file be what a fresh server says
of its text. Prints what went wrong; the exit code is 1 if anything did. Linux only.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.keystrokes import source
from benchmarks.typing_latency import Client

REQUESTS = ("hover", "completion", "definition", "codeLens", "documentSymbol", "inlayHint", "codeAction")
LOOK_S = 0.4
N_QUIET = 6
"""Without a message and without processor time in so many looks, the server has said all."""
IDLE_CPU_S = 0.011
"""What it takes from one look to the next when it does nothing: at most a tick."""
PATIENCE_S = 300.0
SETTINGS = {"emulate": "onIdle", "device": "nvidia-hopper", "emulateTimeLimit": 60}


class Watcher(Client):
    """A client that keeps what is shown, and what is wrong with it."""

    def __init__(self) -> None:
        self.texts: dict[tuple[str, int], str] = {}
        """Every version of each document, as far as something may still be said of it."""
        self.shown: dict[str, tuple[int, list[Any]]] = {}
        self.wrong: list[str] = []
        self.last_message = time.monotonic()
        super().__init__(None)

    def begin(self) -> None:
        """Go through the handshake."""
        parameters = {"processId": os.getpid(), "rootUri": None, "capabilities": {}}
        self.ask("initialize", {**parameters, "initializationOptions": {"settings": SETTINGS}})
        self.settle()
        self.notify("initialized", {})

    def _take(self, message: dict[str, Any], now: float) -> None:
        self.last_message = now
        super()._take(message, now)
        if message.get("method") == "textDocument/publishDiagnostics":
            self._check(message["params"])

    def _check(self, params: dict[str, Any]) -> None:
        uri, version, found = params["uri"], params.get("version"), params["diagnostics"]
        text = self.texts.get((uri, version or -1))
        if text is None:
            if found:
                self.wrong.append(f"findings for version {version} of {uri}, which nobody sent")
            return
        before = self.shown.get(uri, (0, []))[0]
        if version < before:
            self.wrong.append(f"version {version} of {uri} was published after {before}")
        self.shown[uri] = version, found
        lines = text.split("\n")
        for it in found:
            for place in (it["range"]["start"], it["range"]["end"]):
                if place["line"] >= len(lines) or place["character"] > utf16(lines[place["line"]]):
                    self.wrong.append(f"{it['code']} at {place} lies outside of version {version} of {uri}")

    def settle(self) -> bool:
        """Wait until all is answered and nothing more is said or done; tells whether it came to that."""
        deadline, cpu, n_quiet = time.monotonic() + PATIENCE_S, -1.0, 0
        while time.monotonic() < deadline:
            now = self.family_cpu_s()
            is_quiet = not self.asked and now - cpu <= IDLE_CPU_S
            is_quiet = is_quiet and time.monotonic() - self.last_message > LOOK_S
            n_quiet = n_quiet + 1 if is_quiet else 0
            if n_quiet == N_QUIET:
                return True
            cpu = now
            time.sleep(LOOK_S)
        return False

    def family(self) -> Iterator[int]:
        """Yield the server's processes, itself first."""
        waiting = [self.process.pid]
        while waiting:
            pid = waiting.pop()
            yield pid
            for it in Path(f"/proc/{pid}/task").glob("*/children"):
                try:
                    waiting += map(int, it.read_text().split())
                except OSError:
                    continue

    def family_cpu_s(self) -> float:
        """Return the processor time of all of them that live."""
        total = 0
        for pid in self.family():
            try:
                fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            total += int(fields[11]) + int(fields[12])
        return total / os.sysconf("SC_CLK_TCK")


class Storm:
    """The documents and the dice."""

    def __init__(self, client: Watcher, seed: int) -> None:
        self.client = client
        self.dice = random.Random(seed)
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.undone: dict[str, str] = {}
        """Texts before a fault was typed, to which the next edit goes back."""
        self.n_killed = 0

    def open(self) -> None:
        """Open the files."""
        for number, n_kernels in enumerate((3, 6, 8)):
            uri = f"file:///storm/k{number}.cl"
            self.texts[uri], self.versions[uri] = source(n_kernels, 24 * n_kernels), 1
            self.client.texts[uri, 1] = self.texts[uri]
            self.client.open(uri, self.texts[uri])

    def edit(self) -> None:
        """Edit one of the files."""
        uri = self.dice.choice(list(self.texts))
        self._send(uri, *self._change(uri, self.texts[uri]))

    def finish(self) -> None:
        """Take back what was typed as a fault and still stands."""
        for uri in list(self.undone):
            self._send(uri, 0, len(self.texts[uri]), self.undone.pop(uri))

    def _send(self, uri: str, start: int, end: int, new: str) -> None:
        """Change a text, and tell so as an editor does."""
        text = self.texts[uri]
        now = text[:start] + new + text[end:]
        version = self.versions[uri] + 1
        self.texts[uri], self.versions[uri] = now, version
        self.client.texts[uri, version] = now
        change = {"range": {"start": place(text, start), "end": place(text, end)}, "text": new}
        document = {"uri": uri, "version": version}
        self.client.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})

    def _change(self, uri: str, text: str) -> tuple[int, int, str]:
        dice = self.dice
        if uri in self.undone:
            return 0, len(text), self.undone.pop(uri)
        kind = dice.random()
        if kind < 0.45:
            at = dice.choice([it for it in range(len(text)) if text.startswith("1.0", it)]) + 3
            return (at, at + 1, "") if text[at].isdigit() else (at, at, dice.choice("0123456789"))
        line = text.find("\n", dice.randrange(len(text) - 1))
        if kind < 0.6:
            return line, line, "\n" * dice.randrange(1, 4)
        if kind < 0.75:
            end = line
            while text[end : end + 2] == "\n\n":
                end += 1
            return line, end, ""
        if kind < 0.85:
            self.undone[uri] = text
            return line, line, dice.choice((" {", " )", " int", "#if 0\n", "/*", " \U0001f600"))
        head = text.find("// clmap:", dice.randrange(len(text)))
        if head < 0 or kind > 0.95:
            return line, line, f"  // {dice.randrange(100)} äöü"
        self.undone[uri] = text
        end = text.find("\n}\n", head)
        return head, len(text) if end < 0 else end + 3, ""

    def ask(self) -> None:
        """Ask something about one of the files."""
        uri = self.dice.choice(list(self.texts))
        text = self.texts[uri]
        here = place(text, self.dice.randrange(len(text)))
        kind = self.dice.choice(REQUESTS)
        params: dict[str, Any] = {"textDocument": {"uri": uri}}
        if kind in ("hover", "completion", "definition"):
            params["position"] = here
        if kind in ("inlayHint", "codeAction"):
            params["range"] = {"start": here, "end": here}
        if kind == "codeAction":
            params["context"] = {"diagnostics": []}
        self.client.ask(f"textDocument/{kind}", params)

    def save(self) -> None:
        """Save one of the files."""
        uri = self.dice.choice(list(self.texts))
        self.client.notify("textDocument/didSave", {"textDocument": {"uri": uri}})

    def kill(self) -> None:
        """Kill a child of the server."""
        children = list(self.client.family())[1:]
        if children:
            try:
                os.kill(self.dice.choice(children), signal.SIGKILL)
            except ProcessLookupError:
                return
            self.n_killed += 1

    def check(self) -> list[str]:
        """Return what is wrong now that all is quiet."""
        client = self.client
        wrong, client.wrong = client.wrong, []
        if not client.settle():
            wrong.append(f"not quiet after {PATIENCE_S:.0f} s; unanswered: {list(client.asked.values())}")
        wrong += [it for it in client.errors if "has changed" not in it]
        client.errors.clear()
        expected = fresh(self.texts)
        for uri in self.texts:
            version, found = client.shown.get(uri, (0, []))
            if version != self.versions[uri]:
                wrong.append(f"{uri} is shown as of version {version}, not {self.versions[uri]}")
            if told(found) != told(expected[uri]):
                ours, theirs = told(found), told(expected[uri])
                wrong += [f"{uri}: stale {it}" for it in ours if it not in theirs]
                wrong += [f"{uri}: missing {it}" for it in theirs if it not in ours]
        for key in [it for it in client.texts if it[1] < self.versions[it[0]]]:
            del client.texts[key]
        return wrong


def fresh(texts: dict[str, str]) -> dict[str, list[Any]]:
    """Return what a server says that has seen nothing else."""
    client = Watcher()
    client.begin()
    for uri, text in texts.items():
        client.texts[uri, 1] = text
        client.open(uri, text)
    for uri in texts:
        client.wait_for(uri)
    client.settle()
    client.process.kill()
    client.process.wait()
    return {uri: client.shown.get(uri, (0, []))[1] for uri in texts}


def told(found: Sequence[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """Return what a person sees of findings."""
    return sorted((str(it["range"]), str(it.get("code")), it["message"], it.get("severity")) for it in found)


def place(text: str, offset: int) -> dict[str, int]:
    """Return an offset as the protocol counts: lines, and UTF-16 code units."""
    start = text.rfind("\n", 0, offset) + 1
    return {"line": text.count("\n", 0, offset), "character": utf16(text[start:offset])}


def utf16(text: str) -> int:
    """Return the length of a text in UTF-16 code units."""
    return len(text.encode("utf-16-le")) // 2


def run(n_edits: int, seed: int, rate: float, every: int) -> list[str]:
    """Play a storm; return what was wrong."""
    client = Watcher()
    client.begin()
    storm = Storm(client, seed)
    storm.open()
    wrong: list[str] = []
    began = time.monotonic()
    for number in range(1, n_edits + 1):
        storm.edit()
        if storm.dice.random() < 0.3:
            storm.ask()
        if storm.dice.random() < 0.04:
            storm.save()
        if storm.dice.random() < 0.03:
            storm.kill()
        time.sleep(1 / rate if storm.dice.random() > 0.01 else 1.5)  # Now and then a pause for the emulator.
        if number % every == 0 or number == n_edits:
            if storm.dice.random() < 0.5:
                storm.finish()
            found = storm.check()
            wrong += found
            print(
                f"{number} edits, {storm.n_killed} killed, {len(client.answered)} answers,"
                f" {time.monotonic() - began:.0f} s: {len(found)} wrong",
                flush=True,
            )
            for it in found[:10]:
                print("  ", it, flush=True)
    if client.process.poll() is not None:
        wrong.append(f"the server ended with {client.process.returncode}")
    client.process.kill()
    client.process.wait()
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.storm", description=__doc__)
    parser.add_argument("--edits", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rate", type=float, default=60.0, help="edits a second")
    parser.add_argument("--every", type=int, default=250, help="edits from one check to the next")
    arguments = parser.parse_args()
    wrong = run(arguments.edits, arguments.seed, arguments.rate, arguments.every)
    print(f"{arguments.edits} edits, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
