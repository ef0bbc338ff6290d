"""Errors that a person caused and can mend."""

from __future__ import annotations

from clmap_lsp.links import ISSUES_URL


class UsageError(Exception):
    """The tool cannot do what was asked: exit code 2. The text is one line that names cause and cure."""


def one_line(text: str) -> str:
    """Return a message without line breaks."""
    return " ".join(text.split())


def system_error(error: OSError) -> str:
    """Say in one line what the system refused, and of which file."""
    said = one_line(error.strerror or str(error))
    return f"{one_line(str(error.filename or 'input or output'))}: {said[:1].lower()}{said[1:]}"


def internal_error(error: Exception) -> str:
    """Say in one line that the fault is ours, and how to report it."""
    return (
        f"internal error: {type(error).__name__}: {one_line(str(error))}; please report it at {ISSUES_URL} "
        "(CLMAP_DEBUG=1 shows where it happened)"
    )
