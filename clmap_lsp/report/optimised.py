"""The way to the best version of a kernel, as text and as JSON (see the command-line contract)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from clmap_lsp.fixes import gain
from clmap_lsp.fixes.edits import unified_diff
from clmap_lsp.report.fixes import SCHEMA_VERSION, launch_json

if TYPE_CHECKING:
    from clmap_lsp.fixes.model import Subject
    from clmap_lsp.fixes.optimise import Found, Step


def as_json(subject: Subject, found: Found) -> str:
    """Return the document; the first step is the original."""
    document = {
        "schema": SCHEMA_VERSION,
        "kernel": subject.analysis.name,
        "steps": [_step(it) for it in found.steps],
        "best": len(found.steps) - 1,
        "versions": found.n_versions,
        "complete": found.complete,
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _step(step: Step) -> dict[str, Any]:
    totals = step.figures.totals
    return {
        "kind": "original" if step.proof is None else step.proof.proposal.kind,
        "title": "as it is" if step.fix is None else step.fix.title,
        "assumptions": [] if step.fix is None else list(step.fix.assumptions),
        "host_change": None if step.fix is None else step.fix.host_change,
        "launch": launch_json(step.launch),
        "text": step.text,
        "predicted": {"seconds": None, "sectors": totals.sectors, "wavefronts": totals.wavefronts},
        "measured": None,
    }


def as_text(subject: Subject, found: Found) -> str:
    """Return the ladder and the change of the file for people."""
    return "\n".join(_lines(subject, found)) + "\n"


def _lines(subject: Subject, found: Found) -> Iterator[str]:
    first, last = found.steps[0], found.steps[-1]
    yield f"{subject.path}: {subject.analysis.name} on {subject.launch.describe()}"
    for at, step in enumerate(found.steps):
        totals = step.figures.totals
        title = "as it is" if step.fix is None else step.fix.title
        yield f"{at}. {title}"
        yield f"   {totals.sectors:,} sectors, {totals.wavefronts:,} wavefronts"
        if step.fix is not None and step.fix.assumptions:
            yield f"   assumes: {', '.join(step.fix.assumptions)}"
        if step.fix is not None and step.fix.host_change:
            yield f"   the host must change too: {step.fix.host_change}"
    if len(found.steps) == 1:
        yield f"nothing better among {found.n_versions} versions"
        return
    ended = "" if found.complete else "; the budget ended the search"
    words = gain.words(first.figures, last.figures) or "no less traffic"
    yield f"{words} in all, best of {found.n_versions} versions{ended}"
    yield ""
    yield unified_diff(subject.path, first.text, last.text).rstrip("\n")
