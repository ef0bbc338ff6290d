"""`clmap-lsp completion SHELL`: a script that completes subcommands, options and their values."""

from __future__ import annotations

import argparse
from typing import Any

from clmap_lsp.errors import UsageError

_EXAMPLES = """\
examples:
  clmap-lsp completion bash > ~/.local/share/bash-completion/completions/clmap-lsp
  clmap-lsp completion zsh > "${fpath[1]}/_clmap-lsp"
"""


def register(subparsers: Any) -> None:
    """Add the parser."""
    parser = subparsers.add_parser(
        "completion",
        help="print a completion script for a shell",
        description="Print a script that completes subcommands, options and their values in a shell.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("shell", choices=("bash", "zsh", "tcsh"))


def run(args: argparse.Namespace) -> int:
    """Print the script."""
    from clmap_lsp.commands.parser import build_parser

    try:
        import shtab
    except ModuleNotFoundError:
        raise UsageError("completion needs shtab: pip install 'clmap-lsp[completion]'") from None
    print(shtab.complete(build_parser()[0], args.shell))
    return 0
