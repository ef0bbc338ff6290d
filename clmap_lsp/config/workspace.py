"""Where a file's workspace ends: what it includes from elsewhere is read, and reported."""

from __future__ import annotations

from pathlib import Path

from clmap_lsp.config.load import CONFIG_NAME
from clmap_lsp.source.preprocess import OutsideText


def workspace_of(path: str) -> Path:
    """Return the folder that a file belongs to, links followed.

    That is the nearest folder above it with a repository (`.git`), else with a `clmap.toml`, else the current
    folder if the file is below it, else the file's own.
    """
    folder = Path(path).resolve().parent
    above = (folder, *folder.parents)
    for marker in (".git", CONFIG_NAME):
        found = next((it for it in above if (it / marker).exists()), None)
        if found is not None:
            return found
    here = Path.cwd().resolve()
    return here if here in above else folder


def included(text: str, path: str, includer: str) -> str:
    """Return the text of an included file, marked if it lies outside the workspace of the file checked."""
    try:
        place = Path(path).resolve()
        return text if place.is_relative_to(workspace_of(includer)) else OutsideText(text, str(place))
    except (OSError, ValueError, RuntimeError):
        return text
