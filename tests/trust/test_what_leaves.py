"""Names, comments and texts of strangers in everything that is printed: they stay text in each format."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from forked import run

pytestmark = pytest.mark.skipif(os.name != "posix", reason="names with control characters")

NAMES = {
    "clears the screen": "\x1b[2J\x1b[H.cl",
    "sets the title": "\x1b]0;owned\x07.cl",
    "a link of the terminal": "\x1b]8;;https:\\\\evil.example\x1b\\.cl",
    "eight-bit control": "\x9b31m.cl",
    "a workflow command": "a\n::error file=x::owned\n.cl",
    "a workflow command in percents": "%0A::set-output name=x::y%0A.cl",
    "an older workflow command": "a\n##[error]owned\n.cl",
    "turned round": "\u202elc.txt.cl",
    "carriage return": "good.cl\rbad.cl",
    "a tag": "<img src=x onerror=alert(1)>.cl",
    "an attribute": '" onmouseover="alert(1)" x=".cl',
    "an entity": "&lt;b&gt;&amp;.cl",
    "the end of CDATA": "]]>.cl",
    "a picture in Markdown": "![x](https:evil.example).cl",
    "a command in Markdown": "[x](command:owned).cl",
    "ticks": "`` `a` ``.cl",
    "the start of an option": "--fix.cl",
    "no UTF-8": os.fsdecode(b"\xff\xfe.cl"),
}
SOURCE = """// \x1b[2J ::error::owned <script>alert(1)</script> ]]> [x](command:owned)
#include "\x1b]0;owned\x07<img src=x>.h"
#define NOTE "\x9b31m::error::owned"
__kernel void k(__global float *a, int n) {
  printf("\x1b[2J<b>::error::%d\\n", n); // <!-- --> \u202e
  a[get_global_id(0) * 32 + unknown_\u0410] = 1; // <img src=x onerror=alert(1)>
}
// clmap: global=256 local=64 a=zeros(8192)
__kernel void good(__global float *a) { a[get_global_id(0) * 32] = 1; }
"""
ACTIVE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
STYLES = ("full", "concise", "json", "github", "gitlab", "sarif", "junit")


class Page(HTMLParser):
    """Collects what of a page would do something."""

    def __init__(self) -> None:
        super().__init__()
        self.wrong: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "img", "iframe", "object", "link", "base", "form"):
            self.wrong.append(tag)
        self.wrong += [name for name, _ in attrs if name.startswith("on")]
        self.wrong += [value for name, value in attrs if name == "href" and value and "command:" in value]


def is_xml(text: str) -> None:
    for it in ElementTree.fromstring(text).iter():
        assert it.tag in {"testsuites", "testsuite", "testcase", "failure", "error", "skipped", "system-out",
                          "properties", "property"}  # fmt: skip


def is_json(text: str) -> None:
    json.loads(text)


def is_workflow(text: str) -> None:
    for line in text.splitlines():
        if line.startswith(("::", "##[")):
            assert re.match(r"::(error|warning|notice) (file|title)=", line), line


HOLDS: dict[str, Callable[[str], None]] = {
    "json": is_json,
    "gitlab": is_json,
    "sarif": is_json,
    "junit": is_xml,
    "github": is_workflow,
    "full": is_workflow,
    "concise": is_workflow,
}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    (folder / ".git").mkdir(parents=True)
    for name in NAMES.values():
        (folder / name).write_text(SOURCE, encoding="utf-8")
    return folder


@pytest.mark.parametrize("style", STYLES)
def test_what_strangers_wrote_stays_text(repository: Path, style: str):
    done = run(repository, "check", "--hints", "--no-emulate", "--format", style, ".", limit_s=300)
    assert done.returncode in (0, 1), done.stderr
    assert not ACTIVE.search(done.stdout.replace("\t", "")), "control characters reach the reader"
    assert not ACTIVE.search(done.stderr)
    HOLDS[style](done.stdout)
    assert "CM102" in done.stdout, "nothing is lost for a name"


def test_a_page_and_files_of_strangers_do_nothing(repository: Path):
    done = run(
        repository, "check", "--no-emulate", "--output", "junit:out.xml", "--write-baseline", "b.json", "."
    )
    assert done.returncode in (0, 1), done.stderr
    is_xml((repository / "out.xml").read_text("utf-8"))
    done = run(repository, "report", "--no-emulate", "-o", "-", ".", limit_s=300)
    page = Page()
    page.feed(done.stdout)
    assert page.wrong == []
    assert not ACTIVE.search(done.stdout.replace("\t", ""))
