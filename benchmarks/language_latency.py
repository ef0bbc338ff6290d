"""CPU time of the language features in one file while a person types in it.

    python -m benchmarks.language_latency FILE [--keys 120]

Each key is one insertion in the middle of the file; then the index is renewed, and completion, definition,
hover and the semantic tokens are answered as the server answers them. Times are of the processor, in ms.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp

from clmap_lsp.index.complete import complete
from clmap_lsp.index.describe import describe
from clmap_lsp.index.reading import read_index
from clmap_lsp.server.documents import Document
from clmap_lsp.server.features.completing import _items
from clmap_lsp.server.features.semantic import difference, encoded
from clmap_lsp.server.indexing import Indexed
from clmap_lsp.source.collector import collect_rarely

TYPED = "    float tmp_value = get_global_id(0) * 2.0f;\n    "


def answer(timed: Callable[..., Any], indexed: Indexed, offset: int) -> None:
    """Answer what an editor asks at a key."""
    index = indexed.index
    timed("completion", lambda: _items(indexed.document, complete(index, offset), True))
    named = index.occurrences[len(index.occurrences) // 2]
    timed("definition", lambda: index.name_span(index.definition(named.symbol)))
    timed("hover", describe, index, named.symbol)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--keys", type=int, default=120)
    arguments = parser.parse_args()
    text = arguments.file.read_text("utf-8", "replace")
    place = text.find(";\n", len(text) // 2) + 2
    times: dict[str, list[float]] = {}

    def timed(name: str, work: Callable[..., Any], *values: Any, **named: Any) -> Any:
        start = time.process_time()
        result = work(*values, **named)
        times.setdefault(name, []).append(1000 * (time.process_time() - start))
        return result

    index = timed("first reading", read_index, text, str(arguments.file))
    tokens: list[int] = []
    collect_rarely()  # As the server's process does, and freezes what is there at its first quiet moment.
    gc.freeze()
    for key in range(arguments.keys):
        typed = (TYPED * (key // len(TYPED) + 1))[: key + 1]
        now = text[:place] + typed + text[place:]
        index = timed("renewal", read_index, now, str(arguments.file), previous=index)
        start = time.process_time()
        document = Document(
            arguments.file.absolute().as_uri(), "opencl", key, now, lsp.PositionEncodingKind.Utf16
        )
        indexed = Indexed(document, index)
        answer(timed, indexed, place + len(typed))
        old = tokens
        tokens = timed("tokens", encoded, indexed)
        timed("delta", difference, old, tokens)
        whole = 1000 * (time.process_time() - start) + times["renewal"][-1]
        times.setdefault("all of a key", []).append(whole)
    print(f"{arguments.file.name}: {len(text):,} characters, {arguments.keys} keys; CPU ms")
    for name, found in times.items():
        ordered = sorted(found)
        print(
            f"{name:14} p50 {ordered[len(ordered) // 2]:7.1f}  p95 {ordered[int(len(ordered) * 0.95)]:7.1f}"
        )


if __name__ == "__main__":
    main()
