"""Check one file from its bytes to its findings, and many files in parallel."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from clmap_lsp.errors import internal_error
from clmap_lsp.findings import Finding, Severity
from clmap_lsp.report.model import FileReport, in_source_order
from clmap_lsp.sources import UnreadableError, include_reader, read_source

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import FileAnalysis
    from clmap_lsp.analysis.session import AnalysisSession
    from clmap_lsp.config import Settings
    from clmap_lsp.config.model import EmulateSettings
    from clmap_lsp.emulator.result import EmulationResult
    from clmap_lsp.launch.partial import PartialLaunch
    from clmap_lsp.launch.sim import SimFile
    from clmap_lsp.rules.context import RuleContext
    from clmap_lsp.rules.selection import Selection
    from clmap_lsp.source.program import Program

PARALLEL_FROM = 12
"""Below this many files, starting processes costs more than it saves."""


@dataclass(frozen=True, slots=True)
class CheckJob:
    """One file to check, with all that is needed for it in another process."""

    path: str
    settings: Settings
    selection: Selection
    given: PartialLaunch | None = None
    sim: SimFile | None = None
    beside: SimFile | None = None
    hints: bool = False
    emulate: bool = False
    fixes: bool = False
    """Look for rewrites that answer findings, and verify them in the emulator."""
    text: str | None = None
    """The text where it does not come from the file (standard input)."""


def check_file(job: CheckJob) -> FileReport:
    """Check one file. A fault of ours is that file's error, and the other files are still checked."""
    try:
        return _checked(job)
    except Exception as error:
        if os.environ.get("CLMAP_DEBUG"):
            raise
        return FileReport(job.path, error=f"{job.path}: {internal_error(error)}")


def _checked(job: CheckJob) -> FileReport:
    from clmap_lsp.devices import load_model
    from clmap_lsp.rules.context import RuleContext
    from clmap_lsp.rules.runner import run
    from clmap_lsp.source.read import read_program

    try:
        text = read_source(job.path) if job.text is None else job.text
    except UnreadableError as error:
        return FileReport(job.path, error=str(error))
    read_file = include_reader(job.path, job.settings.opened)
    program = read_program(text, job.path, job.settings.build, read_file=read_file)
    analysis = _session().analyse(
        program,
        load_model(job.settings.device),
        options=job.settings.build,
        given=job.given,
        configured=job.settings.launches,
        sim=job.sim,
        beside=job.beside,
    )
    context = RuleContext(program, analysis)
    if job.emulate:
        done, refused = emulate_all(program, analysis, job.settings.emulate)
        context = RuleContext(program, analysis, done, refused)
    findings = run(context, job.selection)
    if job.fixes:
        findings = _with_fixes(context, findings, job)
    shown = [it for it in findings if job.hints or it.severity is not Severity.HINT]
    paths = {span.path for it in shown for span in _spans(it)}
    return FileReport(
        job.path,
        in_source_order(shown, program.path),
        {path: program.files[path] for path in sorted(paths) if path in program.files},
        n_kernels=len(program.kernels),
    )


@lru_cache(maxsize=1)
def _session() -> AnalysisSession:
    """Return the session of this process: kernels that are the same in several files are analysed once."""
    from clmap_lsp.analysis.session import AnalysisSession

    return AnalysisSession()


def _spans(finding: Finding) -> Iterator[Any]:
    yield finding.span
    yield from (it.span for it in finding.related)
    if finding.fix is not None:
        yield from (it.span for it in finding.fix.edits)


def emulate_all(
    program: Program, analysis: FileAnalysis, limits: EmulateSettings
) -> tuple[dict[str, EmulationResult], dict[str, str]]:
    """Run every kernel that has a launch within the configured limits; return results, and refusals."""
    from clmap_lsp.commands.emulation import emulate_kernel

    done: dict[str, EmulationResult] = {}
    refused: dict[str, str] = {}
    for it in analysis.kernels:
        if it.launch is None:
            continue
        result = emulate_kernel(
            program,
            it.kernel,
            it.launch,
            analysis.device,
            time_limit_s=limits.time_limit_s,
            memory_limit_mib=limits.memory_limit_mib,
        )
        if isinstance(result, str):
            refused[it.name] = result
        else:
            done[it.name] = result
    return done, refused


def _with_fixes(context: RuleContext, findings: tuple[Finding, ...], job: CheckJob) -> tuple[Finding, ...]:
    """Give findings the rewrites that the emulator showed right on the kernel's launch."""
    from clmap_lsp.emulator.settings import EmulationSettings
    from clmap_lsp.fixes.model import Subject
    from clmap_lsp.fixes.offer import attached, offers

    limits, device = job.settings.emulate, context.analysis.device
    settings = EmulationSettings(
        device=device, time_limit_s=limits.time_limit_s, memory_limit_mb=limits.memory_limit_mib
    )
    for kernel in context.analysis.kernels:
        open_findings = any(it.kernel == kernel.name and it.fix is None for it in findings)
        if kernel.launch is None or not open_findings:
            continue
        emulation = (context.emulations or {}).get(kernel.name)
        subject = Subject(context.program, kernel, device, job.settings.build, emulation)
        findings = attached(findings, subject, list(offers(subject, settings)))
    return findings


def check_all(
    jobs: Sequence[CheckJob], n_processes: int, scheduler: str | None = None
) -> tuple[FileReport, ...]:
    """Check many files; results are in the order of the jobs.

    With a `scheduler` (a Dask address) on its workers, else in processes of their own where that pays.
    """
    if scheduler is not None:
        from clmap_lsp.commands.scheduling import check_on_cluster

        with progress(len(jobs)) as advance:
            return check_on_cluster(jobs, scheduler, advance)
    if n_processes < 2 or len(jobs) < PARALLEL_FROM:
        with progress(len(jobs)) as advance:
            return tuple(_advanced(check_file(job), advance) for job in jobs)
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    from clmap_lsp.errors import UsageError

    # fork spares each process the imports; it is safe here, because no thread has been started yet.
    method = "fork" if sys.platform == "linux" else "spawn"
    n_processes = min(n_processes, len(jobs) // 4 + 1)
    chunk = max(1, min(16, len(jobs) // (n_processes * 4)))
    try:
        with ProcessPoolExecutor(n_processes, multiprocessing.get_context(method)) as pool:
            results = pool.map(check_file, jobs, chunksize=chunk)
            with progress(len(jobs)) as advance:
                return tuple(_advanced(it, advance) for it in results)
    except BrokenProcessPool:
        raise UsageError(
            "a checking process was killed, perhaps for lack of memory; try fewer with --jobs 1"
        ) from None


def _advanced(report: FileReport, advance: Any) -> FileReport:
    advance()
    return report


@contextmanager
def progress(total: int) -> Iterator[Any]:
    """Show progress on standard error if it is a terminal and there is enough to wait for."""
    if total < PARALLEL_FROM or not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("checking"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("checking", total=total)
        yield lambda: progress.advance(task)
