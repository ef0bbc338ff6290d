"""From a kernel to the fixes that are worth offering."""

from __future__ import annotations

import importlib
import logging
import pkgutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from clmap_lsp.emulator.result import FaultKind
from clmap_lsp.findings import Edit, Finding, Fix
from clmap_lsp.fixes.macros import general
from clmap_lsp.fixes.model import Figures, Propose, Rejected, Verified
from clmap_lsp.fixes.trials import Trials
from clmap_lsp.fixes.verification import baseline, verify
from clmap_lsp.launch.comment import pinned
from clmap_lsp.launch.problem import LaunchError
from clmap_lsp.launch.resolve import as_comment
from clmap_lsp.source.span import Span

if TYPE_CHECKING:
    from clmap_lsp.emulator.settings import EmulationSettings
    from clmap_lsp.fixes.model import Proposal, Subject

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Failure:
    """A kind of rewrite that broke on a kernel: a bug of ours."""

    kind: str
    error: str


UNDEFINED = frozenset(
    {
        FaultKind.OUT_OF_BOUNDS_READ,
        FaultKind.OUT_OF_BOUNDS_WRITE,
        FaultKind.DATA_RACE,
        FaultKind.BARRIER_DIVERGENCE,
    }
)
"""Faults after which the outputs are not what the author meant."""


@cache
def kinds() -> tuple[Propose, ...]:
    """Return every kind of rewrite: the `propose` of each module in `kinds/`, by file name."""
    from clmap_lsp.fixes import kinds as package

    names = sorted(it.name for it in pkgutil.iter_modules(package.__path__))
    return tuple(importlib.import_module(f"{package.__name__}.{it}").propose for it in names)


def proposals(subject: Subject, failed: list[Failure] | None = None) -> Iterator[Proposal]:
    """Yield every rewrite whose preconditions hold in the source.

    A kind that fails takes neither the others nor what it proposed before: it is noted in `failed`, and
    raises only where that is not given.
    """
    wide = general(subject)
    for propose in kinds():
        try:
            for proposal in propose(wide.subject):
                typed = wide.typed(proposal)
                if typed is not None:
                    yield typed
        except Exception as error:
            if failed is None:
                raise
            failed.append(Failure(propose.__module__.rpartition(".")[2].replace("_", "-"), repr(error)))


def attached(
    findings: Sequence[Finding], subject: Subject, offers: Sequence[tuple[Verified, Fix]]
) -> tuple[Finding, ...]:
    """Return the findings, those of the kernel each with the fix that answers it and leaves least traffic."""
    best = sorted(offers, key=lambda it: (it[0].after.cost, it[0].after.requests))
    return tuple(
        it if it.fix is not None or it.kernel != subject.analysis.name else _with_fix(it, subject, best)
        for it in findings
    )


def _with_fix(finding: Finding, subject: Subject, offers: Sequence[tuple[Verified, Fix]]) -> Finding:
    for verified, fix in offers:
        proposal = verified.proposal
        if finding.code not in proposal.codes:
            continue
        spans = {it.access.span for it in subject.analysis.accesses if it.access.site in proposal.sites}
        if not spans or finding.span in spans or any(it.span in spans for it in finding.related):
            return replace(finding, fix=fix)
    return finding


def offers(subject: Subject, settings: EmulationSettings) -> Iterator[tuple[Verified, Fix]]:
    """Yield the rewrites that the emulator showed right, as fixes; none where the launch cannot be run.

    A kernel whose results are undefined on the launch gets only fixes of its faults.
    """
    try:
        subject = baseline(subject, settings)
    except LaunchError:
        return
    chosen: set[str] = set()
    emulation = subject.emulation
    faulty = emulation is not None and any(it.kind in UNDEFINED for it in emulation.faults)
    trials = Trials(subject, settings)
    failed: list[Failure] = []
    for proposal in proposals(subject, failed):
        if proposal.choice in chosen or (faulty and proposal.cures is None):
            continue  # Nothing is gained by making wrong results come faster.
        outcome = _verified(subject, proposal, settings, trials)
        if isinstance(outcome, Rejected):
            continue
        if proposal.choice:
            chosen.add(proposal.choice)
        yield outcome, fix_of(subject, outcome)


