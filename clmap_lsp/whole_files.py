"""Files that are written whole or not at all."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

from clmap_lsp.workspace import leads_out


def encoded(text: str) -> bytes:
    """Return a text in UTF-8; what a file's name holds that is none (`os.fsdecode`) is spelled out."""
    return text.encode("utf-8", "backslashreplace")


def write_whole(path: Path, data: bytes) -> None:
    """Write a file: all of it, or nothing, so that a full disk costs nobody what stood there before.

    A link stays one, but none that a repository holds leads out of it: whoever wrote the repository would
    choose which of the user's files is written over.

    Raises: OSError.
    """
    if path.exists() and not path.is_file():  # A pipe, a terminal: nothing to lose there.
        _write_through(path, data)
        return
    target = path.resolve()
    if leads_out(path, target):
        raise OSError(errno.EACCES, "is a link that leads out of the workspace", str(path))
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    part.unlink(missing_ok=True)
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK, 0o666), "wb") as file:
            file.write(data)
        if target.exists():
            shutil.copymode(target, part)
        part.replace(target)
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(path)) from None  # Not the file's that goes.
    finally:
        part.unlink(missing_ok=True)


_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


def _write_through(path: Path, data: bytes) -> None:
    """Write to what is no file. A pipe that nobody reads is refused: opening it would wait for ever."""
    descriptor = os.open(path, os.O_WRONLY | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(descriptor, "wb") as file:
        if hasattr(os, "set_blocking"):
            os.set_blocking(descriptor, True)
        file.write(data)
