"""Edits documents at random through a real server while its workers are killed; compares with a fresh one.

    python -m fuzz.sessions [--edits 10000] [--seed 0] [--burst 50]

Three documents are open: a file of many functions, a small one, and a header that it includes. They are
edited in bursts, with requests in between; processes that run kernels are killed at random. Of all that is
published the places must lie in the text of its version. At the end of each burst every request must have
been answered, and what is published must be what a server says that was just started and given these texts.

A kernel during whose run a worker was killed is said to have crashed (CM300): of such kernels what the
emulator finds is not compared.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.typing_latency import Client

QUIET_S = 2.0
"""Findings of the emulator come a second after the last edit."""
PATIENCE_S = 180.0
LOOKS = 4
"""Times that a difference is looked at, each after a longer while: on a busy machine a server that waits for
its turn looks as one that is done."""
AFRESH_EVERY = 10
"""Bursts after which the server that is compared with is another process; else its documents are reopened."""
HEADER = "#define STRIDE 4\nfloat twice(float x) { return x * 2; }\n"
SMALL = """#include "shared.h"
// clmap: global=64 local=16 a=zeros(256)
__kernel void small(__global float *a) {
    int i = get_global_id(0);
    a[i * STRIDE] = twice(a[i]);
}
"""
PIECES = (
    *(
        "x",
        "i",
        "[",
        "]",
        "(",
        ")",
        "{",
        "}",
        ";",
        "\n",
        "\r\n",
        " ",
        "//",
        "/*",
        "*/",
        '"',
        "#",
        "\\\n",
        "é",
        "🙂",
    ),
    *(
        "a[i * 32] = 1;",
        "int t = 0;\n",
        "if (i < 3) return;\n",
        "for (int j = 0; j < 4; j++) a[i + j] += 1;\n",
    ),
    *(
        "#define N 4\n",
        "barrier(CLK_LOCAL_MEM_FENCE);",
        "// clmap: ignore[CM101]\n",
        "a[i + 999] = 2;\n",
        "STRIDE",
    ),
)
REQUESTS = ("hover", "completion", "definition", "codeLens", "documentSymbol", "inlayHint", "codeAction")
EMULATED = "CM3"


def large(n_kernels: int = 24) -> str:
    """Return a file of many functions, of which an editor's server reads parts."""
    parts = ["__constant float table[4] = {1, 2, 3, 4};\n"]
    for number in range(n_kernels):
        parts.append(
            f"""
float helper{number}(__global const float *a, int i) {{
    // {"padding " * 40}
    return a[i * {number % 5 + 1}] * table[i & 3];
}}

// clmap: global=256 local=64
__kernel void k{number}(__global float *a, __global float *b) {{
    int i = get_global_id(0);
    for (int j = 0; j < 4; j++)
        b[i * {number % 4 + 1} + j] += helper{number}(a, i + j);
}}
"""
        )
    return "".join(parts)


