"""Fault drills, seen from outside: nothing is lost, one clear message, no hang.

Sizes are full (50 MB, 100,000 lines, 10,000 parentheses) but for the number of kernels, see there.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import warm

from clmap_lsp.aristotle.database import Database

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="resource limits of POSIX")

SIMPLE = "__kernel void k(__global int *a) { a[get_global_id(0) * 32] = 1; }\n"


def clmap(
    *arguments: str, cwd: Path, limit: Callable[[], None] | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    if limit is None:
        return warm.clmap(*arguments, cwd=cwd, environment=environment, timeout=120)
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


def one_clear_line(done: subprocess.CompletedProcess[str], *words: str) -> None:
    """Hold a failed command to what it owes: exit code 2 and one line that says what is wrong."""
    assert "Traceback" not in done.stderr
    assert done.returncode == 2, done.stdout
    (line,) = done.stderr.strip().splitlines()
    assert all(word in line for word in words), line


def check(tmp_path: Path, text: str, **environment: str) -> list[dict[str, object]]:
    (tmp_path / "k.cl").write_text(text)
    done = clmap("check", "k.cl", "--format", "json", cwd=tmp_path, **environment)
    assert done.returncode in (0, 1), done.stderr
    return findings(done)


def test_a_file_of_50_megabytes_is_refused_in_one_line(tmp_path: Path):
    (tmp_path / "k.cl").write_text("// " + "x" * (50 * 2**20))
    one_clear_line(clmap("check", "k.cl", cwd=tmp_path), "k.cl", "larger than 32 MiB")


def test_a_file_of_100000_lines_is_read(tmp_path: Path):
    found = check(tmp_path, "\n" * 100_000 + SIMPLE)
    assert {it["location"]["row"] for it in found} == {100_001}  # type: ignore[index]


def test_a_file_of_many_kernels_gives_a_finding_each(tmp_path: Path):
    """300 here, which takes seconds; 10,000 by the environment variable take half a minute and more."""
    count = int(os.environ.get("CLMAP_DRILL_KERNELS", "300"))
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


def user_database(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """Return where the user's database is in a home of its own, and the environment that puts it there."""
    environment = {"XDG_DATA_HOME": str(tmp_path / "data"), "HOME": str(tmp_path)}
    code = "from clmap_lsp.aristotle.shipped import user_database_path as p; print(p())"
    found = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environment},
    ).stdout.strip()
    path = Path(found)
    assert path.is_relative_to(tmp_path)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path, environment


@pytest.mark.parametrize("content", [b"not a database at all" * 100, b"SQLite format 3\x00" + b"\xff" * 4000])
@pytest.mark.parametrize("command", [("db", "platforms"), ("db", "import", "records.csv")])
def test_a_corrupted_database_is_one_clear_line_and_stays_as_it_is(
    tmp_path: Path, content: bytes, command: tuple[str, ...]
):
    path, environment = user_database(tmp_path)
    path.write_bytes(content)
    export = clmap("db", "export", "platforms", "-o", "records.csv", cwd=tmp_path)
    assert export.returncode == 0, export.stderr
    one_clear_line(clmap(*command, cwd=tmp_path, **environment), path.name)
    assert path.read_bytes() == content


def test_a_corrupted_database_does_not_hold_up_a_check(tmp_path: Path):
    path, environment = user_database(tmp_path)
    without = check(tmp_path, SIMPLE, **environment)
    path.write_bytes(b"not a database at all" * 100)
    assert check(tmp_path, SIMPLE, **environment) == without


def test_a_corrupted_cache_is_left_out(tmp_path: Path):
    cache = tmp_path / "cache"
    (cache / "ab").mkdir(parents=True)
    (cache / "ab" / "cd.json").write_bytes(b"\x00\xff" * 100)
    assert check(tmp_path, SIMPLE, CLMAP_CACHE_DIR=str(cache))


HOLDER = """
import sqlite3, sys
held = sqlite3.connect(sys.argv[1])
held.execute("begin exclusive")
print("held", flush=True)
sys.stdin.read()
"""


def test_a_database_that_another_process_holds_is_one_clear_line_and_keeps_its_records(tmp_path: Path):
    path, environment = user_database(tmp_path)
    assert clmap("db", "export", "platforms", "-o", "records.csv", cwd=tmp_path).returncode == 0
    assert clmap("db", "import", "records.csv", cwd=tmp_path, **environment).returncode == 0
    with Database(path, read_only=True) as database:
        count = len(database.platforms())
    assert count
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    try:
        assert holder.stdout.readline() == "held\n"
        one_clear_line(
            clmap("db", "import", "records.csv", cwd=tmp_path, **environment), "another program is using it"
        )
        check(tmp_path, SIMPLE, **environment)
    finally:
        holder.communicate("", timeout=60)
    with Database(path, read_only=True) as database:
        assert len(database.platforms()) == count


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
