"""Search for the best version of a kernel: rewrites, one after the other, and work-group sizes.

A beam search: of each round's versions the few best are rewritten further, until none gets better or the
budget is used up. What a rewrite gains is predicted before it is tested, and tested (as any fix is) in the
order of what it promises: most versions are never run. What was learnt of versions (`Notes`) may be kept, so
that a search that was ended goes on where it was; what it answers it has tested itself.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import field, replace
from typing import TYPE_CHECKING

from clmap_lsp.dataclass import dataclass
from clmap_lsp.defaults import WALL_FACTOR
from clmap_lsp.findings import FixSafety
from clmap_lsp.fixes import gain
from clmap_lsp.fixes.edits import OverlapError, apply
from clmap_lsp.fixes.model import Proposal, Verified
from clmap_lsp.fixes.offer import faulty, fix_of, proposals
from clmap_lsp.fixes.predict import figures_before, figures_of, rewritten, rewritten_subject
from clmap_lsp.fixes.trials import Trials
from clmap_lsp.fixes.verification import baseline, verify
from clmap_lsp.launch.model import LocalArgument
from clmap_lsp.launch.problem import LaunchError
from clmap_lsp.source import ir

if TYPE_CHECKING:
    from clmap_lsp.emulator.settings import EmulationSettings
    from clmap_lsp.findings import Fix
    from clmap_lsp.fixes.gain import Measures
    from clmap_lsp.fixes.model import Figures, Subject
    from clmap_lsp.launch.model import Launch
    from clmap_lsp.source.program import Program

BEAM = 3
"""Versions of a round that are rewritten further."""
OPENERS = frozenset({"hoist-access"})
"""Rewrites that gain little themselves and let others begin: tiles and trees ask for a sum in a register. The
best one of a round is rewritten further besides the beam."""
ROUNDS = 6
WORTH = 1.01
"""How many times better a version must be than the one that it was made of."""
WORTH_ALL = gain.LEAST
"""How many times better than the original the answer must be: a predicted gain of 1.06 by another work-group
size was a loss of 6 % on an H200."""
WORTH_AS_MUCH = 1.5
"""The same of one that moves as much as the original: of launches of another shape the model promised up to
1.4 times as much as an H200 gave, among 51 kernels."""
WORTH_ON_A_CPU = 3.0
"""The same where no time is known and local memory lies in a cache: of fixtures on PoCL, versions with up to
twice less traffic took 0.94 to 1.08 times as long as their originals."""


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


Notes = MutableMapping[str, list[float] | None]
"""What versions would cost, by digest: seconds (0 where unknown), traffic, requests; `None` for those that do
not hold on the launch, cannot be told, or were tested and refused. It steers the search only."""


@dataclass(frozen=True, slots=True)
class Watcher:
    """Whom a search tells how far it is."""

    progress: Callable[[str, float], None] = lambda _text, _share: None
    """What is looked at now, and the share of the budget that is used."""
    improved: Callable[[Found], None] = lambda _: None
    """What is best so far, whenever that changes: what is left where the search is ended from outside."""


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
class _Costs:
    """What a version would cost, as far as the order of versions asks for it."""

    seconds: float | None
    cost: int
    requests: int
    untimed: str = ""

    @classmethod
    def of(cls, noted: list[float]) -> _Costs:
        seconds, cost, requests = noted
        return cls(seconds or None, int(cost), int(requests))


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A rewrite of a version that was not tested yet, what it would cost, and what it is noted as."""

    version: _Version
    proposal: Proposal
    costs: _Costs
    digest: str


def optimise(
    subject: Subject,
    settings: EmulationSettings,
    *,
    budget_s: float,
    watcher: Watcher | None = None,
    notes: Notes | None = None,
) -> Found:
    """Return the best version that was found within the budget, by `gain.ratio`.

    Args:
        budget_s: processor seconds; by the clock `WALL_FACTOR` times as much.
        notes: what earlier searches learnt of this kernel; added to.
    Raises: LaunchError if the launch cannot be run.
    """
    budget = _Budget(budget_s)
    search = _Search(settings, budget, watcher or Watcher(), {} if notes is None else notes)
    return search.run(baseline(subject, settings))


@dataclass(slots=True)
class _Budget:
    """Processor time of this process, so that a busy machine finds the same; the clock is the outer bound."""

    seconds: float
    began: float = field(default_factory=time.process_time)
    began_clock: float = field(default_factory=time.monotonic)

    @property
    def share(self) -> float:
        """The part that is used."""
        used = time.process_time() - self.began
        clock = (time.monotonic() - self.began_clock) / WALL_FACTOR
        return max(used, clock) / self.seconds


