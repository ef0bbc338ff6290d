"""`clmap-lsp rules`: what rules there are."""

from __future__ import annotations

import argparse
from typing import Any


def register(subparsers: Any) -> None:
    """Add the parser."""
    parser = subparsers.add_parser(
        "rules",
        help="list the rules",
        description="List every rule with its default severity.",
        epilog="example:\n  clmap-lsp rules\n  clmap-lsp rules --format json",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> int:
    """Print the list."""
    import json

    from clmap_lsp.report.json_rules import rule_json
    from clmap_lsp.rules.meta import REWRITTEN
    from clmap_lsp.rules.registry import all_rules

    rules = all_rules()
    if args.format == "json":
        print(
            json.dumps({"schema": 1, "rules": [rule_json(it) for it in rules]}, indent=2, ensure_ascii=False)
        )
        return 0
    width = max(len(it.meta.name) for it in rules)
    for it in rules:
        fix = "fix" if it.meta.fixable or it.meta.code in REWRITTEN else ""
        print(
            f"{it.meta.code}  {it.meta.name:{width}}  {it.meta.severity.value:11}  {fix:3}  {it.docs.summary}"
        )
    return 0
