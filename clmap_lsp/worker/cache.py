"""Results of emulations on disk, by content; any fault of the disk only costs another run."""

from __future__ import annotations

import contextlib
import json
import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import platformdirs

from clmap_lsp.reading import safe_read
from clmap_lsp.strange_json import parsed

MAX_BYTES = 128 * 2**20
"""Beyond this, the results that were used longest ago go."""
MAX_ENTRY_BYTES = 8 * 2**20


_KEY = re.compile(r"[\w-]{1,128}")
_keeper: Callable[[str, dict[str, Any]], None] | None = None


def hand_over(keeper: Callable[[str, dict[str, Any]], None]) -> None:
    """From now on give results to `keeper` instead of writing them: the worker process may write no files."""
    global _keeper  # noqa: PLW0603 - a fact about the process
    _keeper = keeper


def folder() -> Path:
    """Return the folder of the cache; `CLMAP_CACHE_DIR` overrides the platform's."""
    override = os.environ.get("CLMAP_CACHE_DIR")
    return (
        Path(override) if override else Path(platformdirs.user_cache_dir("clmap-lsp", False)) / "emulations"
    )


def load(key: str) -> dict[str, Any] | None:
    """Return a result, or `None` where there is none that can be read."""
    path = _path(key)
    try:
        data = parsed(safe_read(path, limit=MAX_ENTRY_BYTES + 4096, within=None))
    except (OSError, ValueError):
        return None
    if not isinstance(data, dict) or data.get("key") != key or not isinstance(data.get("value"), dict):
        return None
    with contextlib.suppress(OSError):
        os.utime(path)
    value: dict[str, Any] = data["value"]
    return value


def store(key: str, value: dict[str, Any]) -> None:
    """Keep a result. It appears at once or not at all, whatever happens meanwhile."""
    if _keeper is not None:
        _keeper(key, value)
        return
    if not _KEY.fullmatch(key):
        return  # What comes from a worker names no path of its own making.
    body = json.dumps({"key": key, "value": value}).encode()
    if len(body) > MAX_ENTRY_BYTES:
        return
    path = _path(key)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(body)
            Path(name).replace(path)
        except OSError:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError:
        return
    _shrink()


def _path(key: str) -> Path:
    return folder() / key[:2] / f"{key[2:]}.json"


def _shrink() -> None:
    entries = []
    for path in folder().glob("*/*.json"):
        with contextlib.suppress(OSError):
            status = path.stat()
            entries.append((status.st_mtime, status.st_size, path))
    excess = sum(size for _, size, _ in entries) - MAX_BYTES
    for _, size, path in sorted(entries):
        if excess <= 0:
            return
        with contextlib.suppress(OSError):
            path.unlink()
        excess -= size
