"""Notice changed files by their size and time of change; works on every file system, network ones too."""

from __future__ import annotations

import contextlib
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from clmap_lsp.commands.files import SUFFIXES
from clmap_lsp.hosts.project import HOST_SUFFIXES
from clmap_lsp.reading import walk
from clmap_lsp.workspace import scope_of

_WATCHED = SUFFIXES | HOST_SUFFIXES | {".clh", ".toml", ".sim"}
_INTERVAL_S = 0.4

State = dict[str, tuple[int, int]]


def changes(paths: Sequence[str], sleep: Callable[[float], None] = time.sleep) -> Iterator[list[str]]:
    """Yield an empty list at once, then the changed, new and removed files, each time there are any."""
    before = state(paths)
    yield []
    while True:
        sleep(_INTERVAL_S)
        now = state(paths)
        if changed := sorted(it for it in before.keys() | now.keys() if before.get(it) != now.get(it)):
            before = now
            yield changed


def state(paths: Sequence[str]) -> State:
    """Return size and time of change of every file that may matter: the paths, and what lies beside them."""
    found: State = {}
    for path in paths:
        root = path if Path(path).is_dir() else str(Path(path).parent)
        below = walk(root, _WATCHED, scope_of(str(Path(root, "any"))))
        for file in (path, *(it.path for it in below if not it.refused)):
            with contextlib.suppress(OSError):
                info = Path(file).stat()
                if not stat.S_ISDIR(info.st_mode):
                    found[str(Path(file))] = (info.st_mtime_ns, info.st_size)
    return found
