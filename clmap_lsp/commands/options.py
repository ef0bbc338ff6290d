"""Options that several subcommands share: launch, build, device, configuration."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from clmap_lsp.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clmap_lsp.config import Settings
    from clmap_lsp.launch.model import Launch
    from clmap_lsp.launch.partial import PartialLaunch
    from clmap_lsp.launch.sim import SimFile
    from clmap_lsp.workbench import OpenedFile, Workbench


def add_launch_options(parser: argparse.ArgumentParser) -> None:
    """Add `--kernel` … `--sim` (see the command-line contract)."""
    launch = parser.add_argument_group("launch, build and device")
    launch.add_argument("--kernel", metavar="NAME", help="this kernel only; the launch is its own")
    launch.add_argument("--global", dest="global_size", metavar="X[,Y[,Z]]", help="global size")
    launch.add_argument("--local", dest="local_size", metavar="X[,Y[,Z]]", help="work-group size")
    launch.add_argument(
        "--arg",
        dest="arguments",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a scalar, or zeros(n), iota(n), random(n[,seed]), permutation(n[,seed]), formula(n,EXPR), "
        "file:PATH, local(n), image(W[,H[,D]][,FILL])",
    )
    launch.add_argument("--recorded", metavar="FILE", help="launches that clmap-lsp record wrote down")
    launch.add_argument("--sim", metavar="FILE.sim", help="take the launch from an Oclgrind .sim file")
    launch.add_argument("--device", metavar="MODEL", help="device model (clmap-lsp devices lists them)")
    launch.add_argument(
        "-D", dest="defines", action="append", default=[], metavar="NAME[=VALUE]", help="define a macro"
    )
    launch.add_argument(
        "-U", dest="undefines", action="append", default=[], metavar="NAME", help="undefine a macro"
    )
    launch.add_argument(
        "-I", dest="includes", action="append", default=[], metavar="DIR", help="add an include folder"
    )
    launch.add_argument(
        "-include",
        dest="prelude",
        action="append",
        default=[],
        metavar="FILE",
        help="read a file before each source, as hosts that put kernels together do",
    )
    launch.add_argument("-cl-std", dest="standard", metavar="CL1.2", help="OpenCL C version")
    launch.add_argument("--config", metavar="PATH", help="use this clmap.toml instead of the nearest one")


class SettingsSource:
    """The settings of any path: `--config`, or the nearest `clmap.toml`; then the options."""

    def __init__(self, args: argparse.Namespace) -> None:
        from clmap_lsp.workbench.configuration import Configurations

        self._args = args
        self._configurations = Configurations(None if args.config is None else Path(args.config))

    def for_path(self, path: Path) -> Settings:
        """Return what holds for one file.

        Raises: UsageError for a configuration or an option that cannot be used.
        """
        from clmap_lsp.workbench.configuration import with_options

        args = self._args
        settings = self._configurations.for_path(path)
        recorded = getattr(args, "recorded", None)
        return with_options(
            replace(settings, recorded=recorded, recorded_within=None) if recorded is not None else settings,
            device=args.device,
            defines=tuple(_define(it) for it in args.defines),
            undefines=tuple(args.undefines),
            include_dirs=tuple(args.includes),
            prelude=tuple(args.prelude),
            standard=_standard(args.standard),
            time_limit_s=_positive("--time-limit", getattr(args, "time_limit", None)),
            memory_limit_mib=_positive("--memory-limit", getattr(args, "memory_limit", None)),
        )


def asked_file(args: argparse.Namespace) -> tuple[str, str, Settings]:
    """Return name, text and settings of the one file that a command is given; `-` is standard input.

    Raises: UsageError if it cannot be read, or its settings cannot be used.
    """
    from clmap_lsp.commands.settings_in_vain import check_settings
    from clmap_lsp.sources import UnreadableError, read_source, read_standard_input

    name = args.stdin_filename or "<stdin>" if args.path == "-" else args.path
    try:
        text = read_standard_input(name) if args.path == "-" else read_source(args.path)
    except UnreadableError as error:
        raise UsageError(str(error)) from None
    source = SettingsSource(args)
    settings = source.for_path(Path(name))
    check_settings(source, {name: text})
    return name, text, settings


_Limit = TypeVar("_Limit", int, float)


def _positive(option: str, value: _Limit | None) -> _Limit | None:
    if value is not None and not 0 < value < 1e9:
        raise UsageError(f"{option} {value}: give a number above 0 and below 10^9")
    return value


def open_file(
    workbench: Workbench,
    args: argparse.Namespace,
    settings: Settings,
    path: str,
    text: str,
    *,
    reads_hosts: bool = True,
) -> OpenedFile:
    """Open a file with the launch options.

    Raises: UsageError.
    """
    return workbench.open_text(
        path,
        text,
        settings,
        given=given_launch(args),
        sim=sim_file(args),
        only=args.kernel,
        reads_hosts=reads_hosts,
    )


def given_launch(args: argparse.Namespace) -> PartialLaunch | None:
    """Return what the launch options say; `None` where they say nothing.

    Raises: UsageError.
    """
    from clmap_lsp.launch.partial import from_options
    from clmap_lsp.launch.problem import LaunchProblem

    partial = from_options(args.kernel, args.global_size, args.local_size, args.arguments)
    if isinstance(partial, LaunchProblem):
        raise UsageError(str(partial))
    _check_files(partial.arguments)
    return None if partial.is_empty and partial.kernel is None else partial


def _check_files(arguments: Mapping[str, str]) -> None:
    """Raise UsageError for a `file:PATH` that cannot be read: it is told even where nothing is emulated."""
    from clmap_lsp.launch.arguments import file_named
    from clmap_lsp.reading import reason, regular

    for name, text in arguments.items():
        path = file_named(text)
        if path is None:
            continue
        try:
            regular(path, within=None)
        except (OSError, ValueError) as error:
            why = reason(error) if path and isinstance(error, OSError) else "it names no file"
            raise UsageError(f"--arg {name}={text}: {why}") from None


def sim_file(args: argparse.Namespace) -> SimFile | None:
    """Return the `.sim` file that `--sim` names.

    Raises: UsageError if it cannot be used.
    """
    from clmap_lsp.launch.problem import LaunchProblem
    from clmap_lsp.workbench.workbench import read_sim_file

    found = None if args.sim is None else read_sim_file(Path(args.sim))
    if isinstance(found, LaunchProblem):
        raise UsageError(str(found))
    return found


def _define(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name.split("(")[0].strip().isidentifier():
        raise UsageError(f'-D {text}: "{name}" is not the name of a macro; write -D NAME or -D NAME=VALUE')
    return name.strip(), value if equals else "1"


def _standard(text: str | None) -> str | None:
    if text is None:
        return None
    from clmap_lsp.config.document import STANDARDS

    if text not in STANDARDS:
        raise UsageError(f"-cl-std={text}: unknown version; known: {', '.join(STANDARDS)}")
    return text


def refused(opened: OpenedFile, kernel: str, launch: Launch | None) -> list[str]:
    """Return why no driver would launch a kernel so; what is counted holds all the same."""
    from clmap_lsp.launch.refused import refusals

    if launch is None:
        return []
    device, standard = opened.device, opened.settings.build.language
    found = refusals(launch, device.id, device.limits.max_work_group_size, standard)
    return [f"kernel {kernel}: {it}" for it in found]
