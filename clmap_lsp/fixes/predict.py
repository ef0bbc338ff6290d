"""What a rewrite would cost, counted without running it: to choose between variants."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from clmap_lsp.access.analyse import analyse
from clmap_lsp.analysis.costs import totals_of
from clmap_lsp.analysis.counting import count
from clmap_lsp.analysis.kernel import analyse_kernel
from clmap_lsp.fixes.edits import apply
from clmap_lsp.fixes.model import Figures, Subject
from clmap_lsp.source.ir import Severity
from clmap_lsp.time.predict import time_of

if TYPE_CHECKING:
    from clmap_lsp.devices.model import DeviceModel
    from clmap_lsp.findings import Edit, Fix
    from clmap_lsp.fixes.model import Verified
    from clmap_lsp.launch.model import Launch
    from clmap_lsp.source.ir import Kernel
    from clmap_lsp.source.program import Program


def figures_of(program: Program, kernel: Kernel, launch: Launch, device: DeviceModel) -> Figures:
    """Return a kernel's memory traffic on a launch, and its time where the device has timing facts."""
    accesses = analyse(kernel, launch=launch).accesses
    totals = totals_of(accesses, count(kernel, launch, device, program.constants))
    by_lines = _in_lines(device)
    lines = totals_of(accesses, count(kernel, launch, by_lines, program.constants)) if by_lines else totals
    time = time_of(kernel, launch, device, program.constants)
    if isinstance(time, str):
        return Figures(totals, lines.sectors, untimed=time)
    if time.demand.supposed_turns:  # Loops of two versions do not make the same number of iterations.
        return Figures(totals, lines.sectors, untimed=time.demand.supposed_turns)
    return Figures(totals, lines.sectors, time)


def figures_before(subject: Subject) -> Figures:
    """Return the traffic of a subject's kernel as it is."""
    kernel = subject.analysis.kernel
    return subject.figures or figures_of(subject.program, kernel, subject.launch, subject.device)


@cache
def _in_lines(device: DeviceModel) -> DeviceModel | None:
    """Return the device as if its granule were a cache line; `None` where its lines are not known."""
    if device.line_bytes is None:
        return None
    rule = replace(device.global_rule, load_granule=device.line_bytes, store_granule=device.line_bytes)
    return replace(device, global_rule=rule)


def rewritten(subject: Subject, edits: Iterable[Edit]) -> Program | str:
    """Return the program after some edits, or its first new error."""
    text = apply(subject.text, edits, subject.path)
    program = subject.read(text)
    known = {it.message for it in subject.program.problems}
    new = [it for it in program.problems if it.severity is Severity.ERROR and it.message not in known]
    if new:
        return new[0].message
    guessed = {it.name for it in program.guesses} - {it.name for it in subject.program.guesses}
    return f"nothing declares `{min(guessed)}`" if guessed else program


def predicted(subject: Subject, edits: Iterable[Edit], launch: Launch | None = None) -> Figures | None:
    """Return what the kernel would cost after some edits, on its launch or another.

    `None` where that cannot be told of more than the kernel as it is: both then lack what data decide.
    """
    program = rewritten(subject, edits)
    if isinstance(program, str):
        return None
    kernel = program.kernel(subject.analysis.name)
    if kernel is None:
        return None
    found = figures_of(program, kernel, launch or subject.launch, subject.device)
    return found if found.totals.complete or not subject.analysis.totals.complete else None


def rewritten_subject(subject: Subject, verified: Verified, fix: Fix) -> Subject | None:
    """Return the rewritten kernel, its launch comment too, analysed on the launch that it is to have."""
    program = rewritten(subject, fix.edits)
    if isinstance(program, str):
        return None
    kernel = program.kernel(subject.analysis.name)
    if kernel is None:
        return None
    analysis = analyse_kernel(kernel, verified.after_launch, (), subject.device, program.constants)
    return Subject(program, analysis, subject.device, subject.options)
