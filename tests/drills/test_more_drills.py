"""Fault drills of what surrounds a check: clocks, disks, processes that die, floods of findings."""

from __future__ import annotations

import asyncio
import io
import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
import warm

from clmap_lsp.commands.check import MAX_PRINTED, _bounded
from clmap_lsp.commands.watching import changes
from clmap_lsp.config import EmulateSettings
from clmap_lsp.findings import Finding, Severity
from clmap_lsp.launch import BufferArgument, Fill, Launch, Origin
from clmap_lsp.report import concise
from clmap_lsp.report.model import CheckReport, FileReport
from clmap_lsp.source.options import BuildOptions
from clmap_lsp.source.span import SourceFile, Span
from clmap_lsp.whole_files import write_whole
from clmap_lsp.worker import cache
from clmap_lsp.worker.messages import KernelTask, as_data
from clmap_lsp.worker.pool import Task, WorkerCrashedError, WorkerPool

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and mounts of POSIX")

KERNEL = "__kernel void k(__global int *a) { a[get_global_id(0) * 32] = 1; }\n"


def clmap(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return warm.clmap(*arguments, cwd=cwd, environment=environment, timeout=120)


# ----------------------------------------------------------------------------------- a worker that is killed


def adding(key: str) -> dict[str, Any]:
    text = "__kernel void add(__global const int *a, __global int *b)\n"
    text += "{ int i = get_global_id(0); for (int j = 0; j < 100; j++) b[i] = a[i] + i; }\n"
    arguments = {"a": BufferArgument(Fill.IOTA, 64), "b": BufferArgument(Fill.ZEROS, 64)}
    launch = Launch("add", (64,), (16,), arguments, Origin.GIVEN)
    limits = EmulateSettings(True, 10.0, 256)
    return as_data(
        KernelTask(key, "k.cl", {"k.cl": text}, BuildOptions(), "generic-gpu", "add", launch, limits)
    )


async def test_a_worker_killed_at_random_points_loses_no_task(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Every task ends with its result or with one line that says how the worker ended; the next one runs."""
    monkeypatch.setenv("CLMAP_CACHE_DIR", str(tmp_path / "cache"))
    rng = random.Random(1313)
    pool = WorkerPool()
    killed = 0

    def kill(*_: object) -> None:
        if pool.pid is not None:
            os.kill(pool.pid, signal.SIGKILL)

    try:
        for number in range(6):
            # How fast the machine is decides where a clock hits, so two are hit in the middle for certain.
            in_the_middle = number in (2, 5)
            progress = kill if in_the_middle else None
            task = Task("emulate", "k", adding(f"key-{number}"), f"key-{number}", 30.0, progress)
            running = asyncio.create_task(pool.run(task))
            if not in_the_middle:
                # From before the process is ready to after its answer: a start takes about a second.
                await asyncio.sleep(rng.choice((0.0, 0.01, 0.1, 0.3, 0.6, 1.0)))
                if not running.done():
                    kill()
            try:
                result = await asyncio.wait_for(running, 60)
                assert result["emulation"]["buffers"]["b"]["first"] == [0, 2, 4, 6, 8, 10, 12, 14]
            except WorkerCrashedError as error:
                killed += 1
                assert "ended with signal SIGKILL" in str(error)
                assert "\n" not in str(error)
        # What was left of the workers does its work, and no half entry is in the cache.
        again = await asyncio.wait_for(pool.run(Task("emulate", "k", adding("last"), "last", 30.0)), 60)
        assert again["emulation"]["buffers"]["b"]["first"] == [0, 2, 4, 6, 8, 10, 12, 14]
        for path in (tmp_path / "cache").rglob("*"):
            if path.is_file():
                assert json.loads(path.read_bytes())["value"]
        assert killed >= 2, "those killed in the middle were not told of it"
    finally:
        await pool.close()


# ---------------------------------------------------------------------------------------------------- clocks


def test_entries_from_the_future_and_the_far_past_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CLMAP_CACHE_DIR", str(tmp_path))
    for number, moment in enumerate((0, 4_000_000_000)):
        key = f"{number}" * 8
        cache.store(key, {"n": number})
        (path,) = (tmp_path / key[:2]).glob("*.json")
        os.utime(path, (moment, moment))
        assert cache.load(key) == {"n": number}
        assert abs(path.stat().st_mtime - moment) > 1e6, "its time of use was set"


def test_an_edit_is_noticed_though_the_clock_went_back(tmp_path: Path):
    path = tmp_path / "k.cl"
    path.write_text(KERNEL)
    os.utime(path, (4_000_000_000, 4_000_000_000))

    def edit(_: float) -> None:
        path.write_text(KERNEL.replace("32", "16"))
        os.utime(path, (1000, 1000))

    seen = changes([str(path)], sleep=edit)
    assert next(seen) == []
    assert next(seen) == [str(path)]


def test_files_of_any_time_are_checked_alike(tmp_path: Path):
    (tmp_path / "k.cl").write_text(KERNEL)
    outputs = set()
    for moment in (0, 1_000_000_000, 4_000_000_000):
        os.utime(tmp_path / "k.cl", (moment, moment))
        outputs.add(clmap("check", "k.cl", "--format", "json", "--emulate", cwd=tmp_path).stdout)
    assert len(outputs) == 1
    assert json.loads(outputs.pop())["findings"]


def test_no_deadline_hangs_on_the_wall_clock():
    """A clock that jumps moves no limit: time spans are taken from clocks that only go forward."""
    package = Path(__file__).parents[2] / "clmap_lsp"
    for path in package.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert "time.time()" not in text, path


# ----------------------------------------------------------------------------------------------- a full disk


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a disk of 64 KiB with nothing left on it."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "clmap-drill", str(place)]
    if sys.platform != "linux" or os.geteuid() != 0 or subprocess.run(command, check=False).returncode != 0:
        pytest.skip("only root may mount a small disk here")
    try:
        (place / "baseline.json").write_text('{"precious": true}')
        with (place / "filler").open("wb", buffering=0) as file, pytest.raises(OSError, match="No space"):
            while True:
                file.write(b"\0" * 4096)
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def test_a_baseline_on_a_full_disk_is_one_clear_line_and_the_old_one_stays(tmp_path: Path, full_disk: Path):
    text = "".join(KERNEL.replace("void k", f"void k{it}") for it in range(40))
    (tmp_path / "k.cl").write_text(text)
    done = clmap("check", "k.cl", "--write-baseline", str(full_disk / "baseline.json"), cwd=tmp_path)
    assert "Traceback" not in done.stderr
    assert done.returncode == 2
    (line,) = done.stderr.strip().splitlines()
    assert "no space left" in line.lower()
    assert (full_disk / "baseline.json").read_text() == '{"precious": true}'
    assert {it.name for it in full_disk.iterdir()} == {"baseline.json", "filler"}, "something was left behind"


def test_a_check_with_its_caches_on_a_full_disk_loses_nothing(tmp_path: Path, full_disk: Path):
    (tmp_path / "k.cl").write_text(KERNEL)
    command = ("check", "k.cl", "--format", "json", "--emulate")
    there = clmap(*command, cwd=tmp_path, CLMAP_CACHE_DIR=str(full_disk / "c"), XDG_CACHE_HOME=str(full_disk))
    here = clmap(*command, cwd=tmp_path)
    assert there.stderr == ""
    assert there.stdout == here.stdout
    assert json.loads(there.stdout)["findings"]


def test_a_report_on_a_full_disk_is_one_clear_line(tmp_path: Path, full_disk: Path):
    (tmp_path / "k.cl").write_text(KERNEL)
    done = clmap("report", "k.cl", "-o", str(full_disk / "page.html"), cwd=tmp_path)
    assert "Traceback" not in done.stderr
    assert done.returncode == 2
    assert "no space left" in done.stderr.strip().splitlines()[-1].lower()


def test_a_rewritten_source_on_a_full_disk_stays_as_it_was(full_disk: Path):
    source = full_disk / "k.cl"
    (full_disk / "filler").write_bytes(b"")
    source.write_text(KERNEL + "// " + "x" * 8000 + "\n")
    before = source.read_bytes()
    with (full_disk / "filler").open("ab", buffering=0) as file, pytest.raises(OSError, match="No space"):
        while True:
            file.write(b"\0" * 4096)
    with pytest.raises(OSError, match="No space left"):
        write_whole(source, before.replace(b"1;", b"2;"))
    assert source.read_bytes() == before
    assert {it.name for it in full_disk.iterdir()} == {"baseline.json", "filler", "k.cl"}


# --------------------------------------------------------------------------------------- a flood of findings


def flood(count: int) -> CheckReport:
    source = SourceFile.of("k.cl", KERNEL)
    finding = Finding("CM101", "uncoalesced-load", "slow", Severity.WARNING, Span("k.cl", 0, 3), kernel="k")
    half = FileReport("k.cl", (finding,) * (count // 2), {"k.cl": source}, 1)
    return CheckReport((half, half))


def test_a_million_findings_are_cut_and_it_is_said_how_many_there_are():
    said = io.StringIO()
    with redirect_stderr(said):
        shown = _bounded(flood(1_000_000))
    assert said.getvalue().startswith(f"clmap-lsp: 1,000,000 findings, of which the first {MAX_PRINTED:,}")
    assert len(said.getvalue().splitlines()) == 1
    with redirect_stdout(io.StringIO()):
        assert len(concise.render(shown).splitlines()) == MAX_PRINTED
    assert [len(it.findings) for it in shown.files] == [MAX_PRINTED, 0]


def test_fewer_findings_are_all_printed():
    report = flood(1000)
    with redirect_stderr(io.StringIO()) as said:
        assert _bounded(report) is report
    assert said.getvalue() == ""


# ------------------------------------------------------------------------------- two servers on one workspace


async def test_two_servers_share_a_workspace_and_its_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Each has a pool of its own; both write the same entries at once, and both get the same results."""
    monkeypatch.setenv("CLMAP_CACHE_DIR", str(tmp_path))
    pools = [WorkerPool(), WorkerPool()]
    try:
        results = await asyncio.gather(
            *(pool.run(Task("emulate", "k", adding("shared"), "shared", 30.0)) for pool in pools)
        )
        outputs = [it["emulation"]["buffers"] for it in results]
        assert outputs[0] == outputs[1]
        assert outputs[0]["b"]["first"] == [0, 2, 4, 6, 8, 10, 12, 14]
        (entry,) = [it for it in tmp_path.rglob("*") if it.is_file()]
        assert json.loads(entry.read_bytes())["key"]
        # The second server is killed while it works: the first goes on, and the cache stays whole.
        assert pools[1].pid is not None
        os.kill(pools[1].pid, signal.SIGKILL)
        again = await pools[0].run(Task("emulate", "k", adding("other"), "other", 30.0))
        assert again["emulation"]["buffers"] == outputs[0]
    finally:
        for pool in pools:
            await pool.close()
