"""SARIF 2.1.0: findings with related places and fixes, for code-scanning services.

Source: OASIS, Static Analysis Results Interchange Format (SARIF) Version 2.1.0.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from clmap_lsp.findings import Finding, Fix, Related, Severity
from clmap_lsp.links import DOCS_URL
from clmap_lsp.report.fingerprint import fingerprint
from clmap_lsp.report.json_check import rest_json
from clmap_lsp.report.model import CheckReport, FileReport
from clmap_lsp.rules.registry import all_rules
from clmap_lsp.source.span import Span
from clmap_lsp.version import __version__

SCHEMA_URL = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

_LEVELS = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFORMATION: "note",
    Severity.HINT: "note",
}


def render(report: CheckReport) -> str:
    """Return the log: one run, its rules, its results; unreadable files are tool notifications."""
    used = {finding.code for _, finding in report.pairs()}
    rules = [it for it in all_rules() if it.meta.code in used]
    index = {it.meta.code: at for at, it in enumerate(rules)}
    errors = [it for it in report.files if it.error is not None]
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "clmap-lsp",
                "version": __version__,
                "informationUri": DOCS_URL,
                "rules": [
                    {
                        "id": it.meta.code,
                        "name": it.meta.name,
                        "shortDescription": {"text": it.docs.summary},
                        "fullDescription": {"text": it.docs.sections["What it does"]},
                        "help": {
                            "text": it.docs.markdown(it.meta),
                            "markdown": it.docs.markdown(it.meta),
                        },
                        "helpUri": it.meta.url,
                        "defaultConfiguration": {"level": _LEVELS[it.meta.severity]},
                    }
                    for it in rules
                ],
            }
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": not errors,
                "toolExecutionNotifications": [
                    {"level": "error", "message": {"text": it.error}, "locations": [_file_location(it.path)]}
                    for it in errors
                ],
            }
        ],
        "results": [_result(file, finding, index) for file, finding in report.pairs()],
    }
    document = {"$schema": SCHEMA_URL, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _result(file: FileReport, finding: Finding, index: dict[str, int]) -> dict[str, Any]:
    out: dict[str, Any] = {
        "ruleId": finding.code,
        "level": _LEVELS[finding.severity],
        "message": {"text": finding.message},
        "locations": [_location(file, finding.span, finding.kernel)],
        "partialFingerprints": {"clmap/v1": fingerprint(file, finding)},
    }
    if finding.code in index:
        out["ruleIndex"] = index[finding.code]
    if finding.related:
        out["relatedLocations"] = [
            {"id": at, **_related(file, it)} for at, it in enumerate(finding.related, start=1)
        ]
    if finding.rests_on:
        out["properties"] = {
            "rests_on": [rest_json(it) for it in finding.rests_on],
            "holds": finding.holds,
            **({"if": finding.condition} if finding.condition else {}),
        }
    if finding.fix is not None and finding.fix.edits:
        out["fixes"] = [_fix(file, finding.fix)]
    return out


def _related(file: FileReport, related: Related) -> dict[str, Any]:
    return {**_location(file, related.span, None), "message": {"text": related.message}}


def _location(file: FileReport, span: Span, kernel: str | None) -> dict[str, Any]:
    out: dict[str, Any] = {
        "physicalLocation": {"artifactLocation": {"uri": uri(span.path)}, "region": _region(file, span)}
    }
    if kernel is not None:
        out["logicalLocations"] = [{"name": kernel, "kind": "function"}]
    return out


def _file_location(path: str) -> dict[str, Any]:
    return {"physicalLocation": {"artifactLocation": {"uri": uri(path)}}}


def _region(file: FileReport, span: Span) -> dict[str, int]:
    start, end = file.start(span), file.end(span)
    return {
        "startLine": start.row,
        "startColumn": start.column,
        "endLine": end.row,
        "endColumn": end.column,
    }


def _fix(file: FileReport, fix: Fix) -> dict[str, Any]:
    by_path: dict[str, list[dict[str, Any]]] = {}
    for edit in fix.edits:
        by_path.setdefault(edit.span.path, []).append(
            {"deletedRegion": _region(file, edit.span), "insertedContent": {"text": edit.text}}
        )
    return {
        "description": {"text": fix.title},
        "artifactChanges": [
            {"artifactLocation": {"uri": uri(path)}, "replacements": replacements}
            for path, replacements in by_path.items()
        ],
    }


def uri(path: str) -> str:
    """Return a path as a URI reference: relative paths stay relative, absolute ones become `file:` URIs."""
    from urllib.parse import quote

    if Path(path).is_absolute():
        return Path(path).as_uri()
    return quote(os.fsencode(Path(path).as_posix()))
