"""Checks of very many files: memory that does not grow with their number, folders that are looked at once."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from clmap_lsp import workspace
from clmap_lsp.caches import clear_caches, droppable
from clmap_lsp.cli import main
from clmap_lsp.commands import checking
from clmap_lsp.commands.check import _jobs
from clmap_lsp.commands.options import SettingsSource
from clmap_lsp.commands.parser import build_parser
from clmap_lsp.config import Settings
from clmap_lsp.errors import UsageError
from clmap_lsp.findings import Rest
from clmap_lsp.report.model import FileReport, Guesses
from clmap_lsp.rules.selection import Selection
from clmap_lsp.sandbox import confined
from clmap_lsp.sandbox.usage import resident_mib
from clmap_lsp.source import pieces
from clmap_lsp.workbench import hosts
from clmap_lsp.worker import forked
from clmap_lsp.worker.forked import LostError, Terms, each
from clmap_lsp.worker.messages import as_data, from_data
from clmap_lsp.workspace import remembered_workspaces, scope_of, workspace_of

KERNEL = "__kernel void k(__global float *a) { a[get_global_id(0)] = 1.0f; }\n"
copies = pytest.mark.skipif(
    sys.platform != "linux" or confined.this_machine() is None, reason="copies of a process, seccomp"
)


def pids(count: int) -> list[int]:
    done: dict[int, Mapping[str, Any] | LostError] = dict(
        each(lambda n: {"n": n, "pid": os.getpid()}, count, 1, Terms(runs_kernels=False))
    )
    found = []
    for number in range(count):
        outcome = done[number]
        assert not isinstance(outcome, LostError)
        assert outcome["n"] == number, "each job is done once, and is told by its number"
        found.append(int(outcome["pid"]))
    return found


@copies
def test_a_copy_that_has_grown_large_is_replaced(monkeypatch: pytest.MonkeyPatch):
    assert len(set(pids(5))) == 1
    monkeypatch.setattr(forked, "RENEWED_MIB", -math.inf)
    assert len(set(pids(5))) == 5


@copies
def test_a_copy_of_a_large_process_is_kept(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(forked, "RENEWED_MIB", 64.0)
    held = bytes(range(256)) * (1 << 20)
    assert len(set(pids(5))) == 1, "a new copy would hold as much"
    assert held


@copies
def test_what_one_large_file_took_is_gone_for_those_after_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(forked, "RENEWED_MIB", 100.0)
    kept: list[bytes] = []

    def work(number: int) -> dict[str, Any]:
        if number == 2:
            kept.append(bytes(range(256)) * (1 << 20))
        return {"mib": resident_mib(os.getpid())}

    held: dict[int, float] = {}
    for number, outcome in each(work, 5, 1, Terms(runs_kernels=False)):
        assert not isinstance(outcome, LostError)
        held[number] = float(outcome["mib"])
    assert held[2] > held[1] + 200.0
    assert held[4] < held[1] + 50.0


@pytest.fixture(params=["fork", "pipe"])
def limited(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Returns what lets the system give so many processes from now on, or pipes for so many."""
    name, real = request.param, getattr(os, request.param)

    def limit(processes: int) -> None:
        left = [processes if name == "fork" else 2 * processes + 1]

        def give() -> Any:
            if not left[0]:
                raise BlockingIOError(11, "Resource temporarily unavailable")
            left[0] -= 1
            return real()

        monkeypatch.setattr(os, name, give)

    return limit


def descriptors() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


@copies
def test_where_there_can_be_fewer_processes_fewer_do_all(limited: Callable[[int], None]):
    before = descriptors()
    limited(2)
    done = dict(each(lambda n: {"pid": os.getpid()}, 9, 4, Terms(runs_kernels=False)))
    assert len(done) == 9
    assert len({int(it["pid"]) for it in done.values() if not isinstance(it, LostError)}) <= 2
    assert descriptors() == before


@copies
def test_where_there_can_be_no_process_kernels_do_not_run_and_files_are_checked_all_the_same(
    limited: Callable[[int], None],
):
    before = descriptors()
    jobs = [checking.CheckJob(f"{it}.cl", Settings(), Selection.of(), text=KERNEL) for it in range(14)]
    full = checking.check_all(jobs, 2, None, Terms(runs_kernels=False))
    limited(0)
    assert checking.check_all(jobs, 2, None, Terms(runs_kernels=False)) == full
    with pytest.raises(UsageError, match="no process can be started") as raised:
        checking.check_all(jobs, 2, None, Terms())
    assert "\n" not in str(raised.value)
    assert descriptors() == before


