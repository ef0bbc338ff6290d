"""Finds the examples of the documentation and runs them.

A ```console block holds `$ command` lines, each followed by its output; a line `...` stands for any lines.
A ```python block is run, all of a page in one namespace; `>>>` lines are compared as by doctest.
A ```c block with a kernel is checked: comments `// CM101` name every finding of their lines, no others.

`python tests/docs/doc_examples.py` renews the outputs of console blocks that leave nothing out.
"""

from __future__ import annotations

import doctest
import io
import json
import re
import shlex
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path

from clmap_lsp.cli import main

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
_BLOCK = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_EXPECTED = re.compile(r"//\s*(CM\d{3}(?:\s*,\s*CM\d{3})*)\s*$")


@dataclass(frozen=True)
class Example:
    """One fenced block. `start` and `end` delimit its text in the page."""

    page: Path
    language: str
    text: str
    start: int
    end: int

    @property
    def name(self) -> str:
        row = self.page.read_text(encoding="utf-8")[: self.start].count("\n") + 1
        return f"{self.page.relative_to(ROOT)}:{row}"


def examples(language: str) -> list[Example]:
    """Return the blocks of one language in all pages."""
    return [
        Example(page, found[1], found[2], found.start(2), found.end(2))
        for page in PAGES
        for found in _BLOCK.finditer(page.read_text(encoding="utf-8"))
        if found[1] == language
    ]


def run_command(line: str) -> str:
    """Run `clmap-lsp …` in this process and return what it prints; `> file` is honoured."""
    words = shlex.split(line)
    assert words[0] == "clmap-lsp", f"an example runs {words[0]}; use a ```sh block for other programs"
    target = None
    if len(words) > 2 and words[-2] == ">":
        target = Path(words[-1])
        words = words[:-2]
    out = io.StringIO()
    # --help and --version leave by themselves.
    with redirect_stdout(out), redirect_stderr(out), suppress(SystemExit):
        main(words[1:])
    if target is None:
        return out.getvalue()
    target.write_text(out.getvalue(), encoding="utf-8")
    return ""


def steps(example: Example) -> list[tuple[str, str]]:
    """Return (command, expected output) of a console block."""
    parts = re.split(r"^\$ (.*)\n", example.text, flags=re.MULTILINE)
    assert not parts[0].strip(), f"{example.name}: output before the first command"
    return list(zip(parts[1::2], parts[2::2], strict=True))


def matches(expected: str, actual: str) -> bool:
    """Compare; trailing blanks do not count, a line `...` stands for any lines."""

    def tidy(text: str) -> str:
        return "\n".join(line.rstrip() for line in text.strip("\n").split("\n"))

    pattern = "\n".join(
        "(?:.*)" if line.strip() == "..." else re.escape(line) for line in tidy(expected).split("\n")
    )
    return re.fullmatch(pattern, tidy(actual), re.DOTALL) is not None


def run_python(example: Example, names: dict[str, object]) -> None:
    """Run a block; raises what it raises, AssertionError where an output differs."""
    if ">>>" not in example.text:
        exec(compile(example.text, example.name, "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(example.text, names, example.name, str(example.page), 0)
    report = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    outcome = runner.run(test, out=report.write, clear_globs=False)
    names.update(test.globs)
    assert outcome.failed == 0, report.getvalue()


def kernel_findings(example: Example, folder: Path) -> tuple[set[tuple[int, str]], set[tuple[int, str]]]:
    """Return (expected, found) findings of a kernel as (line, code)."""
    lines = example.text.splitlines()
    expected = {
        (number, code)
        for number, line in enumerate(lines, 1)
        if (found := _EXPECTED.search(line))
        for code in re.split(r"\s*,\s*", found[1])
    }
    path = folder / "example.cl"
    path.write_text(example.text, encoding="utf-8")
    out = io.StringIO()
    with redirect_stdout(out):
        main(["check", str(path), "--format", "json", "--select", "CM0,CM1,CM2"])
    found_here = json.loads(out.getvalue())["findings"]
    return expected, {(it["location"]["row"], it["code"]) for it in found_here}


def renew(page: Path) -> None:
    """Write the outputs of console blocks that leave nothing out."""
    text = page.read_text(encoding="utf-8")
    blocks = [it for it in examples("console") if it.page == page and "\n...\n" not in f"\n{it.text}"]
    for it in reversed(blocks):
        made = "".join(f"$ {command}\n{run_command(command)}" for command, _ in steps(it))
        text = text[: it.start] + made.rstrip("\n") + "\n" + text[it.end :]
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for it in PAGES:
        renew(it)
