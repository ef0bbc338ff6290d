"""What an emulation's result is kept under: everything that it depends on, and nothing else."""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from clmap_lsp.version import __version__

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import KernelAnalysis
    from clmap_lsp.config import Settings
    from clmap_lsp.devices import DeviceModel
    from clmap_lsp.source.program import Program

FORMAT = 4
"""Of what results look like; another number makes those on disk unknown."""
_COMMENT = re.compile(r'//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:[^"\\\n]|\\.)*+(?:"|(?=\n)|\\?\Z)', re.DOTALL)
"""Comments, and strings, which may look like ones. What is not closed runs to its end: linear in any text."""


def content_key(
    program: Program,
    kernel: KernelAnalysis,
    settings: Settings,
    device: DeviceModel,
    *,
    to_the_letter: bool = True,
    around: Program | None = None,
) -> str:
    """Return a digest of a kernel, what it shares with its file, its options, launch and device.

    Text of other kernels is left out, so that an edit there keeps this kernel's result. The kernel's own text
    counts to the letter, because places in the result do; outside it, comments and blanks do not count. The
    launch does, so that a changed launch comment does. Where it need not be to the letter, comments and
    blanks of the kernel do not count either. `around` is the whole program where only a part of it was read.
    """
    span = kernel.span
    own = program.main_file.text[span.start : span.end] if span.path == program.path else ""
    if not to_the_letter:
        own = " ".join(_bare(own).split())
    launch = kernel.launch
    whole = (
        __version__,
        FORMAT,
        kernel.name,
        own,
        _shared(around or program),
        settings.build,
        None if launch is None else launch.fingerprint(),
        _described(device),
    )
    return hashlib.sha256(repr(whole).encode("utf-8", "surrogatepass")).hexdigest()


@lru_cache(maxsize=4)
def _described(device: DeviceModel) -> str:
    return repr(device)


@lru_cache(maxsize=4)  # Every kernel of a program asks, one after the other.
def _shared(program: Program) -> str:
    """Return a digest of what the kernels of a program share: the text around them, and included files."""
    text = program.main_file.text
    parts = []
    at = 0
    for kernel in sorted(program.kernels, key=lambda it: it.span.start):
        if kernel.span.path == program.path and kernel.span.start >= at:
            parts.append(_bare(text[at : kernel.span.start]))
            at = kernel.span.end
    parts.append(_bare(text[at:]))
    included = [(path, it.text) for path, it in sorted(program.files.items()) if path != program.path]
    return hashlib.sha256(repr((parts, included)).encode("utf-8", "surrogatepass")).hexdigest()


def _bare(text: str) -> str:
    """Return text without comments and blanks that mean nothing; line ends end directives."""
    bare = _COMMENT.sub(lambda it: it[0] if it[0][0] == '"' else " ", text)
    lines = (" ".join(it.split()) for it in bare.splitlines())
    return "\n".join(it for it in lines if it)


def significant(text: str) -> list[int]:
    """Return the offsets of the characters that are neither blanks nor of comments.

    Texts with the same key, but for comments and blanks, have the same such characters in the same order.
    """
    found: list[int] = []
    at = 0
    for it in _COMMENT.finditer(text):
        stop = it.end() if it[0][0] == '"' else it.start()
        found += [place for place in range(at, stop) if not text[place].isspace()]
        at = it.end()
    return found + [place for place in range(at, len(text)) if not text[place].isspace()]
