"""Rule tests written as Markdown: see the `.md` files beside this one.

Each `##` section holds one `c` block, and a `toml` block before it if it needs a configuration (as in
`clmap.toml`, plus `hints = true`). A comment `// warning: [CM101] "part of the message"` at the end of a line
says that a finding of that severity and code starts on that line; the text in quotes is optional. Findings
must be exactly those that comments expect.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from clmap_lsp.commands.checking import CheckJob, check_file
from clmap_lsp.config import parse
from clmap_lsp.report.model import FileReport
from clmap_lsp.rules import Selection

FOLDER = Path(__file__).parent
_BLOCK = re.compile(r"```(c|toml)\n(.*?)```", re.DOTALL)
_EXPECTED = re.compile(r'(error|warning|information|hint): \[(\w+)\](?: "([^"]*)")?')


@dataclass(frozen=True)
class Case:
    title: str
    config: str
    code: str


def cases() -> list[Case]:
    found = []
    for path in sorted(FOLDER.glob("*.md")):
        for section in path.read_text(encoding="utf-8").split("\n## ")[1:]:
            title = section.partition("\n")[0]
            config = ""
            for kind, text in _BLOCK.findall(section):
                if kind == "toml":
                    config = text
                else:
                    found.append(Case(f"{path.stem}: {title}", config, text))
    return found


CASES = cases()


def check(case: Case) -> FileReport:
    hints = "hints = true\n" in case.config
    settings = parse("/nowhere/clmap.toml", case.config.replace("hints = true\n", ""))
    rules = settings.rules
    return check_file(
        CheckJob(
            "case.cl",
            settings,
            Selection.of(rules.select, rules.ignore, rules.severity),
            hints=hints,
            text=case.code,
        )
    )


@pytest.mark.parametrize("case", CASES, ids=[it.title for it in CASES])
def test_findings_are_those_expected(case: Case) -> None:
    expected = [
        (row, severity, code, text)
        for row, line in enumerate(case.code.splitlines(), start=1)
        for severity, code, text in _EXPECTED.findall(line)
    ]
    report = check(case)
    actual = [(report.start(it.span).row, it.severity.value, it.code, it.message) for it in report.findings]
    shown = "\n".join(map(str, actual))
    assert sorted(it[:3] for it in actual) == sorted(it[:3] for it in expected), shown
    for row, severity, code, text in expected:
        messages = [it[3] for it in actual if it[:3] == (row, severity, code)]
        assert any(text in it for it in messages), f"{text!r} is not in {messages}"


def test_there_are_cases_for_every_rule_of_the_first_groups() -> None:
    from clmap_lsp.rules import all_rules

    wanted = {it.meta.code for it in all_rules() if it.meta.code[2] in "012"}
    wanted.remove("CM009")  # Needs files outside a workspace: tests/trust/test_includes.py.
    wanted.remove("CM010")  # Needs a file that is not UTF-8: tests/cli/test_bad_input.py.
    shown = {code for case in CASES for _, code, _ in _EXPECTED.findall(case.code)}
    assert wanted <= shown
