"""`clmap-lsp report PATH… -o FILE.html`: one HTML page for reviewers."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clmap_lsp.commands.confining import add_sandbox_option, confined
from clmap_lsp.commands.options import SettingsSource, add_launch_options, open_file
from clmap_lsp.errors import UsageError, one_line
from clmap_lsp.escaping import terminal

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import FileAnalysis
    from clmap_lsp.fixes.optimise import Found
    from clmap_lsp.report.html_model import Emulated, History, ReportedFile
    from clmap_lsp.source.program import Program
    from clmap_lsp.workbench import Workbench
    from clmap_lsp.workbench.opened import OpenedFile

_EXAMPLES = """\
examples:
  clmap-lsp report kernels/ -o report.html
  clmap-lsp report mm.cl --device nvidia-hopper --platform K20m -o report.html
  clmap-lsp report mm.cl --device nvidia-h200 --optimise -o report.html
  clmap-lsp report kernels/ --previous old.json -o report.html     old.json: analyze --format json
"""


def register(subparsers: Any) -> None:
    """Add the parser."""
    parser = subparsers.add_parser(
        "report",
        help="write an HTML report",
        description="Write one self-contained HTML page about all kernels: source with heat, accesses, "
        "locality, faults, advice, history. It loads nothing and runs no scripts.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files or directories")
    parser.add_argument("-o", "--output", metavar="FILE.html", help="where to write; - for standard output")
    parser.add_argument(
        "--previous", metavar="OLD.json", help="compare with an earlier analyze --format json"
    )
    parser.add_argument(
        "--platform",
        dest="platforms",
        action="append",
        default=[],
        metavar="NAME",
        help="also say what local memory brings on this platform of the database (repeatable)",
    )
    parser.add_argument(
        "--emulate",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="run the kernels in the emulator, for faults and locality (default: yes)",
    )
    parser.add_argument(
        "--optimise",
        metavar="S",
        nargs="?",
        type=float,
        const=20.0,
        help="search for the best version of every kernel that has a launch, S processor seconds each "
        "(default: 20), and draw the way there",
    )
    add_sandbox_option(parser)
    add_launch_options(parser)


def run(args: argparse.Namespace) -> int:
    """Analyse, emulate, write. Findings do not change the exit code; unreadable files do."""
    from clmap_lsp.commands.files import kernel_files
    from clmap_lsp.commands.settings_in_vain import check_settings
    from clmap_lsp.commands.written import check_written
    from clmap_lsp.report import html
    from clmap_lsp.whole_files import encoded, write_whole

    if not args.paths:
        raise UsageError("report needs a PATH; . is the current directory")
    if args.output is None:
        raise UsageError("report needs -o FILE.html; - is standard output")
    if "-" in args.paths:
        raise UsageError("report needs files: standard input has no name to show")
    if args.optimise is not None and not (args.emulate and args.optimise > 0):
        raise UsageError("--optimise needs the emulator and a number of seconds above 0")
    html.check_requirements()
    settings = SettingsSource(args)
    paths = kernel_files(args.paths, lambda it: settings.for_path(it).excludes(str(it.absolute())))
    if args.output != "-":
        check_written([(f"-o {args.output}", args.output)], paths)
    check_settings(settings, dict.fromkeys(paths))
    _check_platforms(args.platforms)
    before = _before(args.previous)  # Before kernels run: a name that is wrong is told at once.

    def work() -> dict[str, object]:
        return _page(args, settings, paths, before)

    import matplotlib.font_manager  # noqa: F401 - it keeps files of its own, which a confined process may not

    files = [(it, settings.for_path(Path(it))) for it in paths]
    found = confined(args, files, work) if args.emulate else work()
    page, errors = str(found["page"]), found["errors"]
    if args.output == "-":
        sys.stdout.write(encoded(page).decode())
    else:
        write_whole(Path(args.output), encoded(page))
    for error in errors if isinstance(errors, list) else []:
        sys.stderr.write(terminal(f"clmap-lsp: {one_line(error)}\n"))
    return 2 if errors else 0


def _page(
    args: argparse.Namespace,
    settings: SettingsSource,
    paths: Sequence[str],
    before: Mapping[str, Any] | None,
) -> dict[str, object]:
    """Return the page, and what went wrong with single files."""
    from clmap_lsp.commands.advancing import progress
    from clmap_lsp.report import html
    from clmap_lsp.report.html_model import Report
    from clmap_lsp.workbench import Workbench, device_of

    device = device_of(settings.for_path(Path(paths[0])))
    workbench = Workbench()  # One for all files: host code is read once.
    files = []
    with progress(len(paths)) as line:
        for path in paths:
            line.hear({"path": path})
            files.append(_reported(args, settings, workbench, path))
            line.advance(path)
    page = html.render(
        Report(
            tuple(files),
            device.id,
            device.name,
            datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
            None if before is None else _history(args.previous, before, files, device.id),
        )
    )
    return {"page": page, "errors": [it.error for it in files if it.error]}


def _reported(
    args: argparse.Namespace, source: SettingsSource, workbench: Workbench, path: str
) -> ReportedFile:
    from clmap_lsp.analysis.as_compiled import with_times
    from clmap_lsp.report.html_model import ReportedFile, reported_file
    from clmap_lsp.sources import UnreadableError, read_source
    from clmap_lsp.time.facts import time_facts
    from clmap_lsp.workbench.workbench import selection_of

    try:
        text = read_source(path)
    except UnreadableError as error:
        return ReportedFile(path, error=str(error))
    opened = open_file(workbench, args, source.for_path(Path(path)), path, text)
    program, analysis = opened.program, opened.analysis
    if time_facts(analysis.device.id) is not None:
        analysis = with_times(program, analysis)
    runs = opened.run_all() if args.emulate else None
    emulated = None if runs is None else _emulated(program, analysis, runs.done, runs.refused)
    found = opened.findings(selection_of(opened.settings), runs)
    findings = [it for it in found if it.severity.value != "hint"]
    ladders = None if args.optimise is None else _ladders(opened, args.optimise)
    staging = staging_of(analysis, args.platforms)
    return reported_file(program, analysis, findings, emulated, staging, ladders)


def _ladders(opened: OpenedFile, budget_s: float) -> dict[str, Found]:
    """Return the way to the best version of each kernel that can be run."""
    from clmap_lsp.fixes.optimise import optimise
    from clmap_lsp.launch.problem import LaunchError

    found = {}
    for it in opened.analysis.kernels:
        if it.launch is not None:
            with contextlib.suppress(LaunchError):
                settings = opened.emulation_settings()
                found[it.name] = optimise(opened.subject(it), settings, budget_s=budget_s)
    return found


def _emulated(
    program: Program, analysis: FileAnalysis, done: Mapping[str, Any], refused: Mapping[str, str]
) -> dict[str, Emulated]:
    from clmap_lsp.report.emulation_json import emulation_json
    from clmap_lsp.report.html_model import Emulated

    outcomes = {name: Emulated(None, why) for name, why in refused.items()}
    for it in analysis.kernels:
        if it.launch is not None and it.name in done:
            outcomes[it.name] = Emulated(emulation_json(program, it.launch, done[it.name]))
    return outcomes


def staging_of(analysis: FileAnalysis, platforms: Sequence[str] = ()) -> dict[str, list[tuple[str, Any]]]:
    """Return what staging arrays through local memory brings, by kernel: on the device, then on platforms."""
    from dataclasses import replace

    from clmap_lsp.research import open_database, staging_plan

    database = open_database()
    names = [analysis.device.id, *platforms]
    return {
        it.name: [(name, staging_plan(database, it, replace(analysis.device, id=name))) for name in names]
        for it in analysis.kernels
        if it.launch is not None
    }


def _check_platforms(names: Sequence[str]) -> None:
    from clmap_lsp.research import find_platforms, open_database

    if not names:
        return
    database = open_database()
    try:
        for name in names:
            find_platforms(database, name)
    except ValueError as error:
        raise UsageError(f"--platform: {error}") from None


def _before(previous: str | None) -> Mapping[str, Any] | None:
    """Read the earlier document, if one is named.

    Raises: UsageError if it cannot be used; OSError.
    """
    if previous is None:
        return None
    from clmap_lsp.report import compare

    try:
        return compare.read(previous)
    except compare.CompareError as error:
        raise UsageError(str(error)) from None


def _history(previous: str, before: Mapping[str, Any], files: Sequence[ReportedFile], device: str) -> History:
    """Compare with an earlier document."""
    import json

    from clmap_lsp.report import analysis_json, compare
    from clmap_lsp.report.html_model import History

    analysed = [analysis_json.AnalysedFile(it.path, it.program, it.analysis) for it in files]
    return History(previous, compare.compare(before, json.loads(analysis_json.render(analysed, device))))
