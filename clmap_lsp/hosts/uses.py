"""Where host code names a kernel: in strings, as `clCreateKernel` gets them, and as `program.name`."""

from __future__ import annotations

import re
from collections.abc import Iterator

_ATTRIBUTE = re.compile(r"(?<=[\w)\]])\.(\w+)\b(?!\s*=[^=])")
_LONGEST_REQUEST = 200
"""Characters of a call up to the kernel's name in it."""
_REQUEST = re.compile(r"(?<!\w)\w*[kK]ernel\w*[^\"';]{0,120}[\"'](\w*)\Z")
_QUOTED = re.compile(r"\"(\w+)\"")
_QUOTED_IN_PYTHON = re.compile(r"\"(\w+)\"|'(\w+)'")


def uses_of(name: str, text: str, path: str) -> Iterator[tuple[int, int]]:
    """Yield the places of a kernel's name in a host file, without quotes; offsets in code points."""
    at = 0
    while (at := text.find(name, at)) >= 0:
        if _name_from(at, text, path) == (at, at + len(name)):
            yield at, at + len(name)
        at += len(name)


def name_at(text: str, offset: int, path: str) -> tuple[int, int] | None:
    """Return where a name stands around an offset of a host file as a kernel's would, be there one or not."""
    start = end = offset
    while start > 0 and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    while end < len(text) and (text[end].isalnum() or text[end] == "_"):
        end += 1
    return _name_from(start, text, path) if start < end else None


def kernel_asked_for(text: str, offset: int) -> tuple[int, int] | None:
    """Return where the name stands that host code makes a kernel of, be it typed or not yet."""
    before = text[max(0, offset - _LONGEST_REQUEST) : offset]
    match = _REQUEST.search(before)
    if match is None:
        return None
    end = offset
    while end < len(text) and (text[end].isalnum() or text[end] == "_"):
        end += 1
    return offset - len(match[1]), end


def _name_from(start: int, text: str, path: str) -> tuple[int, int] | None:
    """Return the name that starts somewhere, behind a quote or a point, and where it ends."""
    if start == 0:
        return None
    is_python = path.lower().endswith(".py")
    for pattern in (_QUOTED_IN_PYTHON, _ATTRIBUTE) if is_python else (_QUOTED,):
        match = pattern.match(text, start - 1)
        if match is not None:
            return match.span(match.lastindex or 0)
    return None