class _Search:
    def __init__(
        self,
        settings: EmulationSettings,
        budget: _Budget,
        watcher: Watcher,
        notes: Notes,
    ) -> None:
        self.settings, self.budget, self.watcher, self.notes = settings, budget, watcher, notes
        self.seen: set[str] = set()
        self.tested: set[str] = set()
        self.found: list[_Version] = []
        """Tested versions, in the order of finding."""

    @property
    def is_over(self) -> bool:
        return self.budget.share > 1.0

    def run(self, subject: Subject) -> Found:
        first = _Version(subject, (Step(subject.text, subject.launch, figures_before(subject)),))
        self.seen.add(_digest(subject.text, subject.launch))
        self.found, beam = [first], [first]
        for _ in range(ROUNDS):
            beam = self._next(beam)
            if not beam or self.is_over:
                break
        return self._answer(complete=not self.is_over)

    def _answer(self, *, complete: bool) -> Found:
        first, order = self.found[0], sorted(self.found, key=_rank)
        best = next((it for it in order if _pays(first, it.figures)), first)
        others = tuple(it.steps for it in order if it is not best and it is not first)
        return Found(best.steps, len(self.seen), complete, others)

    def _next(self, beam: list[_Version]) -> list[_Version]:
        """Return the best versions one rewrite on, tested; the most promising are tested first."""
        candidates: list[_Candidate] = []
        for version in beam:
            candidates += self._candidates(version)
        candidates.sort(key=lambda it: _cost(it.costs))
        made: list[_Version] = []
        trials: dict[int, Trials] = {}
        for candidate in candidates:
            if (len(made) >= BEAM or (self.is_over and made)) and not self._opens(candidate, made):
                continue
            subject = candidate.version.subject
            mine = trials.setdefault(id(subject), Trials(subject, self.settings))
            after = self._tested(candidate, mine)
            if after is None:
                self.notes[candidate.digest] = None
                continue
            digest = _digest(after.steps[-1].text, after.steps[-1].launch)
            if digest in self.tested:
                continue  # Two ways lead there.
            self.tested.add(digest)
            made.append(after)
            self._add(after)
        return made

    def _opens(self, candidate: _Candidate, made: list[_Version]) -> bool:
        """True of the first rewrite of a round that lets others begin."""
        kinds = {it.proof.proposal.kind for version in made if (it := version.steps[-1]).proof is not None}
        return not self.is_over and candidate.proposal.kind in OPENERS - kinds

    def _add(self, version: _Version) -> None:
        """Note a tested version, and tell if it is the best one by now."""
        best = min(self.found, key=_rank)
        self.found.append(version)
        if _rank(version) < _rank(best):
            self.watcher.improved(self._answer(complete=False))

    def _candidates(self, version: _Version) -> Iterator[_Candidate]:
        """Yield what can be done to a version next and is predicted to gain."""
        subject = version.subject
        if faulty(subject):
            return
        for proposal in proposals(subject, [], every_shape=True):
            if self.is_over:
                return
            if proposal.safety is FixSafety.DISPLAY or proposal.moves_data or proposal.cures is not None:
                continue
            if _is_of_tiles(subject, proposal):
                continue
            self.watcher.progress(self._said(proposal), min(self.budget.share, 1.0))
            found = self._costs(subject, proposal)
            least = 1 / WORTH if proposal.kind in OPENERS else WORTH
            if found is not None and gain.ratio(version.figures, found[1]) >= least:
                yield _Candidate(version, proposal, found[1], found[0])

    def _said(self, proposal: Proposal) -> str:
        best = gain.words(self.found[0].figures, min(self.found, key=_rank).figures)
        return f"{len(self.seen)} versions{f', {best}' if best else ''}: {proposal.title}"

    def _costs(self, subject: Subject, proposal: Proposal) -> tuple[str, _Costs] | None:
        """Return the digest of a version and what it would cost; `None` if it is none, or was looked at."""
        launch = proposal.relaunch(subject.launch) if proposal.relaunch else subject.launch
        try:
            text = apply(subject.text, proposal.edits, subject.path)
        except OverlapError:
            return None
        digest = _digest(text, launch)
        if digest in self.seen:
            return None
        self.seen.add(digest)
        if digest not in self.notes:
            self.notes[digest] = self._predicted(subject, proposal, launch)
        noted = self.notes[digest]
        return None if noted is None else (digest, _Costs.of(noted))

    def _predicted(self, subject: Subject, proposal: Proposal, launch: Launch) -> list[float] | None:
        program: Program | str = rewritten(subject, proposal.edits) if proposal.edits else subject.program
        kernel = None if isinstance(program, str) else program.kernel(subject.analysis.name)
        if isinstance(program, str) or kernel is None:
            return None
        figures = figures_of(program, kernel, launch, subject.device)
        before = figures_before(subject)
        known = figures.seconds is not None or before.seconds is None
        # Where data decide what the original moves, its time is what there is to compare with.
        timed = figures.seconds is not None and not before.totals.complete
        if not known or not (figures.totals.complete or timed):
            return None
        return [figures.seconds or 0.0, figures.cost, figures.requests]

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
        step = Step(
            apply(subject.text, fix.edits, subject.path), outcome.after_launch, outcome.after, fix, outcome
        )
        return _Version(replace(after, figures=outcome.after), (*version.steps, step))


def _pays(first: _Version, after: Figures) -> bool:
    """True if a version is surely better than the original, as far as the model can tell."""
    before = first.figures
    least = WORTH_ALL if before.cost >= WORTH_ALL * after.cost else WORTH_AS_MUCH
    if before.seconds is None and first.subject.device.has_scratchpad is False:
        least = WORTH_ON_A_CPU
    return gain.ratio(before, after) >= least


def _is_of_tiles(subject: Subject, proposal: Proposal) -> bool:
    """True if a CPU would walk a tile of local memory, which its cache holds, in another order."""
    own = any(it.kind is ir.VariableKind.LOCAL_OBJECT for it in subject.analysis.kernel.variables)
    given = any(isinstance(it, LocalArgument) for it in subject.launch.arguments.values())
    on_chip = subject.device.has_scratchpad is not False
    return proposal.kind == "swap-dimensions" and (own or given) and not on_chip


def _cost(figures: Measures) -> tuple[float, int, int]:
    return figures.seconds or 0.0, figures.cost, figures.requests


def _rank(version: _Version) -> tuple[float, int, int, int]:
    return (*_cost(version.figures), len(version.steps))


def _digest(text: str, launch: Launch) -> str:
    whole = repr((text, launch.global_size, launch.local_size))
    return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:32]
