"""Verified fixes of one kernel: the task that backs the editor's code actions."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from clmap_lsp.fixes.matching import offer_of
from clmap_lsp.source.span import Span
from clmap_lsp.worker.messages import Offered, Region, VerifiedOffer

if TYPE_CHECKING:
    from collections.abc import Callable

    from clmap_lsp.findings import Fix
    from clmap_lsp.fixes.model import Subject
    from clmap_lsp.workbench import OpenedFile


def verified(
    opened: OpenedFile, kernel: str, deadline_s: float, progress: Callable[[str, float | None], None]
) -> Offered:
    """Return the fixes that the emulator showed right on the launch, best first to offer.

    Stops at the deadline; what was verified until then comes back, not `complete`.
    """
    analysis = opened.analysis.kernel(kernel)
    assert analysis is not None, "a task speaks of a kernel of its file"
    subject = opened.subject(analysis)
    end = time.monotonic() + deadline_s
    found: list[VerifiedOffer] = []
    for proof, fix in opened.offers(subject):
        found.append(VerifiedOffer(offer_of(subject, proof, fix), _region(subject, fix)))
        progress(proof.proposal.title, None)
        if time.monotonic() > end:
            return Offered(tuple(found), complete=False)
    return Offered(tuple(found))


def _region(subject: Subject, fix: Fix) -> Region:
    kernel = subject.analysis.span
    start = min(kernel.start, *(it.span.start for it in fix.edits))
    end = max(kernel.end, *(it.span.end for it in fix.edits))
    return Region.of(Span(kernel.path, start, end), subject.text)