@copies
def test_a_copy_gives_back_what_is_free(monkeypatch: pytest.MonkeyPatch):
    """Small pieces that lie behind one that stays keep all of their memory, unless it is asked for."""
    if not given_back_here():
        pytest.skip("the C library gives nothing back when asked")

    def work(number: int) -> dict[str, Any]:
        if number == 1:
            pieces = [bytes(20_000) for _ in range(9_000)]
            kept.append(bytes(20_000))
            del pieces
        return {"mib": resident_mib(os.getpid())}

    def held(trimmed_mib: float) -> list[float]:
        monkeypatch.setattr(forked, "TRIMMED_MIB", trimmed_mib)
        done = dict(each(work, 3, 1, Terms(runs_kernels=False)))
        outcomes = [done[number] for number in range(3)]
        return [float(it["mib"]) for it in outcomes if not isinstance(it, LostError)]

    kept: list[bytes] = []
    monkeypatch.setattr(forked, "RENEWED_MIB", math.inf)
    without, with_it = held(math.inf), held(48.0)
    assert without[2] > without[0] + 80.0
    assert with_it[2] < with_it[0] + 40.0


def given_back_here() -> bool:
    from clmap_lsp.heap import _glibc

    return _glibc("malloc_trim") is not None


def test_files_of_a_folder_share_their_settings_and_reports_their_words(tmp_path: Path):
    """What each file of ten thousand adds to the command is what it has of its own."""
    (tmp_path / "clmap.toml").write_text("[build]\ndefines = {N = 8}\n")
    for number in range(6):
        (tmp_path / f"{number}.cl").write_text(KERNEL)
    args = build_parser()[0].parse_args(["check", str(tmp_path)])
    jobs = _jobs(args, SettingsSource(args))
    assert len({id(it.settings) for it in jobs}) == 1 < len(jobs)
    rests = [Rest("scalar", "count_of_elements", "4096", "guessed") for _ in range(2)]
    guesses = [Guesses(launches=(("some_kernel", (it,)),)) for it in rests]
    reports = [as_data(FileReport(f"{n}.cl", guesses=it)) for n, it in enumerate(guesses)]
    one, other = (from_data(json.loads(json.dumps(it)), FileReport) for it in reports)
    (name, (rest,)), (same, (twin,)) = *one.guesses.launches, *other.guesses.launches
    assert name is same and rest.name is twin.name and rest.value is twin.value


@copies
@pytest.mark.parametrize("n_processes", [1, 2])
def test_one_process_too_gives_back_what_it_took(n_processes: int, monkeypatch: pytest.MonkeyPatch):
    def checked(job: checking.CheckJob) -> FileReport:
        return FileReport(job.path, error=str(os.getpid()))

    monkeypatch.setattr(checking, "_checked", checked)
    monkeypatch.setattr(forked, "RENEWED_MIB", -math.inf)
    jobs = [checking.CheckJob(f"{it}.cl", Settings(), Selection.of(), text=KERNEL) for it in range(14)]
    reports = checking.check_all(jobs, n_processes, None, Terms(runs_kernels=False))
    assert [it.path for it in reports] == [it.path for it in jobs]
    assert len({it.error for it in reports}) == 14


def test_what_host_code_says_is_kept_of_some_files_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(hosts, "KEPT_FILES", 3)
    (tmp_path / ".git").mkdir()
    files = hosts.HostFiles()
    for number in range(9):
        path = tmp_path / f"{number}.cl"
        path.write_text(KERNEL)
        files.facts(str(path), KERNEL, Settings())
    assert [Path(it).name for it in files._known] == ["6.cl", "7.cl", "8.cl"]
    (project,) = files._projects.values()
    assert sum(it is not None and "__kernel" in it for it in project._texts.values()) <= 3
    assert files.facts(str(tmp_path / "0.cl"), KERNEL, Settings()).launches == {}


