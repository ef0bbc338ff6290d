"""Addresses of rule pages."""

from __future__ import annotations

from clmap_lsp.rules.meta import DOCS_URL


def rule_url(code: str) -> str:
    """Return the page of a rule."""
    return f"{DOCS_URL}/{code}/"
