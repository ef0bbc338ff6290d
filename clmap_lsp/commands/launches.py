"""`clmap-lsp launches PATH…`: what host code launches."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clmap_lsp.errors import UsageError
from clmap_lsp.escaping import terminal_line
from clmap_lsp.suggestions import did_you_mean

if TYPE_CHECKING:
    from clmap_lsp.hosts.host_launch import HostLaunch
    from clmap_lsp.hosts.launches import HostReport

_EXAMPLES = """\
examples:
  clmap-lsp launches .                       launches of all kernels below this folder
  clmap-lsp launches src/mm.cl               those of one kernel file, wherever the host code is
  clmap-lsp launches . --format json

A number is what every run of the host program uses. What depends on the run is shown as its expression, with
the value that the program takes unless told otherwise behind it.
"""


def register(subparsers: Any) -> None:
    """Add the parser."""
    parser = subparsers.add_parser(
        "launches",
        help="list the launches that host code makes",
        description="Read host code in C, C++ and Python for the launches that it makes of the kernels below "
        "PATH: sizes, arguments, local memory and build options.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("paths", nargs="*", default=["."], metavar="PATH", help="files or directories")
    parser.add_argument("--kernel", metavar="NAME", help="only this kernel")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument("--config", metavar="PATH", help="a clmap.toml to use instead of the nearest one")


def run(args: argparse.Namespace) -> int:
    """Run the command and return the exit code."""
    from clmap_lsp.commands.advancing import progress
    from clmap_lsp.commands.options import SettingsSource
    from clmap_lsp.workbench.hosts import report_of

    paths = args.paths or ["."]
    for path in paths:
        if not Path(path).exists():
            raise UsageError(f"{path}: no such file or directory")
    options = argparse.Namespace(
        config=args.config, defines=[], undefines=[], includes=[], prelude=[], standard=None, device=None
    )
    with progress(1, doing="reading the host code of") as line:
        line.hear({"path": " ".join(paths)})
        report = report_of(paths, SettingsSource(options).for_path)
    if args.kernel is not None:
        report = _of_kernel(report, args.kernel)
    if report.is_cut_short:
        sys.stderr.write(
            "note: there is more host code than is followed at once; "
            "ask for one folder or file at a time to see all of its launches\n"
        )
    if args.format == "json":
        from clmap_lsp.hosts.as_json import document

        sys.stdout.write(json.dumps(document(report), indent=2) + "\n")
    else:
        sys.stdout.write(_text(report))
    return 0


def _of_kernel(report: HostReport, name: str) -> HostReport:
    kept = tuple(it for it in report.launches if it.kernel == name)
    if not kept:
        hint = did_you_mean(name, sorted({it.kernel for it in report.launches}))
        raise UsageError(f"--kernel {name}: no host code launches it{hint}")
    return replace(report, launches=kept, unnamed=())


def _text(report: HostReport) -> str:
    shown = dict.fromkeys(_entry(it) for it in report.launches)  # What differs elsewhere only is one.
    lines = [line for entry in shown for line in entry]
    for path, row in report.unnamed:
        lines.append(f"{path}:{row}: launches a kernel whose name is not known")
    if not lines:
        return "no host code that launches a kernel was found; say where it is: clmap-lsp launches PATH\n"
    return "".join(f"{terminal_line(it)}\n" for it in lines)


def _entry(it: HostLaunch) -> tuple[str, ...]:
    from clmap_lsp.hosts.wording import shape, shown

    lines = [f"{it.kernel}  {it.kernel_file or 'in no file that was found'}", f"  {it.place}: {shape(it)}"]
    named = [f"{name}={shown(value)}" for name, value in it.arguments.items()]
    named += [f"{name}=local {shown(value)} bytes" for name, value in it.local_arguments.items()]
    if named:
        lines.append(f"  arguments: {', '.join(named)}")
    if it.build_options:
        lines.append(f"  options: {it.build_options}")
    if it.assumed:
        lines.append(f"  by default: {', '.join(f'{name}={value}' for name, value in it.assumed)}")
    return tuple(lines)
