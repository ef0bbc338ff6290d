"""Fault drills, seen from outside: nothing is lost, one clear message, no hang.

Sizes are full (50 MB, 100,000 lines, 10,000 parentheses) but for the number of kernels, see there.
"""

from __future__ import annotations

import json
import os
import resource
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="resource limits of POSIX")

SIMPLE = "__kernel void k(__global int *a) { a[get_global_id(0) * 32] = 1; }\n"


def clmap(
    *arguments: str, cwd: Path, limit: Callable[[], None] | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "clmap_lsp", *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, **environment},
        timeout=120,
        check=False,
        preexec_fn=limit,
    )


def findings(done: subprocess.CompletedProcess[str]) -> list[dict[str, object]]:
    assert "Traceback" not in done.stderr
    found: list[dict[str, object]] = json.loads(done.stdout)["findings"]
    return found


def check(tmp_path: Path, text: str, **environment: str) -> list[dict[str, object]]:
    (tmp_path / "k.cl").write_text(text)
    done = clmap("check", "k.cl", "--format", "json", cwd=tmp_path, **environment)
    assert done.returncode in (0, 1), done.stderr
    return findings(done)


def test_a_file_of_50_megabytes_is_refused_in_one_line(tmp_path: Path):
    found = check(tmp_path, "// " + "x" * (50 * 2**20))
    assert len(found) == 1
    assert "characters" in str(found[0]["message"])


def test_a_file_of_100000_lines_is_read(tmp_path: Path):
    found = check(tmp_path, "\n" * 100_000 + SIMPLE)
    assert {it["location"]["row"] for it in found} == {100_001}  # type: ignore[index]


def test_a_file_of_many_kernels_gives_a_finding_each(tmp_path: Path):
    """1,000 here; 10,000 take ten times as long."""
    count = int(os.environ.get("CLMAP_DRILL_KERNELS", "1000"))
    text = "".join(SIMPLE.replace("void k", f"void k{it}") for it in range(count))
    found = check(tmp_path, text)
    assert len({it["kernel"] for it in found}) == count


@pytest.mark.parametrize("expression", ["(" * 10_000 + "1" + ")" * 10_000, "-" * 10_000 + "1", "9" * 10_000])
def test_10000_parentheses_signs_and_digits_leave_the_other_kernel_alone(tmp_path: Path, expression: str):
    found = check(tmp_path, f"__kernel void deep(__global int *a) {{ a[0] = {expression}; }}\n{SIMPLE}")
    assert "k" in {it["kernel"] for it in found}


def test_includes_in_a_cycle_are_said_once(tmp_path: Path):
    (tmp_path / "a.h").write_text('#include "b.h"\n')
    (tmp_path / "b.h").write_text('#include "a.h"\n')
    found = check(tmp_path, f'#include "a.h"\n{SIMPLE}')
    assert sum("include" in str(it["message"]) for it in found) == 1


def test_a_read_only_home_costs_nothing(tmp_path: Path):
    assert check(tmp_path, SIMPLE, HOME="/proc/nowhere", XDG_CACHE_HOME="/proc/nowhere")


def test_a_full_disk_is_one_clear_line(tmp_path: Path):
    (tmp_path / "k.cl").write_text(SIMPLE * 1)
    done = clmap(
        "check", "k.cl", "--write-baseline", "b.json", cwd=tmp_path,
        limit=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10)),
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    "content", [b"", b"not a database at all" * 100, b"SQLite format 3\x00" + b"\xff" * 4000]
)
def test_a_corrupted_database_is_one_clear_line(tmp_path: Path, content: bytes):
    (tmp_path / "broken.db").write_bytes(content)
    done = clmap("db", "query", "--db", "broken.db", cwd=tmp_path)
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) <= 1


def test_a_corrupted_cache_is_left_out(tmp_path: Path):
    cache = tmp_path / "cache"
    (cache / "ab").mkdir(parents=True)
    (cache / "ab" / "cd.json").write_bytes(b"\x00\xff" * 100)
    assert check(tmp_path, SIMPLE, CLMAP_CACHE_DIR=str(cache))


def test_a_locked_database_does_not_hold_up_a_check(tmp_path: Path):
    path = tmp_path / "locked.db"
    holder = sqlite3.connect(path)
    holder.execute("create table t (x)")
    holder.execute("begin exclusive")
    try:
        done = clmap("db", "query", "--db", str(path), cwd=tmp_path)
        assert "Traceback" not in done.stderr
        assert len(done.stderr.strip().splitlines()) <= 1
    finally:
        holder.close()


def test_two_checks_share_one_cache(tmp_path: Path):
    (tmp_path / "k.cl").write_text(SIMPLE)
    command = [sys.executable, "-m", "clmap_lsp", "check", "k.cl", "--format", "json", "--emulate"]
    environment = {**os.environ, "CLMAP_CACHE_DIR": str(tmp_path / "cache")}
    runs = [
        subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True, env=environment)
        for _ in range(2)
    ]
    outputs = [it.communicate(timeout=120)[0] for it in runs]
    assert outputs[0] == outputs[1]
    assert json.loads(outputs[0])["findings"]
