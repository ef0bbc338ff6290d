"""`clmap-lsp optimise FILE --kernel NAME …`: search for the best version of a kernel."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from clmap_lsp.commands.options import add_launch_options

_EXAMPLES = """\
examples:
  clmap-lsp optimise mm.cl --kernel mm --global 1024,1024 --local 16,16 --arg N=1024
  clmap-lsp optimise mm.cl --kernel mm --budget 60 --format json
"""


def register(subparsers: Any) -> None:
    """Add the parser."""
    parser = subparsers.add_parser(
        "optimise",
        help="search for the best version of a kernel",
        description="Search rewrites and work-group sizes for the best version of a kernel. "
        "Every step is tested on a family of launches; with what it assumes and what the host must do.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("path", metavar="FILE", help="a file; - for standard input")
    parser.add_argument("--stdin-filename", metavar="PATH", help="what to call the text of standard input")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument("--budget", type=float, default=20.0, metavar="S", help="seconds (default: 20)")
    add_launch_options(parser)


def run(args: argparse.Namespace) -> int:
    """Search and print; 0 whether something better was found or not."""
    from clmap_lsp.commands.one_kernel import asked
    from clmap_lsp.errors import UsageError
    from clmap_lsp.fixes.optimise import optimise
    from clmap_lsp.launch.problem import LaunchError
    from clmap_lsp.report import optimised

    if not args.budget > 0:
        raise UsageError(f"--budget {args.budget:g}: give a number of seconds above 0")
    subject, settings = asked(args)

    def progress(title: str) -> None:
        if sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[K{title}")

    try:
        found = optimise(subject, settings, budget_s=args.budget, progress=progress)
    except LaunchError as error:
        raise UsageError(str(error.at(subject.launch.source or "the launch"))) from None
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")
    render = optimised.as_json if args.format == "json" else optimised.as_text
    sys.stdout.write(render(subject, found))
    return 0
