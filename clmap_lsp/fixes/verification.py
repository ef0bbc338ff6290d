"""The test of a rewrite: both versions run in the emulator on a family of launches, with the same outputs."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from clmap_lsp.emulator.result import BufferResult, EmulationResult, FaultKind
from clmap_lsp.fixes import facts, gain
from clmap_lsp.fixes.assumptions import Case
from clmap_lsp.fixes.compiling import new_error
from clmap_lsp.fixes.edits import OverlapError, Relocation, apply
from clmap_lsp.fixes.model import Proposal, Rejected, Subject, Verified
from clmap_lsp.fixes.predict import figures_before, figures_of, rewritten
from clmap_lsp.fixes.trials import Trials
from clmap_lsp.launch.problem import LaunchError
from clmap_lsp.source.ir import Declare, walk
from clmap_lsp.source.types import AddressSpace, PointerType

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clmap_lsp.emulator.settings import EmulationSettings
    from clmap_lsp.fixes.family import Member
    from clmap_lsp.fixes.model import Figures, Larger
    from clmap_lsp.launch.model import Launch
    from clmap_lsp.source.ir import Kernel
    from clmap_lsp.source.program import Program
    from clmap_lsp.source.types import Type

RELATIVE_TOLERANCE = 1e-4
"""For each float element that a rewrite with another order of sums gives."""
NEAR_ZERO = 1e-5
"""Of the median magnitude of a buffer: smaller differences are held against that, as where sums cancel."""

_WORK_FACTOR, _LEAST_WORK = 64, 500_000_000
"""What does so many times the work of its original, and more than half a second's, is no rewrite of it: a
loop that waits for others may never end behind a barrier. Groups that share what one work-item did on a small
launch do more than that factor, each in a moment."""

_UNDEFINED = frozenset({FaultKind.DATA_RACE, FaultKind.BARRIER_DIVERGENCE})
"""Faults that leave the original's outputs undefined: there is nothing to compare with."""


def baseline(subject: Subject, settings: EmulationSettings) -> Subject:
    """Return the subject with the emulation and the figures of its kernel on its launch.

    A launch that is too large to run is emulated shrunk.

    Raises: LaunchError if the launch cannot be run.
    """
    subject = replace(subject, figures=figures_before(subject))
    if subject.emulation is not None:
        return subject
    trials = Trials(subject, settings)
    return replace(subject, emulation=trials.at_home())


def verify(
    subject: Subject, proposal: Proposal, settings: EmulationSettings, trials: Trials | None = None
) -> Verified | Rejected:
    """Run the kernel before and after a rewrite, on its launch and on the family around it.

    The runs before are those of `trials`, where given; the run on the launch itself is the subject's
    `emulation` where it has one (see `baseline`).

    It is verified if the rewritten source reads without new errors, both runs end within their budgets, the
    new version has no fault that the old one lacks at that place, and all buffers are equal afterwards: bit
    for bit, or element by element within `RELATIVE_TOLERANCE` where the rewrite changes the order of
    floating-point sums. Launches of the family that do not fulfil its assumptions, or on which the original
    is not defined, are left out.

    Raises: SpentError if the subject's allowance does not suffice to tell.
    """
    if proposal.refused:
        return Rejected(proposal, proposal.refused)
    try:
        after_program = rewritten(subject, proposal.edits)
    except OverlapError as error:
        return Rejected(proposal, str(error))
    if isinstance(after_program, str):
        return Rejected(proposal, f"the rewritten source has an error: {after_program}")
    refused = new_error(subject, apply(subject.text, proposal.edits, subject.path))
    if refused is not None:
        return Rejected(proposal, f"the rewritten source does not compile: {refused}")
    kernel = subject.analysis.kernel
    after_kernel = after_program.kernel(kernel.name)
    if after_kernel is None:
        return Rejected(proposal, "the rewritten kernel cannot be read")
    if (idle := _without_use(kernel, after_kernel)) is not None:
        return Rejected(proposal, f"{idle} would have no use left")
    launch = subject.launch
    here = Case(launch, subject.options)
    if (missed := next((it for it in proposal.assumptions if not it.holds(here)), None)) is not None:
        return Rejected(proposal, f"it assumes {missed.text}, which this launch does not fulfil")
    after_launch = proposal.relaunch(launch) if proposal.relaunch else launch
    subject.allowance.counted(after_kernel)
    gained = (
        figures_before(subject),
        figures_of(after_program, after_kernel, after_launch, subject.device),
    )
    if proposal.lowers_traffic and not gained[1].beats(gained[0]):
        counted = all(it.totals.complete for it in gained)
        why = "it does not lower the traffic" if counted else "it is not known to lower the traffic"
        return Rejected(proposal, f"{why} on this launch")
    if gained[0].cost < proposal.least_gain * gained[1].cost:
        ratio = f"{gained[0].cost / max(gained[1].cost, 1):.2f} times less traffic"
        return Rejected(proposal, f"it brings {ratio}; less than {proposal.least_gain} times does not pay")
    trials = trials or Trials(subject, settings)
    larger = trials.in_larger(proposal, after_program, after_kernel, gained)
    if reason := _is_no_gain(proposal, subject.launch, gained, larger):
        return Rejected(proposal, reason)
    comparison = _Comparison(subject, proposal, trials, after_program)
    compared = comparison.at_home()
    if isinstance(compared, Rejected):
        return compared
    tested = comparison.elsewhere()
    if isinstance(tested, Rejected):
        return tested
    tested_on = (trials.home_for(proposal.assumptions).text, *tested)
    followed = _together(subject, proposal, settings, gained)
    if isinstance(followed, Rejected):
        return followed
    tested_on += followed
    return Verified(proposal, launch, after_launch, *gained, compared, tested_on, larger)


