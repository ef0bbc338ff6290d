"""What settings and options name and is not there: `[launch.NAME]` without a kernel, include folders."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from clmap_lsp.errors import UsageError
from clmap_lsp.escaping import terminal
from clmap_lsp.sources import UnreadableError, read_source

if TYPE_CHECKING:
    from clmap_lsp.commands.options import SettingsSource
    from clmap_lsp.config import Settings


def check_settings(source: SettingsSource, texts: Mapping[str, str | None]) -> None:
    """Tell of include folders that are not there, which builds pass over.

    Args:
        texts: the files that the command looks at, by path; `None` for those that have not been read yet.

    Raises: UsageError for a `[launch.NAME]` table that no kernel is meant by: it is mistyped.
    """
    from clmap_lsp.workbench.unmatched import COMMAND_LINE, missing_include_dirs

    settings_of = {path: source.for_path(Path(path)) for path in texts}
    configured: dict[str, tuple[Settings, list[str]]] = {}
    for path, known in texts.items():
        settings = settings_of[path]
        if settings.launches and settings.path is not None:
            try:
                text = read_source(path) if known is None else known
            except UnreadableError:
                text = ""  # An error of its own, told where the file is looked at.
            configured.setdefault(settings.path, (settings, []))[1].append(text)
    if configured:
        _refuse_unmatched(configured)
    for it in missing_include_dirs(settings_of):
        where = "" if it.place == COMMAND_LINE else f"{it.place}: "
        sys.stderr.write(terminal(f"clmap-lsp: {where}{it.key}: {it.reason}; it is passed over\n"))


def _refuse_unmatched(configured: Mapping[str, tuple[Settings, list[str]]]) -> None:
    from clmap_lsp.workbench.unmatched import launches_without_kernel

    for name, (settings, read) in configured.items():
        for it in launches_without_kernel(settings, read):
            raise UsageError(f"{Path(name).parent / it.place}: {it.key}: {it.reason}")
