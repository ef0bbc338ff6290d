"""Tell kernels that are the same, whatever their layout and comments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from clmap_lsp.source.lexer import COMMENT

_COMMENTS = re.compile(COMMENT)
_LAYOUT = re.compile(r"[\s\\]+")
_HEAD = re.compile(r"(?<!\w)(?:__)?kernel(?!\w)")
_BRACE = re.compile(r"[{}]")


def kernels_of(programs: Iterable[str]) -> frozenset[str]:
    """Return the whole kernels of programs, from head to last brace, without comments and white space."""
    return frozenset(_LAYOUT.sub("", it) for text in programs for it in _kernels(_COMMENTS.sub(" ", text)))


def _kernels(text: str) -> Iterator[str]:
    at = 0
    while head := _HEAD.search(text, at):
        depth = 0
        for brace in _BRACE.finditer(text, head.end()):
            depth += 1 if brace[0] == "{" else -1
            if depth <= 0:
                break
        else:
            return  # The rest is put together as the host runs.
        at = brace.end()
        if brace[0] == "}":
            yield text[head.end() : at]