def _is_no_gain(
    proposal: Proposal, launch: Launch, home: tuple[Figures, Figures], larger: Larger | None
) -> str | None:
    """Return why predicted times speak against a rewrite, on its launch or on a larger one in its place."""
    judged = home if larger is None else (larger.before, larger.after)
    if proposal.by_time and (reason := gain.does_not_pay(*judged, proposal.or_traffic)):
        return reason
    if not (proposal.lowers_traffic or proposal.by_time) or proposal.pays_in_larger:
        return None
    if larger is None:
        return gain.is_unsure(*home, proposal)
    reason = gain.is_unsure_in_larger(() if "global" in launch.inferred else home, judged, proposal)
    return f"on {larger.launch.sizes}: {reason}" if reason else None


def _without_use(before: Kernel, after: Kernel) -> str | None:
    """Return the first parameter or variable that only the original uses: compilers warn of it.

    What a rewrite could take out is gone by now; hosts pass parameters, and macros declare variables. Local
    memory that the host passes may be left over: tiles of another size stand in its place.
    """
    used = {it.name for it in facts.variables_read(walk(before.body))}
    left = used - {it.name for it in facts.variables_read(walk(after.body))}
    passed = (it for it in after.parameters if not _is_local(it.type))
    idle = next((f"the parameter `{it.name}`" for it in passed if it.name in left), None)
    declared = (it.variable for it in walk(after.body) if isinstance(it, Declare))
    named = (it for it in declared if not it.is_temporary and it.name in left)
    return idle or next((f"the variable `{it.name}`" for it in named), None)


def _is_local(kind: Type) -> bool:
    return isinstance(kind, PointerType) and kind.space is AddressSpace.LOCAL


def _together(
    subject: Subject, proposal: Proposal, settings: EmulationSettings, gained: tuple[Figures, Figures]
) -> tuple[str, ...] | Rejected:
    """Return the launches on which the other kernels of a rewrite were compared, each with its kernel's name.

    What one kernel gains the others may lose: all of them together must gain.
    """
    tested: list[str] = []
    before, after = (it.cost for it in gained)
    for companion in proposal.together:
        name = companion.kernel
        other = subject.companion(name)
        if other is None:
            return Rejected(proposal, f"kernel `{name}` must follow, and no launch of it is known")
        theirs = replace(companion.proposal, edits=proposal.edits, lowers_traffic=False)
        try:
            outcome = verify(baseline(other, settings), theirs, settings)
        except LaunchError as error:
            return Rejected(proposal, f"kernel `{name}`: {error}")
        if isinstance(outcome, Rejected):
            return Rejected(proposal, f"kernel `{name}`: {outcome.reason}")
        tested += (f"{name} on {it}" for it in outcome.tested_on)
        before, after = before + outcome.before.cost, after + outcome.after.cost
    if proposal.together and proposal.lowers_traffic and after >= before:
        return Rejected(proposal, "it does not lower the traffic of all kernels together")
    return tuple(tested)


