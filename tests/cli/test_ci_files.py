"""What other tools read from this repository names things that exist."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import yaml
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


def _release() -> dict[str, list[dict[str, object]]]:
    flow = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8"))
    return {name: job["steps"] for name, job in flow["jobs"].items()}


def test_the_uploader_knows_the_metadata_that_is_built() -> None:
    """PyPI's action checks with twine, which refuses metadata newer than itself: 2.4 came with v1.12.4."""
    targets = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"][
        "targets"
    ]
    assert {it["core-metadata-version"] for it in targets.values()} == {"2.4"}
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    found = re.search(r"gh-action-pypi-publish@[0-9a-f]{40} # v(\d+)\.(\d+)\.(\d+)", text)
    assert found is not None
    assert tuple(map(int, found.groups())) >= (1, 12, 4)


def test_a_release_builds_from_a_clean_tree_that_it_may_write() -> None:
    """`.ci/run` as root leaves dist/ and node_modules/ that later steps can neither replace nor remove."""
    steps = [str(it.get("run", "")) for it in _release()["build"]]
    checked = next(place for place, it in enumerate(steps) if ".ci/run" in it)
    assert "git clean -ffdx" in steps[checked + 1]
    assert next(place for place, it in enumerate(steps) if "npm ci" in it) > checked + 1


@pytest.mark.parametrize("name", ["ci.yml", "release.yml"])
def test_checks_run_with_the_interpreters_that_the_workflow_set_up(name: str) -> None:
    """`sudo` takes a path of its own, and with it another Python and another Node."""
    text = (ROOT / ".github" / "workflows" / name).read_text(encoding="utf-8")
    runs = re.findall(r"run: (.*\.ci/run.*)", text)
    assert runs
    assert all(it.startswith('sudo env "PATH=$PATH" ') for it in runs)
