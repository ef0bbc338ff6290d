"""`clmap-lsp devices [MODEL]`: device models, and every fact of one with its source."""

from __future__ import annotations

import argparse
from typing import Any

from clmap_lsp.errors import UsageError


def register(subparsers: Any) -> None:
    """Add the parser."""
    parser = subparsers.add_parser(
        "devices",
        help="list the device models",
        description="List the device models, or every fact of one model with its source and confidence.",
        epilog="example:\n  clmap-lsp devices\n  clmap-lsp devices nvidia-hopper --format json",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("model", nargs="?", metavar="MODEL", help="show this model's facts")
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> int:
    """Print the list or the model."""
    import json

    from clmap_lsp.devices import DeviceModelError, list_models, load_model
    from clmap_lsp.report.devices import device_json, device_text, list_text

    try:
        models = list_models() if args.model is None else (load_model(args.model),)
    except DeviceModelError as error:
        raise UsageError(str(error)) from None
    if args.format == "json":
        document = {"schema": 1, "devices": [device_json(it) for it in models]}
        print(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        print(list_text(models) if args.model is None else device_text(models[0]), end="")
    return 0
