"""The proof of a rewrite: both versions run in the emulator on the launch and give the same outputs."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from clmap_lsp.emulator.result import BufferResult, EmulationResult, Engine, FaultKind
from clmap_lsp.emulator.run import emulate
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.fixes.edits import OverlapError, Relocation
from clmap_lsp.fixes.model import Proposal, Rejected, Subject, Verified
from clmap_lsp.fixes.predict import figures_before, figures_of, rewritten
from clmap_lsp.launch.problem import LaunchError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clmap_lsp.launch.model import Launch
    from clmap_lsp.source.ir import Kernel
    from clmap_lsp.source.program import Program

RELATIVE_TOLERANCE = 1e-4
"""For float outputs of rewrites that change the order of sums: of the largest magnitude in the buffer."""

_UNDEFINED = frozenset({FaultKind.DATA_RACE, FaultKind.BARRIER_DIVERGENCE})
"""Faults that leave the original's outputs undefined: there is nothing to compare with."""
_BUDGETS = frozenset({FaultKind.TIMEOUT, FaultKind.STEP_LIMIT, FaultKind.MEMORY_LIMIT})


def baseline(subject: Subject, settings: EmulationSettings) -> Subject:
    """Return the subject with the emulation and the figures of its kernel on its launch.

    Raises: LaunchError if the launch cannot be run.
    """
    subject = replace(subject, figures=figures_before(subject))
    if subject.emulation is not None:
        return subject
    result = _run(subject.program, subject.analysis.kernel, subject.launch, _quick(settings))
    return replace(subject, emulation=result)


def _quick(settings: EmulationSettings) -> EmulationSettings:
    """Outputs and faults are enough: no traces."""
    return replace(settings, engine=Engine.JIT, trace=False, control=False, strides=False)


def verify(subject: Subject, proposal: Proposal, settings: EmulationSettings) -> Verified | Rejected:
    """Run the kernel before and after a rewrite.

    The run before is the subject's `emulation` where it has one (see `baseline`).

    It is verified if the rewritten source reads without new errors, both runs end within their budgets, the
    new version has no fault that the old one lacks at that place, and all buffers are equal afterwards: bit
    for bit, or within `RELATIVE_TOLERANCE` where the rewrite changes the order of floating-point sums.
    """
    try:
        after_program = rewritten(subject, proposal.edits)
    except OverlapError as error:
        return Rejected(proposal, str(error))
    if isinstance(after_program, str):
        return Rejected(proposal, f"the rewritten source has an error: {after_program}")
    kernel = subject.analysis.kernel
    after_kernel = after_program.kernel(kernel.name)
    if after_kernel is None:
        return Rejected(proposal, "the rewritten kernel cannot be read")
    launch = subject.launch
    after_launch = proposal.relaunch(launch) if proposal.relaunch else launch
    settings = _quick(settings)
    try:
        before = subject.emulation or _run(subject.program, kernel, launch, settings)
        after = _run(after_program, after_kernel, after_launch, settings)
    except LaunchError as error:
        return Rejected(proposal, f"the launch cannot be run: {error}")
    edited = Relocation(proposal.edits, subject.path)
    if reason := _new_fault(before, after, edited) or _still_faulty(proposal, after):
        return Rejected(proposal, reason)
    if proposal.cures in _UNDEFINED and any(it.kind is proposal.cures for it in before.faults):
        compared: str | None = f"no {proposal.cures.value} is left; what the original gave was undefined"
    else:
        compared = _compare(before, after, proposal)
    if compared is None:
        return Rejected(proposal, "the outputs differ")
    gained = (
        figures_before(subject),
        figures_of(after_program, after_kernel, after_launch, subject.device),
    )
    if proposal.lowers_traffic and not gained[1].beats(gained[0]):
        return Rejected(proposal, "it does not lower the traffic")
    if gained[0].cost < proposal.least_gain * gained[1].cost:
        return Rejected(proposal, "it lowers the traffic by too little")
    return Verified(proposal, launch, after_launch, *gained, compared)


def _run(program: Program, kernel: Kernel, launch: Launch, settings: EmulationSettings) -> EmulationResult:
    return emulate(program, kernel, launch, settings)


def _new_fault(before: EmulationResult, after: EmulationResult, edited: Relocation) -> str | None:
    """Return why the rewrite is rejected for a fault that its original lacks.

    A fault is known by its kind and its place. All that a rewrite wrote anew stands for all that it replaced:
    there may be as many faults of one kind and buffer.
    """
    for name, result in (("original", before), ("rewritten", after)):
        if any(it.kind in _BUDGETS for it in result.faults):
            return f"the {name} kernel does not end within its budget on this launch"
        if any(it.kind in (FaultKind.UNKNOWN_FUNCTION, FaultKind.UNSUPPORTED) for it in result.faults):
            return f"the {name} kernel uses something that the emulator does not know"
    kept, replaced = set(), Counter[object]()
    for it in before.faults:
        place = edited.after(it.span)
        if place is not None:
            kept.add((it.kind, place.start, place.end))
        else:
            replaced[it.kind, it.buffer] += 1
    for it in after.faults:
        if (it.kind, it.span.start, it.span.end) in kept:
            continue
        replaced[it.kind, it.buffer] -= 1
        if not edited.is_new(it.span) or replaced[it.kind, it.buffer] < 0:
            return f"the rewritten kernel has a new fault: {it.kind.value}, {it.detail}"
    return None


def _still_faulty(proposal: Proposal, after: EmulationResult) -> str | None:
    left = next((it for it in after.faults if it.kind is proposal.cures), None)
    return (
        None if left is None else f"the rewritten kernel still has a fault: {left.kind.value}, {left.detail}"
    )


def _compare(before: EmulationResult, after: EmulationResult, proposal: Proposal) -> str | None:
    """Return how the outputs agree, or `None` where they do not.

    A buffer may have grown: what the original lacks is not compared.
    """
    worst = 0.0
    outputs = {name: it.data for name, it in after.buffers.items()}
    if proposal.restore is not None:
        outputs = dict(proposal.restore(outputs))
    for name, mine in before.buffers.items():
        other = outputs.get(name)
        if other is None or mine.data.size > other.size:
            return None
        if mine.data.tobytes() == other[: mine.data.size].tobytes():
            continue
        if not proposal.reorders_sums:
            return None
        error = _relative_error(mine, other)
        if error is None or error > RELATIVE_TOLERANCE:
            return None
        worst = max(worst, error)
    return f"within {worst:.1e} of the largest value" if worst else "bit for bit"


def _relative_error(before: BufferResult, after: NDArray[np.uint8]) -> float | None:
    """Return the largest difference over the largest magnitude; `None` for data that are not floats."""
    import numpy as np

    kind = {"float": np.float32, "double": np.float64, "half": np.float16}.get(_element(before.type))
    if kind is None:
        return None
    a = before.data.view(kind).astype(np.float64)
    b = after[: before.data.size].view(kind).astype(np.float64)
    finite = np.isfinite(a)
    if not np.array_equal(finite, np.isfinite(b)) or not finite.any():
        return None
    scale = float(np.abs(a[finite]).max()) or 1.0
    return float(np.abs(a[finite] - b[finite]).max()) / scale


def _element(name: str) -> str:
    return name.rstrip("0123456789")
