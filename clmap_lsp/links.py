"""Where the project lives on the web: the one place that says so."""

DOCS_URL = "https://clmap-lsp.readthedocs.io/"
"""The documentation site; `site_url` in mkdocs.yml is the same."""
ISSUES_URL = "https://github.com/clmap-lsp/clmap-lsp/issues"


def rule_url(code: str) -> str:
    """Return the address of a rule's page."""
    return f"{DOCS_URL}rules/{code}/"
