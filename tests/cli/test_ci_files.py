"""What other tools read from this repository names things that exist."""

from __future__ import annotations

import re
from pathlib import Path

from clmap_command import clmap

from clmap_lsp.commands.files import SUFFIXES

ROOT = Path(__file__).parents[2]


def test_pre_commit_hooks_run_options_that_exist_on_files_that_are_kernels() -> None:
    text = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    help_text = clmap("check", "--help").stdout
    for entry in re.findall(r"^  entry: clmap-lsp --check(.*)$", text, re.MULTILINE):
        for option in entry.split():
            assert option in help_text
    patterns = set(re.findall(r"^  files: (.*)$", text, re.MULTILINE))
    assert len(patterns) == 1
    pattern = re.compile(patterns.pop())
    assert all(pattern.search(f"kernels/a{it}") for it in SUFFIXES)
    assert not pattern.search("a.clx")


def test_the_page_about_ci_uses_options_that_exist() -> None:
    text = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    lines = re.findall(r"clmap-lsp (--check|analyze|diff) ([^\n>`]*)", text)
    assert len(lines) >= 6
    for command, rest in lines:
        help_text = clmap(command.lstrip("-"), "--help").stdout
        for option in re.findall(r"(?<!\S)--[a-z-]+", rest):
            assert option in help_text, (command, option)
