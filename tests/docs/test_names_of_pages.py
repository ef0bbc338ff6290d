"""Names that sentences of the pages use: options, rules, kinds of fixes, device models and files exist."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from doc_examples import PAGES, ROOT

from clmap_lsp.commands.parser import build_parser, subcommands
from clmap_lsp.devices import list_models
from clmap_lsp.rules.registry import all_rules

_CODE = re.compile(r"`([^`\n]+)`")
_OTHERS = re.compile(r"python -m (?:pip|venv)|git |pipx? |docker |npm |clang |uv ")
"""Programs whose options are not ours."""
_SERVER = {"--stdio", "--tcp", "--check", "--version", "--help", "--log-level"}


def _options(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        yield from action.option_strings
        if isinstance(action, argparse._SubParsersAction):
            for it in action.choices.values():
                yield from _options(it)


def _known_options() -> set[str]:
    ours = {it for parser in subcommands(build_parser()[0]).values() for it in _options(parser)}
    scripts = [*(ROOT / "benchmarks").glob("*.py"), *(ROOT / "fuzz").glob("*.py")]
    theirs = {it for path in scripts for it in re.findall(r'"(--[a-z][\w-]*)"', path.read_text("utf-8"))}
    return ours | theirs | _SERVER


def _spans(page: Path) -> list[str]:
    return _CODE.findall(re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL))


@pytest.mark.parametrize("page", PAGES, ids=lambda it: it.name)
def test_names_in_sentences_exist(page: Path) -> None:
    options, codes = _known_options(), {it.meta.code for it in all_rules()}
    devices = {name.lower() for it in list_models() for name in (it.id, *it.aliases)}
    for span in _spans(page):
        if not _OTHERS.search(span):
            assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", span)) <= options, span
        if re.fullmatch(r"(?:nvidia|amd|intel|apple|arm|qualcomm)-[a-z0-9-]+", span):
            assert span in devices, span
        if re.fullmatch(
            r"(?:clmap_lsp|tests|benchmarks|fuzz|fixtures|editors|docs|examples|browser)/[\w./*-]+", span
        ):
            assert list(ROOT.glob(span.rstrip("/"))), span
    assert set(re.findall(r"\bCM\d{3}\b", page.read_text("utf-8"))) <= codes


def test_every_kind_of_fix_has_its_row() -> None:
    table = (ROOT / "docs" / "fixes.md").read_text("utf-8").partition("| kind |")[2].partition("\n\n")[0]
    rows = {
        it for names in re.findall(r"^\| ([a-z, -]+?) \|", table, re.MULTILINE) for it in names.split(", ")
    }
    modules = (ROOT / "clmap_lsp" / "fixes" / "kinds").glob("[!_]*.py")
    assert rows == {it.stem.replace("_", "-") for it in modules}
