"""Options that several subcommands share: launch, build, device, configuration."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from clmap_lsp.errors import UsageError
from clmap_lsp.reading import SETTINGS_BYTES, ReadScope, reason, safe_read
from clmap_lsp.workspace import scope_of

if TYPE_CHECKING:
    from clmap_lsp.config import Settings
    from clmap_lsp.devices import DeviceModel
    from clmap_lsp.launch.partial import PartialLaunch
    from clmap_lsp.launch.sim import SimFile


def add_launch_options(parser: argparse.ArgumentParser) -> None:
    """Add `--kernel` … `--sim` (see the command-line contract)."""
    launch = parser.add_argument_group("launch, build and device")
    launch.add_argument("--kernel", metavar="NAME", help="the kernel that is launched")
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
    launch.add_argument("-cl-std", dest="standard", metavar="CL1.2", help="OpenCL C version")
    launch.add_argument("--config", metavar="PATH", help="use this clmap.toml instead of the nearest one")


class SettingsSource:
    """The settings of any path: `--config`, or the nearest `clmap.toml`, read once; then the options."""

    def __init__(self, args: argparse.Namespace) -> None:
        self._args = args
        self._read: dict[Path | None, Settings] = {}
        self._nearest: dict[Path, Path | None] = {}

    def for_path(self, path: Path) -> Settings:
        """Return what holds for one file.

        Raises: UsageError for a configuration or an option that cannot be used.
        """
        from clmap_lsp.config import find

        if self._args.config is not None:
            source: Path | None = Path(self._args.config)
        else:
            folder = path if path.is_dir() else path.parent
            if folder not in self._nearest:
                self._nearest[folder] = find(folder)
            source = self._nearest[folder]
        if source not in self._read:
            self._read[source] = self._load(source)
        return self._with_options(self._read[source].for_path(str(path.absolute())))

    def _load(self, source: Path | None) -> Settings:
        from clmap_lsp.config import ConfigError, Settings, parse, read_config

        if source is None:
            return Settings()
        try:
            named = self._args.config is not None
            text = read_config(source, named=named)
            return parse(str(source), text, devices=_device_names(text), rules=_rule_names(text))
        except ConfigError as error:
            raise UsageError(str(error)) from None
        except OSError as error:
            raise UsageError(f"{source}: {reason(error)}; name a readable clmap.toml with --config") from None

    def _with_options(self, settings: Settings) -> Settings:
        args = self._args
        build = replace(
            settings.build,
            defines=settings.build.defines + tuple(_define(it) for it in args.defines),
            undefines=settings.build.undefines + tuple(args.undefines),
            include_dirs=tuple(args.includes) + settings.build.include_dirs,
            standard=_standard(args.standard) or settings.build.standard,
        )
        opened = tuple(args.includes)
        return replace(settings, build=build, device=args.device or settings.device, opened=opened)


def device_of(settings: Settings) -> DeviceModel:
    """Return the device model of the settings.

    Raises: UsageError if there is no such model.
    """
    from clmap_lsp.devices import DeviceModelError, load_model

    try:
        return load_model(settings.device)
    except DeviceModelError as error:
        raise UsageError(str(error)) from None


def given_launch(args: argparse.Namespace) -> PartialLaunch | None:
    """Return what the launch options say; `None` where they say nothing.

    Raises: UsageError.
    """
    from clmap_lsp.launch.partial import from_options
    from clmap_lsp.launch.problem import LaunchProblem

    partial = from_options(args.kernel, args.global_size, args.local_size, args.arguments)
    if isinstance(partial, LaunchProblem):
        raise UsageError(str(partial))
    return None if partial.is_empty and partial.kernel is None else partial


def sim_file(args: argparse.Namespace) -> SimFile | None:
    """Return the `.sim` file that `--sim` names.

    Raises: UsageError if it cannot be used.
    """
    return None if args.sim is None else _read_sim(Path(args.sim), None)


def sim_beside(path: str) -> SimFile | None:
    """Return the `.sim` file beside a source file, if there is one.

    Raises: UsageError if it cannot be used.
    """
    beside = Path(path).with_suffix(".sim")
    return _read_sim(beside, scope_of(path)) if beside.is_file() else None


def _read_sim(path: Path, within: ReadScope | None) -> SimFile:
    from clmap_lsp.launch.problem import LaunchProblem
    from clmap_lsp.launch.sim import read_sim

    try:
        data = safe_read(path, limit=SETTINGS_BYTES, within=within)
    except OSError as error:
        raise UsageError(f"{path}: {reason(error)}") from None
    found = read_sim(data.decode("utf-8", errors="replace"), str(path))
    if isinstance(found, LaunchProblem):
        raise UsageError(str(found))
    return found


def _define(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name.split("(")[0].strip().isidentifier():
        raise UsageError(f'-D {text}: "{name}" is no macro name; write -D NAME or -D NAME=VALUE')
    return name.strip(), value if equals else "1"


def _standard(text: str | None) -> str | None:
    if text is None:
        return None
    from clmap_lsp.config.document import STANDARDS

    if text not in STANDARDS:
        raise UsageError(f"-cl-std={text}: unknown version; known: {', '.join(STANDARDS)}")
    return text


def _device_names(text: str) -> tuple[str, ...]:
    """Return the names that a configuration may use; reading all models is spared where it names none."""
    if "device" not in text:
        return ()
    from clmap_lsp.devices import list_models

    return tuple(name for it in list_models() for name in (it.id, *it.aliases))


def _rule_names(text: str) -> tuple[str, ...]:
    if not any(word in text for word in ("rules", "select", "ignore", "severity")):
        return ()
    from clmap_lsp.rules.registry import selectors

    return selectors()
