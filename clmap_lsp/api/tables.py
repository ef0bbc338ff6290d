"""Tables for notebooks."""

from __future__ import annotations

import html
from collections.abc import Sequence


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return an HTML table; the texts are escaped."""
    cells = "".join(f"<th>{html.escape(it)}</th>" for it in head)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(it)}</td>" for it in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"
