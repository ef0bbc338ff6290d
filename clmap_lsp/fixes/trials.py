"""What the original does on the launches around its own, kept for all rewrites that are compared with it."""

from __future__ import annotations

import math
from dataclasses import field, replace
from itertools import islice
from typing import TYPE_CHECKING

from clmap_lsp.dataclass import dataclass
from clmap_lsp.emulator.result import EmulationResult, Engine
from clmap_lsp.fixes import gain
from clmap_lsp.fixes.assumptions import Case
from clmap_lsp.fixes.family import Member, family, homes
from clmap_lsp.fixes.model import Larger
from clmap_lsp.fixes.predict import figures_before, figures_of
from clmap_lsp.launch.problem import LaunchError
from clmap_lsp.launch.roomy import scaled_up
from clmap_lsp.lazy import lazy_property
from clmap_lsp.source.rewrite import Rewriter
from clmap_lsp.time.model import grows_alike

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from clmap_lsp.emulator.settings import EmulationSettings
    from clmap_lsp.fixes.assumptions import Assumption
    from clmap_lsp.fixes.model import Figures, Proposal, Subject
    from clmap_lsp.launch.model import Launch
    from clmap_lsp.source.ir import Kernel, Variable
    from clmap_lsp.source.program import Program

HOMES = 3
"""How many of the launches that were passed while shrinking are small enough to be run."""
STEPS = 32_000_000
"""Loop turns and work-item starts of one launch of the family."""
FAR = 6
"""Launches of the family of a larger home."""
KEPT_BYTES = 256 << 20
"""Outputs that are kept of all launches of a family; those of others are asked for again."""


def quick(settings: EmulationSettings) -> EmulationSettings:
    """Outputs and faults are enough: no traces."""
    return replace(settings, engine=Engine.JIT, trace=False, control=False, strides=False, may_sample=False)


@dataclass(eq=False)
class Trials:
    """The original on each launch of its family, run when first asked for."""

    subject: Subject
    settings: EmulationSettings
    _before: dict[Member, EmulationResult | None] = field(default_factory=dict)
    _around: dict[Member, tuple[Member, ...]] = field(default_factory=dict)
    _home: EmulationResult | None = None
    _kept: int = 0

    @lazy_property
    def homes(self) -> tuple[Member, ...]:
        """The launches that may stand for the subject's own, the smallest first."""
        return homes(self.subject)

    @property
    def home(self) -> Member:
        """The launch that stands for the subject's own."""
        return self.homes[0]

    def home_for(self, assumptions: Iterable[Assumption]) -> Member:
        """Return the smallest of the first launches that fulfils the assumptions; home if none does."""
        wanted = tuple(assumptions)
        fitting = (it for it in self.homes[:HOMES] if all(a.holds(it.case) for a in wanted))
        return next(fitting, self.home)

    @lazy_property
    def members(self) -> tuple[Member, ...]:
        """The rest of the family."""
        return tuple(family(self.subject))[1:]

    def members_for(self, assumptions: Iterable[Assumption]) -> Iterator[Member]:
        """Yield the launches of the family that fulfil the assumptions.

        Where those ask for a larger home they leave little of the family, which then has its nearest launches
        around that.
        """
        wanted = tuple(assumptions)
        home = self.home_for(wanted)
        far: tuple[Member, ...] = ()
        if home != self.home:
            if home not in self._around:
                self._around[home] = tuple(family(self.subject, home))[1:]
            far = self._around[home]
        fitting, further = (
            (it for it in some if all(a.holds(it.case) for a in wanted)) for some in (self.members, far)
        )
        yield from (*fitting, *islice(further, FAR))

    def at_home(self) -> EmulationResult:
        """Return what the original does on the launch that stands for the subject's own, home.

        Raises: LaunchError if it cannot be run; SpentError.
        """
        if self._home is None:
            known, launch = self.subject.emulation, self.home.case.launch
            if known is not None and known.is_whole and launch == self.subject.launch:
                self._home = known
                return known
            kernel = self.subject.analysis.kernel
            allowance = self.subject.allowance
            self._home = allowance.run(self.subject.program, kernel, launch, quick(self.settings))
        return self._home

    @lazy_property
    def _larger(self) -> tuple[Launch, Figures] | None:
        """A launch of a real size in place of the subject's own, with the original's figures.

        `None` where there is none, or it does not do as much more as it is larger: its guards end elsewhere.
        """
        subject = self.subject
        kernel, home = subject.analysis.kernel, figures_before(subject).time
        launch = scaled_up(kernel, subject.launch)
        if launch is None or home is None:
            return None
        found = figures_of(subject.program, kernel, launch, subject.device)
        return (launch, found) if found.time is not None and grows_alike(home, found.time) else None

    def in_larger(
        self, proposal: Proposal, program: Program, kernel: Kernel, home: tuple[Figures, Figures]
    ) -> Larger | None:
        """Return what a rewrite does on a launch of a real size, where its own is too small to judge by.

        Args:
            program: the rewritten one, with its kernel.
            home: the figures before and after on the subject's own launch.
        """
        mine = self.subject.launch
        if proposal.pays_in_larger or not (proposal.lowers_traffic or proposal.by_time):
            return None
        if not gain.is_of_test_size(home[0], mine):
            return None
        if "global" not in mine.inferred and gain.is_faster(*home, proposal.least_faster):
            return None  # It gains here, too.
        if self._larger is None:
            return None
        launch, before = self._larger
        case = Case(launch, self.subject.options)
        if not all(it.holds(case) for it in proposal.assumptions):
            return None
        relaunched = proposal.relaunch(launch) if proposal.relaunch is not None else launch
        after = figures_of(program, kernel, relaunched, self.subject.device)
        return None if after.time is None else Larger(launch, before, after)

    def before(self, member: Member) -> EmulationResult | None:
        """Return what the original does on a launch; `None` where that is not defined or takes too long."""
        if member in self._before:
            return self._before[member]
        result = self.run(self.subject.text, self.subject.program, member.case)
        defined = result if result is not None and result.is_whole and not result.faults else None
        taken = 0 if defined is None else sum(it.data.nbytes for it in defined.buffers.values())
        if self._kept + taken <= KEPT_BYTES:
            self._kept += taken
            self._before[member] = defined
        return defined

    def run(
        self,
        text: str,
        program: Program,
        case: Case,
        relaunched: Launch | None = None,
        most_work: float = math.inf,
    ) -> EmulationResult | None:
        """Return what a version of the file does in a case; `None` where it cannot be run so.

        Raises: SpentError.
        """
        if case.options != self.subject.options:
            program = self.subject.read(text, case.options)
        kernel = program.kernel(self.subject.analysis.name)
        if kernel is None:
            return None
        settings = replace(quick(self.settings), max_steps=STEPS, max_work=most_work)
        try:
            launch = relaunched or case.launch
            return self.subject.allowance.run(program, shared(kernel, case), launch, settings)
        except (LaunchError, MemoryError):
            return None


def shared(kernel: Kernel, case: Case) -> Kernel:
    """Return a kernel that reaches the buffers of a case that are one through one parameter."""
    if not case.shared:
        return kernel
    by_name = {it.name: it for it in kernel.parameters}
    instead = {by_name[b]: by_name[a] for a, b in case.shared if a in by_name and b in by_name}
    return replace(kernel, body=_Sharing(instead).block(kernel.body))


class _Sharing(Rewriter):
    def __init__(self, instead: dict[Variable, Variable]) -> None:
        self.instead = instead

    def variable(self, variable: Variable) -> Variable:
        return self.instead.get(variable, variable)