class Session(Client):
    """A client that keeps what is published, and checks the places."""

    def __init__(self) -> None:
        self.found: dict[str, list[dict[str, Any]]] = {}
        """What was last published, by URI."""
        self.texts: dict[tuple[str, int], str] = {}
        """The versions of each document."""
        self.faults: list[str] = []
        self.last_heard = time.monotonic()
        super().__init__(None)

    def _take(self, message: dict[str, Any], now: float) -> None:
        if message.get("method") == "textDocument/publishDiagnostics":
            self.last_heard = time.monotonic()
            params = message["params"]
            self._check(params["uri"], params.get("version"), params["diagnostics"])
            self.found[params["uri"]] = params["diagnostics"]
        super()._take(message, now)

    def _check(self, uri: str, version: int | None, found: list[dict[str, Any]]) -> None:
        text = self.texts.get((uri, version or 0))
        if text is None:
            return
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        for it in found:
            for place in (it["range"]["start"], it["range"]["end"]):
                line = place["line"]
                if line >= len(lines) or place["character"] > len(lines[line].encode("utf-16-le")) // 2:
                    self.faults.append(f"a place outside of {uri} version {version}: {place} of {it['code']}")

    def begin(self) -> None:
        """Introduce itself."""
        parameters: dict[str, Any] = {"processId": os.getpid(), "rootUri": None, "capabilities": {}}
        self.ask("initialize", {**parameters, "initializationOptions": {"settings": {"emulate": "onIdle"}}})
        self.wait_answered()
        self.notify("initialized", {})

    def wait_answered(self) -> None:
        """Wait until all requests are answered; what is not is a fault."""
        deadline = time.monotonic() + PATIENCE_S
        while self.asked and time.monotonic() < deadline:
            time.sleep(0.02)
        self.faults += [f"{kind} was not answered" for kind, _ in self.asked.values()]
        self.asked.clear()

    def wait_idle(self, documents: dict[str, Text]) -> None:
        """Wait until the present versions are published, and nothing follows for a while."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            seen = {uri: self.published.get(uri, [(None, 0.0, 0)])[-1][0] for uri in documents}
            is_quiet = time.monotonic() - self.last_heard > QUIET_S and not self.is_working()
            if is_quiet and all(seen[uri] == it.version for uri, it in documents.items()):
                return
            time.sleep(0.05)
        self.faults.append(f"not published: {[u for u, it in documents.items() if seen[u] != it.version]}")

    def is_working(self) -> bool:
        """Tell whether the server or one of its workers uses the processor, or waits for it."""
        for _ in range(8):
            for pid in (self.process.pid, *self.workers()):
                threads = Path(f"/proc/{pid}/task").glob("*/stat")
                if any(_read(it).rpartition(")")[2].split()[:1] in (["R"], ["D"]) for it in threads):
                    return True
            time.sleep(0.05)
        return False

    def workers(self) -> list[int]:
        """Return the processes that the server has started."""
        listed = Path(f"/proc/{self.process.pid}/task").glob("*/children")
        return [int(it) for file in listed for it in _read(file).split()]


@dataclass(slots=True)
class Text:
    """A document as the editor has it."""

    uri: str
    first: str
    text: str
    version: int = 1


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except OSError:
        return ""


class Run:
    """One server that is edited in, another that is compared with."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.random = random.Random(seed)
        self.documents: dict[str, Text] = {}
        for name, text in (("large.cl", large()), ("small.cl", SMALL), ("shared.h", HEADER)):
            path = folder / name
            path.write_text(text, encoding="utf-8")
            self.documents[path.as_uri()] = Text(path.as_uri(), text, text)
        self.server = self._started()
        self.other: Session | None = None
        self.n_kills = 0
        self.faults: list[str] = []

    def _started(self) -> Session:
        session = Session()
        session.begin()
        self._open_all(session)
        return session

    def _open_all(self, session: Session) -> None:
        for it in self.documents.values():
            session.texts[it.uri, it.version] = it.text
            document = {"uri": it.uri, "languageId": "opencl", "version": it.version, "text": it.text}
            session.notify("textDocument/didOpen", {"textDocument": document})

    def burst(self, n_edits: int) -> None:
        """Edit, ask and kill."""
        for _ in range(n_edits):
            document = self.random.choices(list(self.documents.values()), (6, 3, 1))[0]
            self._edit(document)
            if self.random.random() < 0.3:
                self._ask(document)
            if self.random.random() < 0.02:
                self._kill()
            time.sleep(self.random.choice((0.0, 0.0, 0.005, 0.02, 0.1)))
        for it in self.documents.values():
            if self.random.random() < 0.5:
                self._change(it, None, it.first)

    def _edit(self, it: Text) -> None:
        if self.random.random() < 0.01:
            self._change(it, None, it.first)
            return
        at = self.random.randrange(len(it.text) + 1)
        end = at if self.random.random() < 0.7 else min(len(it.text), at + self.random.randrange(30))
        piece = "" if end > at and self.random.random() < 0.5 else self.random.choice(PIECES)
        if not _is_between(it.text, at) or not _is_between(it.text, end):
            return  # No editor puts the cursor between CR and LF.
        self._change(it, (at, end), piece)

    def _change(self, it: Text, place: tuple[int, int] | None, piece: str) -> None:
        change: dict[str, Any] = {"text": piece}
        if place is not None:
            change["range"] = {"start": _position(it.text, place[0]), "end": _position(it.text, place[1])}
            piece = it.text[: place[0]] + piece + it.text[place[1] :]
        it.text, it.version = piece, it.version + 1
        self.server.texts[it.uri, it.version] = it.text
        document = {"uri": it.uri, "version": it.version}
        self.server.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})

    def _ask(self, it: Text) -> None:
        kind = self.random.choice(REQUESTS)
        place = _position(it.text, self.random.randrange(len(it.text) + 1))
        params: dict[str, Any] = {"textDocument": {"uri": it.uri}}
        if kind in ("inlayHint", "codeAction"):
            params["range"] = {"start": {"line": 0, "character": 0}, "end": place}
        elif kind not in ("codeLens", "documentSymbol"):
            params["position"] = place
        if kind == "codeAction":
            params["context"] = {"diagnostics": []}
        self.server.ask(f"textDocument/{kind}", params)

    def _kill(self) -> None:
        workers = self.server.workers()
        if workers:
            self.n_kills += 1
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.random.choice(workers), signal.SIGKILL)

    def compare(self, *, afresh: bool) -> None:
        """Hold what is published against what another server says of the same texts."""
        self.server.wait_answered()
        self.server.wait_idle(self.documents)
        if afresh and self.other is not None:
            self.other.process.kill()
            self.other = None
        if self.other is None:
            self.other = self._started()
        else:
            for uri in self.documents:
                self.other.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
                self.other.published.pop(uri, None)
            self._open_all(self.other)
        self.other.wait_idle(self.documents)
        for look in range(1, LOOKS):
            if not self._differences():
                break
            time.sleep(look * QUIET_S)
            self.other.wait_idle(self.documents)
            self.server.wait_idle(self.documents)
        self.faults += self._differences()
        for session in (self.server, self.other):
            self.faults += session.faults
            session.faults.clear()
        self.server.texts = {(it.uri, it.version): it.text for it in self.documents.values()}

    def _differences(self) -> list[str]:
        """Return what the two servers say differently."""
        assert self.other is not None
        differences: list[str] = []
        for uri in self.documents:
            told = [list(_told(it.found.get(uri, []))) for it in (self.server, self.other)]
            blamed = {kernel for of_one in told for code, _, kernel in of_one if code == "CM300"}
            mine, its = (
                sorted(it[:2] for it in of_one if not (it[0].startswith(EMULATED) and it[2] in blamed))
                for of_one in told
            )
            if mine != its:
                extra = [it for it in mine if it not in its][:3]
                missing = [it for it in its if it not in mine][:3]
                differences.append(f"{uri}: extra {extra}, missing {missing}")
        return differences


