"""Where host code names a kernel: in strings, as `clCreateKernel` gets them, and as `program.name`."""

from __future__ import annotations

import re
from collections.abc import Iterator


def uses_of(name: str, text: str, path: str) -> Iterator[tuple[int, int]]:
    """Yield the places of a kernel's name in a host file, without quotes; offsets in code points."""
    word = re.escape(name)
    pattern = rf'"({word})"'
    if path.lower().endswith(".py"):
        pattern += rf"|'({word})'|(?<=[\w)\]])\.({word})\b(?!\s*=[^=])"
    for match in re.finditer(pattern, text):
        yield match.span(match.lastindex or 0)
