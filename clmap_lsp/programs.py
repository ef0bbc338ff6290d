"""Other programs that are run: found where the user's own path says, never in a folder that is worked in."""

from __future__ import annotations

import os
from collections.abc import Iterable


def find_program(name: str, folders: Iterable[str] | None = None) -> str | None:
    """Return the path of a program in some folders, those of PATH if left out; `None` where there is none.

    Entries of PATH that are relative, or empty, mean the current folder: there a repository may have put a
    program of this name. Windows looks there first, without being told.
    """
    endings = os.environ.get("PATHEXT", ".EXE").split(os.pathsep) if os.name == "nt" else [""]
    for folder in filter(os.path.isabs, os.get_exec_path() if folders is None else folders):
        for ending in endings:
            path = os.path.join(folder, name + ending)  # noqa: PTH118 - no file system is asked yet.
            if os.path.isfile(path) and os.access(path, os.X_OK):  # noqa: PTH113
                return path
    return None