class _Comparison:
    """One rewrite beside its original."""

    def __init__(self, subject: Subject, proposal: Proposal, trials: Trials, after: Program) -> None:
        self.subject, self.proposal, self.trials, self.program = subject, proposal, trials, after
        self.text = apply(subject.text, proposal.edits, subject.path)
        self.edited = Relocation(proposal.edits, subject.path)

    def at_home(self) -> str | Rejected:
        """Return how the outputs agree on the launch itself."""
        proposal = self.proposal
        home = self.trials.home_for(proposal.assumptions)
        if home == self.trials.home:
            before: EmulationResult | None = self.trials.at_home()
        else:
            before = self.trials.run(self.subject.text, self.subject.program, home.case)
        after = None if before is None else self._after(home, before)
        if before is None or after is None:
            return Rejected(proposal, "the launch cannot be run")
        if reason := _new_fault(before, after, self.edited) or _still_faulty(proposal, after):
            return Rejected(proposal, reason)
        if proposal.cures in _UNDEFINED and any(it.kind is proposal.cures for it in before.faults):
            return f"no {proposal.cures.value} is left; what the original gave was undefined"
        compared = _compare(before, after, proposal, home.case.launch)
        return Rejected(proposal, "the outputs differ") if compared is None else compared

    def elsewhere(self) -> tuple[str, ...] | Rejected:
        """Return the other launches of the family on which the outputs agree, too."""
        proposal = self.proposal
        if proposal.cures is not None or proposal.is_sketch:
            return ()  # The original is no model of what it should do; a sketch lays data out otherwise.
        tested = []
        for member in self.trials.members_for(proposal.assumptions):
            if proposal.reorders_sums and member.text.endswith(("large data", "special values")):
                continue  # Which sum overflows depends on the order.
            before = self.trials.before(member)
            after = None if before is None else self._after(member, before)
            if before is None or after is None:
                continue
            if reason := _new_fault(before, after, self.edited):
                return Rejected(proposal, f"on {member.text}: {reason}")
            if _compare(before, after, proposal, member.case.launch) is None:
                return Rejected(proposal, f"on {member.text}: the outputs differ")
            tested.append(member.text)
        return tuple(tested)

    def _after(self, member: Member, before: EmulationResult) -> EmulationResult | None:
        launch = self.proposal.launched(member.case.launch)
        most = _WORK_FACTOR * before.work + _LEAST_WORK if before.work else math.inf
        return self.trials.run(self.text, self.program, member.case, launch, most)


def _new_fault(before: EmulationResult, after: EmulationResult, edited: Relocation) -> str | None:
    """Return why the rewrite is rejected for a fault that its original lacks.

    A fault is known by its kind and its place. All that a rewrite wrote anew stands for all that it replaced:
    there may be as many faults of one kind and buffer.
    """
    for name, result in (("original", before), ("rewritten", after)):
        if not result.is_whole:
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


def _compare(
    before: EmulationResult, after: EmulationResult, proposal: Proposal, launch: Launch
) -> str | None:
    """Return how the outputs agree, or `None` where they do not.

    A buffer may have grown: what the original lacks is not compared.
    """
    worst = 0.0
    outputs = proposal.restored(launch, {name: it.data for name, it in after.buffers.items()})
    for name, mine in before.buffers.items():
        other = outputs.get(name)
        if other is None or mine.data.size > other.size:
            return None
        if _equal(mine, other[: mine.data.size]):
            continue
        if not proposal.reorders_sums:
            return None
        error = _relative_error(mine, other)
        if error is None or error > RELATIVE_TOLERANCE:
            return None
        worst = max(worst, error)
    return f"within {worst:.1e} of each value" if worst else "bit for bit"


def _equal(before: BufferResult, after: NDArray[np.uint8]) -> bool:
    """True if all elements are the same; one NaN is as good as another."""
    import numpy as np

    if np.ascontiguousarray(before.data).data == np.ascontiguousarray(after).data:
        return True  # Compared where they lie: images take hundreds of megabytes.
    kind = {"float": np.float32, "double": np.float64, "half": np.float16}.get(_element(before.type))
    if kind is None:
        return False
    a, b = before.data.view(kind), after.view(kind)
    same = before.data.reshape(a.size, -1) == after.reshape(a.size, -1)
    return bool((same.all(axis=1) | (np.isnan(a) & np.isnan(b))).all())


def _relative_error(before: BufferResult, after: NDArray[np.uint8]) -> float | None:
    """Return the largest difference of an element over its magnitude, or the median's where that is more.

    `None` where data are no floats, or where one is a number and the other is not.
    """
    import numpy as np

    kind = {"float": np.float32, "double": np.float64, "half": np.float16}.get(_element(before.type))
    if kind is None:
        return None
    a = before.data.view(kind).astype(np.float64)
    b = after[: before.data.size].view(kind).astype(np.float64)
    finite = np.isfinite(a)
    if not np.array_equal(finite, np.isfinite(b)) or not np.array_equal(
        a[~finite], b[~finite], equal_nan=True
    ):
        return None
    a, b = a[finite], b[finite]
    if not a.size:
        return 0.0
    sizes = np.maximum(np.abs(a), np.abs(b))
    off, median = np.abs(a - b), float(np.median(sizes))
    near = off <= NEAR_ZERO * median
    sizes[near] = np.maximum(sizes[near], median)
    return float((off / np.maximum(sizes, np.finfo(np.float64).tiny)).max())


def _element(name: str) -> str:
    return name.rstrip("0123456789")
