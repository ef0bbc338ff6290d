"""The language server's own options: `--stdio`, `--tcp PORT`, `--clientProcessId N`, `--log-level LEVEL`.

Not a subcommand: `clmap-lsp` without one is the server.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from clmap_lsp.errors import UsageError

LOG_LEVELS = ("error", "warning", "info", "debug")


def start(arguments: Sequence[str]) -> int:
    """Parse the server's options and serve; the exit code is the server's."""
    from clmap_lsp.commands.parser import Parser

    parser = Parser(prog="clmap-lsp", allow_abbrev=False)
    parser.add_argument("--stdio", action="store_true", help="serve on standard input and output (default)")
    parser.add_argument("--tcp", type=int, metavar="PORT", help="serve on a loopback port, for debugging")
    parser.add_argument("--clientProcessId", type=int, metavar="PID", help="leave when this process ends")
    parser.add_argument("--log-level", choices=LOG_LEVELS, default="warning", help="what goes to stderr")
    args = parser.parse_args(list(arguments))
    if not arguments and sys.stdin is not None and sys.stdin.isatty():
        raise UsageError(
            "without a command it is the language server, which an editor starts; "
            "clmap-lsp check PATH checks kernels, clmap-lsp --help lists all commands"
        )
    if args.tcp is not None and not 0 <= args.tcp <= 65535:
        raise UsageError(f"--tcp {args.tcp}: give a port from 1 to 65535, or 0 for any that is free")
    try:
        from clmap_lsp.server.main import ServeOptions, serve
    except ImportError as error:
        raise UsageError(
            f"the language server needs {error.name}; install clmap-lsp with its dependencies"
        ) from error
    return serve(
        ServeOptions(tcp_port=args.tcp, client_process=args.clientProcessId, log_level=args.log_level)
    )
