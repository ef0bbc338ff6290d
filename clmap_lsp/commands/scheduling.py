"""`--scheduler ADDRESS`: check files on the workers of a Dask cluster.

The reports are those of a local run, in the same order. What a lost worker had done is here already, or is
done again by another; what no worker could do is done here. Workers need this version of clmap-lsp and see
the files under the same paths. A cluster is trusted: Dask's messages are pickles.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clmap_lsp.errors import UsageError
from clmap_lsp.version import __version__
from clmap_lsp.workspace import remembered_workspaces

if TYPE_CHECKING:
    from clmap_lsp.commands.checking import CheckJob
    from clmap_lsp.report.model import FileReport

FILES_PER_TASK = 8
CONNECT_S = 10
_one_at_a_time = threading.Lock()


class _OtherVersionError(Exception):
    """A worker runs another version, so its findings may differ."""


def check_on_cluster(
    jobs: Sequence[CheckJob], address: str, advance: Callable[[], None]
) -> tuple[FileReport, ...]:
    """Check many files on a cluster; results are in the order of the jobs.

    Raises: UsageError if Dask is not installed, the scheduler does not answer, or a worker's version differs.
    """
    client = connected(address)
    chunks = [tuple(jobs[at : at + FILES_PER_TASK]) for at in range(0, len(jobs), FILES_PER_TASK)]
    done: dict[int, list[FileReport]] = {}
    try:
        _collect(client, chunks, done, advance)
    except (OSError, TimeoutError) as error:
        sys.stderr.write(f"clmap-lsp: the cluster was lost ({error}); the rest is checked here\n")
    finally:
        client.close(timeout=2)
    for number, chunk in enumerate(chunks):
        if number not in done:
            done[number] = _checked_here(chunk, advance)
    return tuple(report for number in range(len(chunks)) for report in done[number])


def connected(address: str) -> Any:
    """Return a client of a cluster that has workers.

    Raises: UsageError.
    """
    try:
        from distributed import Client
    except ImportError:
        raise UsageError("--scheduler needs Dask: pip install 'clmap-lsp[distributed]'") from None
    for name in ("distributed", "distributed.client", "tornado.application"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # One line of ours says what matters.
    try:
        client = Client(address, timeout=CONNECT_S, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UsageError(
            f"--scheduler {address}: no answer ({reason}); start one with `dask scheduler`"
        ) from None
    if not client.scheduler_info()["workers"]:
        client.close(timeout=2)
        raise UsageError(f"--scheduler {address}: it has no workers; start them with `dask worker {address}`")
    return client


def _collect(
    client: Any,
    chunks: Sequence[tuple[CheckJob, ...]],
    done: dict[int, list[FileReport]],
    advance: Callable[[], None],
) -> None:
    """Fetch each result as soon as it is there, so that it outlives the worker that made it."""
    from distributed import as_completed

    folder = str(Path.cwd())
    futures = {
        client.submit(check_chunk, chunk, folder, __version__, pure=False): number
        for number, chunk in enumerate(chunks)
    }
    for future in as_completed(futures, loop=client.loop):
        number = futures[future]
        if future.status == "finished":
            done[number] = future.result()
            for _ in done[number]:
                advance()
        elif isinstance(future.exception(), _OtherVersionError):
            raise UsageError(f"--scheduler: {future.exception()}")


def _checked_here(chunk: Sequence[CheckJob], advance: Callable[[], None]) -> list[FileReport]:
    from clmap_lsp.commands.checking import check_file

    reports = []
    for job in chunk:
        reports.append(check_file(job))
        advance()
    return reports


def check_chunk(chunk: Sequence[CheckJob], folder: str, version: str) -> list[FileReport]:
    """What a worker does with some files: one task at a time, in the folder where the command was given."""
    from clmap_lsp.commands.checking import check_file

    if version != __version__:
        raise _OtherVersionError(f"a worker has clmap-lsp {__version__}, this is {version}")
    with _one_at_a_time, remembered_workspaces():
        if str(Path.cwd()) != folder:
            os.chdir(folder)
        return [check_file(job) for job in chunk]