def _verified(
    subject: Subject, proposal: Proposal, settings: EmulationSettings, trials: Trials
) -> Verified | Rejected:
    """Return what verifying shows; whatever breaks on the way breaks this proposal only."""
    try:
        return verify(subject, proposal, settings, trials)
    except Exception as error:
        log.warning("%s of %s could not be verified: %r", proposal.kind, subject.analysis.name, error)
        return Rejected(proposal, f"it could not be verified: {error!r}")


def fix_of(subject: Subject, verified: Verified) -> Fix:
    """Return a verified rewrite as a fix, with its gain in the title and the launch comment rewritten."""
    proposal = verified.proposal
    size = "x".join(map(str, verified.launch.global_size))
    return Fix(
        title=f"{proposal.title}: {_gains(verified)} (verified on {size})",
        safety=proposal.safety,
        edits=(*proposal.edits, *_relaunched(subject, verified)),
        verified=_evidence(verified),
        host_change=proposal.host_change,
        assumptions=tuple(it.text for it in proposal.assumptions),
    )


def _relaunched(subject: Subject, verified: Verified) -> tuple[Edit, ...]:
    """Return the edit of the launch comment where the rewritten kernel is launched otherwise.

    A launch that `clmap.toml` or a `.sim` file gives is not ours to change: the host change says what to do.
    """
    after = verified.after_launch
    change = None
    if after != verified.launch and not after.source.endswith((".toml", ".sim")):
        change = pinned(subject.program, subject.analysis.kernel, as_comment(after))
    if change is None:
        return ()
    start, end, text = change
    if any(it.span.start <= end and start <= it.span.end for it in verified.proposal.edits):
        return ()
    return (Edit(Span(subject.path, start, end), text),)


def _gains(verified: Verified) -> str:
    """Return what a rewrite gains: the traffic where it is to be lower, and what its device's records say."""
    proposal = verified.proposal
    counted = gain(verified.before, verified.after) if proposal.lowers_traffic or not proposal.promise else ""
    return ", ".join(it for it in (counted, proposal.promise) if it)


def gain(before: Figures, after: Figures) -> str:
    """Return what changes: figures a request, or totals where the requests themselves change."""
    parts = []
    same_requests = before.requests == after.requests
    for name, old, new in (
        ("sectors/request", before.sectors_per_request, after.sectors_per_request),
        ("wavefronts/request", before.wavefronts_per_request, after.wavefronts_per_request),
    ):
        if same_requests and old is not None and new is not None and f"{old:.3g}" != f"{new:.3g}":
            parts.append(f"{_number(old)} → {_number(new)} {name}")
    for name, whole, rest in (
        ("sectors", before.totals.sectors, after.totals.sectors),
        ("wavefronts", before.totals.wavefronts, after.totals.wavefronts),
    ):
        if whole != rest and (not same_requests or not parts):
            parts.append(f"{whole:,} → {rest:,} {name}")
    if not parts and not same_requests:
        parts.append(f"{before.requests:,} → {after.requests:,} requests")
    return ", ".join(parts) or "same traffic"


def _evidence(verified: Verified) -> dict[str, Any]:
    return {
        "launch": verified.launch.describe(),
        "after_launch": verified.after_launch.describe(),
        "outputs": verified.compared,
        "tested_on": list(verified.tested_on),
        **({"expected": verified.proposal.promise} if verified.proposal.promise else {}),
        "before": _totals(verified.before),
        "after": _totals(verified.after),
    }


def _totals(figures: Figures) -> dict[str, Any]:
    return {
        "sectors": figures.totals.sectors,
        "wavefronts": figures.totals.wavefronts,
        "lines": figures.lines,
        "sectors_per_request": figures.sectors_per_request,
        "wavefronts_per_request": figures.wavefronts_per_request,
    }


def _number(value: float) -> str:
    return f"{value:.1f}"
