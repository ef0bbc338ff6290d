"""What holds for a document: `clmap.toml`, the editor's settings, and which of the two wins."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from pathlib import Path

from clmap_lsp import defaults
from clmap_lsp.config import CONFIG_NAME, ConfigError, Settings, find, parse, read_config
from clmap_lsp.config.model import RuleSettings
from clmap_lsp.dataclass import dataclass
from clmap_lsp.devices import DeviceModelError, list_models, load_model
from clmap_lsp.reading import reason
from clmap_lsp.rules.registry import selectors
from clmap_lsp.rules.selection import Selection, UnknownRuleError
from clmap_lsp.source.options import BuildOptions
from clmap_lsp.source.span import SourceFile, Span
from clmap_lsp.suggestions import did_you_mean

logger = logging.getLogger(__name__)

EMULATE_WHEN = ("onIdle", "onSave", "off")


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """The editor's settings, section `clmap`. Empty means: nothing said."""

    device: str = ""
    build: BuildOptions = field(default_factory=BuildOptions)
    has_build: bool = False
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    emulate: str = "onIdle"
    emulate_time_limit_s: float = defaults.TIME_LIMIT_S
    emulate_unconfined: bool = False
    """Kernels run where the platform cannot confine the process that runs them."""
    editor_first: bool = False
    code_lens: bool = True
    embedded: bool = False
    problems: tuple[str, ...] = ()
    """What cannot be used of them, one line each that names the setting."""

    @classmethod
    def of(cls, data: object) -> ClientSettings:
        """Read what a client sent. Values of the wrong kind are taken as not said."""
        if not isinstance(data, Mapping):
            return cls()
        section = data.get("clmap", data)
        if not isinstance(section, Mapping):
            return cls()
        options = _strings(section.get("buildOptions"))
        limit = _seconds(section.get("emulateTimeLimit"))
        when = section.get("emulate")
        return cls(
            device=_device(section.get("device")),
            build=_build(options),
            has_build=bool(options),
            select=_strings(section.get("select")),
            ignore=_strings(section.get("ignore")),
            emulate=when if when in EMULATE_WHEN else "onIdle",
            emulate_time_limit_s=limit if limit is not None else defaults.TIME_LIMIT_S,
            emulate_unconfined=section.get("emulateUnconfined") is True,
            editor_first=section.get("configurationPreference") == "editorFirst",
            code_lens=section.get("codeLens") is not False,
            embedded=section.get("embedded") is True,
            problems=tuple(_problems(section)),
        )

    def merged(self, file: Settings) -> Settings:
        """Join with what a `clmap.toml` says; build options add up, the rest is the preferred side's."""
        has_file = file.path is not None
        editor_wins = self.editor_first or not has_file
        build = file.build
        if self.has_build:
            first, second = (file.build, self.build) if editor_wins else (self.build, file.build)
            build = replace(
                build,
                defines=first.defines + second.defines,
                undefines=first.undefines + second.undefines,
                include_dirs=second.include_dirs + first.include_dirs,
                standard=self.build.standard if editor_wins and self.build.standard else build.standard,
            )
        rules = file.rules
        if self.select and (editor_wins or rules.select == ("ALL",)):
            rules = replace(rules, select=self.select)
        rules = RuleSettings(rules.select, rules.ignore + self.ignore, rules.severity)
        device = self.device if self.device and (editor_wins or not _names_device(file)) else file.device
        opened = self.build.include_dirs
        return replace(file, build=build, rules=rules, device=device, opened=opened)


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with a configuration, in the file that holds it."""

    file: SourceFile
    span: Span
    message: str


class Configurations:
    """The configuration files of a workspace, each read once until it changes."""

    def __init__(self) -> None:
        self._read: dict[Path, tuple[Settings, tuple[Problem, ...]]] = {}
        self._nearest: dict[Path, Path | None] = {}
        self._good: dict[Path, Settings] = {}
        """The last settings of each file that had no fault: a typing error does not undo a configuration."""

    def faults(self) -> dict[Path, tuple[Problem, ...]]:
        """Return what is wrong with the files that were read, those without faults left out."""
        return {path: faults for path, (_, faults) in self._read.items() if faults}

    def forget(self) -> None:
        """Read everything anew: a file changed, came or went."""
        self._read.clear()
        self._nearest.clear()

    def for_document(self, path: str, client: ClientSettings) -> Settings:
        """Return what holds for the document at `path` (which need not be a file)."""
        file = Settings()
        folder = Path(path).parent
        if folder.is_absolute():
            if folder not in self._nearest:
                self._nearest[folder] = find(folder) if folder.is_dir() else None
            source = self._nearest[folder]
            if source is not None:
                file = self.read(source)[0].of_a_repository()
        return client.merged(file.for_path(path))

    def read(self, path: Path, text: str | None = None) -> tuple[Settings, tuple[Problem, ...]]:
        """Return the settings of a `clmap.toml` and its faults; `text` where it is being edited."""
        if text is None and path in self._read:
            return self._read[path]
        try:
            content = read_config(path, named=False) if text is None else text
            devices = tuple(name for it in list_models() for name in (it.id, *it.aliases))
            result = (parse(str(path), content, devices=devices, rules=selectors()), ())
        except ConfigError as error:
            faults = tuple(Problem(error.file, it.span, it.message) for it in error.faults)
            return self._keep(path, text, (self._good.get(path, Settings()), faults))
        except OSError as error:
            file = SourceFile.of(str(path), "")
            fault = Problem(file, Span(str(path), 0, 0), f"cannot be read: {reason(error)}")
            return self._keep(path, text, (Settings(), (fault,)))
        return self._keep(path, text, result)

    def _keep(
        self, path: Path, text: str | None, result: tuple[Settings, tuple[Problem, ...]]
    ) -> tuple[Settings, tuple[Problem, ...]]:
        if text is None:
            self._read[path] = result
            if not result[1]:
                self._good[path] = result[0]
        return result


def is_configuration(path: str) -> bool:
    """Tell whether a document is a `clmap.toml`."""
    return Path(path).name == CONFIG_NAME


def selection_of(settings: Settings) -> Selection:
    """Return the rules that speak; selectors that select nothing are left out (they are reported apart)."""
    rules = settings.rules
    try:
        return Selection.of(rules.select, rules.ignore, rules.severity)
    except UnknownRuleError:
        known = [it for it in rules.select if _selects(it)]
        ignored = [it for it in rules.ignore if _selects(it)]
        levels = {word: level for word, level in rules.severity.items() if _selects(word)}
        return Selection.of(known or ("ALL",), ignored, levels)


def _selects(word: str) -> bool:
    try:
        Selection.of((word,))
    except UnknownRuleError:
        return False
    return True


_LISTS = ("buildOptions", "select", "ignore")
_SWITCHES = ("codeLens", "embedded")


def _problems(section: Mapping[str, object]) -> Iterator[str]:
    """Yield what is wrong with an editor's settings; what is not there or null is not said."""
    said = {name: it for name, it in section.items() if it is not None and it != ""}
    for name in _LISTS:
        if name in said and (not isinstance(it := said[name], (list, tuple)) or len(_strings(it)) < len(it)):
            yield f"clmap.{name} must be a list of strings; it is {said[name]!r}"
    for name in _SWITCHES:
        if name in said and not isinstance(said[name], bool):
            yield f"clmap.{name} must be true or false; it is {said[name]!r}"
    if "emulateTimeLimit" in said and _seconds(said["emulateTimeLimit"]) is None:
        wrong = said["emulateTimeLimit"]
        yield f"clmap.emulateTimeLimit must be a number of seconds above 0; it is {wrong!r}"
    if "emulate" in said and said["emulate"] not in EMULATE_WHEN:
        yield f"clmap.emulate must be one of {', '.join(EMULATE_WHEN)}; it is {said['emulate']!r}"
    if "device" in said and not _device(said["device"]):
        known = [name for it in list_models() for name in (it.id, *it.aliases)]
        name = str(said["device"])
        yield f'clmap.device: there is no device model "{name}"{did_you_mean(name, known)}'
    for name in ("select", "ignore"):
        for word in _strings(said.get(name)):
            if not _selects(word):
                yield f"clmap.{name}: there is no rule {word!r}"


