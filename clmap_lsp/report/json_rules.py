"""Rules as JSON."""

from __future__ import annotations

from typing import Any

from clmap_lsp.rules.meta import Rule


def rule_json(rule: Rule) -> dict[str, Any]:
    """Return one rule with its documentation as Markdown."""
    return {
        "code": rule.meta.code,
        "name": rule.meta.name,
        "group": rule.meta.group,
        "severity": rule.meta.severity.value,
        "fixable": rule.meta.fixable,
        "summary": rule.docs.summary,
        "sections": dict(rule.docs.sections),
        "markdown": rule.docs.markdown(rule.meta),
        "url": rule.meta.url,
    }
