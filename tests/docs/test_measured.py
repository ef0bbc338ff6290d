"""The speeds that pages state, against the measurements that their picture is drawn from."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest
from doc_examples import ROOT

import clmap_lsp

_NUMBER = re.compile(r"(?<![\w.,])\d{1,3}(?:,\d{3})*(?![\w,]*\d)(?!\.\d)")
_ROW = re.compile(r"\| (\d+\.\d+) \| ([\d,]+) \|")
_SIZE = re.compile(r"N = [\d,]+|\d[\d,]* x \d[\d,]*|H\d{3}")


def _pictures() -> ModuleType:
    spec = importlib.util.spec_from_file_location("pictures", ROOT / "docs" / "pictures.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _speeds() -> list[str]:
    """Return the figures of `speed_h200.svg`, as its bars show them."""
    return [f"{rate:,}" for _, rate in _pictures().speeds()]


def _tiled() -> str:
    """Return what the textbook tiled matrix multiply ran at, N = 2048, dimensions as most write them."""
    rows = _pictures().results("on_device")["rows"]
    found = next(it for it in rows if it["kernel"] == "mm_coalesced_ab" and it["side"] == 2048)
    return f"{found['gflops']['warm']:,.0f}"


def _paragraphs(page: Path) -> list[str]:
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return [" ".join(it.split()) for it in re.split(r"\n\s*\n", text)]


def _figures(text: str) -> list[str]:
    return _NUMBER.findall(_SIZE.sub("", text))


@pytest.mark.parametrize("name", ["README.md", "docs/index.md"])
def test_who_cannot_see_the_speeds_is_told_them(name: str) -> None:
    said = [it for it in _paragraphs(ROOT / name) if "speed_h200.svg" in it]
    assert len(said) == 1
    alternative = re.search(r"!\[([^\]]+)\]\([^)]*speed_h200\.svg\)", said[0])
    assert alternative is not None
    assert _figures(alternative[1]) == _speeds()


@pytest.mark.parametrize("name", ["README.md", "docs/index.md", "docs/tutorial.md"])
def test_a_text_that_speaks_of_speed_states_what_was_measured(name: str) -> None:
    measured = {*_speeds(), _tiled()}
    said = [it for it in _paragraphs(ROOT / name) if "GFLOP/s" in it]
    assert said
    for text in said:
        assert set(_figures(text)) <= measured, text


def _measured_multiplies() -> set[tuple[str, str]]:
    """Return milliseconds and GFLOP/s of versions of a matrix multiply, N = 2048, as tables spell them."""
    times: list[float] = []
    for ladder in _pictures().results("ladder")["ladders"]:
        if ladder["name"].startswith("matmul"):
            times += [it["milliseconds"] for it in ladder["steps"]]
    for case in _pictures().results("optimise")["cases"]:
        if case["name"].startswith("matmul"):
            times += [it["milliseconds"] for it in case["versions"]]
    return {(f"{it:.{digits}f}", f"{2 * 2048**3 / it / 1e6:,.0f}") for it in times for digits in (1, 2, 3)}


def test_the_tables_of_fixes_state_what_was_measured() -> None:
    measured = _measured_multiplies()
    tables = re.findall(r"(?:^\|.*\n)+", (ROOT / "docs" / "fixes.md").read_text("utf-8"), re.MULTILINE)
    rows = [it for table in tables if "| ms | GFLOP/s |" in table for it in _ROW.findall(table)]
    assert len(rows) == 7
    assert set(rows) <= measured


def test_the_padding_that_the_tutorial_names_removes_the_conflict() -> None:
    """And one element, the usual cure, leaves some of it, as the page says."""
    page = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    named = re.search(r"`__local float a_tile\[TILE\]\[TILE \+ (\d+)\]` removes it", page)
    assert named is not None

    def wavefronts(padding: int) -> float:
        text = (ROOT / "fixtures" / "matmul" / "coalesced_abt.cl").read_text(encoding="utf-8")
        padded = text.replace("a_tile[TILE][TILE]", f"a_tile[TILE][TILE + {padding}]")
        launch = {"global_size": (256, 256), "local_size": (16, 16), "args": {"N": 256}}
        kernel = clmap_lsp.analyze(padded, device="nvidia-hopper", **launch)["mm_coalesced_abt_swapped"]
        stores = [it for it in kernel.accesses if it["buffer"] == "a_tile" and it["op"] == "store"]
        assert len(stores) == 1
        return float(stores[0]["per_request"]["mean"])

    assert wavefronts(int(named[1])) == 1
    assert wavefronts(1) == 2
    assert wavefronts(0) == 8
