"""Kernels inside of what C++ hosts put around them to make strings: `R"( )"`, and macros like `STRINGIFY( )`.

Every character keeps its place: what does not belong to the kernels is blanked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_RAW_STRING = re.compile(r'(?<!\w)R"([^()\\\s]{0,16})\(((?:[^)]|\)(?!\1"))*\n(?:[^)]|\)(?!\1"))*)\)\1"')

_STRING_MACRO = re.compile(
    r'^(?P<head>[^\n;{}()#"/]*?)(?<!\w)(?P<name>\w*(?:STRING|STR|SOURCE|SRC|QUOTE|TEXT|stringify|Stringify)\w*)'
    r"[ \t]*\([ \t]*(?:\\n)?[ \t]*\r?$",
    re.MULTILINE,
)
_BRACKET = re.compile(r'//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:[^"\\\n]|\\.)*+(?:"|(?=\n)|\Z)|[()]', re.DOTALL)
_MOST_RAW_STRINGS = 1000
"""Each that is not closed is followed to the end of the text."""
_KERNEL = re.compile(r"(?<!\w)(?:__)?kernel(?!\w)")
_NEW_LINE = re.compile(r'("(?:[^"\\\n]|\\.)*+(?:"|(?=\n)|\Z))|\\n')


def without_wrapping(text: str) -> str:
    """Blank what makes a string of the kernels of a file."""
    if 0 < text.count('R"') <= _MOST_RAW_STRINGS:
        text = _RAW_STRING.sub(_without_delimiters, text)
    for start, end in stringified(text):
        opening = text.rfind("\n", 0, start) + 1
        closing = end + 1
        rest = text[closing : closing + 40].lstrip()
        if rest.startswith(";"):
            closing = text.index(";", closing) + 1
        inner = without_new_lines(text[start:end])
        text = text[:opening] + " " * (start - opening) + inner + " " * (closing - end) + text[closing:]
    return text


def stringified(text: str) -> Iterator[tuple[int, int]]:
    """Yield the arguments of macros that make strings of kernels, as (start, end)."""
    at = 0
    while match := _STRING_MACRO.search(text, at):
        start = at = match.end()
        end = _closing(text, start)
        if end is not None and _KERNEL.search(text, start, end):
            yield start, end
            at = end


def without_new_lines(text: str) -> str:
    r"""Blank the `\n` that stand for line ends in an argument that a macro makes a string of."""
    return _NEW_LINE.sub(lambda match: match[1] or "  ", text)


def _closing(text: str, start: int) -> int | None:
    """Return where the `)` stands that fits one before `start`."""
    depth = 1
    for match in _BRACKET.finditer(text, start):
        if match.group() == "(":
            depth += 1
        elif match.group() == ")":
            depth -= 1
            if depth == 0:
                return match.start()
    return None


def _without_delimiters(match: re.Match[str]) -> str:
    opening, inner, closing = len(match[1]) + 3, match[2], len(match[1]) + 2
    return " " * opening + inner + " " * closing
