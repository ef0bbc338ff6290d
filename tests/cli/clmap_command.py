"""Run the command from outside, as users and CI do."""

from __future__ import annotations

import subprocess
from pathlib import Path

import warm

FIXTURES = Path(__file__).parents[2] / "fixtures"
SIMPLE = str(FIXTURES / "matmul" / "simple.cl")


def clmap(
    *arguments: str, stdin: str | bytes = b"", cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own; output is decoded as UTF-8."""
    data = stdin.encode() if isinstance(stdin, str) else stdin
    done = warm.run(*arguments, stdin=data, cwd=cwd, environment=environment, timeout=120)
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def assert_usage_error(done: subprocess.CompletedProcess[str], *parts: str) -> None:
    """Exit code 2, one line on stderr with all parts, nothing on stdout, no traceback."""
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    for part in parts:
        assert part in lines[0]