_MOST_SECONDS = 10**9


def _seconds(value: object) -> float | None:
    """Return a number of seconds; infinity, and whole numbers that are no floating-point ones, are none."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    return float(value) if 0 < value <= _MOST_SECONDS else None


def _device(value: object) -> str:
    """Return the name of a device model; an unknown one is as good as none."""
    if not isinstance(value, str) or not value:
        return ""
    try:
        return load_model(value).id
    except DeviceModelError:
        logger.warning("clmap.device: there is no device model %r; clmap-lsp devices lists them", value)
        return ""


def _names_device(file: Settings) -> bool:
    return file.path is not None and file.device != defaults.DEVICE


def _strings(value: object) -> tuple[str, ...]:
    return tuple(it for it in value if isinstance(it, str)) if isinstance(value, (list, tuple)) else ()


def _build(options: tuple[str, ...]) -> BuildOptions:
    defines: list[tuple[str, str]] = []
    undefines: list[str] = []
    includes: list[str] = []
    standard = ""
    waiting = iter(options)
    for option in waiting:
        if option in ("-D", "-I", "-U"):
            option += next(waiting, "")  # noqa: PLW2901 - `-D NAME` is one option in two words
        if option.startswith("-D"):
            name, equals, value = option[2:].partition("=")
            defines.append((name.strip(), value if equals else "1"))
        elif option.startswith("-U"):
            undefines.append(option[2:].strip())
        elif option.startswith("-I"):
            includes.append(option[2:].strip())
        elif option.startswith("-cl-std="):
            standard = option.removeprefix("-cl-std=")
    return BuildOptions(tuple(defines), tuple(undefines), tuple(includes), standard or None)
