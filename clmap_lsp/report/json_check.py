"""Findings as JSON, for tools (see the command-line contract)."""

from __future__ import annotations

import json
from typing import Any

from clmap_lsp.findings import Finding, Fix, Rest
from clmap_lsp.links import rule_url
from clmap_lsp.report.model import AppliedFix, CheckReport, FileReport
from clmap_lsp.report.pins import toml_of
from clmap_lsp.report.statistics import counts_by_rule
from clmap_lsp.report.time_json import lost_json
from clmap_lsp.source.span import Position, Span

SCHEMA_VERSION = 1


def render(report: CheckReport, *, statistics: bool = False) -> str:
    """Return the document; with `statistics`, also the findings counted by rule."""
    document: dict[str, Any] = {
        "schema": SCHEMA_VERSION,
        "findings": [finding_json(file, finding) for file, finding in report.pairs()],
    }
    if report.applied:
        document["applied"] = [_applied(it) for it in report.applied]
    if statistics:
        document["statistics"] = [
            {"code": code, "name": name, "count": count} for (code, name), count in counts_by_rule(report)
        ]
    if pins := toml_of(report):
        document["guesses"] = {
            "toml": pins,
            "not_judged": [name for file in report.files for name in file.guesses.switched_off],
        }
    return _one_line_each(document)


def _one_line_each(document: dict[str, Any]) -> str:
    """Return JSON with a line for each member of a list; indenting all of it takes ten times as long."""
    lines = []
    for key, value in document.items():
        items = [json.dumps(it, ensure_ascii=False) for it in value] if isinstance(value, list) else []
        text = "[\n    " + ",\n    ".join(items) + "\n  ]" if items else json.dumps(value, ensure_ascii=False)
        lines.append(f"  {json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def finding_json(file: FileReport, finding: Finding) -> dict[str, Any]:
    """Return one finding. Rows and columns are 1-based code points of the file as typed."""
    return {
        "code": finding.code,
        "name": finding.name,
        "message": finding.message,
        "severity": finding.severity.value,
        "filename": finding.span.path,
        **_range(file, finding.span),
        "kernel": finding.kernel,
        "related": [
            {"message": it.message, "filename": it.span.path, **_range(file, it.span)}
            for it in finding.related
        ],
        "fix": None if finding.fix is None else _fix(file, finding.fix),
        "url": rule_url(finding.code),
        "data": dict(finding.data),
        "rests_on": [rest_json(it) for it in finding.rests_on],
        "holds": finding.holds,
        **({"if": finding.condition} if finding.condition else {}),
        "time_lost": lost_json(finding.time),
    }


def rest_json(rest: Rest) -> dict[str, str]:
    """Return one thing that figures rest on."""
    return {"kind": rest.kind, "name": rest.name, "value": rest.value, "origin": rest.origin}


def _fix(file: FileReport, fix: Fix) -> dict[str, Any]:
    return {
        "title": fix.title,
        "safety": fix.safety.value,
        "edits": [
            {"filename": it.span.path, **_range(file, it.span), "content": it.text} for it in fix.edits
        ],
        "verified": None if fix.verified is None else dict(fix.verified),
        "host_change": fix.host_change,
        "host_diff": fix.host_diff or None,
        "assumptions": list(fix.assumptions),
    }


def _applied(fix: AppliedFix) -> dict[str, Any]:
    return {
        "filename": fix.path,
        "kernel": fix.kernel,
        "title": fix.title,
        "safety": fix.safety.value,
        "assumptions": list(fix.assumptions),
        "host_change": fix.host_change,
        "host_diff": fix.host_diff or None,
        "host_files": list(fix.host_files),
    }


def _range(file: FileReport, span: Span) -> dict[str, Any]:
    return {"location": place(file.start(span)), "end_location": place(file.end(span))}


def place(position: Position) -> dict[str, int]:
    """Return a row and column."""
    return {"row": position.row, "column": position.column}
