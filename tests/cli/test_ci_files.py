"""What other tools read from this repository names things that exist."""

from __future__ import annotations

import json
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


def test_what_is_released_is_built_where_no_test_ran() -> None:
    """Tests run packages of others as root, in a tree that the wheel would then be made of."""
    flow = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    jobs = yaml.safe_load(flow)["jobs"]
    scripts = {name: " ".join(str(it.get("run", "")) for it in job["steps"]) for name, job in jobs.items()}
    assert [name for name, it in scripts.items() if ".ci/run" in it] == ["check"]
    assert "python -m build" in scripts["build"]
    assert "npm ci" in scripts["build"]
    assert "sudo" not in scripts["build"]
    assert set(jobs["pypi"]["needs"]) == {"check", "build"}
    assert {jobs[it]["needs"] for it in ("extension", "github")} == {"pypi"}


def test_pictures_of_the_extension_show_on_the_marketplace() -> None:
    """It shows none whose address is a name in the package."""
    folder = ROOT / "editors" / "vscode"
    packs = json.loads((folder / "package.json").read_text(encoding="utf-8"))["scripts"]["package"].split()
    base = packs[packs.index("--baseImagesUrl") + 1]
    assert base.startswith("https://raw.githubusercontent.com/")
    assert base.endswith("/HEAD/editors/vscode")
    assert "--no-rewrite-relative-links" not in packs
    shown = re.findall(r"!\[[^]]*\]\(([^)]+)\)", (folder / "README.md").read_text(encoding="utf-8"))
    assert shown
    assert all((folder / it).is_file() for it in shown)


@pytest.mark.parametrize("name", ["ci.yml", "release.yml"])
def test_checks_run_with_the_interpreters_that_the_workflow_set_up(name: str) -> None:
    """`sudo` takes a path of its own, and with it another Python and another Node."""
    text = (ROOT / ".github" / "workflows" / name).read_text(encoding="utf-8")
    runs = re.findall(r"run: (.*\.ci/run.*)", text)
    assert runs
    assert all(it.startswith('sudo env "PATH=$PATH" ') for it in runs)
