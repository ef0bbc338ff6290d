"""The one way in which this program reads files: regular ones, bounded, and from where they may come.

A repository that somebody checks can carry links to devices, pipes, gigabytes of zeros, and paths that lead
to the keys of the machine that checks it. So everything goes through `safe_read`; a test holds that nothing
else opens a file for reading.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from clmap_lsp.dataclass import dataclass

MIB = 1 << 20

SOURCE_BYTES = 32 * MIB
"""More than any text that is analysed: 8 Mi characters of at most four bytes."""
SETTINGS_BYTES = 4 * MIB
"""`clmap.toml`, `.sim` files."""
DATA_BYTES = 256 * MIB
"""Baselines, reports of before, records of measurements."""
ARRAYS_BYTES = 8 << 30
"""Outputs of launches, in temporary folders of our own."""

_CHUNK = 1 << 20
_ATTEMPTS = 3
_PRIVATE = frozenset({".git", ".hg", ".svn", ".bzr"})
"""Folders inside a workspace whose files no source may read: they hold the credentials of a checkout."""
_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)


class RefusedReadError(OSError):
    """A file that is not read; `strerror` says why in a few words, `filename` is as it was asked for."""

    @property
    def is_outside(self) -> bool:
        """Tell whether it was refused for where it lies, and not for what it is."""
        return self.errno == errno.EACCES


@dataclass(frozen=True, slots=True)
class ReadScope:
    """Folders below which files may be read on the word of a file that somebody else wrote.

    `roots` are absolute, as written and with links followed.
    """

    roots: tuple[str, ...]

    @classmethod
    def below(cls, *folders: str | os.PathLike[str]) -> ReadScope:
        """Return the scope of some folders, relative ones from the current folder.

        What no folder can be called opens none.
        """
        roots: dict[str, None] = {}
        for folder in folders:
            if "\0" in os.fspath(folder):
                continue
            plain = os.path.abspath(folder)  # noqa: PTH100 - no file system is asked.
            roots[plain] = None
            roots[os.path.realpath(plain)] = None
        return cls(tuple(roots))

    def real_path(self, path: str) -> str:
        """Return a path with links followed. Nothing outside the scope is touched, not even to look.

        Raises: RefusedReadError if it lies, or its links lead, outside.
        """
        _check_name(path)
        plain = os.path.abspath(path)  # noqa: PTH100
        self._check(plain, path)
        real = os.path.realpath(plain)
        self._check(real, path)
        return real

    def holds(self, path: str) -> bool:
        """Tell whether a file may be read."""
        try:
            self.real_path(path)
        except OSError:
            return False
        return True

    def _check(self, absolute: str, path: str) -> None:
        pure = Path(absolute)
        below = [pure.relative_to(it).parts for it in self.roots if pure.is_relative_to(it)]
        if not below:
            raise RefusedReadError(errno.EACCES, "lies outside the workspace", path)
        if all(any(part.lower() in _PRIVATE for part in parts) for parts in below):
            raise RefusedReadError(errno.EACCES, "belongs to the version control, not to the sources", path)


def safe_read(path: str | os.PathLike[str], *, limit: int, within: ReadScope | None) -> bytes:
    """Return the bytes of a regular file of at most `limit` bytes.

    Args:
        path: the file.
        limit: in bytes.
        within: where the file must lie, links followed; None if a person named it, or it is our own.

    It never waits: pipes and devices are refused before they are opened, and again once they are. A file that
    is written while it is read is read anew.

    Raises: OSError, RefusedReadError among them.
    """
    name = os.fspath(path)
    _check_name(name)
    real = None if within is None else within.real_path(name)
    for _ in range(_ATTEMPTS):
        data = _read_once(name, real, limit)
        if data is not None:
            return data
    raise RefusedReadError(errno.EAGAIN, "changes while it is read", name)


def _check_name(name: str) -> None:
    """Refuse what no file can be called: the operating system would raise something else than `OSError`."""
    try:
        if b"\0" not in os.fsencode(name):
            return
    except UnicodeEncodeError:
        pass
    raise RefusedReadError(errno.ENOENT, "no such file", name)


def _read_once(name: str, real: str | None, limit: int) -> bytes | None:
    """Return a file's bytes; None if it changed meanwhile. `real`, if any, is opened without links."""
    _check_kind(Path(name if real is None else real).stat(follow_symlinks=real is None), name, limit)
    flags = os.O_RDONLY
    for flag in ("O_NONBLOCK", "O_CLOEXEC", "O_NOCTTY", "O_BINARY"):
        flags |= getattr(os, flag, 0)
    if real is not None:
        flags |= getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(name if real is None else real, flags)
    try:
        opened = os.fstat(descriptor)
        _check_kind(opened, name, limit)
        if real is not None and os.path.realpath(real) != real:
            raise RefusedReadError(errno.EACCES, "a link took its place while it was opened", name)
        data = _up_to(descriptor, limit + 1)
        after = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    if len(data) > limit:
        raise _too_large(name, limit)
    changed = (opened.st_size, opened.st_mtime_ns) != (after.st_size, after.st_mtime_ns)
    short = opened.st_size not in (0, len(data))  # Files of /proc say 0.
    return None if changed or short else data