def _told(found: list[dict[str, Any]]) -> Iterator[tuple[str, str, str | None]]:
    """Yield what diagnostics say: the code, all that is shown, the kernel."""
    for it in found:
        shown = (it["range"], it["severity"], it["message"], it.get("relatedInformation"))
        yield str(it.get("code")), repr(shown), (it.get("data") or {}).get("kernel")


def _is_between(text: str, at: int) -> bool:
    return text[at - 1 : at + 1] != "\r\n" or at == 0


def _position(text: str, offset: int) -> dict[str, int]:
    before = text[:offset].replace("\r\n", "\n").replace("\r", "\n")
    line = before.rpartition("\n")[2]
    return {"line": before.count("\n"), "character": len(line.encode("utf-16-le")) // 2}


def main() -> int:
    """Run bursts until something is found, or all edits are made."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.sessions", description=__doc__.split("\n")[0])
    parser.add_argument("--edits", type=int, default=10_000)
    parser.add_argument("--burst", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = Run(Path(folder), options.seed)
        n_bursts = -(-options.edits // options.burst)
        for number in range(n_bursts):
            run.burst(options.burst)
            run.compare(afresh=number % AFRESH_EVERY == 0)
            if run.faults:
                break
        done = min((number + 1) * options.burst, options.edits)
        answers = len(run.server.answered)
        print(f"{done} edits, {answers} answers, {run.n_kills} workers killed, {len(run.faults)} faults")
        for it in run.faults[:20]:
            print(f"  {it}")
        for uri, document in run.documents.items():
            if any(uri in fault for fault in run.faults):
                Path(f"session-{Path(uri).name}").write_text(document.text, encoding="utf-8", newline="")
        for session in (run.server, run.other):
            if session is not None:
                session.process.kill()
    return 1 if run.faults else 0


if __name__ == "__main__":
    sys.exit(main())
