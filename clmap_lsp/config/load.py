"""Find, read and check a `clmap.toml`."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from clmap_lsp import defaults
from clmap_lsp.config.model import (
    EmulateSettings,
    HostSettings,
    LaunchSetting,
    Override,
    RuleSettings,
    Settings,
)
from clmap_lsp.dataclass import dataclass
from clmap_lsp.reading import SETTINGS_BYTES, safe_read
from clmap_lsp.source.ir import Severity
from clmap_lsp.source.options import BuildOptions
from clmap_lsp.source.span import SourceFile, Span
from clmap_lsp.workspace import CONFIG_NAME, scope_of

_PART = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')[ \t]*"""
_LONG_KEY = re.compile(rf"(?<![A-Za-z0-9_-])(?:{_PART}\.[ \t]*){{64}}")
"""Keys of thousands of parts take the square of that and overflow the stack of whoever walks their tables."""


@dataclass(frozen=True, slots=True)
class ConfigFault:
    """One thing wrong, with its place in the file."""

    span: Span
    message: str


class ConfigError(Exception):
    """A configuration that cannot be used. `faults` has everything that is wrong; the text is the first."""

    def __init__(self, file: SourceFile, faults: tuple[ConfigFault, ...]) -> None:
        self.file = file
        self.faults = faults
        at = file.position(faults[0].span.start)
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        super().__init__(f"{file.path}:{at.row}:{at.column}: {faults[0].message}{more}")


def find(start: Path) -> Path | None:
    """Return the nearest `clmap.toml` in the folder of `start` or above it."""
    # os.path where Path would raise: in folders that may not be looked into.
    folder = start if os.path.isdir(start) else start.parent  # noqa: PTH112
    for candidate in (folder.absolute(), *folder.absolute().parents):
        if os.path.isfile(path := candidate / CONFIG_NAME):  # noqa: PTH113
            return path
    return None


def load(path: Path, *, devices: Collection[str] = (), rules: Collection[str] = ()) -> Settings:
    """Read one file.

    Raises: ConfigError; OSError if the file cannot be read.
    """
    return parse(str(path), read_config(path, named=True), devices=devices, rules=rules)


def read_config(path: Path, *, named: bool) -> str:
    """Return the text of a `clmap.toml` that a person named, or that was found in a workspace.

    Raises: ConfigError if it is not UTF-8; OSError.
    """
    data = safe_read(path, limit=SETTINGS_BYTES, within=None if named else scope_of(str(path)))
    try:
        return data.decode("utf-8-sig")  # Editors of Windows begin a file with a mark.
    except UnicodeDecodeError as error:
        file = SourceFile.of(str(path), "")
        message = f"not UTF-8 (byte {error.start}); save it as UTF-8"
        raise ConfigError(file, (ConfigFault(Span(str(path), 0, 0), message),)) from None


def parse(path: str, text: str, *, devices: Collection[str] = (), rules: Collection[str] = ()) -> Settings:
    """Read the text of a `clmap.toml` that stands at `path` (relative paths in it start at its folder).

    Raises: ConfigError with every fault. Names of devices and rules are checked where the known are given.
    """
    file = SourceFile.of(path, text)
    if (long := _LONG_KEY.search(text)) is not None:
        raise ConfigError(file, (ConfigFault(Span(path, *long.span()), "this key has too many parts"),))
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(file, (_syntax_fault(file, str(error)),)) from None
    except RecursionError:
        raise ConfigError(file, (ConfigFault(Span(path, 0, 0), "values nest too deeply"),)) from None
    except ValueError:  # Python reads no whole numbers of thousands of digits.
        raise ConfigError(file, (ConfigFault(Span(path, 0, 0), "a number has too many digits"),)) from None
    if _has_long_number(data):
        raise ConfigError(file, (ConfigFault(Span(path, 0, 0), "a whole number has more than 64 bits"),))
    from clmap_lsp.config.document import document

    if faults := list(document(devices, rules).check(data, ())):
        from clmap_lsp.config.places import Places

        places = Places(file)
        raise ConfigError(
            file,
            tuple(
                ConfigFault(places.key(it.path) if it.at_key else places.value(it.path), it.message)
                for it in faults
            ),
        )
    return _settings(file, data)


def _has_long_number(data: object) -> bool:
    """Tell whether a whole number is none of TOML's: of thousands of digits, Python makes no text."""
    waiting = [data]
    for it in waiting:
        if isinstance(it, dict):
            waiting += it.values()
        elif isinstance(it, list):
            waiting += it
        elif isinstance(it, int) and not -(1 << 63) <= it < 1 << 64:
            return True
    return False


