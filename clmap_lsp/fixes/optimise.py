"""Search for the best version of a kernel: rewrites, one after the other, and work-group sizes.

A beam search: of each round's versions the few best are rewritten further, until none gets better, the
versions to look at are used up, or the time is. What a rewrite gains is predicted before it is tested, and
tested (as any fix is) in the order of what it promises: most versions are never run.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from clmap_lsp.findings import FixSafety
from clmap_lsp.fixes import gain
from clmap_lsp.fixes.edits import OverlapError
from clmap_lsp.fixes.ladder import rewritten_subject, text_after
from clmap_lsp.fixes.model import Proposal, Verified
from clmap_lsp.fixes.offer import faulty, fix_of, proposals
from clmap_lsp.fixes.predict import figures_before, figures_of, rewritten
from clmap_lsp.fixes.trials import Trials
from clmap_lsp.fixes.verification import baseline, verify
from clmap_lsp.launch.model import LocalArgument
from clmap_lsp.launch.problem import LaunchError
from clmap_lsp.source import ir

if TYPE_CHECKING:
    from collections.abc import Callable

    from clmap_lsp.emulator.settings import EmulationSettings
    from clmap_lsp.findings import Fix
    from clmap_lsp.fixes.model import Figures, Subject
    from clmap_lsp.launch.model import Launch

BEAM = 3
"""Versions of a round that are rewritten further."""
ROUNDS = 6
WORTH = 1.01
"""How many times better a version must be than the one that it was made of."""
WORTH_ALL = gain.LEAST
"""How many times better than the original the answer must be: a predicted gain of 1.06 by another work-group
size was a loss of 6 % on an H200."""
GROUP_SIZES = {
    1: ((64,), (128,), (256,), (512,)),
    2: ((16, 16), (32, 8), (32, 16), (8, 32), (64, 4), (32, 32)),
    3: ((8, 8, 4), (32, 4, 2)),
}
"""Tried where the kernel does not ask for one of its own, by the number of dimensions."""


@dataclass(frozen=True, slots=True)
class Step:
    """A version: what made it out of the one before (nothing for the first), its text, launch and figures."""

    text: str
    launch: Launch
    figures: Figures
    fix: Fix | None = None
    proof: Verified | None = None


@dataclass(frozen=True, slots=True)
class _Version:
    subject: Subject
    steps: tuple[Step, ...]

    @property
    def figures(self) -> Figures:
        return self.steps[-1].figures


@dataclass(frozen=True, slots=True)
class Found:
    """The way to the best version, the original first, and how much was looked at."""

    steps: tuple[Step, ...]
    n_versions: int
    complete: bool
    """False where the budget ended the search."""
    others: tuple[tuple[Step, ...], ...] = ()
    """The ways to the next best versions, the best first: what a device may judge otherwise."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A rewrite of a version that was not tested yet, and what it would cost."""

    version: _Version
    proposal: Proposal
    figures: Figures


def optimise(
    subject: Subject,
    settings: EmulationSettings,
    *,
    budget_s: float,
    progress: Callable[[str], None] = lambda _: None,
) -> Found:
    """Return the best version that was found within the budget (seconds), by `gain.ratio`.

    Raises: LaunchError if the launch cannot be run.
    """
    return _Search(settings, time.monotonic() + budget_s, progress).run(baseline(subject, settings))


