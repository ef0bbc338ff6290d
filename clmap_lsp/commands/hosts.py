"""Which host files belong to kernels, and what they launch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from clmap_lsp.hosts import HostProject, HostReport, launches_of, read_project
from clmap_lsp.hosts.project import HOST_SUFFIXES, KERNEL_SUFFIXES
from clmap_lsp.reading import ReadScope, safe_read, walk
from clmap_lsp.source.encoding import decoded
from clmap_lsp.workspace import scope_of, workspace_of

if TYPE_CHECKING:
    from clmap_lsp.commands.options import SettingsSource

MAX_FILES = 20_000
"""Files of a workspace that are looked at by name."""
MAX_BYTES = 2 << 20
"""A longer host file is generated."""


def report_of(paths: Sequence[str], source: SettingsSource) -> HostReport:
    """Return the launches of the kernels below some paths; for a host file, those that it makes."""
    launches = []
    unnamed: list[tuple[str, int]] = []
    for folder, wanted in _workspaces(paths).items():
        report = _read(folder, source)
        for it in report.launches:
            asked = any(_below(place, path) for path in wanted for place in (it.kernel_file, it.host_file))
            if asked and it not in launches:
                launches.append(it)
        unnamed += [it for it in report.unnamed if any(_below(it[0], path) for path in wanted)]
    return HostReport(tuple(launches), tuple(dict.fromkeys(unnamed)))


def _read(folder: str, source: SettingsSource) -> HostReport:
    settings = source.for_path(Path(folder))
    return launches_of(project_of(folder, dict(settings.hosts.defines), settings.hosts.wrappers))


def _workspaces(paths: Iterable[str]) -> dict[str, list[str]]:
    """Return the folders to read, each with the paths that are asked for: of a file, its workspace."""
    result: dict[str, list[str]] = {}
    for path in paths:
        folder = path if Path(path).is_dir() else _shown(workspace_of(path))
        result.setdefault(folder, []).append(path)
    return result


def _shown(folder: Path) -> str:
    try:
        return str(folder.relative_to(Path.cwd())) or "."
    except ValueError:
        return str(folder)


def _below(place: str | None, path: str) -> bool:
    if place is None:
        return False
    return Path(path).resolve() in (it := Path(place).resolve()).parents or it == Path(path).resolve()


def project_of(
    folder: str,
    defined: dict[str, str] | None = None,
    wrappers: dict[str, dict[str, int | str]] | None = None,
) -> HostProject:
    """Return the project of all host and kernel files below a folder."""
    scope = scope_of(str(Path(folder, "any")))
    paths = []
    for it in walk(folder, tuple(HOST_SUFFIXES | KERNEL_SUFFIXES), scope):
        if not it.refused:
            paths.append(it.path)
        if len(paths) >= MAX_FILES:
            break
    return read_project(paths, lambda path: _text(path, scope), defined, wrappers)


def _text(path: str, scope: ReadScope) -> str | None:
    try:
        data = safe_read(path, limit=MAX_BYTES, within=scope)
    except OSError:
        return None
    return None if b"\0" in data else decoded(data)
