"""`clmap-lsp analyze PATH…`: every access with its class, its costs and its totals."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clmap_lsp.commands.options import SettingsSource, add_launch_options, open_file, refused
from clmap_lsp.errors import UsageError, one_line
from clmap_lsp.escaping import terminal
from clmap_lsp.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable

    from clmap_lsp.report.analysis_json import AnalysedFile
    from clmap_lsp.sources import UnreadableError
    from clmap_lsp.workbench import Workbench

_EXAMPLES = """\
examples:
  clmap-lsp analyze mm.cl --kernel mm_simple --global 256,256 --local 16,16 --arg N=256
  clmap-lsp analyze kernels/ --device nvidia-hopper --format json > analysis.json
  clmap-lsp analyze mm.cl --as-compiled --device nvidia-hopper
  clmap-lsp analyze --loops nest.c --work-items j,i --global 256,256 --arg n=256
"""


def register(subparsers: Any) -> None:
    """Add the parser."""
    parser = subparsers.add_parser(
        "analyze",
        help="print every access with its costs",
        description="Print every access of every kernel: index, class, cost of a request, totals.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files or directories; - for standard input")
    parser.add_argument("--stdin-filename", metavar="PATH", help="what to call the text of standard input")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument(
        "--loops",
        action="store_true",
        help="read C functions whose loops carry // clmap: work-item(D) as kernels",
    )
    parser.add_argument(
        "--as-compiled",
        action="store_true",
        help="also say what LLVM's back end for the device leaves: merged accesses, registers, spills, ISA",
    )
    parser.add_argument(
        "--work-items",
        metavar="I[,J[,K]]",
        help="with --loops: the induction variables that become dimensions 0 to 2 in functions without marks",
    )
    add_launch_options(parser)


def run(args: argparse.Namespace) -> int:
    """Analyse and print. Errors in the sources are part of the result; unreadable files are not."""
    from clmap_lsp.commands.advancing import progress
    from clmap_lsp.commands.files import kernel_files
    from clmap_lsp.commands.settings_in_vain import check_settings
    from clmap_lsp.report import analysis_json, analysis_text
    from clmap_lsp.workbench import Workbench, device_of

    if not args.paths:
        raise UsageError("analyze needs a PATH; . is the current directory")
    if args.work_items is not None and not args.loops:
        raise UsageError("--work-items names loops of C functions; give --loops too")
    settings = SettingsSource(args)
    paths = kernel_files(args.paths, lambda it: settings.for_path(it).excludes(str(it.absolute())))
    texts = {args.stdin_filename or "<stdin>" if it == "-" else it: _text(args, it) for it in paths}
    check_settings(settings, {path: "" if isinstance(it, Exception) else it for path, it in texts.items()})
    device = device_of(settings.for_path(Path(paths[0]) if paths[0] != "-" else Path.cwd())).id
    workbench = Workbench()  # One for all files: host code is read once.
    files = []
    with progress(len(texts), doing="analysing") as line:
        for path, it in texts.items():
            line.hear({"path": path})
            files.append(_analysed(args, settings, workbench, path, it, line.say))
            line.advance(path)
    if args.kernel is not None and not any(it.analysis and it.analysis.kernels for it in files):
        raise UsageError(_no_kernel(args.kernel, files))
    if args.loops and not any(it.error or (it.analysis and it.analysis.kernels) for it in files):
        raise UsageError("no loop is marked; write // clmap: work-item(0) before it or give --work-items")
    render = analysis_json.render if args.format == "json" else analysis_text.render
    text = render(files, device)
    sys.stdout.write(text if args.format == "json" else terminal(text))
    errors = [it.error for it in files if it.error is not None]
    for error in errors:
        sys.stderr.write(terminal(f"clmap-lsp: {one_line(error)}\n"))
    return 2 if errors else 0


def _text(args: argparse.Namespace, path: str) -> str | UnreadableError:
    from clmap_lsp.sources import UnreadableError, read_source, read_standard_input

    try:
        return read_standard_input(args.stdin_filename or "<stdin>") if path == "-" else read_source(path)
    except UnreadableError as error:
        return error


def _analysed(
    args: argparse.Namespace,
    source: SettingsSource,
    workbench: Workbench,
    name: str,
    text: str | UnreadableError,
    say: Callable[[str], None],
) -> AnalysedFile:
    from clmap_lsp.report.analysis_json import AnalysedFile

    if not isinstance(text, str):
        return AnalysedFile(name, None, None, str(text))
    opened = open_file(workbench, args, source.for_path(Path(name)), name, text)
    nests = None
    if args.loops:
        from clmap_lsp.hierarchy.loop_nests import as_kernels

        nests = as_kernels(opened.program, _names(args.work_items))
        opened = opened.with_program(nests.program)
    analysis = opened.analysis
    for kernel in analysis.kernels:
        for note in refused(opened, kernel.name, kernel.launch):
            say(terminal(f"clmap-lsp: {name}: {note}\n"))
    from clmap_lsp.analysis.as_compiled import with_compiled, with_times

    if args.as_compiled:
        analysis = with_compiled(opened.program, analysis)
    analysis = with_times(opened.program, analysis)
    return AnalysedFile(name, opened.program, analysis if nests is None else nests.annotated(analysis))


def _names(option: str | None) -> tuple[str, ...]:
    """Return the variables that `--work-items` names.

    Raises: UsageError.
    """
    names = tuple(it.strip() for it in (option or "").split(",")) if option else ()
    if len(names) > 3 or any(not it.isidentifier() for it in names):
        raise UsageError(f'--work-items {option}: name one to three loop variables, such as "j,i"')
    return names


def _no_kernel(name: str, files: list[AnalysedFile]) -> str:
    known = [it.name for file in files if file.program is not None for it in file.program.kernels]
    hint = did_you_mean(name, known) or f"; there are: {', '.join(known) or 'none'}"
    return f'no kernel "{name}"{hint}'
