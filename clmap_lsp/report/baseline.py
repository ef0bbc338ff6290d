"""Baselines: findings that are known already and are not reported again.

A baseline holds fingerprints, not lines, so that it survives edits; each entry has a count, so that one more
finding of the same kind on the same kind of line is reported.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from clmap_lsp.dataclass import dataclass
from clmap_lsp.reading import DATA_BYTES, ReadScope, safe_read
from clmap_lsp.report.fingerprint import fingerprint
from clmap_lsp.report.model import CheckReport, FileReport
from clmap_lsp.strange_json import parsed


class BaselineError(ValueError):
    """A baseline file that cannot be used."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """Counts by (path relative to the baseline's folder, code, fingerprint)."""

    counts: Mapping[tuple[str, str, str], int]


def read(path: Path, within: ReadScope | None = None) -> Baseline:
    """Read a baseline file, which a person named or which must lie `within` some folders.

    Raises: BaselineError with cause and cure; OSError if the file cannot be read.
    """
    cure = "write it anew with --write-baseline"
    try:
        data = parsed(safe_read(path, limit=DATA_BYTES, within=within))
    except ValueError as error:
        raise BaselineError(f"{path}: not JSON ({error}); {cure}") from None
    if not isinstance(data, dict) or data.get("schema") != 1 or not isinstance(data.get("findings"), list):
        raise BaselineError(f"{path}: not a baseline of this version; {cure}")
    try:
        return Baseline(
            {(it["filename"], it["code"], it["fingerprint"]): int(it["count"]) for it in data["findings"]}
        )
    except (KeyError, TypeError, ValueError):
        raise BaselineError(f"{path}: a finding lacks filename, code, fingerprint or count; {cure}") from None


def text_of(report: CheckReport, path: Path) -> str:
    """Return the baseline of a report, for a file at `path`; entries are in a stable order."""
    counts = Counter(_key(file, finding, path.absolute().parent) for file, finding in report.pairs())
    findings: list[dict[str, Any]] = [
        {"filename": name, "code": code, "fingerprint": print_, "count": count}
        for (name, code, print_), count in sorted(counts.items())
    ]
    return json.dumps({"schema": 1, "findings": findings}, indent=2, ensure_ascii=False) + "\n"


def without_known(report: CheckReport, baseline: Baseline, path: Path) -> CheckReport:
    """Return the report without the findings that the baseline at `path` knows."""
    left = Counter(baseline.counts)
    folder = path.absolute().parent
    files = []
    for file in report.files:
        kept = []
        for finding in file.findings:
            key = _key(file, finding, folder)
            if left[key] > 0:
                left[key] -= 1
            else:
                kept.append(finding)
        files.append(replace(file, findings=tuple(kept)))
    return CheckReport(tuple(files))


def _key(file: FileReport, finding: Any, folder: Path) -> tuple[str, str, str]:
    path = Path(finding.span.path).absolute()
    name = path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.as_posix()
    return name, finding.code, fingerprint(file, finding)
