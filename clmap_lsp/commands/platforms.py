"""`clmap-lsp platforms`: the OpenCL devices of this machine."""

from __future__ import annotations

import argparse
from typing import Any

from clmap_lsp.errors import UsageError


def register(subparsers: Any) -> None:
    """Add the parser."""
    parser = subparsers.add_parser(
        "platforms",
        help="list the OpenCL devices of this machine",
        description="List the OpenCL devices of this machine, and the device model that fits each.",
        epilog="example:\n  clmap-lsp platforms --format json",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> int:
    """Print the list."""
    from clmap_lsp.devices import match_device
    from clmap_lsp.research import DeviceError, list_devices

    try:
        devices = list_devices()
    except DeviceError as error:
        raise UsageError(str(error)) from None
    models = [
        match_device(it.vendor, it.name, {"type": it.kind.value, "compute_capability": it.compute_capability})
        for it in devices
    ]
    if args.format == "json":
        import json

        rows = [it.as_json() | {"model": model} for it, model in zip(devices, models, strict=True)]
        print(json.dumps({"schema": 1, "platforms": rows}, indent=2))
        return 0
    for it, model in zip(devices, models, strict=True):
        local = "on chip" if it.local_dedicated else "in global memory"
        print(f"{it.index}: {it.name} ({it.kind.value})")
        print(f"   platform {it.platform}, driver {it.driver}; model {model or 'none fits'}")
        print(
            f"   {it.compute_units} compute units, {it.global_bytes / (1 << 30):.1f} GiB,"
            f" local memory {it.local_bytes >> 10} KiB {local}, work-groups up to {it.max_work_group}"
        )
    return 0
