"""What a rule may look at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import AccessAnalysis, FileAnalysis, KernelAnalysis
    from clmap_lsp.emulator.result import EmulationResult
    from clmap_lsp.findings import Finding
    from clmap_lsp.rules.meta import RuleMeta
    from clmap_lsp.rules.suppress import SuppressedCode, Suppression
    from clmap_lsp.source.ir import Problem
    from clmap_lsp.source.program import Program


@dataclass(frozen=True, slots=True)
class UnusedSuppression:
    """A suppression comment, or one code in it (`code` set), that silences nothing."""

    comment: Suppression
    code: SuppressedCode | None
    reason: str


@dataclass(frozen=True, slots=True)
class RuleContext:
    """One file with everything that is known about it.

    `emulations` holds the emulator's result of each kernel that was run, by name; `None` means that no kernel
    was to be run. `unused` is filled in for the rule about suppressions, which is
    checked last.
    """

    program: Program
    analysis: FileAnalysis
    emulations: Mapping[str, EmulationResult] | None = None
    not_emulated: Mapping[str, str] = field(default_factory=dict)
    """Why launches could not be run in the emulator, by kernel."""
    crashed: Mapping[str, str] = field(default_factory=dict)
    """How the emulator's process ended in the middle of a kernel, by kernel."""
    unused: tuple[UnusedSuppression, ...] = field(default=())

    def kernels(self) -> Iterator[KernelAnalysis]:
        """Yield the kernels that were analysed, in source order."""
        yield from self.analysis.kernels

    def accesses(self) -> Iterator[tuple[KernelAnalysis, AccessAnalysis]]:
        """Yield every access of every kernel."""
        for kernel in self.analysis.kernels:
            for access in kernel.accesses:
                yield kernel, access

    def problems(self, rule: RuleMeta) -> Iterator[Problem]:
        """Yield the source problems that a rule reports."""
        yield from (it for it in self.program.problems if it.code in rule.problems)


def from_problem(rule: RuleMeta, problem: Problem) -> Finding:
    """Turn a problem of the source into a finding; its own severity is kept."""
    from clmap_lsp.findings import Related

    related = tuple(Related(span, message) for span, message in problem.related)
    return rule.finding(problem.span, problem.message, severity=problem.severity, related=related)
