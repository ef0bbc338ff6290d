"""Find and read kernel files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from clmap_lsp.errors import UsageError
from clmap_lsp.source.encoding import decoded

SUFFIXES = frozenset({".cl", ".clc", ".ocl", ".opencl", ".clcpp"})
"""Files that a directory walk takes for kernels; a file named on the command line may be called anything."""


class UnreadableError(Exception):
    """A file that is not readable OpenCL C text; the message is one line that starts with its path."""


def kernel_files(paths: Iterable[str], excluded: Callable[[Path], bool]) -> list[str]:
    """Return the files that the paths mean, each once: files as named, directories walked in sorted order.

    Directories whose names start with a dot are left out, and links to directories are not followed.

    Raises: UsageError for a path that is not there, or a directory without kernels.
    """
    found: dict[str, None] = {}
    for path in paths:
        if path == "-" or Path(path).is_file():
            found[path] = None
        elif Path(path).is_dir():
            below = [it for it in _walk(path) if not excluded(Path(it))]
            if not below:
                raise UsageError(f"{path}: no kernels below this directory; they end in .cl, .clc or .ocl")
            found.update(dict.fromkeys(below))
        elif Path(path).exists():
            found[path] = None
        else:
            raise UsageError(f"{path}: no such file or directory")
    return list(found)


def _walk(folder: str) -> Iterator[str]:
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(it for it in folders if not it.startswith("."))
        for name in sorted(names):
            if Path(name).suffix.lower() in SUFFIXES:
                yield str(Path(here, name))


def read_text(path: str) -> str:
    """Read a source file.

    Raises: UnreadableError for what cannot be read or is binary.
    """
    try:
        return decode(Path(path).read_bytes(), path)
    except OSError as error:
        raise UnreadableError(f"{path}: {(error.strerror or str(error)).lower()}") from None


def decode(data: bytes, path: str) -> str:
    """Return the text of a file's bytes; a byte-order mark is dropped. What is not UTF-8 is marked as such.

    Raises: UnreadableError.
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise UnreadableError(f"{path}: UTF-16 text; save it as UTF-8")
    if b"\0" in data:
        raise UnreadableError(f"{path}: a binary file, not OpenCL C source")
    return decoded(data)


def include_reader(includer: str) -> Callable[[str], str | None]:
    """Return what reads the files that `includer` includes; see `read_included`.

    Files outside its workspace are marked as such.
    """
    from clmap_lsp.config.workspace import included

    def read(path: str) -> str | None:
        text = read_included(path)
        return None if text is None else included(text, path, includer)

    return read


def read_included(path: str) -> str | None:
    """Read an included file; `None` where there is none or it is not text.

    A header may be in an old encoding: what matters are its definitions.
    """
    try:
        data = Path(path).read_bytes()
    except (OSError, ValueError):
        return None
    return None if b"\0" in data else decoded(data)
