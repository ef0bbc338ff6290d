"""What a repository holds does not choose which files of the user's are written."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from clmap_lsp.cli import main
from clmap_lsp.whole_files import write_whole

KERNEL = "__kernel void k(__global float *a) { a[get_global_id(0) * 64] = 1.0f; }\n"
links = pytest.mark.skipif(sys.platform == "win32", reason="links and pipes")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    own = tmp_path / "own"
    (own / ".git").mkdir(parents=True)
    (own / "k.cl").write_text(KERNEL)
    (tmp_path / "precious").write_text("mine")
    monkeypatch.chdir(own)
    return own


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["check", "k.cl", "--fail-on", "never", *arguments]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    return said


@links
@pytest.mark.parametrize("spelled", ["report.sarif", "./report.sarif", "out/precious"])
def test_a_report_is_not_written_through_a_link_out_of_the_workspace(
    repository: Path, capsys: pytest.CaptureFixture[str], spelled: str
):
    (repository / "report.sarif").symlink_to(repository.parent / "precious")
    (repository / "out").symlink_to(repository.parent)
    assert "leads out of the workspace" in refused(capsys, "--output", f"sarif:{spelled}")
    assert (repository.parent / "precious").read_text() == "mine"
    assert sorted(it.name for it in repository.parent.iterdir()) == ["own", "precious"]


@links
def test_a_baseline_is_not_written_through_a_link_out_of_the_workspace(
    repository: Path, capsys: pytest.CaptureFixture[str]
):
    (repository / "base.json").symlink_to(repository.parent / "precious")
    refused(capsys, "--write-baseline", "base.json")
    assert (repository.parent / "precious").read_text() == "mine"


@links
def test_links_that_stay_inside_and_paths_that_a_person_spells_are_written(repository: Path, tmp_path: Path):
    (repository / "reports").mkdir()
    (repository / "report.sarif").symlink_to(repository / "reports" / "today.sarif")
    (tmp_path / "beside.sarif").symlink_to(tmp_path / "precious")
    for path in ("report.sarif", "../beside.sarif"):
        assert main(["check", "k.cl", "--fail-on", "never", "--output", f"sarif:{path}"]) == 0
    assert "sarif" in (repository / "reports" / "today.sarif").read_text()
    assert (repository / "report.sarif").is_symlink()
    assert "sarif" in (tmp_path / "precious").read_text()


@links
def test_a_part_that_lies_there_as_a_link_is_not_written_through(repository: Path):
    (repository / f".report.json.{os.getpid()}.part").symlink_to(repository.parent / "precious")
    write_whole(repository / "report.json", b"new")
    assert (repository / "report.json").read_bytes() == b"new"
    assert (repository.parent / "precious").read_text() == "mine"


@links
def test_a_pipe_that_nobody_reads_is_one_line(repository: Path):
    os.mkfifo(repository / "report.sarif")
    command = [sys.executable, "-m", "clmap_lsp", "check", "k.cl", "--output", "sarif:report.sarif"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


@links
def test_a_pipe_that_somebody_reads_gets_all(repository: Path):
    pipe = repository / "report.json"
    os.mkfifo(pipe)
    data, taken = bytes(range(256)) * 4096, repository / "taken"
    with taken.open("wb") as file:
        reader = subprocess.Popen(["cat", str(pipe)], stdout=file)
    for _ in range(600):
        try:
            write_whole(pipe, data)
            break
        except OSError:  # Nobody reads yet.
            time.sleep(0.05)
    assert reader.wait(timeout=60) == 0
    assert taken.read_bytes() == data
