"""Programs that are run are those of the user's own path, and none that a repository brings along."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from forked import run

from clmap_lsp.programs import find_program

pytestmark = pytest.mark.skipif(os.name != "posix", reason="shell scripts")
ROOT = Path(__file__).parents[2] / "clmap_lsp"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with programs of names that are looked for, each of which leaves a file behind."""
    folder = tmp_path / "repository"
    (folder / ".git").mkdir(parents=True)
    (folder / "k.cl").write_text("__kernel void k(__global float *a) { a[get_global_id(0) * 32] = 1; }\n")
    for name in ("git", "clang-format", "ptxas", "cc", "gcc", "clang"):
        program = folder / name
        program.write_text(f"#!/bin/sh\ntouch {folder}/was-run\n")
        program.chmod(0o755)
    return folder


@pytest.mark.parametrize("path", [".", "", ":", "./", "../repository", ".:/nowhere"])
def test_the_current_folder_is_no_place_for_programs(
    repository: Path, monkeypatch: pytest.MonkeyPatch, path: str
):
    monkeypatch.chdir(repository)
    monkeypatch.setenv("PATH", path)
    assert find_program("git") is None
    monkeypatch.setenv("PATH", f"{path}:{repository}")
    assert find_program("git") == f"{repository}/git"


def test_what_is_no_program_is_passed_over(repository: Path, monkeypatch: pytest.MonkeyPatch):
    (repository / "git").chmod(0o644)
    (repository / "folder").mkdir()
    monkeypatch.setenv("PATH", str(repository))
    assert find_program("git") is None
    assert find_program("folder") is None
    assert find_program("cc", (str(repository),)) == f"{repository}/cc"


def test_a_check_of_changes_runs_no_program_of_the_repository(
    repository: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PATH", ".:")
    done = run(repository, "check", "--no-emulate", "--diff-base", "HEAD", "k.cl")
    assert done.returncode == 2
    assert "git is not installed" in done.stderr
    assert not (repository / "was-run").exists()


def test_nothing_else_looks_for_programs():
    for path in ROOT.rglob("*.py"):
        assert not re.search(r"shutil\.which|from shutil import .*which", path.read_text("utf-8")), path


HARNESS = (ROOT.parent / "action.yml", *sorted((ROOT.parent / "editors" / "vscode" / "src").rglob("*.ts")))
STARTS = re.compile(r"""(?:"|" |-[IP] )-[mc](?:",)? "?(?=venv|pip|clmap_lsp|code\b|import)""")
"""Where Python is started with a module or a line of code."""


def test_python_is_never_started_with_modules_of_the_current_folder():
    """It would import `venv.py` or `pip/` of a checkout, or what others put into the temporary folder."""
    starts = 0
    for path in HARNESS:
        text = path.read_text("utf-8")
        for found in STARTS.finditer(text):
            starts += 1
            before = text[max(found.start() - 6, 0) : found.end()]
            assert re.search(r"""-[IP]"?,? """, before), text[found.start() - 60 : found.end() + 20]
    assert starts >= 6


def test_a_venv_of_the_checkout_is_not_run(tmp_path: Path):
    import subprocess
    import sys

    (tmp_path / "venv.py").write_text("open('was-run', 'w')")
    subprocess.run(
        [sys.executable, "-I", "-m", "venv", "--help"], cwd=tmp_path, check=True, capture_output=True
    )
    assert not (tmp_path / "was-run").exists()
