"""`clmap-lsp fixes FILE --kernel NAME …`: every rewrite of a kernel that is on offer."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from clmap_lsp.commands.confining import add_sandbox_option
from clmap_lsp.commands.options import add_launch_options

if TYPE_CHECKING:
    from clmap_lsp.emulator.settings import EmulationSettings
    from clmap_lsp.fixes.model import Subject

_EXAMPLES = """\
examples:
  clmap-lsp fixes mm.cl --kernel mm --global 256,256 --local 16,16 --arg N=256
  clmap-lsp fixes mm.cl --kernel mm --format json
"""


def register(subparsers: Any) -> None:
    """Add the parser."""
    parser = subparsers.add_parser(
        "fixes",
        help="list the rewrites of a kernel",
        description="List every rewrite of a kernel on its launch: what it assumes, what the host must "
        "change, what it was tested on, and what was declined and why.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("path", metavar="FILE", help="a file; - for standard input")
    parser.add_argument("--stdin-filename", metavar="PATH", help="what to call the text of standard input")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    add_sandbox_option(parser)
    add_launch_options(parser)


def run(args: argparse.Namespace) -> int:
    """Print the rewrites; 0 whether there are any or not."""
    from clmap_lsp.commands.one_kernel import printed_of

    return printed_of(args, lambda subject, settings: _listed(args, subject, settings))


def _listed(args: argparse.Namespace, subject: Subject, settings: EmulationSettings) -> str:
    from clmap_lsp.errors import UsageError
    from clmap_lsp.fixes.offer import survey
    from clmap_lsp.launch.problem import LaunchError
    from clmap_lsp.report import fixes

    try:
        found = survey(subject, settings)
    except LaunchError as error:
        raise UsageError(str(error.at(subject.launch.source or "the launch"))) from None
    render = fixes.as_json if args.format == "json" else fixes.as_text
    return render(subject, found)
