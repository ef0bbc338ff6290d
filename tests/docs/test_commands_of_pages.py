"""Commands that pages name, in blocks and in sentences: those of shell blocks run, all have such options."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from doc_examples import PAGES, Example, examples

from clmap_lsp.commands.parser import build_parser, subcommands

_PARSERS = subcommands(build_parser()[0])
_OPTIONS = {
    name: {option for action in parser._actions for option in action.option_strings}
    for name, parser in _PARSERS.items()
}
_SERVER = {"--stdio", "--tcp", "--help", "--version", "--log-level"}
_NAMED = re.compile(r"(?<![\w/.-])clmap-lsp((?: +[^\s`|>;)]+)+)")
KERNEL = "__kernel void k(__global float *a) { a[get_global_id(0) * 32] = 1.0f; }\n"


def _commands(page: Path) -> list[list[str]]:
    """Return the words after `clmap-lsp` of every command that a page names."""
    found = []
    for line in page.read_text(encoding="utf-8").splitlines():
        for match in _NAMED.finditer(line):
            text = re.split(r" {2,}| #", match[1].strip())[0]
            try:
                found.append(shlex.split(text))
            except ValueError:  # A quote that a sentence opens.
                found.append(text.split())
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda it: it.name)
def test_options_that_a_page_names_exist(page: Path) -> None:
    for words in _commands(page):
        command = "check" if "--check" in words else words[0]
        options = [it.split("=")[0] for it in words if re.fullmatch(r"--[a-z][\w-]*(=.*)?", it)]
        if command in _PARSERS and command != "db":  # Each of its actions has options of its own.
            known = _OPTIONS[command] | {"--check"}
            if command == "record" and "--" in words:
                options = [it for it in words[: words.index("--")] if it.startswith("--")]
            assert set(options) <= known, (page.name, words)
        elif command.startswith("--"):
            assert set(options) <= _SERVER, (page.name, words)


def test_commands_are_found_in_pages() -> None:
    found = [words for page in PAGES for words in _commands(page)]
    assert len(found) > 60
    assert {"check", "analyze", "emulate", "record", "optimise"} <= {it[0] for it in found}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a repository with a kernel that differs from that of `origin/main`, and our program in `bin`."""
    (tmp_path / "kernels").mkdir()
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "clmap-lsp"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m clmap_lsp "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    path = tmp_path / "kernels" / "k.cl"
    path.write_text(KERNEL, encoding="utf-8")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    for arguments in (["init", "-q"], ["add", "kernels"], ["commit", "-qm", "one"]):
        subprocess.run([*git, *arguments], cwd=tmp_path, check=True)
    subprocess.run([*git, "update-ref", "refs/remotes/origin/main", "HEAD"], cwd=tmp_path, check=True)
    path.write_text(KERNEL.replace("* 32", "* 16"), encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    "example", [it for it in examples("sh") if it.page.name != "README.md"], ids=lambda it: it.name
)
def test_a_shell_block_runs(example: Example, repository: Path) -> None:
    """What installs is left to `follow_readme.py`; findings end a command with 1, wrong options with 2."""
    lines = [it for it in example.text.splitlines() if not re.match(r"pipx? install", it)]
    assert lines
    for line in lines:
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=repository,
            env={**os.environ, "HOME": str(repository), "PATH": f"{repository / 'bin'}:{os.environ['PATH']}"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode in (0, 1), (line, done.stderr)
        assert not re.search(r"^clmap-lsp: ", done.stderr, re.MULTILINE), (line, done.stderr)