def _syntax_fault(file: SourceFile, message: str) -> ConfigFault:
    place = re.search(r" \(at line (\d+), column (\d+)\)$", message)
    text = message[: place.start()] if place else message.removesuffix(" (at end of document)")
    offset = file.offset(int(place[1]), int(place[2])) if place else len(file.text)
    return ConfigFault(Span(file.path, offset, offset), f"not valid TOML: {text[:1].lower()}{text[1:]}")


def _settings(file: SourceFile, data: Mapping[str, Any]) -> Settings:
    folder = Path(file.path).absolute().parent
    build, rules, emulate = data.get("build", {}), data.get("rules", {}), data.get("emulate", {})
    baseline = data.get("baseline")
    hosts = data.get("hosts", {})
    return Settings(
        build=BuildOptions(
            defines=_defines(build.get("defines", {})),
            undefines=tuple(build.get("undefines", ())),
            include_dirs=_folders(folder, build.get("include", ())),
            prelude=_folders(folder, build.get("prelude", ())),
            standard=build.get("standard"),
        ),
        device=data.get("device", defaults.DEVICE),
        rules=RuleSettings(
            select=tuple(rules.get("select", ("ALL",))),
            ignore=tuple(rules.get("ignore", ())),
            severity=_severities(rules.get("severity", {})),
        ),
        launches=_launches(file, folder, data.get("launch", {})),
        overrides=tuple(_override(folder, it) for it in data.get("override", ())),
        exclude=tuple(data.get("exclude", ())),
        fail_on=data.get("fail-on", defaults.FAIL_ON),
        baseline=None if baseline is None else str(folder / baseline),
        emulate=EmulateSettings(
            enabled=emulate.get("enabled", False),
            time_limit_s=float(emulate.get("time-limit", defaults.TIME_LIMIT_S)),
            memory_limit_mib=emulate.get("memory-limit", defaults.MEMORY_LIMIT_MIB),
        ),
        recorded=None if "recorded" not in data else str(folder / data["recorded"]),
        hosts=HostSettings(
            enabled=hosts.get("enabled", True),
            defines=_defines(hosts.get("defines", {})),
            wrappers={name: dict(roles) for name, roles in hosts.get("wrappers", {}).items()},
        ),
        path=file.path,
        folder=str(folder),
    )


def _override(folder: Path, data: Mapping[str, Any]) -> Override:
    select = data.get("select")
    return Override(
        paths=tuple(data["paths"]),
        device=data.get("device"),
        select=None if select is None else tuple(select),
        ignore=tuple(data.get("ignore", ())),
        severity=_severities(data.get("severity", {})),
        defines=_defines(data.get("defines", {})),
        include_dirs=_folders(folder, data.get("include", ())),
        prelude=_folders(folder, data.get("prelude", ())),
        standard=data.get("standard"),
    )


def _launches(file: SourceFile, folder: Path, data: Mapping[str, Any]) -> dict[str, LaunchSetting]:
    if not data:
        return {}
    from clmap_lsp.config.places import Places

    places = Places(file)
    name = Path(file.path).name
    return {
        kernel: LaunchSetting(
            kernel=kernel,
            global_size=_size(entry.get("global", ())),
            local_size=_size(entry.get("local", ())),
            global_offset=tuple(entry.get("offset", ())),
            arguments={key: _argument(folder, value) for key, value in entry.get("args", {}).items()},
            source=f"{name}:{file.position(places.key(('launch', kernel)).start).row}",
        )
        for kernel, entry in data.items()
    }


def _argument(folder: Path, value: str | float | bool) -> str:
    text = _value(value)
    return f"file:{folder / text[5:]}" if text.startswith("file:") else text


def _defines(data: Mapping[str, Any] | list[str]) -> tuple[tuple[str, str], ...]:
    if isinstance(data, list):
        parts = (it.partition("=") for it in data)
        return tuple((name, value if equals else "1") for name, equals, value in parts)
    return tuple((name, _value(value)) for name, value in data.items())


def _value(value: str | float | bool) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


def _folders(folder: Path, names: Collection[str]) -> tuple[str, ...]:
    return tuple(str(folder / it) for it in names)


def _severities(data: Mapping[str, str]) -> dict[str, Severity]:
    return {code: Severity(name) for code, name in data.items()}


def _size(value: int | list[int] | tuple[int, ...]) -> tuple[int, ...]:
    return (value,) if isinstance(value, int) else tuple(value)
