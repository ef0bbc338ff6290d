"""`clmap-lsp config --show [PATH…]`: which options and launches hold for each file, and whence they come."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clmap_lsp import defaults
from clmap_lsp.commands.options import SettingsSource, add_launch_options, given_launch, sim_file
from clmap_lsp.dataclass import dataclass
from clmap_lsp.errors import UsageError
from clmap_lsp.escaping import terminal

if TYPE_CHECKING:
    from clmap_lsp.config import Settings
    from clmap_lsp.launch.partial import PartialLaunch
    from clmap_lsp.source.ir import Kernel
    from clmap_lsp.workbench import OpenedFile
    from clmap_lsp.workbench.unmatched import Unmatched

_EXAMPLES = """\
examples:
  clmap-lsp config --show                    every kernel file below this folder
  clmap-lsp config --show src/mm.cl -D N=64  with options on top
  clmap-lsp config --show --format json
"""


@dataclass(frozen=True, slots=True)
class Shown:
    """One value, and where it comes from."""

    kind: str
    """`device`, `standard`, `define`, `include`, `prelude`, `undefine`, `global`, `local`, `argument`."""
    name: str
    value: str
    origin: str
    """`given`, `configured`, `host`, `host default`, `recorded`, `guessed` or `default`."""
    place: str = ""
    """`clmap.toml:12`, `main.c:40`; empty where there is none."""


@dataclass(frozen=True, slots=True)
class ShownFile:
    """What holds for one file."""

    path: str
    config: str | None
    options: tuple[Shown, ...]
    kernels: tuple[tuple[str, tuple[Shown, ...] | str], ...]
    """Each with its launch, or why it has none."""


def register(subparsers: Any) -> None:
    """Add the parser."""
    parser = subparsers.add_parser(
        "config",
        help="show which option and launch holds for a file, and why",
        description="Show the build options, device and launches that hold for kernel files, where each "
        "value comes from, and which keys of clmap.toml match nothing.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("paths", nargs="*", default=["."], metavar="PATH", help="files or directories")
    parser.add_argument("--show", action="store_true", help="show it (also without this option)")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    add_launch_options(parser)


def run(args: argparse.Namespace) -> int:
    """Print; the exit code is 1 where a key of the configuration matches nothing."""
    from clmap_lsp.commands.files import kernel_files
    from clmap_lsp.sources import UnreadableError, read_source
    from clmap_lsp.workbench import Workbench
    from clmap_lsp.workbench import unmatched as in_vain

    source = SettingsSource(args)
    paths = kernel_files(args.paths or ["."], lambda it: source.for_path(it).excludes(str(it.absolute())))
    bench = Workbench()
    given, sim = given_launch(args), sim_file(args)
    files: list[ShownFile] = []
    texts: list[str] = []
    configs: dict[str, Settings] = {}
    settings_of: dict[str, Settings] = {}
    for path in paths:
        settings = settings_of[path] = source.for_path(Path(path))
        try:
            text = read_source(path)
        except UnreadableError as error:
            raise UsageError(str(error)) from None
        opened = bench.open_text(path, text, settings, given=given, sim=sim)
        kernels = [it for it in opened.program.kernels if args.kernel in (None, it.name)]
        launches = tuple((it.name, _launch(opened, it)) for it in kernels)
        files.append(ShownFile(path, settings.path, tuple(_options(args, settings, opened)), launches))
        texts.append(text)
        if settings.path is not None:
            configs.setdefault(settings.path, settings)
    unmatched = [it for found in configs.values() for it in in_vain.launches_without_kernel(found, texts)]
    unmatched += [it for found in configs.values() for it in in_vain.overrides_without_file(found, paths)]
    unmatched += in_vain.missing_include_dirs(settings_of)
    sys.stdout.write(_json(files, unmatched) if args.format == "json" else terminal(_text(files, unmatched)))
    return 1 if unmatched else 0


def _options(args: argparse.Namespace, settings: Settings, opened: OpenedFile) -> Iterator[Shown]:
    build = opened.settings.build
    name = Path(settings.path).name if settings.path else ""
    device_origin = (
        "given" if args.device else "configured" if name and settings.device != defaults.DEVICE else "default"
    )
    yield Shown(
        "device", "device", settings.device, device_origin, name if device_origin == "configured" else ""
    )
    stated = "given" if args.standard else "configured" if build.standard else "default"
    yield Shown("standard", "-cl-std", build.language, stated, name if stated == "configured" else "")
    on_line = {it.partition("=")[0].split("(")[0].strip() for it in args.defines}
    configured = {it for it, _ in settings.build.defines}
    host = {it: "host default" for it, _ in opened.facts.assumed}
    host |= {it: "host" for it, _ in opened.facts.defines}
    for macro, value in dict(build.defines).items():
        if macro in on_line:
            yield Shown("define", macro, value, "given")
        elif macro in configured:
            yield Shown("define", macro, value, "configured", name)
        else:
            yield Shown("define", macro, value, host.get(macro, "recorded"), "")
    for kind, words, given in (
        ("undefine", build.undefines, args.undefines),
        ("include", build.include_dirs, args.includes),
        ("prelude", build.prelude, args.prelude),
    ):
        for word in words:
            is_given = word in given
            yield Shown(kind, word, "", "given" if is_given else "configured", "" if is_given else name)


def _launch(opened: OpenedFile, kernel: Kernel) -> tuple[Shown, ...] | str:
    from clmap_lsp.analysis.launching import launch_of, parts_of
    from clmap_lsp.launch.model import OFFSET, Origin
    from clmap_lsp.launch.problem import LaunchProblem

    launch = launch_of(opened.program, kernel, opened.sources)
    parts = parts_of(opened.program, kernel, opened.sources)
    if isinstance(launch, LaunchProblem) or isinstance(parts, LaunchProblem):
        return str(launch)

    def shown(kind: str, name: str, key: str, value: str) -> Shown:
        origin = launch.origins.get(key, launch.origin)
        if key in launch.inferred or origin is Origin.INFERRED:
            return Shown(kind, name, value, "guessed")
        place = next((it.source for it in parts if it.origin is origin and _says(it, key)), "")
        return Shown(kind, name, value, origin.value, place)

    sizes: tuple[Shown, ...] = (
        shown("global", "global size", "global", "x".join(map(str, launch.global_size))),
        shown("local", "local size", "local", "x".join(map(str, launch.local_size))),
    )
    if launch.global_offset:
        sizes += (shown("offset", OFFSET, OFFSET, "x".join(map(str, launch.global_offset))),)
    return (*sizes, *(shown("argument", name, name, str(it)) for name, it in launch.arguments.items()))


def _says(part: PartialLaunch, key: str) -> bool:
    match key:
        case "global":
            return bool(part.global_size)
        case "local":
            return bool(part.local_size)
        case "global offset":
            return bool(part.global_offset)
        case _:
            return key in part.arguments or key in part.parsed


def _text(files: list[ShownFile], unmatched: list[Unmatched]) -> str:
    lines = []
    for file in files:
        lines.append(f"{file.path}: {file.config or 'no clmap.toml'}")
        lines += [f"  {_named(it)}{_from(it)}" for it in file.options]
        for name, launch in file.kernels:
            lines.append(f"  kernel {name}" + (f": {launch}" if isinstance(launch, str) else ""))
            if not isinstance(launch, str):
                lines += [f"    {it.name} {it.value}{_from(it)}" for it in launch]
    if unmatched:
        lines.append("matches nothing:")
        lines += [f"  {it.place}: {it.key}: {it.reason}" for it in unmatched]
    return "\n".join(lines) + "\n"


def _named(shown: Shown) -> str:
    match shown.kind:
        case "define":
            return f"-D {shown.name}={shown.value}"
        case "undefine":
            return f"-U {shown.name}"
        case "include":
            return f"-I {shown.name}"
        case "prelude":
            return f"-include {shown.name}"
        case _:
            return f"{shown.name} {shown.value}"


def _from(shown: Shown) -> str:
    return f"  ({shown.origin}, {shown.place})" if shown.place else f"  ({shown.origin})"


def _json(files: list[ShownFile], unmatched: list[Unmatched]) -> str:
    document = {
        "schema": 1,
        "files": [
            {
                "path": it.path,
                "config": it.config,
                "options": [asdict(option) for option in it.options],
                "kernels": [
                    {
                        "name": name,
                        "launch": None if isinstance(launch, str) else [asdict(part) for part in launch],
                        "reason": launch if isinstance(launch, str) else None,
                    }
                    for name, launch in it.kernels
                ],
            }
            for it in files
        ],
        "unmatched": [asdict(it) for it in unmatched],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
