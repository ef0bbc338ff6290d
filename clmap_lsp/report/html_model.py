"""What the HTML report shows, gathered: kernels with analysis, findings, emulation, advice, history."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from clmap_lsp.dataclass import dataclass
from clmap_lsp.lazy import lazy_property
from clmap_lsp.report.compare import Comparison
from clmap_lsp.report.model import SEVERITY_RANK
from clmap_lsp.source.types import AddressSpace
from clmap_lsp.time.wording import time_line

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import AccessAnalysis, FileAnalysis, KernelAnalysis
    from clmap_lsp.findings import Finding
    from clmap_lsp.fixes.optimise import Found
    from clmap_lsp.research import StagingPlan
    from clmap_lsp.source.program import Program
    from clmap_lsp.source.span import Span


@dataclass(frozen=True, slots=True)
class Emulated:
    """What the emulator said of one kernel: the JSON of `clmap-lsp emulate`, or why there is none."""

    result: Mapping[str, Any] | None
    failure: str = ""

    @property
    def faults(self) -> Sequence[Mapping[str, Any]]:
        """Faults as in that JSON."""
        return () if self.result is None else self.result.get("faults") or ()

    @property
    def metrics(self) -> Mapping[str, Any] | None:
        """Locality, where anything was accessed."""
        found = None if self.result is None else self.result.get("metrics")
        return found if found and found.get("accesses") else None


@dataclass(frozen=True, slots=True)
class Traffic:
    """What a kernel moves in one kind of memory, and what its requests need at best."""

    unit: str
    count: int
    ideal: float
    complete: bool

    @property
    def excess(self) -> float | None:
        """How many times the ideal; `None` without traffic."""
        return self.count / self.ideal if self.ideal else None


@dataclass(frozen=True)
class ReportedKernel:
    """One kernel. `emulated` is `None` where the emulator was not asked."""

    program: Program
    analysis: KernelAnalysis
    findings: tuple[Finding, ...]
    emulated: Emulated | None = None
    staging: tuple[tuple[str, StagingPlan], ...] = ()
    """By device or platform."""
    ladder: Found | None = None
    """The way to the best version, where it was searched for."""

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self.analysis.name

    @property
    def path(self) -> str:
        """The file it was found through."""
        return self.program.path

    @property
    def row(self) -> int:
        """The line of its name."""
        return self.program.position(self.analysis.kernel.name_span).row

    @property
    def time(self) -> str:
        """How long the launch takes, and what bounds it, or why nobody knows; empty where nobody asked."""
        return time_line(self.analysis.time) or ""

    @lazy_property
    def sectors(self) -> Traffic:
        """Global memory."""
        return _traffic(self.analysis, AddressSpace.GLOBAL, "sectors", self.analysis.totals.sectors)

    @lazy_property
    def wavefronts(self) -> Traffic:
        """Local memory."""
        return _traffic(self.analysis, AddressSpace.LOCAL, "wavefronts", self.analysis.totals.wavefronts)

    @property
    def faults(self) -> Sequence[Mapping[str, Any]]:
        """What the emulator met."""
        return self.emulated.faults if self.emulated else ()

    @property
    def metrics(self) -> Mapping[str, Any] | None:
        """Locality, where it was measured."""
        return self.emulated.metrics if self.emulated else None


def _traffic(kernel: KernelAnalysis, space: AddressSpace, unit: str, count: int) -> Traffic:
    sites: dict[int, AccessAnalysis] = {
        it.access.site: it
        for it in kernel.accesses
        # Atomics are in no total (see `analysis.costs`).
        if it.access.space is space and it.access.direction.value != "atomic"
    }
    ideal = sum(
        it.per_request.ideal * it.totals.requests for it in sites.values() if it.per_request and it.totals
    )
    return Traffic(unit, count, ideal, kernel.totals.complete)


@dataclass(frozen=True, slots=True)
class ReportedFile:
    """One file; `error` where it could not be read."""

    path: str
    program: Program | None = None
    analysis: FileAnalysis | None = None
    findings: tuple[Finding, ...] = ()
    """All of its findings, worst first."""
    kernels: tuple[ReportedKernel, ...] = ()
    error: str = ""

    def place(self, span: Span) -> str:
        """Return `path:row:column`."""
        if self.program is None:
            return span.path
        at = self.program.position(span)
        return f"{span.path}:{at.row}:{at.column}"


@dataclass(frozen=True, slots=True)
class History:
    """Against an earlier analysis."""

    source: str
    comparison: Comparison


@dataclass(frozen=True)
class Report:
    """Everything. `made` is for people: when, and with which options."""

    files: tuple[ReportedFile, ...]
    device: str
    device_name: str
    made: str
    history: History | None = None

    @lazy_property
    def kernels(self) -> tuple[ReportedKernel, ...]:
        """Of all files, in their order."""
        return tuple(kernel for file in self.files for kernel in file.kernels)

    def count(self, severity: str) -> int:
        """Return the number of findings of one severity."""
        return sum(it.severity.value == severity for file in self.files for it in file.findings)


def worst_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Sort findings by severity, then by place."""
    return tuple(
        sorted(findings, key=lambda it: (SEVERITY_RANK[it.severity], it.span.path, it.span.start, it.code))
    )


def reported_file(
    program: Program,
    analysis: FileAnalysis,
    findings: Sequence[Finding],
    emulated: Mapping[str, Emulated] | None,
    staging: Mapping[str, Sequence[tuple[str, StagingPlan]]] | None = None,
    ladders: Mapping[str, Found] | None = None,
) -> ReportedFile:
    """Join what is known of one file.

    Args:
        emulated: outcomes by kernel; `None` if the emulator was not asked.
        staging: by kernel, what staging arrays through local memory would bring, by device.
        ladders: by kernel, the way to its best version.
    """
    kernels = tuple(
        ReportedKernel(
            program,
            it,
            worst_first(found for found in findings if found.kernel == it.name),
            None if emulated is None else emulated.get(it.name, Emulated(None, "there is no launch")),
            tuple((staging or {}).get(it.name, ())),
            (ladders or {}).get(it.name),
        )
        for it in analysis.kernels
    )
    return ReportedFile(program.path, program, analysis, worst_first(findings), kernels)
