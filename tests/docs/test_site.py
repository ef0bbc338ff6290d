"""The documentation site: builds without warnings, and has every page that the code promises."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from doc_examples import ROOT

from clmap_lsp.config.document import json_schema
from clmap_lsp.devices import list_models
from clmap_lsp.links import DOCS_URL
from clmap_lsp.rules.registry import all_rules

pytest.importorskip("material", reason="mkdocs-material is not installed")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT,
        # The theme's notice about its successor is no warning about these pages.
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stderr
    return folder


def test_every_rule_has_its_page_where_findings_link_to(site: Path) -> None:
    base = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["site_url"]
    assert base == DOCS_URL
    for it in all_rules():
        page = (site / it.meta.url.removeprefix(base) / "index.html").read_text(encoding="utf-8")
        assert it.meta.name in page
        assert "What it does" in page


def test_every_setting_device_and_command_is_there(site: Path) -> None:
    configuration = (site / "reference" / "configuration" / "index.html").read_text(encoding="utf-8")
    for key in json_schema()["properties"]:
        assert f"<code>{key}</code>" in configuration
    devices = (site / "reference" / "devices" / "index.html").read_text(encoding="utf-8")
    assert all(f'id="{it.id}"' in devices for it in list_models())
    commands = (site / "reference" / "commands" / "index.html").read_text(encoding="utf-8")
    modules = (ROOT / "clmap_lsp" / "commands").glob("*.py")
    names = {it.stem for it in modules if "def register(" in it.read_text(encoding="utf-8")}
    assert names
    assert all(f'id="{name}"' in commands for name in names)
    assert (site / "schema" / "clmap.json").is_file()


def test_what_the_tutorial_says_of_a_picture_is_in_it() -> None:
    """A picture of the loop's loads stood under the words "store with an 8-way conflict"."""
    page = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    shown = re.findall(r"!\[([^\]]+)\]\((images/tutorial_mm_[^)]+)\)", page)
    assert len(shown) == 4
    for said, path in shown:
        label = re.search(r'aria-label="([^"]*)"', (ROOT / "docs" / path).read_text(encoding="utf-8"))
        assert label is not None
        assert set(re.findall(r"\d+", said)) <= set(re.findall(r"\d+", label[1])), (said, label[1])
        if "without conflict" in said:
            assert "; 1 word in the fullest bank" in label[1]


def test_the_pictures_show_todays_figures() -> None:
    """Their texts hold the figures; shapes may differ between versions of matplotlib."""
    spec = importlib.util.spec_from_file_location("pictures", ROOT / "docs" / "pictures.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    label = re.compile(r'aria-label="([^"]+)"')
    drawn = dict(module.pictures())
    assert len(drawn) == 6
    for name, text in drawn.items():
        kept = (ROOT / "docs" / "images" / name).read_text(encoding="utf-8")
        assert label.findall(kept) == label.findall(text), f"{name}: run python docs/pictures.py"
        page = ROOT / "docs" / ("tutorial.md" if name.startswith("tutorial") else "index.md")
        assert f"images/{name}" in page.read_text(encoding="utf-8")


def _requests(page: str) -> Iterator[str]:
    """Yield what a browser loads by itself."""
    yield from re.findall(r"<(?:script|img|iframe)[^>]*\ssrc=\"?([^\s\">]+)", page)
    for link in re.findall(r"<link[^>]+>", page):
        if "canonical" not in link:
            yield from re.findall(r"href=\"?([^\s\">]+)", link)


def test_pages_load_nothing_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        outside = [it for it in _requests(page.read_text(encoding="utf-8")) if it.startswith(("http", "//"))]
        assert outside == [], page
