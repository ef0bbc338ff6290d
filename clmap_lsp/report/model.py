"""What a check found, ready for any output format: findings with their places resolved.

Invariant: everything here can be pickled, so that files may be checked in other processes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace

from clmap_lsp.dataclass import dataclass
from clmap_lsp.findings import Finding, Fix, FixSafety, Rest, Severity
from clmap_lsp.source.span import Position, SourceFile, Span

SEVERITY_RANK = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFORMATION: 2, Severity.HINT: 3}
"""Lower is worse."""

FAIL_ON = {"error": 0, "warning": 1, "information": 2, "never": -1}
"""The worst rank that still passes, by the value of `--fail-on`, is the one above."""


@dataclass(frozen=True, slots=True)
class Guesses:
    """What nobody said of a file's macros and of its kernels' launches, with the values that were taken."""

    macros: Mapping[str, str] = field(default_factory=dict)
    launches: tuple[Rests, ...] = ()
    """By kernel: its sizes and scalars, those that are known included."""
    switched_off: tuple[str, ...] = ()
    """Kernels that are not judged, because guesses keep next to all of their work-items from running."""


Rests = tuple[str, tuple[Rest, ...]]


@dataclass(frozen=True, slots=True)
class FileReport:
    """One file that was asked for. `sources` holds the files that its findings point into.

    `error` says why the file could not be read; there are no findings then.
    """

    path: str
    findings: tuple[Finding, ...] = ()
    sources: Mapping[str, SourceFile] = field(default_factory=dict)
    n_kernels: int = 0
    n_emulated: int | None = None
    """Kernels that the emulator ran; None where it was not asked."""
    error: str | None = None
    n_hints: int = 0
    """Hints that nobody asked for."""
    guesses: Guesses = Guesses()
    """What was guessed of its macros and launches."""
    rewrites: tuple[tuple[str, Fix], ...] = ()
    """With `--fix`: the rewrites of each kernel that gain enough, whether they answer a finding or not."""

    untried: tuple[tuple[str, int], ...] = ()
    """Kernels with the number of rewrites that there was no work left for."""

    def start(self, span: Span) -> Position:
        """Return the row and column where a span starts."""
        source = self.sources.get(span.path)
        return Position(1, 1) if source is None else source.position(span.start)

    def end(self, span: Span) -> Position:
        """Return the row and column just past a span."""
        source = self.sources.get(span.path)
        return Position(1, 1) if source is None else source.position(span.end)


@dataclass(frozen=True, slots=True)
class AppliedFix:
    """A fix that `--fix` applied (or `--diff` would), with what it asks for besides the new text."""

    path: str
    kernel: str | None
    title: str
    safety: FixSafety
    assumptions: tuple[str, ...] = ()
    host_change: str | None = None
    host_diff: str = ""
    host_files: tuple[str, ...] = ()
    """Host files that were changed with it."""


@dataclass(frozen=True, slots=True)
class CheckReport:
    """All files of one run, in the order in which they are shown."""

    files: tuple[FileReport, ...]
    applied: tuple[AppliedFix, ...] = ()
    order: tuple[tuple[str, Finding], ...] | None = None
    """Its findings with the paths of their files in the order in which they are shown; `None`: by file."""
    n_left_out: int = 0
    """Findings that `--top` leaves out."""

    def pairs(self) -> Iterator[tuple[FileReport, Finding]]:
        """Yield every finding with its file."""
        if self.order is not None:
            by_path = {it.path: it for it in self.files}
            for path, finding in self.order:
                yield by_path[path], finding
            return
        for file in self.files:
            for finding in file.findings:
                yield file, finding

    def count(self, severity: Severity) -> int:
        """Return the number of findings of one severity."""
        return sum(it.severity is severity for _, it in self.pairs())

    def first(self, count: int) -> CheckReport:
        """Return a report with the first findings only."""
        if self.order is not None:
            return replace(self, order=self.order[:count])
        files, room = [], count
        for file in self.files:
            files.append(replace(file, findings=file.findings[:room]))
            room -= len(files[-1].findings)
        return replace(self, files=tuple(files))

    def fails(self, fail_on: str) -> bool:
        """Tell whether a finding is at or above the threshold of `--fail-on`."""
        threshold = FAIL_ON[fail_on]
        return any(SEVERITY_RANK[it.severity] <= threshold for _, it in self.pairs())


def in_source_order(findings: Sequence[Finding], main_path: str) -> tuple[Finding, ...]:
    """Sort findings: the main file first, then by place, severity and code."""
    return tuple(
        sorted(
            findings,
            key=lambda it: (
                it.span.path != main_path,
                it.span.path,
                it.span.start,
                SEVERITY_RANK[it.severity],
                it.code,
                it.message,
            ),
        )
    )
