"""Template text: what a host program fills in before it builds a kernel.

`{{ type }}`, `${type}`, `$type`, `%(type)s`, `@@TYPE@@` and `%TYPE` become names of the same length, so that
all else keeps its place and is read; statements of the template (`{% for ... %}`, lines that start with `%`,
and those that hold nothing but `@@NAME@@`) are blanked. Source: the syntaxes of Jinja 3, Mako 1.3, Python's
`%` operator and `string.Template`; `%TYPE` is clBLAS's.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from clmap_lsp.dataclass import dataclass
from clmap_lsp.lazy import lazy_pattern
from clmap_lsp.source.ir import Problem, Severity
from clmap_lsp.source.span import Span

_LONG = r"\{%.*?%\}|\{\#.*?\#\}|<%.*?%>"
"""Statements and comments of Jinja, and Mako's."""
_LONG_OPENED = r"\{%|\{\#|<%"
_CLOSES = {"{%": "%}", "{#": "#}", "<%": "%>"}
_SHORT = (
    r"\{\{-?\s*+(?P<jinja>[A-Za-z_][^{}\n;]*+)\s*+\}\}"
    r"|\$\{(?=\s*[^{}\s;])(?P<mako>\s*+[^{}\n;]++)\s*+\}"
    r"|\$(?<![\w$]\$)(?P<dollar>[A-Za-z_]\w*)"
    r"|%\(\s*(?P<python>[A-Za-z_]\w*)\s*\)[sdifgr]\b"
    r"|<[a-z]+:(?P<tagged>[A-Za-z_]\w*)>|@(?P<configured>[A-Z_][A-Z0-9_]*)@"
    r"|@@(?P<marked>[A-Za-z_][\w -]*)@@"
)
_STATEMENT = r"%(?!%)[ \t]*(?:if|elif|else|endif|for|endfor|while|endwhile)\b"
_MARK = lazy_pattern(rf"{_LONG}|{_SHORT}", re.DOTALL)
_OPENED = lazy_pattern(rf"{_LONG_OPENED}|{_SHORT}", re.DOTALL)
"""Of a long mark only how it begins: each that is not closed would look through the rest of the text. Each
alternative starts with a certain character, so that the first is found fast."""
_STATEMENTS = lazy_pattern(_STATEMENT)
_OPENED_OR_LINE = lazy_pattern(
    rf"{_LONG_OPENED}|{_SHORT}|^[ \t]*{_STATEMENT}[^\n]*", re.DOTALL | re.MULTILINE
)
_WORD = lazy_pattern(r"%IF\([^()\n]*\)|%(?P<word>[A-Z]\w*)")
_ANY_WORD = lazy_pattern(r"%[A-Z]")
_CERTAIN_WORD = lazy_pattern(
    r"(?:[(,={;*&|<>+/!-]|(?<!\w)(?:__\w+|const|void|return|if|else))[ \t]*%[A-Z]\w*"
)
"""A `%` before a word where no operand stands before it, so that it cannot be the remainder."""
_COMMENT = lazy_pattern(r'//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:[^"\\\n]|\\.)*+(?:"|(?=\n)|\\?\Z)', re.DOTALL)
_CERTAIN_DOLLAR = lazy_pattern(r"^[ \t]*#[^\n]*(?<![\w$])\$[A-Za-z_]", re.MULTILINE)
"""A directive with `$name`; elsewhere that may be a name, since compilers take `$` in names."""
_ECHO = lazy_pattern(
    r"^[ \t]*+#[ \t]*+define[ \t]++(?P<echoed>\w++)[ \t]++"
    r"(?P<body>\(?[ \t]*+(?:\([ \t]*+\w++[ \t]*+\)[ \t]*+)?"
    r"\(?[ \t]*+(?P=echoed)[ \t]*+\)?[ \t]*+\)?)[ \t]*+$",
    re.MULTILINE,
)
"""A macro that is itself, as it stands, in parentheses or cast."""
_HINTS = ("{{", "{%", "$", "%(", "<%", ":", "@", "% if ", "% for ", "%if ", "%for ")
"""Some of these are in every template; looking for them is fast."""


@dataclass(frozen=True, slots=True)
class Filled:
    """A text with names in place of what a host fills in."""

    text: str
    problems: tuple[Problem, ...] = ()


