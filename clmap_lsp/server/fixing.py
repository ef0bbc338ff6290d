"""Verified fixes of kernels: asked of the worker, kept by content, offered where they still fit.

A fix is offered as long as the text that it was verified on (the kernel, with everything between it and the
edits) is still there to the letter; it may have moved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clmap_lsp.worker.messages import Offered, from_data

if TYPE_CHECKING:
    from clmap_lsp.fixes.matching import Offer
    from clmap_lsp.source.span import Span

RUNS = 8
"""Verifying may take as long as so many launches."""
LEAST_S = 20.0


def time_for_fixes(limit_s: float) -> float:
    """Return the seconds that verifying the fixes of one kernel may take."""
    return max(LEAST_S, RUNS * limit_s)


def offers_in(reply: object, kernel: Span, text: str) -> tuple[Offer, ...]:
    """Return the fixes of a reply of the worker that still fit the text.

    Raises: BadMessageError if it is none.
    """
    fixes = from_data(reply, Offered, kernel).fixes
    return tuple(it.offer for it in fixes if it.region.is_in(text))
