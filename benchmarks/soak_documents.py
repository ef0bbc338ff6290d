"""Edits hundreds of open documents of a real server for minutes, and tells what was lost.

    python -m benchmarks.soak_documents [--documents 500] [--minutes 5] [--rate 20] [--seed 1] [FOLDER]

A client on pipes opens all documents and then edits them in turn at random: it types, deletes, pastes and
undoes, and asks for hovers, completions and actions between. Prints memory and processor time each half
minute. In the end every document's last version must have been published, every request answered, and a
server that opens the final texts afresh must publish as many findings for each document that is asked of it.
The exit code is 1 if not.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.many_documents import REQUESTS, ask, begin, open_all, texts, wait_all, wait_answered
from benchmarks.replay import memory_mib
from benchmarks.typing_latency import Client

_PASTED = "    a[get_global_id(0)] = 1.0f;\n"
_TYPED = "x;(){}[]+*1.0f \n/\u00e9"
_TOLD_S = 30.0


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak_documents", description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--documents", type=int, default=500)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--rate", type=float, default=20.0, help="edits a second")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--compared", type=int, default=60, help="documents that a fresh server opens, too")
    options = parser.parse_args(argv)
    rng = random.Random(options.seed)
    documents = texts(options.documents, options.folder)
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; {len(documents)} documents", flush=True)
    client = begin(None)
    open_all(client, documents)
    wait_all(client, documents)
    print(
        f"  open: {memory_mib(client.process.pid):.0f} MiB, {client.cpu_s():.0f} s of the processor",
        flush=True,
    )
    versions = dict.fromkeys(documents, 1)
    n_edits, n_asked = _edit(client, documents, versions, rng, options)
    began = time.monotonic()
    for uri, version in versions.items():
        if version > 1:
            client.wait_for(uri, version, limit_s=600)
    wait_answered(client)
    print(f"  {n_edits} edits, {n_asked} requests")
    print(f"  all published and answered {time.monotonic() - began:.1f} s later")
    errors = [it for it in client.errors if not it.endswith("the text has changed")]  # ContentModified.
    print(f"  errors answered: {len(errors)} {sorted(set(errors))[:3]}")
    print(f"  memory {memory_mib(client.process.pid):.0f} MiB")
    time.sleep(3.0)
    chosen = rng.sample(sorted(it for it in versions if versions[it] > 1), k=min(options.compared, n_edits))
    differ = _differences(client, {it: documents[it] for it in chosen})
    client.process.kill()
    print(f"  {len(chosen)} compared with a fresh server: {len(differ)} differ {differ[:3]}")
    return 1 if differ or errors else 0


def _edit(
    client: Client,
    documents: dict[str, str],
    versions: dict[str, int],
    rng: random.Random,
    options: argparse.Namespace,
) -> tuple[int, int]:
    """Edit at random until the time is over; returns how many edits and requests were sent."""
    uris, n_edits, n_asked = list(documents), 0, 0
    began = told = time.monotonic()
    end = began + 60 * options.minutes
    undo: dict[str, str] = {}
    while (now := time.monotonic()) < end:
        uri = rng.choice(uris)
        before = documents[uri]
        after = undo.pop(uri) if uri in undo and rng.random() < 0.5 else _changed(before, rng)
        undo[uri] = before
        _send(client, uri, before, after, versions)
        documents[uri] = after
        n_edits += 1
        if n_edits % 5 == 0:
            ask(client, uri, after, rng.choice(REQUESTS))
            n_asked += 1
        if now - told > _TOLD_S:
            told = now
            memory = memory_mib(client.process.pid)
            waiting = len(client.asked)
            print(
                f"  {now - began:4.0f} s: {n_edits} edits, {memory:.0f} MiB, {waiting} unanswered", flush=True
            )
        time.sleep(max(0.0, began + n_edits / options.rate - time.monotonic()))
    return n_edits, n_asked


def _changed(text: str, rng: random.Random) -> str:
    at = rng.randrange(len(text) + 1)
    match rng.randrange(4):
        case 0:
            return text[:at] + rng.choice(_TYPED) + text[at:]
        case 1:
            return text[:at] + text[at + rng.randrange(1, 6) :]
        case 2:
            start = text.rfind("\n", 0, at) + 1
            return text[:start] + _PASTED + text[start:]
        case _:
            return text[:at] + "".join(rng.choices(_TYPED, k=8)) + text[at:]


def _send(client: Client, uri: str, before: str, after: str, versions: dict[str, int]) -> None:
    """Send what differs as one change of a range, in UTF-16 units."""
    shorter = min(len(before), len(after))
    head = next((i for i in range(shorter) if before[i] != after[i]), shorter)
    most = shorter - head
    tail = next((i for i in range(most) if before[-1 - i] != after[-1 - i]), most)
    span = {"start": _position(before, head), "end": _position(before, len(before) - tail)}
    versions[uri] += 1
    document = {"uri": uri, "version": versions[uri]}
    change = {"range": span, "text": after[head : len(after) - tail]}
    client.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})


def _position(text: str, at: int) -> dict[str, int]:
    line_start = text.rfind("\n", 0, at) + 1
    units = len(text[line_start:at].encode("utf-16-le")) // 2
    return {"line": text.count("\n", 0, at), "character": units}


def _differences(client: Client, final: dict[str, str]) -> list[str]:
    """Return the documents of which a fresh server publishes another number of findings."""
    fresh = begin(None)
    open_all(fresh, final)
    wait_all(fresh, final)
    fresh.wait_quiet()
    fresh.process.kill()
    return [it for it in final if client.published[it][-1][2] != fresh.published[it][-1][2]]


if __name__ == "__main__":
    sys.exit(main())
