"""`clmap-lsp check PATH…`, also `clmap-lsp --check`: findings."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clmap_lsp.commands.confining import add_sandbox_option
from clmap_lsp.commands.options import SettingsSource, add_launch_options, given_launch, sim_file
from clmap_lsp.commands.written import check_written
from clmap_lsp.counted import counted
from clmap_lsp.errors import UsageError, one_line
from clmap_lsp.escaping import terminal, terminal_line
from clmap_lsp.reading import reason
from clmap_lsp.report.formats import FORMATS, render
from clmap_lsp.report.order import by_importance, summary_text, top, without_copies
from clmap_lsp.report.pins import toml_of
from clmap_lsp.report.styles import shows_colour
from clmap_lsp.workspace import remembered_workspaces, scope_of

if TYPE_CHECKING:
    from clmap_lsp.commands.checking import CheckJob
    from clmap_lsp.report.model import CheckReport
    from clmap_lsp.rules.selection import Selection
    from clmap_lsp.worker.forked import Terms

MAX_PRINTED = 50_000
"""Findings that are printed: beyond it, nobody reads them and viewers of reports give up."""
_NAMED = 3
"""Kernels that are named in one line."""
_EXAMPLES = """\
examples:
  clmap-lsp --check kernels/
  clmap-lsp check mm.cl --kernel mm --global 256,256 --local 16,16 --arg N=256 --device nvidia-hopper
  clmap-lsp check . --format github --output sarif:clmap.sarif --output junit:clmap.xml
  cat mm.cl | clmap-lsp check - --stdin-filename mm.cl
