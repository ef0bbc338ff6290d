"""Files that a command writes: none of them is a kernel that it reads, and none is named twice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from clmap_lsp.errors import UsageError


def check_written(named: Sequence[tuple[str, str]], read: Iterable[str]) -> None:
    """Raise UsageError if an option would write over a kernel file, or over what another option writes.

    Args:
        named: options and the files that they name.
        read: the kernel files of the command.
    """
    if not named:
        return
    kernels = {_real(it) for it in read}
    taken: dict[str, str] = {}
    for option, path in named:
        real = _real(path)
        if real in kernels:
            raise UsageError(f"{option}: {path} is a kernel file that is read; name another file to write to")
        if real in taken:
            raise UsageError(f"{option}: {taken[real]} writes this file too; name another")
        taken[real] = option


def _real(path: str) -> str:
    return str(Path(path).resolve())
