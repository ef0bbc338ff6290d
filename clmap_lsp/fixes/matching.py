"""Which fix answers which finding, for the command line and the editor alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from clmap_lsp.dataclass import dataclass
from clmap_lsp.findings import Finding, Fix
from clmap_lsp.fixes.gain import rank
from clmap_lsp.hosts.changes import Change
from clmap_lsp.source.span import Span

if TYPE_CHECKING:
    from clmap_lsp.fixes.model import Subject, Verified


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
    rank: tuple[float, int] = (0.0, 0)
    """Sorts the rewrites of one kernel, the best first; see `gain.rank`."""
    change: Change | None = None
    """What host code must change, where it is known what that means there."""

    @property
    def is_preferable(self) -> bool:
        """Tell whether the kernel moves less after it, and nobody else has to lay data out otherwise."""
        before = (self.fix.verified or {}).get("before", {})
        lower = self.cost < int(before.get("lines", 0)) + int(before.get("wavefronts", 0))
        return lower and self.rank[0] < -1

    def answers(self, finding: Finding) -> bool:
        """Tell whether it is a fix of this finding of the same kernel."""
        if finding.code not in self.codes:
            return False
        related = (it.span for it in finding.related)
        return not self.places or finding.span in self.places or any(it in self.places for it in related)


def offer_of(subject: Subject, proof: Verified, fix: Fix) -> Offer:
    """Return a verified rewrite as an offer."""
    proposal = proof.proposal
    spans = {it.access.span for it in subject.analysis.accesses if it.access.site in proposal.sites}
    codes = frozenset(proposal.codes)
    return Offer(
        fix, proposal.kind, proof.after.cost, codes, frozenset(spans), rank(proof, fix), proposal.change
    )


def attached(findings: Sequence[Finding], kernel: str, offers: Iterable[Offer]) -> tuple[Finding, ...]:
    """Return the findings, those of the kernel each with the best fix that answers it."""
    best = sorted(offers, key=lambda it: it.rank)
    return tuple(it if it.fix is not None or it.kernel != kernel else _with_fix(it, best) for it in findings)


def _with_fix(finding: Finding, offers: Iterable[Offer]) -> Finding:
    fix = next((it.fix for it in offers if it.answers(finding)), None)
    return finding if fix is None else replace(finding, fix=fix)
