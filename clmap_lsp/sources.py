"""Source texts as they lie on disk: read within bounds, decoded, marked where they are not what they seem."""

from __future__ import annotations

import errno
import sys
from collections.abc import Callable, Iterable

from clmap_lsp.reading import SOURCE_BYTES, ReadScope, RefusedReadError, read_stream, reason, safe_read
from clmap_lsp.source.encoding import decoded
from clmap_lsp.source.preprocess import OutsideText
from clmap_lsp.workspace import scope_of

Reader = Callable[[str], str | None]


class UnreadableError(Exception):
    """A file that is not readable OpenCL C text; the message is one line that starts with its path."""


def read_source(path: str) -> str:
    """Return the text of a source file that a person named; see `decode`.

    A link is followed within the workspace that it lies in: whoever names `*.cl` does not mean what a
    repository made one of them lead to.

    Raises: UnreadableError.
    """
    try:
        return decode(safe_read(path, limit=SOURCE_BYTES, within=scope_of(path)), path)
    except OSError as error:
        raise UnreadableError(f"{path}: {reason(error)}") from None


def read_standard_input(name: str) -> str:
    """Return the text on standard input, called `name` in messages. Raises: UnreadableError."""
    try:
        return decode(read_stream(sys.stdin.buffer, limit=SOURCE_BYTES, name=name), name)
    except OSError as error:
        said = "standard input is closed" if error.errno == errno.EBADF else reason(error)
        raise UnreadableError(f"{name}: {said}") from None


def decode(data: bytes, path: str) -> str:
    """Return the text of a source file's bytes; a byte-order mark is dropped, other encodings are marked.

    Raises: UnreadableError for UTF-16 and for binary files.
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or _is_unmarked_utf16(data):
        raise UnreadableError(f"{path}: UTF-16 text; save it as UTF-8")
    if b"\0" in data:
        raise UnreadableError(f"{path}: a binary file, not OpenCL C source")
    return decoded(data)


def _is_unmarked_utf16(data: bytes) -> bool:
    """Tell UTF-16 without a byte-order mark: of ASCII, every other byte is zero and no other is."""
    head = data[: 1 << 12]
    even, odd = head[::2], head[1::2]
    return any(not any(zeros) and all(others) for zeros, others in ((even, odd), (odd, even)) if zeros)


def include_reader(includer: str, opened: Iterable[str] = (), own: Reader | None = None) -> Reader:
    """Return what reads the files that `includer` includes.

    What lies outside its workspace and the folders that a person opened (see `scope_of`) is not read, and not
    looked for: an empty `OutsideText` stands for it. `own` answers first: texts that an editor holds.
    """
    scope = scope_of(includer, opened)

    def read(path: str) -> str | None:
        known = own(path) if own is not None else None
        return read_included(path, scope) if known is None else known

    return read


def read_included(path: str, scope: ReadScope) -> str | None:
    """Return the text of an included file; None where there is none, or it is no text."""
    try:
        return decode(safe_read(path, limit=SOURCE_BYTES, within=scope), path)
    except RefusedReadError as error:
        return OutsideText("", path) if error.is_outside else None
    except (OSError, UnreadableError):
        return None
