"""Every rule's bad example is found by the rule, and its good example is not."""

from __future__ import annotations

import re

import pytest

from clmap_lsp.commands.checking import CheckJob, check_file
from clmap_lsp.config import Settings
from clmap_lsp.rules import Rule, Selection, all_rules

DOCUMENTED = [it for it in all_rules() if it.docs.code_blocks("Example")]
# Rules that need more than the text of a kernel (a run, a database) bring examples of their own tests.
STATIC = [it for it in DOCUMENTED if it.meta.code[2] in "01245"]


def codes(rule: Rule, text: str) -> set[str]:
    named = re.search(r"`--device ([\w-]+)`", rule.docs.sections["Example"])
    settings = Settings(device=named[1]) if named else Settings()
    report = check_file(CheckJob("example.cl", settings, Selection.of(), hints=True, text=text))
    return {it.code for it in report.findings}


@pytest.mark.parametrize("rule", STATIC, ids=[it.meta.code for it in STATIC])
def test_the_bad_example_is_found(rule: Rule) -> None:
    for block in rule.docs.code_blocks("Example"):
        assert rule.meta.code in codes(rule, block)


@pytest.mark.parametrize("rule", STATIC, ids=[it.meta.code for it in STATIC])
def test_the_good_example_is_clean(rule: Rule) -> None:
    for block in rule.docs.code_blocks("Use instead"):
        assert codes(rule, block) == set()
