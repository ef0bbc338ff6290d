"""The worker process: reads tasks, answers each with one result or one error, ends with its input."""

from __future__ import annotations

import os
import sys
from typing import Any, BinaryIO

from clmap_lsp.worker import cache, frames, limits, sandbox, tasks


def main() -> int:
    """Serve tasks until the parent closes the pipe."""
    stdin, stdout = _claim_streams()
    tasks.warm()
    limits.apply(limits.Limits())
    sandbox.apply()
    # The process may not write files any more, so what it would keep goes to its parent.
    cache.hand_over(lambda key, value: _send(stdout, {"keep": key, "value": value}))
    while (message := frames.read(stdin)) is not None:
        _answer(stdout, message)
    return 0


def _answer(stdout: BinaryIO, message: dict[str, Any]) -> None:
    def progress(text: str, fraction: float | None) -> None:
        _send(stdout, {"progress": text, "fraction": fraction})

    try:
        reply: dict[str, Any] = {"result": tasks.run(message["kind"], message["payload"], progress)}
    except MemoryError:
        reply = {"error": "out of memory: give the launch smaller buffers, or raise memory_limit_mb"}
    except tasks.CannotDoError as error:
        reply = {"error": str(error)}
    except Exception as error:
        if os.environ.get("CLMAP_DEBUG"):
            raise
        reply = {"error": f"internal error: {type(error).__name__}: {error}"}
    _send(stdout, reply)


def _send(stdout: BinaryIO, message: dict[str, Any]) -> None:
    stdout.write(frames.encode(message))
    stdout.flush()


def _claim_streams() -> tuple[BinaryIO, BinaryIO]:
    """Keep stray prints of libraries off the wire, as in the server's `stdio` module."""
    stdin, stdout = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return stdin, stdout
