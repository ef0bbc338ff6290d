"""GitLab code quality: a JSON list, one entry a finding, which merge requests show on the changed lines.

Source: GitLab docs, "Code Quality", import code quality results from a CI/CD job (the Code Climate subset).
"""

from __future__ import annotations

import json
from pathlib import Path

from clmap_lsp.findings import Severity
from clmap_lsp.report.fingerprint import fingerprint
from clmap_lsp.report.model import CheckReport

_SEVERITY = {
    Severity.ERROR: "critical",
    Severity.WARNING: "major",
    Severity.INFORMATION: "minor",
    Severity.HINT: "info",
}


def render(report: CheckReport) -> str:
    """Return the document. Equal findings get different fingerprints, since GitLab shows each only once."""
    seen: dict[str, int] = {}
    entries = []
    for file, finding in report.pairs():
        mark = fingerprint(file, finding)
        seen[mark] = seen.get(mark, 0) + 1
        entries.append(
            {
                "type": "issue",
                "check_name": f"{finding.code} {finding.name}",
                "description": finding.message,
                "severity": _SEVERITY[finding.severity],
                "fingerprint": mark if seen[mark] == 1 else f"{mark}-{seen[mark]}",
                "location": {
                    "path": _relative(finding.span.path),
                    "lines": {"begin": file.start(finding.span).row, "end": file.end(finding.span).row},
                },
            }
        )
    return json.dumps(entries, indent=2, ensure_ascii=False) + "\n"


def _relative(path: str) -> str:
    """Return a path below the current folder as GitLab wants it: relative, with forward slashes."""
    place = Path(path)
    if place.is_absolute() and place.is_relative_to(Path.cwd()):
        place = place.relative_to(Path.cwd())
    return place.as_posix()
