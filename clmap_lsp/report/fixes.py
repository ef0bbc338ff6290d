"""The rewrites of a kernel, as text and as JSON (see the command-line contract)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from clmap_lsp.fixes.gain import time_ratio
from clmap_lsp.fixes.ladder import text_after
from clmap_lsp.launch.model import ScalarArgument

if TYPE_CHECKING:
    from clmap_lsp.findings import Fix
    from clmap_lsp.fixes.model import Figures, Subject, Verified
    from clmap_lsp.fixes.offer import Survey
    from clmap_lsp.launch.model import Launch

SCHEMA_VERSION = 1


def as_json(subject: Subject, survey: Survey) -> str:
    """Return the document."""
    document = {
        "schema": SCHEMA_VERSION,
        "kernel": subject.analysis.name,
        "launch": {**launch_json(subject.launch), "origin": subject.launch.origin.value},
        "fixes": [_fix(subject, verified, fix) for verified, fix in survey.offers],
        "declined": [{"kind": it.kind, "why": it.why} for it in survey.declined],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def launch_json(launch: Launch) -> dict[str, Any]:
    """Return sizes and arguments."""
    arguments = {
        name: it.values[0] if isinstance(it, ScalarArgument) and len(it.values) == 1 else str(it)
        for name, it in launch.arguments.items()
    }
    return {"global": list(launch.global_size), "local": list(launch.local_size), "args": arguments}


def _fix(subject: Subject, verified: Verified, fix: Fix) -> dict[str, Any]:
    return {
        "kind": verified.proposal.kind,
        "title": fix.title,
        "safety": fix.safety.value,
        "assumptions": list(fix.assumptions),
        "host_change": fix.host_change,
        "host_diff": fix.host_diff or None,
        "launch": launch_json(verified.after_launch),
        "text": text_after(subject, fix),
        "tested_on": list(verified.tested_on),
        "predicted": predicted(verified.before, verified.after),
    }


def predicted(before: Figures, after: Figures) -> dict[str, Any]:
    """Return what a rewrite changes, before and after."""
    return {
        "time_ratio": time_ratio(before, after),
        "sectors": [before.totals.sectors, after.totals.sectors],
        "wavefronts": [before.totals.wavefronts, after.totals.wavefronts],
    }


def as_text(subject: Subject, survey: Survey) -> str:
    """Return the rewrites for people, the best first."""
    return "\n".join(_lines(subject, survey)) + "\n"


def _lines(subject: Subject, survey: Survey) -> Iterator[str]:
    yield f"{subject.path}: {subject.analysis.name} on {subject.launch.describe()}"
    if not survey.offers:
        yield "no rewrite is on offer"
    for verified, fix in survey.offers:
        yield ""
        yield f"{fix.title}  [{fix.safety.value}, {verified.proposal.kind}]"
        before, after = verified.before.totals, verified.after.totals
        yield f"  sectors {before.sectors:,} → {after.sectors:,}, wavefronts {before.wavefronts:,} → " + (
            f"{after.wavefronts:,}"
        )
        if fix.assumptions:
            yield f"  assumes: {', '.join(fix.assumptions)}"
        if fix.host_change:
            yield f"  the host must change too: {fix.host_change}"
        yield from (f"    {it}" for it in fix.host_diff.splitlines())
        yield f"  tested on {len(verified.tested_on)} launches: {'; '.join(verified.tested_on[:3])}" + (
            "; …" if len(verified.tested_on) > 3 else ""
        )
    if survey.declined:
        yield ""
        yield "declined"
        for it in survey.declined:
            yield f"  {it.kind}: {it.why}"
