"""Keys of a configuration that speak of nothing: most are mistyped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from clmap_lsp.dataclass import dataclass
from clmap_lsp.hosts.kernels import kernels_in
from clmap_lsp.hosts.project import HOST_SUFFIXES, KERNEL_SUFFIXES
from clmap_lsp.reading import reason as said_reason
from clmap_lsp.reading import walk
from clmap_lsp.sources import UnreadableError, read_source
from clmap_lsp.suggestions import did_you_mean
from clmap_lsp.workspace import scope_of

if TYPE_CHECKING:
    from clmap_lsp.config import Settings
    from clmap_lsp.config.model import LaunchSetting

COMMAND_LINE = "command line"
_NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class Unmatched:
    """A key that matched nothing."""

    place: str
    """For people: `clmap.toml:12`."""
    key: str
    """`[launch.mm]`."""
    reason: str


def launches_without_kernel(settings: Settings, texts: Iterable[str]) -> Iterator[Unmatched]:
    """Yield the `[launch.NAME]` tables of a configuration whose kernel no file names.

    Args:
        texts: those that are looked at anyway; the others below the configuration's folder are read only for
            names that these do not have.
    """
    missing = dict(settings.launches)
    known: dict[str, None] = {}
    for text in texts:
        _strike(missing, known, text)
    if missing and settings.folder is not None:
        for text in _texts_below(settings.folder):
            _strike(missing, known, text)
            if not missing:
                return
    for name, it in missing.items():
        hint = did_you_mean(name, known)
        yield Unmatched(it.source, f"[launch.{name}]", f"no file has a kernel of that name{hint}")


def _strike(missing: dict[str, LaunchSetting], known: dict[str, None], text: str) -> None:
    """Take the names that a text says off the list; they may be put together by macros (`##`)."""
    if missing:
        words = set(_NAME.findall(text))
        glued = {it for it in missing if "##" in text and any(len(w) > 2 and w in it for w in words)}
        for it in [*words.intersection(missing), *glued]:
            del missing[it]
        known.update(dict.fromkeys(it.name for it in kernels_in(text)))


def _texts_below(folder: str) -> Iterator[str]:
    for found in walk(folder, KERNEL_SUFFIXES | HOST_SUFFIXES, scope_of(str(Path(folder, "any")))):
        if not found.refused:
            try:
                yield read_source(found.path)
            except UnreadableError:
                continue


def overrides_without_file(settings: Settings, paths: Iterable[str]) -> Iterator[Unmatched]:
    """Yield the `[[override]]` tables that are about none of some files."""
    relative = [settings.relative(str(Path(it).absolute())) for it in paths]
    name = Path(settings.path or "clmap.toml").name
    for override in settings.overrides:
        if not any(map(override.matches, relative)):
            yield Unmatched(name, f"[[override]] paths = {list(override.paths)}", "no file matches")


def missing_include_dirs(settings_of: Mapping[str, Settings]) -> list[Unmatched]:
    """Return the include folders that are not there, each once.

    Where a file of the workspace names a folder outside of it, nobody looks whether that exists.

    Args:
        settings_of: what holds for each kernel file, by path.
    """
    found: dict[Unmatched, None] = {}
    seen: set[tuple[str | None, str]] = set()
    for path, settings in settings_of.items():
        for folder in settings.build.include_dirs:
            if (settings.path, folder) not in seen:
                seen.add((settings.path, folder))
                found.update(dict.fromkeys(_missing(path, settings, folder)))
    return list(found)


def _missing(path: str, settings: Settings, folder: str) -> Iterator[Unmatched]:
    given = folder in settings.opened
    if not given and not scope_of(path, settings.opened).holds(folder):
        return
    try:
        if Path(folder).is_dir():
            return
        reason = "not a folder" if Path(folder).exists() else "no such folder"
    except (OSError, ValueError) as error:  # too long a name, a name with a NUL
        reason = said_reason(error) if isinstance(error, OSError) else "no such folder"
    if given:
        yield Unmatched(COMMAND_LINE, f"-I {folder}", reason)
    else:
        yield Unmatched(Path(settings.path or "clmap.toml").name, f"include {folder}", reason)
