"""The way to the best version of a kernel, as text and as JSON (see the command-line contract)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from clmap_lsp.counted import counted
from clmap_lsp.fixes import gain
from clmap_lsp.fixes.edits import unified_diff
from clmap_lsp.fixes.limits import in_the_way
from clmap_lsp.report.fixes import SCHEMA_VERSION, launch_json
from clmap_lsp.time.wording import bound_text, seconds_text

if TYPE_CHECKING:
    from clmap_lsp.fixes.measured import Measurement
    from clmap_lsp.fixes.model import Subject
    from clmap_lsp.fixes.optimise import Found, Step


def as_json(subject: Subject, found: Found, measured: Measurement | None = None) -> str:
    """Return the document; the first step is the original."""
    document = {
        "schema": SCHEMA_VERSION,
        "kernel": subject.analysis.name,
        "steps": [_step(it, measured) for it in found.steps],
        "best": len(found.steps) - 1,
        "versions": found.n_versions,
        "complete": found.complete,
        "in_the_way": _in_the_way(found.steps[-1]),
        "measured_on": None if measured is None else dict(measured.device),
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _step(step: Step, measured: Measurement | None) -> dict[str, Any]:
    totals, time = step.figures.totals, step.figures.time
    seconds = None if measured is None else measured.of(step)
    return {
        "kind": "original" if step.proof is None else step.proof.proposal.kind,
        "title": "as it is" if step.fix is None else step.fix.title,
        "assumptions": [] if step.fix is None else list(step.fix.assumptions),
        "host_change": None if step.fix is None else step.fix.host_change,
        "launch": launch_json(step.launch),
        "text": step.text,
        "predicted": {
            "seconds": step.figures.seconds,
            "bound": None if time is None else time.bound,
            "sectors": totals.sectors if totals.complete else None,
            "wavefronts": totals.wavefronts if totals.complete else None,
        },
        "measured": None if seconds is None else {"seconds": seconds},
    }


def as_text(subject: Subject, found: Found, measured: Measurement | None = None) -> str:
    """Return the ladder and the change of the file for people."""
    return "\n".join(_lines(subject, found, measured)) + "\n"


def _in_the_way(step: Step) -> str | None:
    return None if step.figures.time is None else in_the_way(step.figures.time)


def _lines(subject: Subject, found: Found, measured: Measurement | None) -> Iterator[str]:
    first, last = found.steps[0], found.steps[-1]
    yield f"{subject.path}: {subject.analysis.name} on {subject.launch.describe()}"
    for at, step in enumerate(found.steps):
        totals = step.figures.totals
        title = "as it is" if step.fix is None else step.fix.title
        yield f"{at}. {title}"
        time = step.figures.time
        if time is not None:
            yield f"   {seconds_text(time.seconds)} predicted, bound by {bound_text(time.bound)}"
        taken = None if measured is None else measured.of(step)
        if taken is not None and measured is not None:
            yield f"   {seconds_text(taken)} measured on {measured.device.get('name', 'the device')}"
        if totals.complete:
            yield f"   {totals.sectors:,} sectors, {totals.wavefronts:,} wavefronts"
        else:
            yield f"   traffic unknown{f': {step.figures.untimed}' if step.figures.untimed else ''}"
        if step.fix is not None and step.fix.assumptions:
            yield f"   assumes: {', '.join(step.fix.assumptions)}"
        if step.fix is not None and step.fix.host_change:
            yield f"   the host must change too: {step.fix.host_change}"
    way = _in_the_way(last)
    if len(found.steps) == 1:
        yield f"nothing better among {counted(found.n_versions, 'version')}"
        if way is not None:
            yield way
        return
    ended = "" if found.complete else "; the budget ended the search"
    words = gain.words(first.figures, last.figures) or "no less traffic"
    yield f"{words} in all, best of {counted(found.n_versions, 'version')}{ended}"
    before, after = (None, None) if measured is None else (measured.of(first), measured.of(last))
    if before is not None and after is not None:
        yield f"{before / after:.1f}x faster as measured"
    if way is not None:
        yield way
    yield ""
    yield unified_diff(subject.path, first.text, last.text).rstrip("\n")