def filled(text: str, path: str) -> Filled:
    """Put a name in place of each part of a template. A text without any comes back as it is."""
    has_words = _ANY_WORD.search(text) is not None and _CERTAIN_WORD.search(text) is not None
    if not has_words and not any(it in text for it in _HINTS):
        return Filled(text)
    opened = _OPENED_OR_LINE if _STATEMENTS.search(text) else _OPENED
    if not has_words and next(_marks(opened, text), None) is None:
        return Filled(text)
    comments = [it.span() for it in _COMMENT.finditer(text)]
    has_words = has_words and any(not _inside(it.end(), comments) for it in _CERTAIN_WORD.finditer(text))
    has_dollars = "$" in text and _CERTAIN_DOLLAR.search(text) is not None
    found = [
        it for it in _marks(opened, text) if (has_dollars or it["dollar"] is None) and _is_template(text, it)
    ]
    if has_words:
        spans = [it.span() for it in found]
        found += [it for it in _WORD.finditer(text) if not _inside(it.start(), spans)]
        found.sort(key=lambda it: it.start())
    found = [it for it in found if not _inside(it.start(), comments)]
    if not found:
        return Filled(text)
    parts: list[str] = []
    done = 0
    for match in found:
        parts += (text[done : match.start()], _replacement(text, match))
        done = match.end()
    first = found[0]
    shown = " ".join(first.group().split())[:40]
    more = f", as are {len(found) - 1} more places" if len(found) > 1 else ""
    message = (
        f"`{shown}` is template text, which a host program fills in{more}; names stand in for it, so what "
        "depends on it is a guess. To be exact, check the text that the host builds"
    )
    problem = Problem("template-text", Severity.INFORMATION, message, Span(path, *first.span()))
    return Filled(_without_echoes("".join(parts) + text[done:], [it.start() for it in found]), (problem,))


def _without_echoes(text: str, places: Sequence[int]) -> str:
    """Blank definitions such as `#define N ${N}`, which would hide what the host puts in the place of `N`."""
    for match in reversed(list(_ECHO.finditer(text))):
        index = bisect_right(places, match.end("body"))
        if index > 0 and places[index - 1] >= match.start("body"):
            text = text[: match.start()] + " " * (match.end() - match.start()) + text[match.end() :]
    return text


def _marks(opened: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Yield the marks of a text, in order."""
    at = 0
    last = {opening: text.rfind(closing) for opening, closing in _CLOSES.items()}
    while (match := opened.search(text, at)) is not None:
        at = match.end()
        if match[0] in last:
            whole = _MARK.match(text, match.start()) if match.start() < last[match[0]] else None
            if whole is None:
                continue
            match, at = whole, whole.end()
        yield match


def _is_template(text: str, match: re.Match[str]) -> bool:
    """Tell `{{ name }}` from the initialiser of an array of arrays, `= {{x}}` or `{{x}, {y}}`."""
    if match.groupdict().get("jinja") is None:
        return True
    before, after = match.start(), match.end()
    while before > 0 and text[before - 1].isspace():
        before -= 1
    while after < len(text) and text[after].isspace():
        after += 1
    is_initialiser = text[before - 1 : before] in ("=", "{", ",", ")") and text[after : after + 1] in (
        ";", "}", ",",
    )  # fmt: skip
    return "," not in match["jinja"] and not is_initialiser


def _inside(at: int, spans: list[tuple[int, int]]) -> bool:
    """Tell whether a place lies in one of several spans, which are in order."""
    index = bisect_right(spans, (at, sys.maxsize)) - 1
    return index >= 0 and spans[index][0] <= at < spans[index][1]


def _fills_line(text: str, match: re.Match[str]) -> bool:
    """Tell whether nothing else stands in the lines of a match: statements come in its place."""
    start, end = text.rfind("\n", 0, match.start()) + 1, text.find("\n", match.end())
    return text[start : end if end >= 0 else len(text)].strip() == match[0]


def _replacement(text: str, match: re.Match[str]) -> str:
    """Return a name as long as the match, with the line ends of it; blanks for a statement."""
    whole = match.group()
    inner = next((it for it in match.groups() if it is not None), None)
    if inner is None or (match.groupdict().get("marked") is not None and _fills_line(text, match)):
        return re.sub(r"[^\n]", " ", whole)
    name = re.sub(r"\W+", "_", inner).strip("_")[: len(whole)] or "_"
    name = name if not name[0].isdecimal() else "_" + name[1:]
    start, end = match.span()
    joins_before = start > 0 and (text[start - 1].isalnum() or text[start - 1] == "_")
    joins_behind = end < len(text) and (text[end].isalnum() or text[end] in "_{$%")
    if joins_before and joins_behind:
        return name.ljust(len(whole), "_")
    return name.rjust(len(whole)) if joins_behind else name.ljust(len(whole))
