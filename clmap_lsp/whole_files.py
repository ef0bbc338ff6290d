"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def encoded(text: str) -> bytes:
    """Return a text in UTF-8; what a file's name holds that is none (`os.fsdecode`) is spelled out."""
    return text.encode("utf-8", "backslashreplace")


def write_whole(path: Path, data: bytes) -> None:
    """Write a file: all of it, or nothing, so that a full disk costs nobody what stood there before.

    Raises: OSError.
    """
    if path.exists() and not path.is_file():  # A pipe, a terminal: nothing to lose there.
        path.write_bytes(data)
        return
    target = path.resolve()  # A link stays one.
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        part.write_bytes(data)
        if target.exists():
            shutil.copymode(target, part)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
