"""Every example of the documentation does what the page says."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from doc_examples import (
    PAGES,
    ROOT,
    Example,
    examples,
    kernel_findings,
    matches,
    run_command,
    run_python,
    steps,
)

CONSOLE, KERNELS = examples("console"), [it for it in examples("c") if "__kernel" in it.text]
PYTHON_PAGES = sorted({it.page for it in examples("python")})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place to write in, with the fixtures where the pages have them."""
    (tmp_path / "fixtures").symlink_to(ROOT / "fixtures", target_is_directory=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


@pytest.mark.parametrize("example", CONSOLE, ids=lambda it: it.name)
def test_a_console_example_prints_what_the_page_shows(example: Example, folder: Path) -> None:
    for command, expected in steps(example):
        actual = run_command(command)
        assert matches(expected, actual), f"$ {command}\nthe page shows:\n{expected}\nit prints:\n{actual}"


@pytest.mark.parametrize("page", PYTHON_PAGES, ids=lambda it: it.name)
def test_the_python_of_a_page_runs(page: Path, folder: Path) -> None:
    names: dict[str, object] = {}
    for it in examples("python"):
        if it.page == page:
            run_python(it, names)


@pytest.mark.parametrize("example", KERNELS, ids=lambda it: it.name)
def test_a_kernel_has_the_findings_that_its_comments_name(example: Example, folder: Path) -> None:
    expected, found = kernel_findings(example, folder)
    assert found == expected


@pytest.mark.parametrize("example", CONSOLE, ids=lambda it: it.name)
def test_a_wrong_output_does_not_pass_for_the_right_one(example: Example) -> None:
    """Each figure and word of what a page shows counts: one letter less anywhere is seen."""
    for _, expected in steps(example):
        for line in {it for it in expected.splitlines() if it.strip() and it.strip() != "..."}:
            assert not matches(expected, expected.replace(line, line.rstrip()[:-1] + "~", 1)), line


def test_the_runner_sees_a_wrong_example(folder: Path) -> None:
    page = folder / "page.md"
    assert not matches("1 warning", "2 warnings")
    assert matches("a\n...\nd", "a\nb\nc\nd")
    assert not matches("a\n...\nd", "a\nb\nc")
    wrong = Example(
        page, "c", "__kernel void f(__global int *a) { a[get_global_id(0)] = 1; } // CM101\n", 0, 0
    )
    expected, found = kernel_findings(wrong, folder)
    assert expected != found


def test_there_are_examples() -> None:
    assert ROOT / "README.md" in PAGES
    assert {it.page.name for it in CONSOLE} >= {"README.md", "tutorial.md"}
    assert len(CONSOLE) >= 6
    assert KERNELS
    assert PYTHON_PAGES


@pytest.mark.parametrize(
    "path", ["mkdocs.yml", ".pre-commit-hooks.yaml", "examples/github-action.yml", "examples/gitlab-ci.yml"]
)
def test_yaml_files_parse(path: str) -> None:
    assert yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))
