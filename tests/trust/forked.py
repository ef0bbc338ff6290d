"""Run the command line in a child of this process: bounded in time and memory, without a start's cost."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path


def run(
    folder: Path, *words: str, environment: Mapping[str, str] | None = None, limit_s: float = 60.0
) -> subprocess.CompletedProcess[str]:
    """Run `clmap-lsp WORDS` in a folder; what waits for ever fails the test, what takes 3 GiB fails."""
    if not hasattr(os, "fork"):
        return _started(folder, words, environment, limit_s)
    import clmap_lsp.cli
    import clmap_lsp.emulator.run  # noqa: F401 - loaded once, before the first fork

    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if child == 0:
            os._exit(_child(folder, words, environment or {}, out.fileno(), errors.fileno()))
        code = _wait(child, limit_s)
        out.seek(0)
        errors.seek(0)
        done = subprocess.CompletedProcess(
            list(words), code, out.read().decode(errors="replace"), errors.read().decode(errors="replace")
        )
    assert code >= 0, f"ended with signal {-code}: {done.stderr[-500:]}"
    assert "Traceback" not in done.stderr, done.stderr
    assert "internal error" not in done.stderr, done.stderr
    return done


def _child(
    folder: Path, words: tuple[str, ...], environment: Mapping[str, str], out: int, errors: int
) -> int:
    import resource
    import traceback

    from clmap_lsp.cli import main

    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * resource.getpagesize() + (3 << 30)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(out, 1)
        os.dup2(errors, 2)
        sys.stdin = os.fdopen(0, "r")
        sys.stdout = os.fdopen(1, "w", encoding="utf-8")
        sys.stderr = os.fdopen(2, "w", encoding="utf-8")
        os.environ.update(environment)
        os.chdir(folder)
        with contextlib.suppress(BrokenPipeError):
            code = main(list(words))
        sys.stdout.flush()
        sys.stderr.flush()
        return code or 0
    except SystemExit as end:
        sys.stdout.flush()
        sys.stderr.flush()
        return end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        return 70


_STANDSTILL = 10
"""Times the limit by the clock: what sleeps for good uses no processor time."""


def _wait(child: int, limit_s: float) -> int:
    """Wait until a process ends that may use so much processor time: on a busy machine that takes longer."""
    end = time.monotonic() + _STANDSTILL * limit_s
    while time.monotonic() < end and _used_s(child) < limit_s:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    raise AssertionError(f"no end after {limit_s:g} s of processor time")


def _used_s(process: int) -> float:
    """Return the processor time of a process and of those that it waited for; 0 where no `/proc` tells."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def _started(
    folder: Path, words: tuple[str, ...], environment: Mapping[str, str] | None, limit_s: float
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "clmap_lsp", *words],
        capture_output=True, text=True, cwd=folder, timeout=limit_s, check=False,
        env={**os.environ, **(environment or {})},
    )  # fmt: skip
