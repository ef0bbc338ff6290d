"""`clmap-lsp explain CODE`: a rule's documentation."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from clmap_lsp.errors import UsageError


def register(subparsers: Any) -> None:
    """Add the parser."""
    parser = subparsers.add_parser(
        "explain",
        help="explain a rule",
        description="Print what a rule does, why it matters, an example and what to write instead.",
        epilog="example:\n  clmap-lsp explain CM101\n  clmap-lsp explain bank-conflict --format json",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("rule", metavar="CODE", help="a rule's code or name")
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> int:
    """Print the rule."""
    import json

    from clmap_lsp.rules.registry import find_rule, suggestion

    rule = find_rule(args.rule)
    if rule is None:
        raise UsageError(f'unknown rule "{args.rule}"{suggestion(args.rule)}')
    markdown = rule.docs.markdown(rule.meta)
    if args.format == "json":
        from clmap_lsp.report.json_rules import rule_json

        print(json.dumps({"schema": 1, "rule": rule_json(rule)}, indent=2, ensure_ascii=False))
    else:
        from clmap_lsp.report.styles import page, shows_colour

        sys.stdout.write(page(markdown) if shows_colour() else markdown)
    return 0
