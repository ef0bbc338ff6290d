"""Rules are found by themselves, documented in full, selected by code, prefix and name."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest

from clmap_lsp.rules import Selection, UnknownRuleError, all_rules, find_rule, selectors
from clmap_lsp.rules.meta import REWRITTEN, SECTIONS, Needs, Scope, parse_docs
from clmap_lsp.source.ir import Severity

RULES = all_rules()


def test_rules_are_found_in_order_without_doubles() -> None:
    codes = [it.meta.code for it in RULES]
    assert codes == sorted(set(codes))
    assert {"CM001", "CM004", "CM101", "CM102", "CM103", "CM104", "CM201"} <= set(codes)
    names = [it.meta.name for it in RULES]
    assert len(names) == len(set(names))
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", it) for it in names)


@pytest.mark.parametrize("rule", RULES, ids=[it.meta.code for it in RULES])
def test_every_rule_is_documented(rule) -> None:  # type: ignore[no-untyped-def]
    assert rule.docs.summary.endswith(".")
    assert list(rule.docs.sections) == [it for it in SECTIONS if it in rule.docs.sections]
    assert ("Fix safety" in rule.docs.sections) == rule.meta.fixable
    assert bool(rule.docs.code_blocks("Example")) == bool(rule.docs.code_blocks("Use instead"))
    markdown = rule.docs.markdown(rule.meta)
    assert markdown.startswith(f"# {rule.meta.name} ({rule.meta.code})\n")
    assert rule.meta.url.endswith(f"/{rule.meta.code}/")


def test_rules_whose_findings_rewrites_answer_say_so() -> None:
    kinds = Path(inspect.getfile(find_rule)).parents[1] / "fixes" / "kinds"
    trees = [ast.parse(it.read_text(encoding="utf-8")) for it in kinds.glob("*.py")]
    texts = [it.value for tree in trees for it in ast.walk(tree) if isinstance(it, ast.Constant)]
    answered = {it for it in texts if isinstance(it, str) and re.fullmatch(r"CM\d{3}", it)}
    assert answered == REWRITTEN
    for rule in RULES:
        said = rule.docs.markdown(rule.meta).splitlines()[4]
        assert ("rewrites of the kernel" in said) == (rule.meta.code in answered)


def test_docs_with_a_wrong_heading_are_refused() -> None:
    with pytest.raises(ValueError, match="Why bad"):
        parse_docs("Sum.\n\n## What it does\n\nx\n\n## Why bad\n\ny")
    with pytest.raises(ValueError, match="missing"):
        parse_docs("Sum.\n\n## What it does\n\nx")


def test_selection_by_all_prefix_code_and_name() -> None:
    everything = {it.meta.code for it in RULES}
    assert Selection.of().codes == everything
    assert Selection.of(["CM1"]).codes == {it for it in everything if it.startswith("CM1")}
    assert Selection.of(["bank-conflict", "cm101"]).codes == {"CM201", "CM101"}
    assert Selection.of(["ALL"], ["CM1"]).codes == {it for it in everything if not it.startswith("CM1")}
    assert Selection.of(["CM101"], ["ALL"]).codes == frozenset()


def test_severity_may_be_given_by_prefix() -> None:
    graded = Selection.of(severity={"CM10": Severity.ERROR, "bank-conflict": Severity.HINT}).severity
    assert graded["CM101"] is Severity.ERROR
    assert graded["CM201"] is Severity.HINT
    assert "CM001" not in graded


def test_unknown_selectors_say_what_was_perhaps_meant() -> None:
    with pytest.raises(UnknownRuleError, match='unknown rule "bank-conflicts"; did you mean "bank-conflict"'):
        Selection.of(["bank-conflicts"])
    assert find_rule("BANK-conflict") is find_rule("cm201")
    assert find_rule("nothing") is None


def test_every_selector_selects_something() -> None:
    for word in selectors():
        assert Selection.of([word]).codes


@pytest.mark.parametrize("rule", RULES, ids=[it.meta.code for it in RULES])
def test_a_check_takes_what_its_scope_says(rule) -> None:  # type: ignore[no-untyped-def]
    expected = {
        (Scope.FILE, Needs.INDEX): ["context"],
        (Scope.FILE, Needs.ANALYSIS): ["context"],
        (Scope.FILE, Needs.EMULATION): ["context"],
        (Scope.FILE, Needs.FINDINGS): ["context"],
        (Scope.KERNEL, Needs.ANALYSIS): ["kernel", "device"],
        (Scope.KERNEL, Needs.EMULATION): ["kernel", "result"],
    }
    taken = list(inspect.signature(rule.check).parameters)
    assert taken == expected[rule.meta.scope, rule.meta.needs]
