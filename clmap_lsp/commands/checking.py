"""Check one file from its bytes to its findings, and many files in parallel."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from clmap_lsp.caches import clear_caches, when_dropped
from clmap_lsp.commands.advancing import PARALLEL_FROM, Progress, progress
from clmap_lsp.dataclass import dataclass
from clmap_lsp.errors import UsageError, internal_error, system_error
from clmap_lsp.findings import Finding, Fix, Rest, Severity
from clmap_lsp.report.model import FileReport, Guesses, in_source_order
from clmap_lsp.source.pieces import forget as forget_text
from clmap_lsp.sources import UnreadableError, read_source
from clmap_lsp.worker.told import heard_by, tell

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import FileAnalysis
    from clmap_lsp.config import Settings
    from clmap_lsp.launch.partial import PartialLaunch
    from clmap_lsp.launch.sim import SimFile
    from clmap_lsp.rules.selection import Selection
    from clmap_lsp.source.ir import Guess
    from clmap_lsp.source.program import Program
    from clmap_lsp.source.span import Span
    from clmap_lsp.workbench import Workbench
    from clmap_lsp.worker.forked import Terms

UNUSED_SUPPRESSION = "CM004"


@dataclass(frozen=True, slots=True)
class CheckJob:
    """One file to check, with all that is needed for it in another process."""

    path: str
    settings: Settings
    selection: Selection
    given: PartialLaunch | None = None
    sim: SimFile | None = None
    hints: bool = False
    emulate: bool = False
    fixes: bool = False
    """Look for rewrites that answer findings, and test them in the emulator."""
    climbs: bool = False
    """Look for rewrites that answer no finding, too."""
    text: str | None = None
    """The text where it does not come from the file (standard input)."""
    only: str | None = None
    """The kernel that is asked for; None: all."""


def check_file(job: CheckJob) -> FileReport:
    """Check one file. A fault of ours is that file's error, and the other files are still checked."""
    try:
        return _checked(job)
    except UsageError as error:
        return FileReport(job.path, error=str(error))
    except OSError as error:
        return FileReport(job.path, error=f"{job.path}: {system_error(error)}")
    except Exception as error:
        if os.environ.get("CLMAP_DEBUG"):
            raise
        return FileReport(job.path, error=f"{job.path}: {internal_error(error)}")
    finally:
        forget_text(job.path)  # Nobody reads it a second time; what it includes, others may.


def _checked(job: CheckJob) -> FileReport:
    try:
        text = read_source(job.path) if job.text is None else job.text
    except UnreadableError as error:
        return FileReport(job.path, error=str(error))
    tell({"path": job.path})
    opened = _workbench().open_text(job.path, text, job.settings, given=job.given, sim=job.sim, only=job.only)
    opened.on_begin = lambda kernel: tell({"path": job.path, "kernel": kernel})
    program = opened.program
    runs = opened.run_all() if job.emulate else None
    findings = opened.findings(job.selection, runs)
    if job.only is not None:
        findings = _of_kernel(findings, program, job.only)
    rewrites: tuple[tuple[str, Fix], ...] = ()
    untried: tuple[tuple[str, int], ...] = ()
    if job.fixes:
        found = opened.with_fixes(findings, runs, climbs=job.climbs)
        findings, rewrites, untried = found.findings, found.rewrites, found.untried
    shown = [it for it in findings if job.hints or it.severity is not Severity.HINT]
    paths = {span.path for it in shown for span in _spans(it)}
    paths.update(edit.span.path for _, fix in rewrites for edit in fix.edits)
    return FileReport(
        job.path,
        in_source_order(shown, program.path),
        {path: opened.files[path] for path in sorted(paths) if path in opened.files},
        n_kernels=sum(job.only in (None, it.name) for it in program.kernels),
        n_hints=len(findings) - len(shown),
        guesses=guesses_of(opened.analysis, program.guesses if program.kernels else ()),
        n_emulated=None if runs is None else len(runs.done),
        rewrites=rewrites,
        untried=untried,
    )


def _of_kernel(findings: Sequence[Finding], program: Program, name: str) -> tuple[Finding, ...]:
    """Return the findings of a kernel, and of the text around all of them.

    What the other kernels leave to a suppression is not known, as they were not looked at.
    """
    others = [it.span for it in program.kernels if it.name != name]

    def is_asked_for(it: Finding) -> bool:
        if it.kernel is not None:
            return it.kernel == name
        place = it.span
        inside = any(
            place.path == other.path and other.start <= place.start and place.end <= other.end
            for other in others
        )
        return it.code != UNUSED_SUPPRESSION and not inside

    return tuple(it for it in findings if is_asked_for(it))


def guesses_of(analysis: FileAnalysis, of_names: Sequence[Guess]) -> Guesses:
    """Return what was guessed of a file; of names in it, those of types and those that kernels rest on."""
    from clmap_lsp.analysis.rests_on import GUESSED
    from clmap_lsp.rules.context import is_switched_off

    macros = {it.name: it.value for it in of_names if it.value and it.role in _TYPES}
    launches = []
    for kernel in analysis.kernels:
        macros |= {it.name: it.value for it in kernel.rests_on if it.kind == "macro" and it.origin == GUESSED}
        said = [it for it in kernel.rests_on if it.kind in ("global", "local", "offset", "scalar")]
        if any(it.origin == GUESSED for it in said):
            rests = tuple(Rest(it.kind, it.name, it.value, it.origin) for it in said)
            launches.append((kernel.name, rests))
    off = tuple(it.name for it in analysis.kernels if is_switched_off(it, analysis.device))
    return Guesses(macros, tuple(launches), off)


