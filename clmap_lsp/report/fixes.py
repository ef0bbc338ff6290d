"""The rewrites of a kernel, as text and as JSON (see the command-line contract)."""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from clmap_lsp.fixes.edits import apply
from clmap_lsp.fixes.gain import time_ratio
from clmap_lsp.fixes.offer import NOTHING
from clmap_lsp.launch.model import ScalarArgument
from clmap_lsp.time.wording import seconds_text

if TYPE_CHECKING:
    from clmap_lsp.findings import Fix
    from clmap_lsp.fixes.model import Figures, Proposal, Subject, Verified
    from clmap_lsp.fixes.offer import Declined, Survey
    from clmap_lsp.launch.model import Launch

SCHEMA_VERSION = 1
WIDTH = 110
"""Characters of a line of lists."""


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
        "text": apply(subject.text, fix.edits, subject.path),
        "tested_on": list(verified.tested_on),
        "predicted": {**predicted(verified.before, verified.after), **_in_larger(verified)},
    }


def _in_larger(verified: Verified) -> dict[str, Any]:
    """Return what a rewrite does on a launch of a real size, where the one at hand is a test's."""
    larger = verified.larger
    if larger is None:
        return {}
    return {"larger": {"launch": launch_json(larger.launch), **predicted(larger.before, larger.after)}}


def predicted(before: Figures, after: Figures) -> dict[str, Any]:
    """Return what a rewrite changes, before and after."""
    both = [it.totals for it in (before, after)]
    return {
        "time_ratio": time_ratio(before, after),
        "sectors": [it.sectors if it.complete else None for it in both],
        "wavefronts": [it.wavefronts if it.complete else None for it in both],
    }


def changed(before: Figures, after: Figures) -> str:
    """Return what a rewrite changes, for people: the predicted time where it is known, and the traffic."""
    parts = []
    if before.seconds is not None and after.seconds is not None:
        parts.append(f"predicted {seconds_text(before.seconds)} → {seconds_text(after.seconds)}")
    if not (before.totals.complete and after.totals.complete):
        return ", ".join([*parts, "traffic unknown"])
    for name, was, now in (
        ("sectors", before.totals.sectors, after.totals.sectors),
        ("cache lines", before.lines, after.lines),
        ("wavefronts", before.totals.wavefronts, after.totals.wavefronts),
        ("accesses of SIMD groups", before.requests, after.requests),
    ):
        if was != now:
            parts.append(f"{name} {was:,} → {now:,}")
    return ", ".join(parts) or "traffic as before"


def as_text(subject: Subject, survey: Survey) -> str:
    """Return the rewrites for people, the best first."""
    return "\n".join(_lines(subject, survey)) + "\n"


def _line(subject: Subject, proposal: Proposal) -> int:
    """Return the line of the largest edit: what tells apart rewrites of one title."""
    largest = max(proposal.edits, key=lambda it: max(len(it.text), it.span.end - it.span.start))
    return subject.text.count("\n", 0, largest.span.start) + 1


def _lines(subject: Subject, survey: Survey) -> Iterator[str]:
    yield f"{subject.path}: {subject.analysis.name} on {subject.launch.describe()}"
    if not survey.offers:
        yield "no rewrite is on offer"
    titles = Counter(it.proposal.title for it, _ in survey.offers)
    for verified, fix in survey.offers:
        again = titles[verified.proposal.title] > 1
        place = f", line {_line(subject, verified.proposal)}" if again else ""
        yield ""
        yield f"{fix.title}  [{fix.safety.value}, {verified.proposal.kind}{place}]"
        yield f"  {changed(verified.before, verified.after)}"
        if verified.larger is not None:
            larger = verified.larger
            yield f"  on {larger.launch.sizes}: {changed(larger.before, larger.after)}"
        if fix.assumptions:
            yield f"  assumes: {', '.join(fix.assumptions)}"
        if fix.host_change:
            yield f"  the host must change too: {fix.host_change}"
        yield from (f"    {it}" for it in fix.host_diff.splitlines())
        n_launches = len(verified.tested_on)
        yield f"  tested on {n_launches} {'launch' if n_launches == 1 else 'launches'}: " + (
            "; ".join((*verified.tested_on[:3], *(["…"] if n_launches > 3 else [])))
        )
    reasons = [it for it in survey.declined if not it.why.startswith(NOTHING)]
    if reasons:
        yield ""
        yield "declined"
        yield from _by_reason(reasons)
    rest = [it.kind for it in survey.declined if it.why.startswith(NOTHING)]
    if rest:
        yield ""
        said = f"no occasion for {', '.join(rest)} (--format json says what each takes)"
        yield from textwrap.wrap(said, WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def _by_reason(declined: Iterable[Declined]) -> Iterator[str]:
    """Yield a line for each reason of each kind, or one for a reason that many kinds share."""
    kinds: dict[str, list[str]] = {}
    for it in declined:
        kinds.setdefault(it.why, []).append(it.kind)
    for why, some in kinds.items():
        names = list(dict.fromkeys(some))  # Forms of a kind share reasons.
        if len(names) < _MANY:
            yield from (f"  {name}: {why}" for name in names)
        else:
            yield from textwrap.wrap(
                f"{', '.join(names)}: {why}",
                WIDTH,
                initial_indent="  ",
                subsequent_indent="    ",
                break_on_hyphens=False,
            )


_MANY = 4
"""Kinds that share a line if they share a reason."""
