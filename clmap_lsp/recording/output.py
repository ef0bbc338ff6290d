"""Where a recording goes, looked at before anything runs for it."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from clmap_lsp.errors import UsageError
from clmap_lsp.reading import begins_with, check_regular, reason


def check_output(path: Path, named: str) -> None:
    """Make sure that a recording can be written, over another one at most, which is left as it is.

    Args:
        named: how whoever asked calls it, for messages.

    Raises: UsageError.
    """
    try:
        if path.exists() and not _is_recording(path):
            raise UsageError(f"{named}: it is no recording that could be written over; name another file")
        path.touch()
        if not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except (OSError, ValueError) as error:
        why = reason(error) if isinstance(error, OSError) else "it is no name of a file"
        raise UsageError(f"{named}: {why}; name a file that can be written") from None


def _is_recording(path: Path) -> bool:
    from clmap_lsp.recording.read import START

    check_regular(path)
    return not path.stat().st_size or begins_with(path, START)
