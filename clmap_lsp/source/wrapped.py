"""Kernels inside of what hosts make strings with: `R"( )"`, macros like `STRINGIFY( )`, `char *x = "`.

Every character keeps its place: what does not belong to the kernels is blanked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clmap_lsp.lazy import lazy_pattern
from clmap_lsp.source.raw_strings import RawClosings

_RAW_STRING = lazy_pattern(r'(?<!\w)R"([^()\\\s"]{0,16})\((.*?)\)\1"', re.DOTALL)
_RAW_OPENED = lazy_pattern(r'(?<!\w)R"([^()\\\s"]{0,16})\(')

_STRING_MACRO = lazy_pattern(
    r'^(?P<head>[^\n;{}()#"/]*?)(?<!\w)(?P<name>(?=\w*?(?:STR|SOURCE|SRC|QUOTE|TEXT|stringify|Stringify))\w++)'
    r"[ \t]*+\([ \t]*+(?:\\n[ \t]*+)?\r?$",
    re.MULTILINE,
)
_OPENS_LAST = lazy_pattern(r"\([ \t]*+(?:\\n[ \t]*+)?\r?$", re.MULTILINE)
"""The bracket that ends such a line: it is found much faster than the line."""
_BRACKET = lazy_pattern(r'//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:[^"\\\n]|\\.)*+(?:"|(?=\n)|\\?\Z)|[()]', re.DOTALL)
_MOST_RAW_STRINGS = 1000
"""For each that holds kernels the text is put together anew."""
_KERNEL = lazy_pattern(r"(?<!\w)(?:__)?kernel(?!\w)")
_OPEN_STRING = lazy_pattern(
    r'^(?=[^\n;"#/]*?(?<!\w)char(?!\w))(?:[^\n;"#/=]|=(?![ \t]*"))*+=[ \t]*+"(?:\\n)?\\?[ \t]*+\r?$'
    r'(?P<inner>(?:(?![^\S\n]*(?:\\n)?[ \t]*";).*\n)*+)[^\S\n]*+(?:\\n)?[ \t]*+";',
    re.MULTILINE,
)
"""What a host's own tools close, line by line: C has no string of several lines."""
_QUOTE_FIRST = lazy_pattern(r'^[^\S\n]*+(?:\\n)?[ \t]*+";', re.MULTILINE)
"""How its last line begins: from there on none begins, which would look through the rest of the text."""
_QUOTE_LAST = lazy_pattern(r'=[ \t]*"(?:\\n)?\\?[ \t]*\r?$', re.MULTILINE)
"""The end of its first line: it is found much faster than the line."""
_NAMES_A_STRING = lazy_pattern(
    r"(?=[\w\s:*&<>\[\]]{0,200}?(?<!\w)(?:char|string|string_view|auto)(?!\w))[\w\s:*&<>\[\]]{0,200}+=\s*+"
)
_ENDS_DECLARATION = lazy_pattern(r"(?<!\s)\s*+;")
"""Matched behind a closing quote; no second try starts inside of a run of blanks."""
_NOT_SPACE = lazy_pattern(r"\S")
_NEW_LINE = lazy_pattern(r'("(?:[^"\\\n]|\\.)*+(?:"|(?=\n)|\\?\Z))|\\n')


def n_strings(text: str) -> int:
    """Return how many strings of a file hold kernels."""
    found = (*_raw_strings(text), *_OPEN_STRING.finditer(text, 0, _last_closed(text))) if '"' in text else ()
    return sum(1 for it in found if _KERNEL.search(it[0])) + sum(1 for _ in stringified(text))


def without_wrapping(text: str) -> str:
    """Blank what makes strings of the kernels of a file."""
    if 0 < text.count('R"') <= _MOST_RAW_STRINGS:
        text = _without_raw_strings(text)
    if "char" in text and _QUOTE_LAST.search(text):
        end = _last_closed(text)
        text = _OPEN_STRING.sub(_without_quotes, text[:end]) + text[end:]
    parts: list[str] = []
    done = 0
    for start, end in stringified(text):
        opening = max(text.rfind("\n", 0, start) + 1, done)
        closing = end + 1
        rest = text[closing : closing + 40].lstrip()
        if rest.startswith(";"):
            closing = text.index(";", closing) + 1
        parts += (text[done:opening], " " * (start - opening), without_new_lines(text[start:end]))
        parts.append(" " * (closing - end))
        done = closing
    return "".join(parts) + text[done:]


def _last_closed(text: str) -> int:
    """Return where the last string of several lines may end."""
    return max((it.end() for it in _QUOTE_FIRST.finditer(text)), default=0)


def _raw_strings(text: str) -> Iterator[re.Match[str]]:
    """Yield the raw strings of several lines, each with its delimiter and what it holds."""
    closings, at = RawClosings(text), 0
    while (opened := _RAW_OPENED.search(text, at)) is not None:
        at = opened.end()
        if closings.after(at, opened[1]) is None:
            continue
        match = _RAW_STRING.match(text, opened.start())
        if match is not None and "\n" in match[2]:
            yield match
            at = match.end()


def _without_raw_strings(text: str) -> str:
    """Blank the delimiters of raw strings, and the declaration that names one which holds kernels."""
    for match in list(_raw_strings(text)):
        start, end = match.span()
        opening = text.rfind("\n", 0, start) + 1
        if text[opening:start].isspace():  # The name stands on the line before.
            opening = text.rfind("\n", 0, max(opening - 1, 0)) + 1
        if _KERNEL.search(match[2]) and _NAMES_A_STRING.fullmatch(text, opening, start):
            text = text[:opening] + _NOT_SPACE.sub(" ", text[opening:start]) + text[start:]
            if closing := _ENDS_DECLARATION.match(text, end):
                text = text[: closing.end() - 1] + " " + text[closing.end() :]
        text = text[:start] + _without_delimiters(match) + text[end:]
    return text


def stringified(text: str) -> Iterator[tuple[int, int]]:
    """Yield the arguments of macros that make strings of kernels, as (start, end)."""
    at, closings = 0, None
    while bracket := _OPENS_LAST.search(text, at):
        start = at = bracket.end()
        if not _STRING_MACRO.match(text, text.rfind("\n", 0, bracket.start()) + 1):
            continue
        if closings is None:
            closings = _closings(text)
        end = closings.get(bracket.start())
        if end is not None and _KERNEL.search(text, start, end):
            yield start, end
            at = end


def without_new_lines(text: str) -> str:
    r"""Blank the `\n` that stand for line ends in an argument that a macro makes a string of."""
    return _NEW_LINE.sub(lambda match: match[1] or "  ", text)


def _closings(text: str) -> dict[int, int]:
    """Return where each bracket of a text is closed."""
    found: dict[int, int] = {}
    opened: list[int] = []
    for match in _BRACKET.finditer(text):
        if match.group() == "(":
            opened.append(match.start())
        elif match.group() == ")" and opened:
            found[opened.pop()] = match.start()
    return found


def _without_quotes(match: re.Match[str]) -> str:
    """Blank a declaration but for what its string holds."""
    if not _KERNEL.search(match["inner"]):
        return match[0]
    start, end = (it - match.start() for it in match.span("inner"))
    return _NOT_SPACE.sub(" ", match[0][:start]) + match["inner"] + _NOT_SPACE.sub(" ", match[0][end:])


def _without_delimiters(match: re.Match[str]) -> str:
    opening, inner, closing = len(match[1]) + 3, match[2], len(match[1]) + 2
    return " " * opening + inner + " " * closing
