"""`clmap-lsp optimise FILE --kernel NAME …`: search for the best version of a kernel."""

from __future__ import annotations

import argparse
import hashlib
import shutil
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from clmap_lsp.commands.confining import add_sandbox_option, printed
from clmap_lsp.commands.options import add_launch_options
from clmap_lsp.escaping import terminal
from clmap_lsp.version import __version__
from clmap_lsp.worker import cache

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
    parser.add_argument(
        "--budget",
        type=float,
        default=20.0,
        metavar="S",
        help="processor seconds (default: 20); Ctrl-C ends the search and leaves the best so far",
    )
    parser.add_argument(
        "--fresh", action="store_true", help="do not go on from what earlier searches of this kernel learnt"
    )
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
    """Search and print; 0 whether something better was found or not.

    Ctrl-C ends the search: what is best so far is printed, and the next search goes on from there.
    """
    from clmap_lsp.commands.one_kernel import printed_of
    from clmap_lsp.errors import UsageError

    if not args.budget > 0:
        raise UsageError(f"--budget {args.budget:g}: give a number of seconds above 0")
    if args.on_device is not None and not args.no_sandbox:
        raise UsageError("--on-device needs --no-sandbox: a confined process reaches no device")
    heard = _Heard(args)
    try:
        return printed_of(
            args, lambda subject, settings: _searched(args, subject, settings, heard), heard.hear
        )
    except KeyboardInterrupt:
        heard.end_line()
        if heard.best is None:
            raise
        return printed(args, {"text": heard.best, "code": 0})
    finally:
        heard.end_line()


class _Heard:
    """What a search tells while it is under way: shown, and kept for the time that it is ended or goes on."""

    def __init__(self, args: argparse.Namespace) -> None:
        whole = sorted((name, repr(it)) for name, it in vars(args).items() if name not in _NOT_THE_KERNEL)
        self._key = hashlib.sha256(repr((__version__, whole)).encode()).hexdigest() + "-optimise"
        self._shows = sys.stderr.isatty()
        self.notes = {} if args.fresh else (cache.load(self._key) or {})
        self.best: str | None = None

    def hear(self, message: Mapping[str, Any]) -> None:
        """Take what is told: it comes from a process that ran the kernel."""
        if isinstance(progress := message.get("progress"), str) and self._shows:
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write(f"\r\x1b[K{terminal(progress)[:width]}")
            sys.stderr.flush()
        if isinstance(best := message.get("best"), str):
            self.best = best
        if isinstance(notes := message.get("notes"), dict):
            cache.store(self._key, notes)

    def end_line(self) -> None:
        """Leave the line for what is printed."""
        if self._shows:
            sys.stderr.write("\r\x1b[K")


_NOT_THE_KERNEL = frozenset({"budget", "format", "fresh", "run", "on_device", "no_sandbox"})
"""Options of which nothing that a search learns depends."""


def _searched(args: argparse.Namespace, subject: Subject, settings: EmulationSettings, heard: _Heard) -> str:
    from clmap_lsp.errors import UsageError
    from clmap_lsp.fixes.optimise import Watcher, optimise
    from clmap_lsp.launch.problem import LaunchError
    from clmap_lsp.report import optimised
    from clmap_lsp.worker.told import tell

    render = optimised.as_json if args.format == "json" else optimised.as_text
    files = sorted((path, it.text) for path, it in subject.program.files.items())
    content = hashlib.sha256(repr((files, subject.launch, subject.device)).encode("utf-8", "replace"))
    known = heard.notes.get("notes") if heard.notes.get("of") == content.hexdigest() else None
    notes: dict[str, Any] = known if isinstance(known, dict) else {}

    def improved(found: Found) -> None:
        tell({"best": render(subject, found), "notes": {"of": content.hexdigest(), "notes": notes}})

    watcher = Watcher(lambda text, share: tell({"progress": f"{share:4.0%} {text}"}), improved)
    try:
        found = optimise(subject, settings, budget_s=args.budget, watcher=watcher, notes=notes)
    except LaunchError as error:
        raise UsageError(str(error.at(subject.launch.source or "the launch"))) from None
    tell({"notes": {"of": content.hexdigest(), "notes": notes}})
    measured = None
    if args.on_device is not None:
        found, measured = _measured(subject, found, args.on_device or None)
    return render(subject, found, measured)


def _measured(subject: Subject, found: Found, platform: str | None) -> tuple[Found, Measurement]:
    """Return what was found with the fastest version on a device as the best.

    Raises: UsageError if the device is missing or lost, or the original cannot be run there.
    """
    from clmap_lsp.errors import UsageError
    from clmap_lsp.fixes.measured import measure
    from clmap_lsp.launch.problem import LaunchError
    from clmap_lsp.research import DeviceError, NotForDevicesError
    from clmap_lsp.worker.told import tell

    try:
        return measure(subject, found, platform, progress=lambda text: tell({"progress": text}))
    except (DeviceError, NotForDevicesError) as error:
        raise UsageError(str(error)) from None
    except LaunchError as error:
        raise UsageError(str(error.at(subject.launch.source or "the launch"))) from None