"""


def register(subparsers: Any) -> None:
    """Add the parser."""
    parser = subparsers.add_parser(
        "check",
        help="check kernels and print findings",
        description="Check OpenCL C files, or all kernels below a directory, in files and in strings of host "
        "code, and print findings.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files or directories; - for standard input")
    parser.add_argument("--stdin-filename", metavar="PATH", help="what to call the text of standard input")
    output = parser.add_argument_group("output")
    output.add_argument("--format", choices=FORMATS, default="full")
    output.add_argument(
        "--output",
        action="append",
        default=[],
        type=_output,
        metavar="FORMAT:FILE",
        help="write the findings to a file too, in another format; repeatable",
    )
    output.add_argument("--statistics", action="store_true", help="count findings by rule, after them")
    output.add_argument(
        "--sort",
        choices=("importance", "place"),
        help="what comes first: what costs most (default for people), or as in the files (for tools)",
    )
    output.add_argument("--top", type=int, metavar="N", help="print the N most important findings only")
    output.add_argument("--summary", action="store_true", help="print a line for each kernel, after them")
    output.add_argument(
        "--guesses", action="store_true", help="print lines for clmap.toml that pin what was guessed"
    )
    output.add_argument(
        "--diff-base",
        metavar="REV",
        help="findings on lines that differ from this commit only; git must be installed",
    )
    output.add_argument("--hints", action="store_true", help="print hints too, such as inactive code")
    output.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    output.add_argument("--watch", action="store_true", help="check again whenever a file changes")
    rules = parser.add_argument_group("rules")
    rules.add_argument("--select", metavar="RULES", help="rules that speak: codes, prefixes, names, ALL")
    rules.add_argument("--ignore", metavar="RULES", help="rules that stay silent")
    rules.add_argument(
        "--fail-on",
        choices=("error", "warning", "information", "never"),
        help="least severity that makes the exit code 1 (default: warning)",
    )
    rules.add_argument("--baseline", metavar="FILE", help="leave out the findings that this file knows")
    rules.add_argument("--write-baseline", metavar="FILE", help="write the findings to a baseline file")
    fixes = parser.add_argument_group("fixes")
    fixes.add_argument("--fix", action="store_true", help="apply safe fixes")
    fixes.add_argument("--diff", action="store_true", help="show what --fix would change, change nothing")
    fixes.add_argument("--unsafe-fixes", action="store_true", help="apply unsafe fixes too")
    running = parser.add_argument_group("running")
    running.add_argument(
        "--emulate",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="run the kernels in the emulator, for faults and locality",
    )
    running.add_argument(
        "--time-limit", type=float, metavar="S", help="seconds for each launch (default: 10)"
    )
    running.add_argument("--memory-limit", type=int, metavar="MB", help="MiB for each launch (default: 1024)")
    running.add_argument("--jobs", type=int, metavar="N", help="processes (default: one a core)")
    add_sandbox_option(running)
    running.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="check on the workers of a Dask cluster, such as tcp://host:8786",
    )
    add_launch_options(parser)


def run(args: argparse.Namespace) -> int:
    """Check and print; returns the exit code."""
    if not args.paths and args.recorded is None:
        raise UsageError("check needs a PATH; . is the current directory")
    if args.top is not None and args.top < 1:
        raise UsageError(f"--top {args.top}: at least one finding must be printed")
    if args.jobs is not None and args.jobs < 1:
        raise UsageError(f"--jobs {args.jobs}: at least one process is needed")
    if args.watch:
        return _watch(args)
    return _check_once(args)


def _check_once(args: argparse.Namespace) -> int:
    with remembered_workspaces():
        return _checked_once(args)


def _checked_once(args: argparse.Namespace) -> int:
    from clmap_lsp.commands.checking import check_all
    from clmap_lsp.report.model import CheckReport

    settings = SettingsSource(args)
    jobs = _jobs(args, settings)
    check_written(_written(args), [it.path for it in jobs])
    report = CheckReport(check_all(jobs, args.jobs or _cores(), args.scheduler, _terms(args, jobs)))
    if args.fix or args.diff:
        report = _fixed(args, jobs, report)
    _say_untried(report)
    report = _against_baseline(args, settings, report)
    if args.diff_base is not None:
        from clmap_lsp.commands.changed import on_changed_lines

        report = on_changed_lines(report, args.diff_base)
    if not args.diff:
        shown = _ordered(args, _bounded(without_copies(report)))
        _print(args, shown)
        _write(args, shown)
    errors = [it.error for it in report.files if it.error is not None]
    for error in errors:
        sys.stderr.write(terminal(f"clmap-lsp: {one_line(error)}\n"))
    if errors:
        return 2
    here = Path(args.paths[0]) if args.paths and args.paths != ["-"] else Path.cwd()
    fail_on = args.fail_on or settings.for_path(here).fail_on
    return 1 if report.fails(fail_on) else 0


def _jobs(args: argparse.Namespace, source: SettingsSource) -> list[CheckJob]:
    from clmap_lsp.commands.checking import CheckJob
    from clmap_lsp.commands.files import kernel_files
    from clmap_lsp.commands.settings_in_vain import check_settings
    from clmap_lsp.workbench.workbench import device_of, selection_of

    def excluded(path: Path) -> bool:
        return source.for_path(path).excludes(str(path.absolute()))

    texts: dict[str, str | None] = {"-": _standard_input(args)}
    given, sim = given_launch(args), sim_file(args)
    paths = kernel_files(args.paths, excluded)
    if not paths:
        texts = _recorded_sources(args.recorded)
        paths = list(texts)
    if args.kernel is not None:
        _check_kernel(args.kernel, paths, texts)
    name_of = {"-": args.stdin_filename or "<stdin>"}
    check_settings(source, {name_of.get(it, it): texts.get(it) for it in paths})
    selections: dict[object, Selection] = {}
    jobs: list[CheckJob] = []
    for path in paths:
        name = name_of.get(path, path)
        settings = replace(source.for_path(Path(name)), overrides=())
        if jobs and jobs[-1].settings == settings:
            settings = jobs[-1].settings  # One object for the files of a folder.
        device_of(settings)
        emulate = settings.emulate.enabled if args.emulate is None else args.emulate
        key = (settings.rules.select, settings.rules.ignore, tuple(settings.rules.severity.items()))
        if key not in selections:
            selections[key] = selection_of(settings, _words(args.select), _words(args.ignore))
        jobs.append(
            CheckJob(
                name,
                settings,
                selections[key],
                given,
                sim,
                hints=args.hints,
                fixes=args.fix or args.diff or emulate,
                climbs=args.fix or args.diff,
                emulate=emulate,
                text=texts.get(path),
                only=args.kernel,
            )
        )
    if any(it.emulate for it in jobs):
        _must_run_kernels()
    return jobs


def _must_run_kernels() -> None:
    """Raise UsageError if kernels are to be emulated and none can: one line, not one for each of them."""
    from clmap_lsp.emulator.run import check_installed
    from clmap_lsp.launch.problem import NotInstalledError

    try:
        check_installed()
    except NotInstalledError as error:
        raise UsageError(f"kernels are to be emulated: {error}; {error.cure}") from None


def _terms(args: argparse.Namespace, jobs: Sequence[CheckJob]) -> Terms | None:
    """Return how the processes that check are confined; `None` where they are not.

    Raises: UsageError if kernels were to run, and the system cannot confine a process.
    """
    from clmap_lsp.commands.advancing import PARALLEL_FROM

    runs_kernels = any(it.emulate or it.fixes for it in jobs)
    is_one_process = not runs_kernels and len(jobs) < PARALLEL_FROM
    if args.no_sandbox or args.scheduler is not None or is_one_process:
        return None
    from clmap_lsp.commands.confining import terms
    from clmap_lsp.worker import forked

    if not forked.offered():
        if runs_kernels:
            raise forked.refusal()
        return None
    return terms(args, [(it.path, it.settings) for it in jobs], runs_kernels=runs_kernels)


def _check_kernel(name: str, paths: Sequence[str], texts: Mapping[str, str | None]) -> None:
    """Raise UsageError if no file says the name of the kernel whose launch is given: it is mistyped."""
    from clmap_lsp.hosts.kernels import kernels_in
    from clmap_lsp.sources import UnreadableError, read_source
    from clmap_lsp.suggestions import nearest

    known: list[str] = []
    for path in paths:
        try:
            text = texts.get(path) or read_source(path)
        except UnreadableError:
            return  # What that file holds is not known; it is an error of its own.
        if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) or "##" in text:
            return  # Names may be put together by macros.
        known += [it.name for it in kernels_in(text)]
    near = nearest(name, known)
    hint = f'did you mean "{near}"?' if near else f"there are: {', '.join(dict.fromkeys(known)) or 'none'}"
    raise UsageError(f"--kernel {name}: no file that is checked has it; {hint}")


def _recorded_sources(path: str) -> dict[str, str | None]:
    """Return the programs of a recording that launched, as files that exist nowhere else."""
    from clmap_lsp.workbench.workbench import read_recorded

    recording = read_recorded(path)
    launched = dict.fromkeys(it.program for it in recording.launches)
    return {f"{path}.{key[:8]}.cl": recording.sources[key] for key in launched if key in recording.sources}


def _standard_input(args: argparse.Namespace) -> str | None:
    if "-" not in args.paths:
        if args.stdin_filename is not None:
            raise UsageError("--stdin-filename names the text of standard input; give - as the PATH")
        return None
    from clmap_lsp.sources import UnreadableError, read_standard_input

    try:
        return read_standard_input(args.stdin_filename or "<stdin>")
    except UnreadableError as error:
        raise UsageError(str(error)) from None


def _words(text: str | None) -> tuple[str, ...]:
    return tuple(it.strip() for it in (text or "").split(",") if it.strip())


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _say_untried(report: CheckReport) -> None:
    """Say of which kernels rewrites were left, as those before took the work that they may take together."""
    left = [it for file in report.files for it in file.untried]
    if not left:
        return
    named = [f"{count} of {kernel}" for kernel, count in left[:_NAMED]]
    if len(left) > _NAMED:
        named.append(f"{sum(it for _, it in left[_NAMED:])} of {counted(len(left) - _NAMED, 'other kernel')}")
    sys.stderr.write(
        terminal_line(
            f"clmap-lsp: rewrites not tried: {', '.join(named)}; those tried before took all the work that a "
            "kernel's may, and a larger --time-limit tries more"
        )
        + "\n"
    )


def _bounded(report: CheckReport) -> CheckReport:
    """Return what is printed of a report; what is left out is said, and still counts for the exit code."""
    count = sum(len(it.findings) for it in report.files)
    if count <= MAX_PRINTED:
        return report
    sys.stderr.write(
        f"clmap-lsp: {count:,} findings, of which the first {MAX_PRINTED:,} are printed; "
        "check fewer files at once, or select rules\n"
    )
    return report.first(MAX_PRINTED)


def _ordered(args: argparse.Namespace, report: CheckReport) -> CheckReport:
    """Return what is printed, in its order."""
    for_people = args.format in ("full", "concise")
    if args.top is not None or (args.sort or ("importance" if for_people else "place")) == "importance":
        report = by_importance(report)
    return report if args.top is None else top(report, args.top)


def _print(args: argparse.Namespace, report: CheckReport) -> None:
    if args.format != "full" or not shows_colour(args.color):
        sys.stdout.write(render(args.format, report, statistics=args.statistics))
    else:
        from clmap_lsp.report import full, statistics

        sys.stdout.write(full.render_styled(report))
        if args.statistics:
            sys.stdout.write("\n" + statistics.render(report))
    if args.format in ("full", "concise"):
        tables = [summary_text(report)] if args.summary else []
        tables += [toml_of(report)] if args.guesses else []
        sys.stdout.write(terminal("".join(f"\n{it}" for it in tables if it)))


def _write(args: argparse.Namespace, report: CheckReport) -> None:
    """Write every `--output`: one run serves annotations, code scanning and test results."""
    from clmap_lsp.whole_files import encoded, write_whole

    for name, path in args.output:
        try:
            write_whole(Path(path), encoded(render(name, report, statistics=args.statistics)))
        except OSError as error:
            raise UsageError(f"--output {name}:{path}: {(error.strerror or str(error)).lower()}") from None


def _written(args: argparse.Namespace) -> list[tuple[str, str]]:
    """Return the options that write files, and these."""
    named = [(f"--output {name}:{path}", path) for name, path in args.output]
    if args.write_baseline is not None:
        named.append((f"--write-baseline {args.write_baseline}", args.write_baseline))
    return named


def _output(text: str) -> tuple[str, str]:
    name, colon, path = text.partition(":")
    if name not in FORMATS or not colon or not path:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not FORMAT:FILE, with FORMAT one of {', '.join(FORMATS)}"
        )
    if path == "-":
        raise argparse.ArgumentTypeError(f"{text} names no file; --format {name} prints to standard output")
    return name, path


def _fixed(args: argparse.Namespace, jobs: Sequence[CheckJob], report: CheckReport) -> CheckReport:
    """Apply fixes (or print what would change) and check again what was changed."""
    from clmap_lsp.commands.checking import check_all
    from clmap_lsp.commands.fixing import fixed
    from clmap_lsp.emulator.run import check_installed
    from clmap_lsp.launch.problem import NotInstalledError
    from clmap_lsp.report.model import CheckReport

    try:
        check_installed()
    except NotInstalledError as error:
        sys.stderr.write(
            f"no kernel is rewritten, as rewrites are applied only where tested: {error}; {error.cure}\n"
        )
    return fixed(
        jobs,
        report,
        lambda again: CheckReport(
            check_all(again, args.jobs or _cores(), args.scheduler, _terms(args, jobs))
        ),
        diff=args.diff,
        unsafe=args.unsafe_fixes,
    )


def _against_baseline(args: argparse.Namespace, source: SettingsSource, report: CheckReport) -> CheckReport:
    from clmap_lsp.report import baseline
    from clmap_lsp.whole_files import encoded, write_whole

    if args.write_baseline is not None:
        path = Path(args.write_baseline)
        write_whole(path, encoded(baseline.text_of(report, path)))
        n_findings = sum(1 for _ in report.pairs())
        sys.stderr.write(f"{counted(n_findings, 'finding')} written to {path}\n")
        return type(report)(tuple(replace(it, findings=()) for it in report.files))
    configured = source.for_path(Path.cwd())
    name = args.baseline or configured.baseline
    if name is None:
        return report
    within = None if args.baseline or configured.path is None else scope_of(configured.path)
    try:
        return baseline.without_known(report, baseline.read(Path(name), within), Path(name))
    except baseline.BaselineError as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        raise UsageError(f"{name}: {reason(error)}; write it with --write-baseline") from None


def _watch(args: argparse.Namespace) -> int:
    """Check, then check again whenever a kernel or header beside the paths changes, until interrupted."""
    from clmap_lsp.commands.checking import host_files_changed
    from clmap_lsp.commands.watching import changes

    if "-" in args.paths:
        raise UsageError("--watch needs files; standard input cannot be watched")
    status = 0
    try:
        for changed in changes(args.paths):
            if sys.stdout.isatty():
                sys.stdout.write("\x1b[2J\x1b[H")
            if changed:
                host_files_changed(changed)
                names = f"changed: {', '.join(changed[:3])}{' …' if len(changed) > 3 else ''}"
                sys.stderr.write(f"{terminal_line(names)}\n")
            try:
                status = _check_once(args)
            except UsageError as error:
                sys.stderr.write(terminal(f"clmap-lsp: {one_line(str(error))}\n"))
                status = 2
            sys.stdout.flush()
    except KeyboardInterrupt:
        sys.stderr.write("\n")
    return status
