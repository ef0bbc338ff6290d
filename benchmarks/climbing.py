"""Apply the best verified rewrite again and again, until none lowers the traffic."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from clmap_lsp.dataclass import dataclass
from clmap_lsp.findings import FixSafety
from clmap_lsp.fixes import gain
from clmap_lsp.fixes.model import Subject, Verified
from clmap_lsp.fixes.offer import offers
from clmap_lsp.fixes.predict import figures_before, rewritten_subject

if TYPE_CHECKING:
    from clmap_lsp.emulator.settings import EmulationSettings
    from clmap_lsp.findings import Fix
    from clmap_lsp.fixes.model import Figures
    from clmap_lsp.launch.model import Launch


@dataclass(frozen=True, slots=True)
class Rung:
    """One version of a kernel: text, launch, figures, and the fix that led to it (none for the first)."""

    text: str
    launch: Launch
    figures: Figures
    fix: Fix | None = None
    proof: Verified | None = None


def climb(
    subject: Subject,
    settings: EmulationSettings,
    *,
    sketches: bool = False,
    most: int = 8,
    kinds: frozenset[str] | None = None,
) -> Iterator[Rung]:
    """Yield a kernel as it is, then after each best fix.

    The best fix is the one with the lowest traffic after it; of equals the first. The steps end where no fix
    lowers the traffic or the number of requests.

    Args:
        sketches: take fixes too that are only shown (`DISPLAY`).
        most: steps at most.
        kinds: kinds of rewrites to use; all if not given.
    """
    yield Rung(subject.text, subject.launch, figures_before(subject))
    for _ in range(most):
        found = _best(subject, settings, sketches, kinds)
        if found is None:
            return
        verified, fix = found
        after = rewritten_subject(subject, verified, fix)
        if after is None:
            return
        subject = after
        yield Rung(subject.text, subject.launch, verified.after, fix, verified)


def _best(
    subject: Subject, settings: EmulationSettings, sketches: bool, kinds: frozenset[str] | None
) -> tuple[Verified, Fix] | None:
    usable = [
        (verified, fix)
        for verified, fix in offers(subject, settings)
        if (sketches or (fix.safety is not FixSafety.DISPLAY and not gain.leaves_data(verified, fix)))
        and (kinds is None or verified.proposal.kind in kinds)
        and verified.after.beats(verified.before)
    ]
    return min(usable, key=lambda it: gain.rank(*it), default=None)
