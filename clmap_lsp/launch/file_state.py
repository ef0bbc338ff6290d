"""What a file that a launch reads holds at this moment, as a digest: part of the launch's fingerprint.

Digests are remembered by size and time of change, so that asking again costs one look at the directory. A
file that changed within the last seconds is read again each time: another change may leave both as they are.
"""

from __future__ import annotations

import hashlib
import time
from functools import lru_cache

from clmap_lsp.reading import ReadScope, regular, safe_read

_SETTLED_S = 3.0
"""Longer than the granularity of time stamps of any file system in use (FAT: 2 s)."""
_LARGEST = 1 << 32
"""Bytes; a larger file is no buffer of a launch (see `launch.contents`) and is told by its size and time."""


def file_state(path: str, within: ReadScope | None) -> str:
    """Return what changes when the contents of a file do; for what cannot be read, the reason."""
    try:
        found = regular(path, within=within)
        place = path, found.st_size, found.st_mtime_ns, found.st_ino
        if found.st_size > _LARGEST:
            return repr(place[1:])
        has_settled = time.time_ns() - found.st_mtime_ns > _SETTLED_S * 1e9
        return _remembered(*place, within) if has_settled else _digest(path, within)
    except (OSError, ValueError) as error:
        return str(error)


def is_readable(path: str, within: ReadScope | None) -> bool:
    """Tell whether a file is one that a launch may read."""
    try:
        regular(path, within=within)
    except (OSError, ValueError):
        return False
    return True


@lru_cache(maxsize=256)
def _remembered(path: str, _size: int, _changed_ns: int, _inode: int, within: ReadScope | None) -> str:
    return _digest(path, within)


def _digest(path: str, within: ReadScope | None) -> str:
    return hashlib.blake2b(safe_read(path, limit=_LARGEST, within=within)).hexdigest()