_TYPES = ("type", "vector type")


@lru_cache(maxsize=1)
def _workbench() -> Workbench:
    """Return the workbench of this process: kernels that are the same in several files are analysed once."""
    from clmap_lsp.workbench import Workbench

    return Workbench()


def _forget_files() -> None:
    """Drop what is known of the files that were checked: those to come need little of it."""
    if _workbench.cache_info().currsize:
        _workbench().forget_all()


when_dropped(_forget_files)


def host_files_changed(paths: Sequence[str]) -> None:
    """Read host files again that changed while this process watches."""
    _workbench().host_files_changed(paths)


def _spans(finding: Finding) -> Iterator[Span]:
    yield finding.span
    yield from (it.span for it in finding.related)
    if finding.fix is not None:
        yield from (it.span for it in finding.fix.edits)


def check_all(
    jobs: Sequence[CheckJob], n_processes: int, scheduler: str | None = None, terms: Terms | None = None
) -> tuple[FileReport, ...]:
    """Check many files; results are in the order of the jobs.

    With a `scheduler` (a Dask address) on its workers, else in processes of their own where that pays, or
    where kernels run and `terms` say how such processes are confined.
    """
    if scheduler is not None:
        from clmap_lsp.commands.scheduling import check_on_cluster

        with progress(len(jobs)) as line:
            return check_on_cluster(jobs, scheduler, line.advance)
    if len(jobs) < PARALLEL_FROM:
        n_processes = 1
    n_processes = min(n_processes, len(jobs) // 4 + 1)
    if terms is not None and (terms.runs_kernels or len(jobs) >= PARALLEL_FROM):
        with progress(len(jobs), forks=True) as line:
            return _confined(jobs, n_processes, terms, line)
    if n_processes < 2:
        with progress(len(jobs)) as line, heard_by(line.hear):
            return tuple(_advanced(check_file(job), line) for job in jobs)
    return _spawned(jobs, n_processes)


_SAMPLE = """\
__kernel void sample(__global float *a, __global const float *b, int n) {
    __local float tile[64];
    const int i = get_global_id(0);
    tile[get_local_id(0)] = b[i * n];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < n; k++) a[i * n + k] += tile[63 - get_local_id(0)];
}
"""


def load_all() -> None:
    """Load here what copies of this process need for any file: they share it, and a new one costs little."""
    from clmap_lsp.config import Settings
    from clmap_lsp.rules.selection import Selection

    check_file(CheckJob("", Settings(), Selection.of(), text=_SAMPLE))
    clear_caches()
    gc.collect()
    gc.freeze()  # Else the first look for cycles in a copy would write to each of these objects.


def _confined(
    jobs: Sequence[CheckJob], n_processes: int, terms: Terms, line: Progress
) -> tuple[FileReport, ...]:
    """Check files in confined copies of this process. One that a file ends is that file's error."""
    from clmap_lsp.commands.confining import warm
    from clmap_lsp.worker import forked
    from clmap_lsp.worker.messages import as_data, from_data

    if terms.runs_kernels:
        warm()
    load_all()
    reports: dict[int, FileReport] = {}
    terms = replace(terms, hears=line.hear, waits=line.look)
    outcomes = forked.each(lambda it: as_data(check_file(jobs[it])), len(jobs), n_processes, terms)
    try:
        for number, outcome in outcomes:
            path = jobs[number].path
            if isinstance(outcome, forked.LostError):
                reports[number] = FileReport(path, error=f"{path}: the process that checked it {outcome}")
            else:
                reports[number] = from_data(outcome, FileReport)
            line.advance(path)
    except forked.NoCopyError:
        if terms.runs_kernels:
            raise
        for number in range(len(jobs)):  # Reading and analysing run nothing: it is done here.
            if number not in reports:
                reports[number] = check_file(jobs[number])
                line.advance(jobs[number].path)
    return tuple(reports[it] for it in range(len(jobs)))


def _spawned(jobs: Sequence[CheckJob], n_processes: int) -> tuple[FileReport, ...]:
    """Check files in processes of their own where none can be confined."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    chunk = max(1, min(16, len(jobs) // (n_processes * 4)))
    try:
        with ProcessPoolExecutor(n_processes, multiprocessing.get_context("spawn")) as pool:
            results = pool.map(check_file, jobs, chunksize=chunk)
            with progress(len(jobs)) as line:
                return tuple(_advanced(it, line) for it in results)
    except BrokenProcessPool:
        raise UsageError(
            "a checking process was killed, perhaps for lack of memory; try fewer with --jobs 1"
        ) from None


def _advanced(report: FileReport, line: Progress) -> FileReport:
    line.advance(report.path)
    return report