class _Search:
    def __init__(self, settings: EmulationSettings, end: float, progress: Callable[[str], None]) -> None:
        self.settings, self.end, self.progress = settings, end, progress
        self.seen: set[tuple[object, ...]] = set()
        self.tested: set[tuple[object, ...]] = set()
        self.found: list[_Version] = []
        """Tested versions, in the order of finding."""

    @property
    def is_over(self) -> bool:
        return time.monotonic() > self.end

    def run(self, subject: Subject) -> Found:
        first = _Version(subject, (Step(subject.text, subject.launch, figures_before(subject)),))
        self.seen.add(_key(subject.text, subject.launch))
        self.found, beam = [first], [first]
        for _ in range(ROUNDS):
            beam = self._next(beam)
            if not beam or self.is_over:
                break
        order = sorted(self.found, key=_rank)
        best = order[0] if gain.ratio(first.figures, order[0].figures) >= WORTH_ALL else first
        others = tuple(it.steps for it in order if it is not best and it is not first)
        return Found(best.steps, len(self.seen), not self.is_over, others)

    def _next(self, beam: list[_Version]) -> list[_Version]:
        """Return the best versions one rewrite on, tested; the most promising are tested first."""
        candidates: list[_Candidate] = []
        for version in beam:
            candidates += self._candidates(version)
        candidates.sort(key=lambda it: _cost(it.figures))
        made: list[_Version] = []
        trials: dict[int, Trials] = {}
        for candidate in candidates:
            if len(made) == BEAM or (self.is_over and made):
                break
            subject = candidate.version.subject
            mine = trials.setdefault(id(subject), Trials(subject, self.settings))
            after = self._tested(candidate, mine)
            last = None if after is None else after.steps[-1]
            if after is None or last is None or _key(last.text, last.launch) in self.tested:
                continue  # Two ways lead there.
            self.tested.add(_key(last.text, last.launch))
            made.append(after)
        self.found += made
        return made

    def _candidates(self, version: _Version) -> Iterator[_Candidate]:
        """Yield what can be done to a version next and is predicted to gain."""
        subject = version.subject
        if faulty(subject):
            return
        for proposal in (*proposals(subject, []), *_other_groups(subject)):
            if self.is_over:
                return
            if proposal.safety is FixSafety.DISPLAY or proposal.cures is not None:
                continue
            self.progress(proposal.title)
            figures = self._figures(subject, proposal)
            if figures is not None and gain.ratio(version.figures, figures) >= WORTH:
                yield _Candidate(version, proposal, figures)

    def _figures(self, subject: Subject, proposal: Proposal) -> Figures | None:
        """Return what a version would cost; `None` if it does not hold on the launch, or was looked at."""
        launch = proposal.relaunch(subject.launch) if proposal.relaunch else subject.launch
        if not proposal.edits:
            program, kernel = subject.program, subject.analysis.kernel
        else:
            try:
                after = rewritten(subject, proposal.edits)
            except OverlapError:
                return None
            found = None if isinstance(after, str) else after.kernel(subject.analysis.name)
            if isinstance(after, str) or found is None:
                return None
            program, kernel = after, found
        key = _key(program.main_file.text, launch)
        if key in self.seen:
            return None
        self.seen.add(key)
        figures = figures_of(program, kernel, launch, subject.device)
        known = figures.seconds is not None or figures_before(subject).seconds is None
        return figures if known and figures.totals.complete else None

    def _tested(self, candidate: _Candidate, trials: Trials) -> _Version | None:
        version = candidate.version
        subject = version.subject
        # By how much it must gain was asked already, in time where that is known.
        proposal = replace(candidate.proposal, lowers_traffic=False, least_gain=0.0)
        try:
            outcome = verify(subject, proposal, self.settings, trials)
        except LaunchError:
            return None
        if not isinstance(outcome, Verified):
            return None
        outcome = replace(outcome, proposal=candidate.proposal)
        fix = fix_of(subject, outcome)
        after = rewritten_subject(subject, outcome, fix)
        if after is None:
            return None
        step = Step(text_after(subject, fix), outcome.after_launch, outcome.after, fix, outcome)
        return _Version(replace(after, figures=outcome.after), (*version.steps, step))


def _cost(figures: Figures) -> tuple[float, int, int]:
    return figures.seconds or 0.0, figures.cost, figures.requests


def _rank(version: _Version) -> tuple[float, int, int, int]:
    return (*_cost(version.figures), len(version.steps))


def _key(text: str, launch: Launch) -> tuple[object, ...]:
    return text, launch.global_size, launch.local_size


def _other_groups(subject: Subject) -> Iterator[Proposal]:
    """Yield work-group sizes for kernels without local memory, whose arrays are as long as a group."""
    kernel, launch = subject.analysis.kernel, subject.launch
    if kernel.attributes.reqd_work_group_size is not None:
        return
    own = any(it.kind is ir.VariableKind.LOCAL_OBJECT for it in kernel.variables)
    if own or any(isinstance(it, LocalArgument) for it in launch.arguments.values()):
        return
    limit = subject.device.limits.max_work_group_size or 256
    for size in GROUP_SIZES.get(len(launch.global_size), ()):
        items = 1
        for length in size:
            items *= length
        fits = all(g % x == 0 for g, x in zip(launch.global_size, size, strict=True))
        if size == launch.local_size or items > limit or not fits:
            continue
        text = "x".join(map(str, size))
        yield Proposal(
            "group-size",
            f"Launch in work-groups of {text}",
            (),
            relaunch=lambda launch, size=size: replace(launch, local_size=size),  # type: ignore[misc]
            host_change=f"launch in work-groups of {text}",
        )
