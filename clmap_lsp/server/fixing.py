"""Verified fixes of kernels: asked of the worker, kept by content, attached to findings.

A fix is offered as long as the text that it was verified on (the kernel, with everything between it and the
edits) is still there to the letter; it may have moved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clmap_lsp.findings import Edit, Finding, Fix, FixSafety
from clmap_lsp.worker.offers import digest
from clmap_lsp.worker.places import span_at

if TYPE_CHECKING:
    from clmap_lsp.source.span import Span

RUNS = 8
"""Verifying may take as long as so many launches."""
LEAST_S = 20.0


@dataclass(frozen=True, slots=True)
class Offer:
    """One verified rewrite of a kernel, at its present place.

    `cost` is what the rewritten kernel moves: cache lines that requests touch and passes of local memory.
    """

    fix: Fix
    kind: str
    cost: int
    codes: frozenset[str]
    """Findings that it answers; empty for rewrites that answer none in particular."""
    places: frozenset[Span]
    """The accesses that it is meant for; empty means the whole kernel."""

    @property
    def lowers_traffic(self) -> bool:
        """Tell whether the rewritten kernel moves less than the one as it is."""
        before = (self.fix.verified or {}).get("before", {})
        return self.cost < int(before.get("lines", 0)) + int(before.get("wavefronts", 0))

    def answers(self, finding: Finding) -> bool:
        """Tell whether it is a fix of this finding of the same kernel."""
        if finding.code not in self.codes:
            return False
        related = (it.span for it in finding.related)
        return not self.places or finding.span in self.places or any(it in self.places for it in related)


def time_for_fixes(limit_s: float) -> float:
    """Return the seconds that verifying the fixes of one kernel may take."""
    return max(LEAST_S, RUNS * limit_s)


def offers_in(reply: Mapping[str, Any], kernel: Span, text: str) -> tuple[Offer, ...]:
    """Return the fixes of a reply of the worker that still fit the text."""
    return tuple(_offers(reply.get("fixes") or (), kernel, text))


def _offers(fixes: Sequence[Mapping[str, Any]], kernel: Span, text: str) -> Iterator[Offer]:
    for it in fixes:
        region = span_at(it["region"]["place"], kernel)
        if region.start < 0 or digest(text[region.start : region.end]) != it["region"]["digest"]:
            continue
        edits = tuple(Edit(span_at(edit["place"], kernel), str(edit["text"])) for edit in it["edits"])
        verified = it.get("verified") or None
        assumed = tuple(it.get("assumptions") or ())
        fix = Fix(str(it["title"]), FixSafety(it["safety"]), edits, verified, it.get("host_change"), assumed)
        places = frozenset(span_at(place, kernel) for place in it["places"])
        yield Offer(fix, str(it["kind"]), int(it["cost"]), frozenset(it["codes"]), places)