def test_the_workspace_of_a_folder_is_looked_for_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / ".git").mkdir()
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        for number in range(4):
            (tmp_path / folder / f"{number}.cl").write_text(KERNEL.replace("void k", f"void k{number}"))
    asked: list[str] = []
    real = workspace._found

    def found(folder: Path) -> Path:
        asked.append(str(folder))
        return real(folder)

    monkeypatch.setattr(workspace, "_found", found)
    monkeypatch.chdir(tmp_path)
    assert main(["check", ".", "--format", "json"]) == 0
    assert "[launch.k3]" in capsys.readouterr().out
    assert len(asked) == len(set(asked)) > 0


def test_what_is_remembered_is_what_would_be_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    inner = tmp_path / "repository" / "kernels" / "deep"
    inner.mkdir(parents=True)
    (tmp_path / "repository" / ".git").mkdir()
    (tmp_path / "link").symlink_to(inner)
    monkeypatch.chdir(tmp_path)
    paths = ("k.cl", "repository/k.cl", "link/k.cl", "link/../k.cl", str(inner / "k.cl"), "./link/x/../k.cl")
    expected = [(workspace_of(it), scope_of(it), scope_of(it, ("/opt",))) for it in paths]
    with remembered_workspaces():
        for _ in range(2):
            assert [(workspace_of(it), scope_of(it), scope_of(it, ("/opt",))) for it in paths] == expected
        monkeypatch.chdir(inner)
        assert workspace_of("k.cl") == tmp_path / "repository"
    (inner / ".git").mkdir()
    assert workspace_of("k.cl") == inner, "nothing is remembered beyond the command"


def test_a_folder_that_becomes_a_link_leads_nowhere_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    own, other = tmp_path / "own", tmp_path / "other"
    for folder in (own / "kernels", other):
        folder.mkdir(parents=True)
    (own / ".git").mkdir()
    (other / "secret").write_text("secret")
    monkeypatch.chdir(own)
    with remembered_workspaces():
        assert scope_of("kernels/k.cl").holds("kernels/k.cl")
        (own / "kernels").rmdir()
        (own / "kernels").symlink_to(other)
        assert not scope_of("kernels/k.cl").holds("kernels/secret")


@copies
def test_what_is_known_of_the_jobs_before_is_forgotten_when_much_is_held(monkeypatch: pytest.MonkeyPatch):
    known: dict[int, bytes] = droppable({})

    def work(number: int) -> dict[str, Any]:
        known[number] = b"of a text that nobody asks for again"
        return {"known": len(known)}

    def outcomes() -> list[int]:
        done = dict(each(work, 3, 1, Terms(runs_kernels=False)))
        return [int(it["known"]) for _, it in sorted(done.items()) if not isinstance(it, LostError)]

    assert outcomes() == [1, 2, 3]
    monkeypatch.setattr(forked, "TRIMMED_MIB", -math.inf)
    assert outcomes() == [1, 1, 1]


def test_a_check_keeps_neither_the_tokens_of_a_file_nor_forgets_the_host_code(tmp_path: Path):
    path = tmp_path / "k.cl"
    path.write_text('#include "k.h"\n' + KERNEL)
    (tmp_path / "k.h").write_text("#define N 8\n")
    checking.check_file(checking.CheckJob(str(path), Settings(), Selection.of()))
    assert str(path) not in pieces._kept
    assert any(it.endswith("k.h") for it in pieces._kept), "others may include it"
    workbench = checking._workbench()
    assert len(workbench._session._kernels) > 0
    hosts_of = workbench._hosts
    clear_caches()
    assert len(workbench._session._kernels) == 0
    assert workbench._hosts is hosts_of


def test_copies_share_what_every_file_needs():
    """What a copy would load for its first file, its parent has loaded."""
    asked = f"""
import sys
from clmap_lsp.commands.checking import CheckJob, check_file, load_all
from clmap_lsp.config import Settings
from clmap_lsp.rules.selection import Selection
load_all()
before = set(sys.modules)
found = check_file(CheckJob("", Settings(), Selection.of(), text={KERNEL!r}))
print(found.n_kernels, found.error, sorted(it for it in set(sys.modules) - before if "clmap" in it))
"""
    words = [sys.executable, "-c", asked]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout == "1 None []\n"
