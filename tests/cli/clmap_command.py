"""Run the command from outside, as users and CI do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

FIXTURES = Path(__file__).parents[2] / "fixtures"
SIMPLE = str(FIXTURES / "matmul" / "simple.cl")


def clmap(
    *arguments: str, stdin: str | bytes = b"", cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run `python -m clmap_lsp`; output is decoded as UTF-8."""
    done = subprocess.run(
        [sys.executable, "-m", "clmap_lsp", *arguments],
        input=stdin.encode() if isinstance(stdin, str) else stdin,
        capture_output=True,
        cwd=cwd,
        env={**os.environ, **environment},
        timeout=120,
        check=False,
    )
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def assert_usage_error(done: subprocess.CompletedProcess[str], *parts: str) -> None:
    """Exit code 2, one line on stderr with all parts, nothing on stdout, no traceback."""
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    for part in parts:
        assert part in lines[0]
