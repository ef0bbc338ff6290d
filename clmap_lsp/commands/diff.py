"""`clmap-lsp diff OLD.json NEW.json`: what a change does to the kernels' traffic."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from clmap_lsp.errors import UsageError
from clmap_lsp.escaping import terminal


def register(subparsers: Any) -> None:
    """Add the parser."""
    parser = subparsers.add_parser(
        "diff",
        help="compare two analyses",
        description="Compare two `analyze --format json` documents; exit with 1 if a kernel costs more.",
        epilog="example:\n  clmap-lsp analyze kernels/ --format json > new.json\n"
        "  clmap-lsp diff old.json new.json --threshold 5",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("old", metavar="OLD.json")
    parser.add_argument("new", metavar="NEW.json")
    parser.add_argument(
        "--threshold", type=float, default=0.0, metavar="PERCENT", help="growth that is let pass (default: 0)"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> int:
    """Compare and print; 1 if a figure grew by more than the threshold."""
    from clmap_lsp.report import compare

    if not args.threshold >= 0:
        raise UsageError(f"--threshold {args.threshold:g}: give a percentage of 0 or more")
    try:
        old, new = (compare.read(it) for it in (args.old, args.new))
    except compare.CompareError as error:
        raise UsageError(str(error)) from None
    comparison = compare.compare(old, new)
    render = compare.render_json if args.format == "json" else compare.render
    text = render(comparison, args.threshold)
    sys.stdout.write(text if args.format == "json" else terminal(text))
    return 1 if comparison.regressions(args.threshold) else 0
