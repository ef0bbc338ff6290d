"""GitHub Actions annotations.

Source: GitHub docs, "Workflow commands for GitHub Actions", setting error, warning and notice messages.
"""

from __future__ import annotations

from clmap_lsp.escaping import workflow_data, workflow_property
from clmap_lsp.findings import Severity
from clmap_lsp.report.model import CheckReport

_COMMANDS = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFORMATION: "notice",
    Severity.HINT: "notice",
}


def render(report: CheckReport) -> str:
    """Return one workflow command a finding."""
    lines = []
    for file, finding in report.pairs():
        start, end = file.start(finding.span), file.end(finding.span)
        place = f"file={workflow_property(finding.span.path)},line={start.row},col={start.column}"
        # GitHub takes columns only for annotations of one line.
        place += f",endLine={end.row}"
        if end.row == start.row:
            place += f",endColumn={end.column}"
        title = workflow_property(f"{finding.code} {finding.name}")
        command = _COMMANDS[finding.severity]
        lines.append(f"::{command} {place},title={title}::{workflow_data(finding.message)}\n")
    return "".join(lines)
