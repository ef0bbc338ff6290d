"""Standard streams for a server that speaks on them.

A stray `print` in the server, in a library, or in a child that inherited stdout would land between frames
and corrupt the wire. So the real streams are moved to private descriptors first: descriptor 0 then reads
nothing and descriptor 1 writes to stderr.
"""

from __future__ import annotations

import os
import sys
from typing import BinaryIO


def claim_stdio() -> tuple[BinaryIO, BinaryIO]:
    """Take stdin and stdout away from everybody else.

    Returns: private unbuffered-read and buffered-write streams of the original stdin and stdout. Children
    do not inherit them (PEP 446), which also keeps a child Python on Windows from hanging on the pipe.
    """
    private_in, private_out = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    if sys.platform == "win32":
        _point_windows_handles()
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - lives as long as the process
    sys.stdout = sys.stderr
    return os.fdopen(private_in, "rb", buffering=0), os.fdopen(private_out, "wb")


def _point_windows_handles() -> None:
    """Make new children see the moved descriptors: Windows hands them out by handle, not by number."""
    import ctypes
    import msvcrt

    set_handle = ctypes.windll.kernel32.SetStdHandle  # type: ignore[attr-defined]
    set_handle(-10, msvcrt.get_osfhandle(0))  # type: ignore[attr-defined]
    set_handle(-11, msvcrt.get_osfhandle(1))  # type: ignore[attr-defined]
