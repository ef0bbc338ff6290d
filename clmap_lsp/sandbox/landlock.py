"""Landlock: which files a process may still reach, and nothing that listens or belongs to other processes.

Source: Linux manual page landlock(7) and Documentation/userspace-api/landlock.rst. What a kernel offers grows
with its version of the interface; all that it offers is used.
"""

from __future__ import annotations

import ctypes
import os
import stat
from collections.abc import Iterable

from clmap_lsp.sandbox.filters import forgo_privileges

_CREATE, _ADD, _RESTRICT = 444, 445, 446
"""System calls, alike on all architectures."""
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _TRUNCATE, _IOCTL = (
    1 << 0,
    1 << 1,
    1 << 2,
    1 << 3,
    1 << 14,
    1 << 15,
)
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL
"""What can be allowed of a single file; the other rights are those of folders."""
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 5: 16}
"""From each version on, so many bits of rights to files are known."""
_TCP = 0b11
_SCOPES = 0b11
"""Abstract sockets and signals: only to processes that are held by the same rules."""
_WITH_TCP, _WITH_SCOPES = 4, 6


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scopes", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32))


def version() -> int:
    """Return the version of the interface that the running kernel offers; 0 where there is none."""
    try:
        libc = ctypes.CDLL(None, use_errno=True)
    except OSError:
        return 0
    long = ctypes.c_long
    found = libc.syscall(long(_CREATE), None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    return max(int(found), 0)


def apply(
    readable: Iterable[str],
    *,
    listed: Iterable[str] = (),
    programs: Iterable[str] = (),
    writable: Iterable[str] = (),
) -> bool:
    """Allow this thread, and those that it starts from now on, these files and folders only.

    Args:
        readable: files and folders that may be read; what does not exist is left out.
        listed: folders of which the names of files may be read, and no file.
        programs: folders whose files may be read and run.
        writable: folders in which anything may be done but running programs.

    Returns: whether it holds; False on kernels without Landlock, and nothing is restricted then.
    """
    offered = version()
    if offered < 1:
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    every = (1 << max(bits for since, bits in _FILE_RIGHTS.items() if since <= offered)) - 1
    rules = _Ruleset(every, _TCP if offered >= _WITH_TCP else 0, _SCOPES if offered >= _WITH_SCOPES else 0)
    size = 24 if offered >= _WITH_SCOPES else 16 if offered >= _WITH_TCP else 8
    long = ctypes.c_long
    ruleset = libc.syscall(long(_CREATE), ctypes.byref(rules), ctypes.c_size_t(size), ctypes.c_uint32(0))
    if ruleset < 0:
        return False
    try:
        for paths, rights in (
            (readable, _READ_FILE | _READ_DIR),
            (listed, _READ_DIR),
            (programs, _READ_FILE | _READ_DIR | _EXECUTE),
            (writable, every & ~_EXECUTE),
        ):
            for path in paths:
                _allow(libc, ruleset, path, rights & every)
        if not forgo_privileges(libc):
            return False
        return bool(libc.syscall(long(_RESTRICT), ctypes.c_int(ruleset), ctypes.c_uint32(0)) == 0)
    finally:
        os.close(ruleset)


def _allow(libc: ctypes.CDLL, ruleset: int, path: str, rights: int) -> None:
    try:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (OSError, ValueError):
        return
    try:
        if not stat.S_ISDIR(os.fstat(opened).st_mode):
            rights &= _OF_FILES
        rule = _Beneath(rights, opened)
        beneath = 1
        libc.syscall(
            ctypes.c_long(_ADD),
            ctypes.c_int(ruleset),
            ctypes.c_int(beneath),
            ctypes.byref(rule),
            ctypes.c_uint32(0),
        )
    finally:
        os.close(opened)
