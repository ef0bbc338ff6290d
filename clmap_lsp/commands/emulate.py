"""`clmap-lsp emulate PATH --kernel NAME …`: one launch in the emulator."""

from __future__ import annotations

import argparse
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from clmap_lsp import defaults
from clmap_lsp.commands.confining import add_sandbox_option, confined, printed
from clmap_lsp.commands.options import add_launch_options, asked_file, open_file, refused
from clmap_lsp.errors import UsageError

if TYPE_CHECKING:
    from clmap_lsp.config import Settings
    from clmap_lsp.emulator.result import EmulationResult
    from clmap_lsp.emulator.settings import EmulationSettings
    from clmap_lsp.launch.model import Launch
    from clmap_lsp.source.ir import Kernel
    from clmap_lsp.workbench import OpenedFile, Workbench

_EXAMPLES = """\
examples:
  clmap-lsp emulate mm.cl --kernel mm --global 64,64 --local 8,8 --arg N=64 --format json
  clmap-lsp emulate scan.cl --kernel scan --definition aiwc
  clmap-lsp emulate spmv.cl --kernel spmv --global 4194304 --local 256 --sample 100
  clmap-lsp emulate mm.cl --kernel mm --global 64,64 --local 8,8 --arg N=64 --on-device H200
"""


def register(subparsers: Any) -> None:
    """Add the parser."""
    parser = subparsers.add_parser(
        "emulate",
        help="run one launch in the emulator",
        description="Run one launch of a kernel without a device: outputs, faults, locality, exact counts.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("path", metavar="PATH", help="a file; - for standard input")
    parser.add_argument("--stdin-filename", metavar="PATH", help="what to call the text of standard input")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    run = parser.add_argument_group("emulation")
    run.add_argument("--definition", choices=("paper", "aiwc"), default="paper")
    run.add_argument("--local-addresses", choices=("shared", "alias", "distinct"), default="shared")
    run.add_argument(
        "--access-view",
        choices=("as-written", "optimised"),
        default="as-written",
        help="accesses as in the source (default), or the sites' requests, sectors and wavefronts as LLVM's "
        "back end for the device leaves them; metrics and outputs are those of the source in both",
    )
    run.add_argument("--engine", choices=("auto", "symbolic", "jit"), default="auto")
    run.add_argument(
        "--time-limit",
        type=float,
        metavar="S",
        help=f"seconds of work (default: {defaults.TIME_LIMIT_S:g}); larger launches are "
        "estimated from a sample of their work-groups",
    )
    run.add_argument(
        "--sample",
        type=int,
        nargs="?",
        const=64,
        default=0,
        metavar="GROUPS",
        help="run at most GROUPS work-groups (default: 64), drawn at random, and estimate the launch from "
        "them, with standard errors; without it, launches beyond the time limit only",
    )
    run.add_argument(
        "--memory-limit", type=int, metavar="MB", help=f"MiB (default: {defaults.MEMORY_LIMIT_MIB})"
    )
    run.add_argument(
        "--sub-group-synchronous",
        type=int,
        default=0,
        metavar="N",
        help="take N work-items in a row to run in lockstep, as kernels expect that have no barriers within "
        "a warp: they see each other's writes, and do not race (default: only barriers order work-items)",
    )
    add_sandbox_option(run)
    device = parser.add_argument_group("on a device")
    device.add_argument(
        "--on-device",
        nargs="?",
        const="",
        metavar="PLATFORM",
        help="launch it on an OpenCL device too and set the results side by side; a number or part of a name "
        "as `clmap-lsp platforms` lists them (default: the first GPU)",
    )
    device.add_argument(
        "--trace-on-device",
        action="store_true",
        help="also collect the addresses there, by an instrumented copy of the kernel; without it only for "
        "launches beyond the emulator's limits",
    )
    device.add_argument(
        "--device-time-limit", type=float, default=60.0, metavar="S", help="seconds (default: 60)"
    )
    add_launch_options(parser)


def run(args: argparse.Namespace) -> int:
    """Emulate and print; 1 if the kernel has faults."""
    name, text, settings = asked_file(args)

    def work() -> dict[str, object]:
        return _emulated(args, settings, name, text)

    # A driver is out of reach for a confined process, and who asks for a device has asked for more.
    found = work() if args.on_device is not None else confined(args, [(name, settings)], work)
    return printed(args, found)


_CONDITION = re.compile(r"^[ \t]*#[ \t]*(?:if|elif)", re.MULTILINE)


def _opened(
    bench: Workbench, args: argparse.Namespace, settings: Settings, name: str, text: str
) -> OpenedFile:
    """Open a file; host code, which takes longer than most launches, is followed where it has a say."""
    alone = open_file(bench, args, settings, name, text, reads_hosts=False)
    kernels = [it for it in alone.program.kernels if args.kernel in (None, it.name)]
    if kernels and all(_is_complete(alone, it) for it in kernels):
        return alone
    return open_file(bench, args, settings, name, text)


def _is_complete(opened: OpenedFile, kernel: Kernel) -> bool:
    """Tell whether a kernel means the same however it is built, and no part of its launch is open."""
    from clmap_lsp.analysis.launching import launch_of
    from clmap_lsp.launch.model import BufferArgument
    from clmap_lsp.launch.problem import LaunchProblem

    program = opened.program
    launch = launch_of(program, kernel, opened.sources)
    if isinstance(launch, LaunchProblem) or program.guesses or program.problems:
        return False
    is_open = any(not isinstance(launch.arguments.get(it), BufferArgument) for it in launch.inferred)
    return not is_open and not any(_CONDITION.search(it.text) for it in program.files.values())


def _emulated(args: argparse.Namespace, settings: Settings, name: str, text: str) -> dict[str, object]:
    from clmap_lsp.launch.problem import LaunchProblem
    from clmap_lsp.report import emulation_json, emulation_text
    from clmap_lsp.time.predict import time_of
    from clmap_lsp.workbench import Workbench

    opened = _opened(Workbench(), args, settings, name, text)
    kernel = opened.kernel(args.kernel)
    launch = opened.launch(kernel)
    notes = refused(opened, kernel.name, launch)
    result = opened.run(kernel, launch, _emulation_settings(args, opened))
    if isinstance(result, LaunchProblem):
        raise UsageError(notes[0] if notes else str(result))
    program = opened.program
    result = _as_viewed(args, opened, kernel, launch, result)
    measured = _on_device(args, program, kernel, launch, opened.settings, result)
    render = emulation_json.render if args.format == "json" else emulation_text.render
    time = time_of(kernel, launch, opened.device, program.constants)

    has_faults = any(not it.grounds.is_guess for it in result.faults)
    is_wrong = has_faults or (measured is not None and not measured.outputs_equal)
    text = render(program, launch, result, measured, time)
    return {"text": text, "code": int(is_wrong), "notes": notes}


def _as_viewed(
    args: argparse.Namespace, opened: OpenedFile, kernel: Kernel, launch: Launch, result: EmulationResult
) -> EmulationResult:
    if args.access_view == "as-written":
        return result
    from clmap_lsp.analysis.as_compiled import sites_as_compiled

    return sites_as_compiled(opened.program, kernel, launch, opened.device, result)


def _on_device(
    args: argparse.Namespace, program: Any, kernel: Any, launch: Any, settings: Any, result: Any
) -> Any:
    """Measure on a device where that was asked for.

    Raises: UsageError if the device is missing or lost, or the launch cannot be made there.
    """
    if args.on_device is None:
        if args.trace_on_device:
            raise UsageError("--trace-on-device needs --on-device")
        return None
    from clmap_lsp.launch.problem import LaunchError
    from clmap_lsp.research import DeviceError, NotForDevicesError, measure

    try:
        return measure(
            program,
            kernel,
            launch,
            settings.build,
            result,
            platform=args.on_device or None,
            trace=True if args.trace_on_device else None,
            time_limit_s=args.device_time_limit,
        )
    except (DeviceError, NotForDevicesError) as error:
        raise UsageError(str(error)) from None
    except LaunchError as error:
        raise UsageError(str(error.at(launch.source or "the launch"))) from None


def _emulation_settings(args: argparse.Namespace, opened: OpenedFile) -> EmulationSettings:
    from clmap_lsp.emulator.result import AccessView, Engine
    from clmap_lsp.locality.definition import Definition, LocalAddresses

    limits = opened.emulation_settings()
    if args.time_limit is not None:
        limits = replace(limits, time_limit_s=args.time_limit)
    if args.memory_limit is not None:
        limits = replace(limits, memory_limit_mib=args.memory_limit)
    if not limits.time_limit_s > 0:
        raise UsageError(f"--time-limit {limits.time_limit_s:g}: give a number of seconds above 0")
    if not 0 < args.device_time_limit < 1e9:
        raise UsageError(f"--device-time-limit {args.device_time_limit:g}: give a number of seconds above 0")
    if args.sample < 0 or args.sample == 1:
        raise UsageError(f"--sample {args.sample}: an estimate with its error takes at least 2 work-groups")
    if not 0 <= args.sub_group_synchronous <= defaults.MOST_IN_LOCKSTEP:
        raise UsageError(
            f"--sub-group-synchronous {args.sub_group_synchronous}: give a number of work-items, such as 32"
        )
    if limits.memory_limit_mib < 1:
        raise UsageError(f"--memory-limit {limits.memory_limit_mib}: give at least 1 MiB")
    return replace(
        limits,
        engine=Engine(args.engine),
        definition=Definition(args.definition),
        local_addresses=LocalAddresses(args.local_addresses),
        access_view=AccessView(args.access_view),
        sample_groups=args.sample,
        lockstep=args.sub_group_synchronous,
    )
