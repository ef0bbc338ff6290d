"""Verified fixes of one kernel, as plain data: the task that backs the editor's code actions."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from clmap_lsp.findings import Edit
from clmap_lsp.source.span import Span
from clmap_lsp.worker import cache
from clmap_lsp.worker.places import place_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from clmap_lsp.findings import Fix
    from clmap_lsp.fixes.model import Subject, Verified
    from clmap_lsp.workbench import OpenedFile


def verified(
    opened: OpenedFile,
    kernel: str,
    payload: Mapping[str, Any],
    progress: Callable[[str, float | None], None],
) -> dict[str, Any]:
    """Return the fixes that the emulator showed right on the launch, best first to offer.

    Stops at the payload's `deadline_s`; what was verified until then comes back, with `complete` false.
    Places are as in `places`.
    """
    known = cache.load(_key(payload))
    if known is not None:
        return known
    analysis = opened.analysis.kernel(kernel)
    assert analysis is not None, "a task speaks of a kernel of its file"
    subject = opened.subject(analysis)
    end = time.monotonic() + float(payload["deadline_s"])
    found: list[dict[str, Any]] = []
    complete = True
    for proof, fix in opened.offers(subject):
        found.append(_data(subject, proof, fix))
        progress(proof.proposal.title, None)
        if time.monotonic() > end:
            complete = False
            break
    reply = {"fixes": found, "complete": complete}
    if complete:
        cache.store(_key(payload), reply)
    return reply


def _key(payload: Mapping[str, Any]) -> str:
    return f"{payload['key']}-fixes-2"


def _data(subject: Subject, proof: Verified, fix: Fix) -> dict[str, Any]:
    proposal, kernel = proof.proposal, subject.analysis.span
    spans = {it.access.span for it in subject.analysis.accesses if it.access.site in proposal.sites}
    edits = fix.edits
    return {
        "kind": proposal.kind,
        "title": fix.title,
        "safety": fix.safety.value,
        "host_change": fix.host_change,
        "assumptions": list(fix.assumptions),
        "verified": dict(fix.verified or {}),
        "cost": proof.after.cost,
        "codes": list(proposal.codes),
        "places": [place_of(it, kernel) for it in spans],
        "edits": [{"place": place_of(it.span, kernel), "text": it.text} for it in edits],
        "region": _region(subject, edits),
    }


def _region(subject: Subject, edits: Sequence[Edit]) -> dict[str, Any]:
    """Return the stretch of text that the edits hold for: the kernel with all of them, and its digest."""
    kernel = subject.analysis.span
    start = min(kernel.start, *(it.span.start for it in edits))
    end = max(kernel.end, *(it.span.end for it in edits))
    return {
        "place": place_of(Span(kernel.path, start, end), kernel),
        "digest": digest(subject.text[start:end]),
    }


def digest(text: str) -> str:
    """Return what tells whether a region is still the one that was rewritten."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
