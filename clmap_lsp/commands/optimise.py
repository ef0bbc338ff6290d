"""`clmap-lsp optimise FILE --kernel NAME …`: search for the best version of a kernel."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from clmap_lsp.commands.confining import add_sandbox_option
from clmap_lsp.commands.options import add_launch_options

if TYPE_CHECKING:
    from clmap_lsp.emulator.settings import EmulationSettings
    from clmap_lsp.fixes.measured import Measurement
    from clmap_lsp.fixes.model import Subject
    from clmap_lsp.fixes.optimise import Found

_EXAMPLES = """\
examples:
  clmap-lsp optimise mm.cl --kernel mm --global 1024,1024 --local 16,16 --arg N=1024
  clmap-lsp optimise mm.cl --kernel mm --budget 60 --format json
  clmap-lsp optimise mm.cl --kernel mm --device nvidia-h200 --on-device H200 --no-sandbox
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
    parser.add_argument(
        "--on-device",
        metavar="P",
        nargs="?",
        const="",
        help="time the best versions on the OpenCL device with this number or part of a name (without one: "
        "the first GPU), in turns and with outputs compared; what was measured is kept, and decides",
    )
    add_sandbox_option(parser)
    add_launch_options(parser)


def run(args: argparse.Namespace) -> int:
    """Search and print; 0 whether something better was found or not."""
    from clmap_lsp.commands.one_kernel import printed_of
    from clmap_lsp.errors import UsageError

    if not args.budget > 0:
        raise UsageError(f"--budget {args.budget:g}: give a number of seconds above 0")
    if args.on_device is not None and not args.no_sandbox:
        raise UsageError("--on-device needs --no-sandbox: a confined process reaches no device")
    return printed_of(args, lambda subject, settings: _searched(args, subject, settings))


def _searched(args: argparse.Namespace, subject: Subject, settings: EmulationSettings) -> str:
    from clmap_lsp.errors import UsageError
    from clmap_lsp.fixes.optimise import optimise
    from clmap_lsp.launch.problem import LaunchError
    from clmap_lsp.report import optimised

    try:
        found = optimise(subject, settings, budget_s=args.budget)
    except LaunchError as error:
        raise UsageError(str(error.at(subject.launch.source or "the launch"))) from None
    measured = None
    if args.on_device is not None:
        found, measured = _measured(subject, found, args.on_device or None)
    render = optimised.as_json if args.format == "json" else optimised.as_text
    return render(subject, found, measured)


def _measured(subject: Subject, found: Found, platform: str | None) -> tuple[Found, Measurement]:
    """Return what was found with the fastest version on a device as the best.

    Raises: UsageError if the device is missing or lost, or the original cannot be run there.
    """
    from clmap_lsp.errors import UsageError
    from clmap_lsp.fixes.measured import measure
    from clmap_lsp.launch.problem import LaunchError
    from clmap_lsp.opencl_device.errors import DeviceError
    from clmap_lsp.opencl_device.on_device_job import NotForDevicesError

    def progress(text: str) -> None:
        if sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[K{text}")

    try:
        return measure(subject, found, platform, progress=progress)
    except (DeviceError, NotForDevicesError) as error:
        raise UsageError(str(error)) from None
    except LaunchError as error:
        raise UsageError(str(error.at(subject.launch.source or "the launch"))) from None
    finally:
        progress("")
