"""`clmap-lsp --check --selftest FILE…`: every server feature at every token of the files."""

from __future__ import annotations

import argparse
import asyncio
from typing import Any


def register(subparsers: Any) -> None:
    """Add the parser."""
    parser = subparsers.add_parser(
        "selftest",
        help="try every server feature at every token",
        description="Ask for every feature of the language server at every token of the files, and report "
        "errors and slow answers. Exit code 1 if there are any.",
        epilog="example:\n  clmap-lsp selftest kernels/\n  clmap-lsp --check --selftest kernel.cl",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("paths", nargs="+", metavar="PATH", help="files or folders")


def run(args: argparse.Namespace) -> int:
    """Test each file; print what went wrong and a summary."""
    from pathlib import Path

    from clmap_lsp.commands.files import kernel_files
    from clmap_lsp.server.selftest import selftest
    from clmap_lsp.sources import read_source

    bad = 0
    for name in kernel_files(args.paths, lambda _: False):
        report = asyncio.run(selftest(Path(name), read_source(name)))
        for line in (*report.errors, *report.slow):
            print(line)
        bad += len(report.errors) + len(report.slow)
        print(
            f"{name}: {report.requests} requests, {len(report.errors)} errors, {len(report.slow)} slow, "
            f"slowest {report.slowest_s * 1000:.0f} ms"
        )
    return 1 if bad else 0
