"""The settings of any path: the nearest `clmap.toml`, or one that a person named; then options on top."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from clmap_lsp.errors import UsageError
from clmap_lsp.reading import reason

if TYPE_CHECKING:
    from clmap_lsp.config import Settings


class Configurations:
    """Configuration files, each read once.

    Args:
        named: use this `clmap.toml` for all paths instead of the nearest one.
    """

    def __init__(self, named: Path | None = None) -> None:
        self._named = named
        self._read: dict[Path | None, Settings] = {}
        self._nearest: dict[Path, Path | None] = {}

    def for_path(self, path: Path) -> Settings:
        """Return what holds for one file.

        Raises: UsageError for a configuration that cannot be used.
        """
        from clmap_lsp.config import find

        source = self._named
        if source is None:
            folder = path if path.is_dir() else path.parent
            if folder not in self._nearest:
                self._nearest[folder] = find(folder)
            source = self._nearest[folder]
        if source not in self._read:
            read = _load(source, named=self._named is not None)
            self._read[source] = read if self._named is not None else read.of_a_repository()
        return self._read[source].for_path(str(path.absolute()))


def with_options(
    settings: Settings,
    *,
    device: str | None = None,
    defines: tuple[tuple[str, str], ...] = (),
    undefines: tuple[str, ...] = (),
    include_dirs: tuple[str, ...] = (),
    prelude: tuple[str, ...] = (),
    standard: str | None = None,
    time_limit_s: float | None = None,
    memory_limit_mib: int | None = None,
) -> Settings:
    """Return settings with a person's options on top: macros add up, the rest goes before the settings'.

    Folders that a person names are open to includes, wherever they are.
    """
    build = replace(
        settings.build,
        defines=settings.build.defines + defines,
        undefines=settings.build.undefines + undefines,
        include_dirs=include_dirs + settings.build.include_dirs,
        prelude=settings.build.prelude + prelude,
        standard=standard or settings.build.standard,
    )
    limits = replace(
        settings.emulate,
        time_limit_s=time_limit_s or settings.emulate.time_limit_s,
        memory_limit_mib=memory_limit_mib or settings.emulate.memory_limit_mib,
    )
    return replace(
        settings, build=build, device=device or settings.device, opened=include_dirs, emulate=limits
    )


def _load(source: Path | None, *, named: bool) -> Settings:
    from clmap_lsp.config import ConfigError, Settings, parse, read_config

    if source is None:
        return Settings()
    try:
        text = read_config(source, named=named)
        return parse(str(source), text, devices=_device_names(text), rules=_rule_names(text))
    except ConfigError as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        raise UsageError(f"{source}: {reason(error)}; name a readable clmap.toml with --config") from None


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
