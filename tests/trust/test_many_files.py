"""Checks of very many files: memory that does not grow with their number, folders that are looked at once."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from clmap_lsp import workspace
from clmap_lsp.cli import main
from clmap_lsp.commands import checking
from clmap_lsp.config import Settings
from clmap_lsp.report.model import FileReport
from clmap_lsp.rules.selection import Selection
from clmap_lsp.sandbox import confined
from clmap_lsp.sandbox.usage import resident_mib
from clmap_lsp.workbench import hosts
from clmap_lsp.worker import forked
from clmap_lsp.worker.forked import LostError, Terms, each
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
