"""Helpers for tests of fixes: propose, verify, and plant wrong rewrites."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from unittest.mock import patch

from clmap_lsp.analysis.session import AnalysisSession
from clmap_lsp.devices import load_model
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.findings import Edit, Fix
from clmap_lsp.fixes import offer
from clmap_lsp.fixes.edits import apply
from clmap_lsp.fixes.model import Proposal, Rejected, Subject, Verified
from clmap_lsp.fixes.offer import kinds, offers, proposals
from clmap_lsp.fixes.verification import baseline, verify
from clmap_lsp.source.options import BuildOptions
from clmap_lsp.source.read import read_program
from clmap_lsp.source.span import Span

DEVICE = load_model("nvidia-hopper")
CPU = load_model("cpu")
PASCAL = load_model("nvidia-pascal")
"""Nobody measured there that constant memory gains nothing."""
SETTINGS = EmulationSettings(device=DEVICE, trace=False, control=False, strides=False)


def subject_of(text: str, kernel: str | None = None, device=DEVICE, guesses: bool = False) -> Subject:
    """Return the (first) kernel of a source with its launch comment, ready for fixes.

    Args:
        guesses: the text may use names that nothing defines.
    """
    program = read_program(text, "k.cl", BuildOptions())
    assert guesses or not program.problems, program.problems
    analysis = AnalysisSession().analyse(program, device)
    found = next(it for it in analysis.kernels if kernel in (None, it.name))
    assert found.launch is not None, found.launch_problems
    launches = {it.name: it.launch for it in analysis.kernels}
    return Subject(program, found, device, BuildOptions(), siblings=launches.get)


@contextmanager
def only(kind: str) -> Iterator[None]:
    """Look for one kind of rewrite: what the others propose would be verified in vain."""
    modules = {it: it.__module__.rpartition(".")[2].replace("_", "-") for it in kinds()}
    asked = tuple(it for it, name in modules.items() if name == kind)
    assert asked, kind
    with patch.object(offer, "kinds", lambda: asked):
        yield


@cache
def proposed(text: str, kind: str, device=DEVICE) -> list[tuple[Subject, Proposal]]:
    """Return the proposals of one kind for the first kernel of a source, which has run once."""
    subject = baseline(subject_of(text, device=device), SETTINGS)
    with only(kind):
        return [(subject, it) for it in proposals(subject) if it.kind == kind]


def device_for(kind: str):
    """Return a device on which a kind of fix is proposed."""
    return PASCAL if kind == "constant-data" else DEVICE


def verified(text: str, kind: str, device=DEVICE) -> tuple[str, Verified]:
    """Return the rewritten source and the proof of the only proposal of a kind."""
    ((subject, proposal),) = proposed(text, kind, device)
    return proved(text, subject, proposal)


def first_verified(text: str, kind: str) -> tuple[str, Verified]:
    """Return the rewritten source and the proof of the first proposal of a kind."""
    subject, proposal = proposed(text, kind)[0]
    return proved(text, subject, proposal)


def proved(text: str, subject: Subject, proposal: Proposal) -> tuple[str, Verified]:
    """Return the rewritten source and the proof of a proposal; fails if it is rejected."""
    proposal = replace(proposal, lowers_traffic=False, least_gain=0)  # Small launches gain little.
    outcome = verify(subject, proposal, SETTINGS)
    assert isinstance(outcome, Verified), outcome
    return apply(text, proposal.edits, "k.cl"), outcome


def offered(text: str, kind: str, device=DEVICE) -> list[tuple[str, Fix]]:
    """Return the rewritten sources and fixes of one kind that are offered."""
    subject = subject_of(text, device=device)
    with only(kind):
        return [
            (apply(text, fix.edits, "k.cl"), fix)
            for proof, fix in offers(subject, SETTINGS)
            if proof.proposal.kind == kind
        ]


def rejected(subject: Subject, proposal: Proposal) -> str:
    """Return why a rewrite was rejected; fails if it was not."""
    outcome = verify(subject, proposal, SETTINGS)
    assert isinstance(outcome, Rejected), outcome
    return outcome.reason


def mutant(text: str, subject: Subject, proposal: Proposal, before: str, after: str) -> Proposal:
    """Return a proposal whose result has some text replaced, which must occur in it."""
    right = apply(text, proposal.edits, "k.cl")
    assert before in right, right
    wrong = right.replace(before, after)
    return replace(
        proposal, edits=(Edit(Span("k.cl", 0, len(text)), wrong),), lowers_traffic=False, least_gain=0
    )
