"""The changelog stays something that a person reads, and branches that add to it do not conflict."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
CHANGELOG = (ROOT / "CHANGELOG.md").read_text()
LONGEST_RELEASE = 400
"""Lines of one release. Beyond, nobody reads it: lines of one subject are to be condensed."""


def releases() -> dict[str, list[str]]:
    """Return the lines below each heading of a release."""
    parts = re.split(r"^## (.*)$", CHANGELOG, flags=re.MULTILINE)
    return {name: text.splitlines() for name, text in zip(parts[1::2], parts[2::2], strict=True)}


def test_a_release_can_be_read() -> None:
    assert {name: len(lines) for name, lines in releases().items() if len(lines) > LONGEST_RELEASE} == {}


def test_no_line_is_there_twice() -> None:
    """A merge that keeps the lines of both sides leaves an edited line beside what it was."""
    begins = [line[:40] for line in CHANGELOG.splitlines() if line.startswith(("* ", "- "))]
    assert sorted({it for it in begins if begins.count(it) > 1}) == []
    assert not re.search(r"^(<<<<<<<|=======|>>>>>>>)", CHANGELOG, flags=re.MULTILINE)


def test_entries_are_of_one_kind() -> None:
    """Two kinds of bullets in a row are two lists to Markdown."""
    assert [line for line in CHANGELOG.splitlines() if line.startswith(("- ", "+ "))] == []


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_branches_that_add_to_it_are_rebased_without_a_conflict(tmp_path: Path) -> None:
    def git(*words: str) -> str:
        who = (
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b",
            "-c",
            "commit.gpgsign=false",
            "-c",
            "core.hooksPath=/",
        )
        ran = subprocess.run(("git", *who, *words), cwd=tmp_path, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout

    def add_entry(text: str) -> None:
        log = tmp_path / "CHANGELOG.md"
        log.write_text(log.read_text().replace("## Unreleased\n\n", f"## Unreleased\n\n* {text}\n", 1))
        git("commit", "-qam", text)

    git("init", "-q", "-b", "main")
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG)
    git("add", ".")
    git("commit", "-qm", "As it stands")
    git("branch", "theirs")  # Made before the attribute came.
    shutil.copy(ROOT / ".gitattributes", tmp_path)
    git("add", ".")
    git("commit", "-qm", "Attributes")
    add_entry("What one branch adds.")
    git("checkout", "-q", "theirs")
    add_entry("What the other branch adds.")
    git("rebase", "-q", "main")
    lines = (tmp_path / "CHANGELOG.md").read_text().splitlines()
    assert {"* What one branch adds.", "* What the other branch adds."} <= set(lines)