def _up_to(descriptor: int, limit: int) -> bytes:
    parts: list[bytes] = []
    left = limit
    while left > 0 and (part := os.read(descriptor, min(left, _CHUNK))):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _check_kind(status: os.stat_result, name: str, limit: int) -> None:
    if not stat.S_ISREG(status.st_mode):
        kind = next((text for test, text in _KINDS if test(status.st_mode)), "no file")
        code = errno.EISDIR if stat.S_ISDIR(status.st_mode) else errno.EINVAL
        raise RefusedReadError(code, f"{kind}, not a regular file", name)
    if status.st_size > limit:
        raise _too_large(name, limit)


def _too_large(name: str, limit: int) -> RefusedReadError:
    size = f"{limit // MIB} MiB" if limit >= MIB else f"{limit} bytes"
    return RefusedReadError(errno.EFBIG, f"larger than {size}, and not read", name)


def regular(path: str | os.PathLike[str], *, within: ReadScope | None) -> os.stat_result:
    """Return the status of a regular file that `safe_read` would read. Raises: OSError."""
    name = os.fspath(path)
    status = Path(name if within is None else within.real_path(name)).stat()
    _check_kind(status, name, 1 << 62)
    return status


def begins_with(path: str | os.PathLike[str], start: bytes) -> bool:
    """Tell whether a regular file, however long, begins with some bytes. Raises: OSError."""
    name = os.fspath(path)
    _check_kind(Path(name).stat(), name, 1 << 62)
    descriptor = os.open(name, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        _check_kind(os.fstat(descriptor), name, 1 << 62)
        return _up_to(descriptor, len(start)) == start
    finally:
        os.close(descriptor)


def check_regular(path: str | os.PathLike[str]) -> None:
    """Raise what `safe_read` raises of something that is no regular file; for libraries that open by name."""
    _check_kind(Path(path).stat(), os.fspath(path), 1 << 62)


def read_stream(stream: BinaryIO, *, limit: int, name: str) -> bytes:
    """Return what a stream such as standard input still holds.

    Raises: RefusedReadError if that is more than `limit` bytes.
    """
    data = stream.read(limit + 1)
    if len(data) > limit:
        raise _too_large(name, limit)
    return data


def reason(error: OSError) -> str:
    """Return why a file could not be read, in a few words for the end of a sentence."""
    text = error.strerror or str(error)
    return text[:1].lower() + text[1:]


@dataclass(frozen=True, slots=True)
class Found:
    """A file that a walk came upon; `refused` says why it must not be read, if so."""

    path: str
    refused: str = ""


_OF_AN_ENVIRONMENT = "pyvenv.cfg"
"""What the folder of a virtual environment of Python holds (PEP 405)."""
_INSTALLED = frozenset({"node_modules", "site-packages"})
"""Folders of what other people wrote."""

_APPLE_DOUBLE = "._"
"""What macOS keeps of a file beside it on other file systems and in archives: `._k.cl` holds no text."""


def walk(folder: str, suffixes: Iterable[str], within: ReadScope) -> Iterator[Found]:
    """Yield the files below a folder, in sorted order, whose names end so (in small letters).

    Folders whose names start with a dot are left out, and what package managers install: virtual
    environments, `site-packages`, `node_modules`; also what macOS keeps beside files, `._k.cl`. Links to
    folders are not followed. Links to files and everything that is no regular file are looked at, never
    opened: what leads out of the scope, and pipes and devices, are yielded as refused, and so are folders
    that cannot be listed.
    """
    wanted = tuple(suffixes)
    # Below the current folder names are shown, and annotated, without a leading `./`.
    waiting = ["" if Path(folder) == Path() else folder]
    while waiting:  # No recursion: folders may be a thousand deep.
        here = waiting.pop()
        try:
            with os.scandir(here or ".") as entries:
                listed = sorted(entries, key=lambda it: it.name)
        except OSError as error:
            yield Found(here or ".", reason(error))  # Its kernels are not checked: that must not pass unsaid.
            continue
        if here not in ("", folder) and any(it.name == _OF_AN_ENVIRONMENT for it in listed):
            continue
        below = []
        for entry in listed:
            if entry.is_dir(follow_symlinks=False):
                if not entry.name.startswith(".") and entry.name not in _INSTALLED:
                    below.append(os.path.join(here, entry.name))  # noqa: PTH118
            elif entry.name.startswith(_APPLE_DOUBLE):
                continue
            elif entry.name.lower().endswith(wanted) and not _leads_to_folder(entry):
                yield Found(os.path.join(here, entry.name), _refusal(entry, within))  # noqa: PTH118
        waiting += reversed(below)


def _leads_to_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _refusal(entry: os.DirEntry[str], within: ReadScope) -> str:
    if entry.is_file(follow_symlinks=False):
        return ""
    try:
        _check_kind(Path(within.real_path(entry.path)).stat(), entry.path, 1 << 62)
    except OSError as error:
        return reason(error)
    return ""
