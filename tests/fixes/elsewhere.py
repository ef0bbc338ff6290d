"""Try an offer where it was not made: on another launch, with one buffer passed twice, in another build."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
from fixing import DEVICE, SETTINGS, subject_of

from clmap_lsp.analysis.session import AnalysisSession
from clmap_lsp.emulator.result import EmulationResult, FaultKind
from clmap_lsp.emulator.run import emulate
from clmap_lsp.findings import Fix
from clmap_lsp.fixes.assumptions import Case
from clmap_lsp.fixes.edits import apply
from clmap_lsp.fixes.model import Proposal, Subject, Verified
from clmap_lsp.fixes.offer import offers
from clmap_lsp.launch.model import Launch
from clmap_lsp.source.options import BuildOptions
from clmap_lsp.source.read import read_program

BROKEN = frozenset({FaultKind.DATA_RACE, FaultKind.BARRIER_DIVERGENCE})


@cache
def all_offers(text: str) -> tuple[Subject, list[tuple[Verified, Fix]]]:
    """Return everything offered for the first kernel of a text on the launch of its comment."""
    subject = subject_of(text)
    return subject, list(offers(subject, SETTINGS))


def launch_of(text: str, comment: str, options: BuildOptions | None = None):
    """Return the program, its first kernel and the launch that a comment gives."""
    before = next(it for it in text.splitlines() if it.startswith("// clmap:"))
    program = read_program(text.replace(before, comment), "k.cl", options or BuildOptions())
    analysis = AnalysisSession().analyse(program, DEVICE)
    kernel = analysis.kernels[0]
    assert kernel.launch is not None, kernel.launch_problems
    return program, kernel.kernel, kernel.launch


def ran(
    text: str, comment: str, options: BuildOptions | None = None, proposal: Proposal | None = None
) -> EmulationResult:
    """Return what the emulator sees of a text, or of a rewrite of it, on the launch of another comment."""
    program, kernel, launch = launch_of(text, comment, options)
    if proposal is not None:
        program = read_program(apply(text, proposal.edits, "k.cl"), "k.cl", options or BuildOptions())
        kernel = next(it for it in program.kernels if it.name == kernel.name)
        result = emulate(program, kernel, proposal.launched(launch), replace(SETTINGS, trace=False))
        return laid_out_as_before(result, proposal, launch)
    return emulate(program, kernel, launch, replace(SETTINGS, trace=False))


def laid_out_as_before(result: EmulationResult, proposal: Proposal, launch: Launch) -> EmulationResult:
    """Return what a rewritten kernel gave with its buffers laid out as the original's."""
    outputs = proposal.restored(launch, {name: it.data for name, it in result.buffers.items()})
    buffers = {name: replace(it, data=outputs[name]) for name, it in result.buffers.items()}
    return replace(result, buffers=buffers)


def same(before: EmulationResult, after: EmulationResult) -> bool:
    """True if the second run has no fault that the first lacks, and the same outputs within 1e-4 each."""
    if {it.kind for it in after.faults} - {it.kind for it in before.faults}:
        return False
    for name, mine in before.buffers.items():
        other = after.buffers[name].data[: mine.data.size]
        if mine.type.rstrip("0123456789") in ("float", "double"):
            kind = np.float32 if mine.type.startswith("float") else np.float64
            if not np.allclose(mine.data.view(kind), other.view(kind), rtol=1e-4, atol=1e-6, equal_nan=True):
                return False
        elif mine.data.tobytes() != other.tobytes():
            return False
    return True


def wrong_offers(text: str, comment: str, options: BuildOptions | None = None) -> list[str]:
    """Return the offers for a text that break it on another launch, although they assume nothing of it.

    What the host must change is changed.
    """
    subject, found = all_offers(text)
    wrong = []
    before = ran(text, comment, options)
    for proof, fix in found:
        proposal = proof.proposal
        _, _, launch = launch_of(text, comment, options)
        case = Case(launch, options or subject.options)
        if not all(it.holds(case) for it in proposal.assumptions):
            continue
        after = ran(text, comment, options, proposal)
        if not same(before, after):
            wrong.append(fix.title)
    return wrong
