"""Who else uses a kernel's text: functions that call it, and declarations of it.

OpenCL lets a kernel be called like any function. What is rewritten is then rewritten for the caller too, who
may pass pointers into the middle of buffers, one buffer twice, or launch groups of another size.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import TYPE_CHECKING

from clmap_lsp.fixes.outline import masked

if TYPE_CHECKING:
    from clmap_lsp.fixes.model import Subject


class Use(Enum):
    """What else a file does with a kernel's name."""

    NONE = "none"
    DECLARED = "declared"
    """It stands in a declaration without a body, which must agree with the definition."""
    CALLED = "called"


def use_of(subject: Subject) -> Use:
    """Return what other functions of the program do with a subject's kernel."""
    name = re.compile(rf"\b{re.escape(subject.analysis.name)}\s*\(")
    own = subject.analysis.span
    found = Use.NONE
    for path, text in subject.texts.items():
        shown = masked(text)
        for match in name.finditer(shown):
            if path == own.path and own.start <= match.start() < own.end:
                continue  # Its own definition; recursion there is none.
            if _is_declaration(shown, match):
                found = Use.DECLARED if found is Use.NONE else found
            elif not _is_definition(shown, match):
                return Use.CALLED
    return found


def _is_declaration(text: str, match: re.Match[str]) -> bool:
    before = re.search(r"(?<!\w)(\w++)\s*\Z", text[max(match.start() - 200, 0) : match.start()])
    return (
        before is not None and before[1] == "void" and text[_close(text, match.end()) :].lstrip()[:1] == ";"
    )


def _is_definition(text: str, match: re.Match[str]) -> bool:
    """True for another definition of the name: of another build."""
    return text[_close(text, match.end()) :].lstrip()[:1] == "{"


def _close(text: str, at: int) -> int:
    """Return the offset after the parenthesis that closes the one before an offset."""
    depth = 1
    while depth and at < len(text):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return at
