"""The worker process: reads tasks, answers each with one result or one error, ends with its input.

It emulates confined. Started with `FOR_DEVICES` it is not, and measures: drivers map more memory than any
limit would leave, start threads and processes, and write files.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping
from typing import Any, BinaryIO

from clmap_lsp.compiled import elsewhere
from clmap_lsp.errors import system_error
from clmap_lsp.sandbox.confined import allows_kernels, confine
from clmap_lsp.sandbox.limits import end_with_parent
from clmap_lsp.worker import cache, frames, tasks

FOR_DEVICES = "--for-devices"
UNCONFINED = "--unconfined"
"""A person lets kernels run where the platform cannot confine them."""
READABLE = "--readable="
"""A file that launches of this process read."""


def main() -> int:
    """Serve tasks until the parent closes the pipe."""
    options = sys.argv[1:]
    # One thread: what the system lets be read is said for each thread.
    os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
    stdin, stdout = _claim_streams()
    if FOR_DEVICES not in options:
        end_with_parent()
    tasks.warm()
    known = tasks.IN_SANDBOX
    if FOR_DEVICES in options:
        known = tasks.ON_DEVICES
        # So that what it has started is ended too: `finally` clauses run.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    else:
        named = [it.removeprefix(READABLE) for it in options if it.startswith(READABLE)]
        missing = confine([str(cache.folder()), *tasks.user_folders(), *named])
        if not allows_kernels(missing) and UNCONFINED not in options:
            known = dict.fromkeys(known, tasks.refused)
        elsewhere.hand_over(lambda kind, request: _asked(stdin, stdout, kind, request))
        # It may not write files, so what it would keep goes to its parent.
        cache.hand_over(lambda key, value: _send(stdout, {"keep": key, "value": value}))
    while (message := frames.read(stdin)) is not None:
        _answer(stdout, message, known)
    return 0


def _asked(stdin: BinaryIO, stdout: BinaryIO, kind: str, request: Mapping[str, str]) -> Mapping[str, Any]:
    """Have the parent do something, and wait for what comes of it."""
    _send(stdout, {"ask": kind, "request": dict(request)})
    reply = frames.read(stdin)
    if reply is None:
        raise SystemExit(0)  # The parent is gone.
    found: Mapping[str, Any] = reply["answer"]
    return found


def _answer(stdout: BinaryIO, message: dict[str, Any], known: Mapping[str, tasks.Function]) -> None:
    def progress(text: str, fraction: float | None) -> None:
        _send(stdout, {"progress": text, "fraction": fraction})

    progress(
        "reading", None
    )  # From here on the task, not the system, is to blame for the end of this process.
    try:
        reply: dict[str, Any] = {"result": tasks.run(known, message["kind"], message["payload"], progress)}
    except MemoryError:
        reply = {"error": "out of memory: give the launch smaller buffers, or raise memory_limit_mib"}
    except tasks.CannotDoError as error:
        reply = {"error": str(error)}
    except OSError as error:
        reply = {"error": system_error(error)}
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
