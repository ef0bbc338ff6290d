"""Where a file's workspace ends: beyond it nothing is read because a file says so."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path

from clmap_lsp.dataclass import dataclass
from clmap_lsp.reading import ReadScope

CONFIG_NAME = "clmap.toml"
SYSTEM_FOLDERS = ("/usr/include", "/usr/local/include")
"""Headers that every user may read; nothing else lies there."""


@dataclass(slots=True)
class _Known:
    """What was found of folders."""

    workspaces: dict[str, Path] = field(default_factory=dict)
    scopes: dict[tuple[str, tuple[str, ...]], ReadScope] = field(default_factory=dict)


_known: _Known | None = None


@contextmanager
def remembered_workspaces() -> Iterator[None]:
    """Look for the workspace of each folder once within the context: one command, which asks thrice a file.

    Folders that become links meanwhile lead nowhere new: what was found is kept with links followed.
    """
    global _known  # noqa: PLW0603 - a fact about the process
    before, _known = _known, _known or _Known()
    try:
        yield
    finally:
        _known = before


def workspace_of(path: str) -> Path:
    """Return the folder that a file belongs to, links in the names of its folders followed.

    That is the nearest folder above it with a repository (`.git`), else with a `clmap.toml`, else the current
    folder if the file is below it, else the file's own. A home folder and the root of the file system are no
    workspaces, whatever lies in them: everything would be inside.
    """
    if _known is None:
        return _found(Path(path).absolute().parent)
    folder = _folder(path)
    if folder not in _known.workspaces:
        _known.workspaces[folder] = _found(Path(folder))
    return _known.workspaces[folder]


def _folder(path: str) -> str:
    """Return the folder of a file as the path spells it, without asking the file system."""
    return os.path.dirname(os.path.join(os.getcwd(), path))  # noqa: PTH109, PTH118, PTH120 - a third of the time


def _found(folder: Path) -> Path:
    folder = folder.resolve()
    above = _above(folder)
    marked = _marked(above)
    if marked is not None:
        return marked
    here = Path.cwd().resolve()
    return here if here in above else folder


def is_marked(path: str) -> bool:
    """Tell whether a repository or a configuration says where the file's workspace begins."""
    return _marked(_above(Path(path).absolute().parent.resolve())) is not None


def leads_out(path: Path, target: Path) -> bool:
    """Tell whether links inside of a workspace, the last part of the path's included, lead out of it.

    Args:
        path: as it is spelled.
        target: where it leads.
    """
    spelled = Path(os.path.abspath(path))  # noqa: PTH100 - no link is followed.
    marked = _marked([it for it in spelled.parents if it not in {Path(it.anchor), _home()}])
    return marked is not None and not target.is_relative_to(marked.resolve())


def _above(folder: Path) -> list[Path]:
    too_wide = {Path(folder.anchor), _home()}
    return [it for it in (folder, *folder.parents) if it not in too_wide]


def _marked(above: list[Path]) -> Path | None:
    for marker in (".git", CONFIG_NAME):
        # Not Path.exists, which raises where a folder may not be looked into.
        found = next((it for it in above if os.path.exists(it / marker)), None)  # noqa: PTH110
        if found is not None:
            return found
    return None


def scope_of(path: str, opened: Iterable[str] = ()) -> ReadScope:
    """Return where the file at `path`, and what it includes, may have files read.

    Args:
        path: the file, as a person named it; if it is a link, where the link lies counts.
        opened: folders that a person opened, with `-I` on the command line or in an editor.
    """
    if _known is None:
        return _scope(path, tuple(opened))
    key = _folder(path), tuple(opened)
    if key not in _known.scopes:
        _known.scopes[key] = _scope(path, key[1])
    return _known.scopes[key]


def _scope(path: str, opened: tuple[str, ...]) -> ReadScope:
    workspace = workspace_of(path)
    system = SYSTEM_FOLDERS if os.name == "posix" else ()
    return ReadScope.below(workspace, *_spelt(path, workspace), *opened, *system)


def _spelt(path: str, workspace: Path) -> list[Path]:
    """Return the highest folder of the workspace as the path spells it, where links stand above the file."""
    inside: list[Path] = []
    for folder in Path(path).absolute().parents:
        if not folder.resolve().is_relative_to(workspace):
            break
        inside = [folder]
    return inside


def _home() -> Path | None:
    try:
        return Path.home().resolve()
    except (OSError, RuntimeError):
        return None
