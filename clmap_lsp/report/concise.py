"""`path:row:column: CODE message`, one finding a line."""

from __future__ import annotations

from clmap_lsp.escaping import terminal, terminal_path
from clmap_lsp.report.model import CheckReport


def render(report: CheckReport) -> str:
    """Return one line a finding, in order."""
    lines = []
    for file, finding in report.pairs():
        at = file.start(finding.span)
        first = finding.message.partition("\n")[0]
        lines.append(f"{terminal_path(finding.span.path)}:{at.row}:{at.column}: {finding.code} {first}\n")
    return terminal("".join(lines))
