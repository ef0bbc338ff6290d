"""What a `clmap.toml` says, as frozen data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from fnmatch import fnmatchcase

from clmap_lsp import defaults
from clmap_lsp.dataclass import dataclass
from clmap_lsp.reading import ReadScope
from clmap_lsp.source.ir import Severity
from clmap_lsp.source.options import BuildOptions
from clmap_lsp.workspace import scope_of


@dataclass(frozen=True, slots=True)
class LaunchSetting:
    """One `[launch.NAME]` table. Sizes are empty where they are left to be inferred."""

    kernel: str
    global_size: tuple[int, ...] = ()
    local_size: tuple[int, ...] = ()
    global_offset: tuple[int, ...] = ()
    arguments: Mapping[str, str] = field(default_factory=dict)
    """As after `--arg NAME=`: `256`, `random(N*N)`."""
    source: str = ""
    """For people: `clmap.toml:12`."""


@dataclass(frozen=True, slots=True)
class RuleSettings:
    """Which rules speak, and how loudly. Selectors are codes, code prefixes (`CM1`), names or `ALL`."""

    select: tuple[str, ...] = ("ALL",)
    ignore: tuple[str, ...] = ()
    severity: Mapping[str, Severity] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EmulateSettings:
    """Whether `check` runs kernels in the emulator, and within which limits."""

    enabled: bool = False
    time_limit_s: float = defaults.TIME_LIMIT_S
    memory_limit_mib: int = defaults.MEMORY_LIMIT_MIB


@dataclass(frozen=True, slots=True)
class HostSettings:
    """How host code is read for launches."""

    enabled: bool = True
    """Whether other commands take launches from it by themselves."""
    defines: tuple[tuple[str, str], ...] = ()
    """Macros that the host program is compiled with."""
    wrappers: dict[str, dict[str, int | str]] = field(default_factory=dict)
    """For each function of the project's own that launches: which of its arguments is what, from 0."""


@dataclass(frozen=True, slots=True)
class Override:
    """An `[[override]]` table: what differs for paths that match its globs, relative to the configuration."""

    paths: tuple[str, ...]
    device: str | None = None
    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    severity: Mapping[str, Severity] = field(default_factory=dict)
    defines: tuple[tuple[str, str], ...] = ()
    include_dirs: tuple[str, ...] = ()
    prelude: tuple[str, ...] = ()
    standard: str | None = None

    def matches(self, relative: str) -> bool:
        """Tell whether a `/`-separated path below the configuration's folder is meant."""
        return any(
            fnmatchcase(relative, glob) or relative.startswith(glob.rstrip("/") + "/") for glob in self.paths
        )


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that a workspace configures; the default is what holds without a `clmap.toml`."""

    build: BuildOptions = field(default_factory=BuildOptions)
    device: str = defaults.DEVICE
    rules: RuleSettings = field(default_factory=RuleSettings)
    launches: Mapping[str, LaunchSetting] = field(default_factory=dict)
    overrides: tuple[Override, ...] = ()
    exclude: tuple[str, ...] = ()
    fail_on: str = defaults.FAIL_ON
    baseline: str | None = None
    emulate: EmulateSettings = field(default_factory=EmulateSettings)
    hosts: HostSettings = field(default_factory=HostSettings)
    recorded: str | None = None
    """A recording of launches."""
    recorded_within: ReadScope | None = None
    """Where it must lie, if a repository names it and no person."""
    path: str | None = None
    """The file that these came from."""
    opened: tuple[str, ...] = ()
    """Folders outside the workspace from which a person, not the configuration, lets files be included."""
    folder: str | None = None
    """Its folder: globs and relative paths start here."""

    def of_a_repository(self) -> Settings:
        """Return what counts of settings that no person named: whoever wrote them may be a stranger.

        They may forbid that kernels run, not ask for it, and lower what a run may take, not raise it.
        """
        least = EmulateSettings()
        own = self.emulate
        return replace(
            self,
            recorded_within=scope_of(self.path) if self.path is not None else None,
            emulate=EmulateSettings(
                enabled=False,
                time_limit_s=min(own.time_limit_s, least.time_limit_s),
                memory_limit_mib=min(own.memory_limit_mib, least.memory_limit_mib),
            ),
        )

    def relative(self, path: str) -> str:
        """Return an absolute path relative to the configuration's folder, `/`-separated, if it is below."""
        posix = path.replace("\\", "/")
        if self.folder is None:
            return posix
        prefix = self.folder.replace("\\", "/").rstrip("/") + "/"
        return posix[len(prefix) :] if posix.startswith(prefix) else posix

    def for_path(self, path: str) -> Settings:
        """Apply the overrides that match an absolute path, in order."""
        settings = self
        relative = self.relative(path)
        for override in self.overrides:
            if override.matches(relative):
                settings = _apply(settings, override)
        return settings

    def excludes(self, path: str) -> bool:
        """Tell whether a directory walk leaves this file out."""
        relative = self.relative(path)
        return any(
            fnmatchcase(relative, glob) or relative.startswith(glob.rstrip("/") + "/")
            for glob in self.exclude
        )


def _apply(settings: Settings, override: Override) -> Settings:
    rules = settings.rules
    build = settings.build
    return replace(
        settings,
        device=override.device or settings.device,
        rules=RuleSettings(
            select=rules.select if override.select is None else override.select,
            ignore=rules.ignore + override.ignore,
            severity={**rules.severity, **override.severity},
        ),
        build=replace(
            build,
            defines=build.defines + override.defines,
            include_dirs=build.include_dirs + override.include_dirs,
            prelude=build.prelude + override.prelude,
            standard=override.standard or build.standard,
        ),
    )
