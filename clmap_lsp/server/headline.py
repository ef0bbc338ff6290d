"""Findings in one line, for lists of problems: plain text, what matters first, the rest is in the hover."""

from __future__ import annotations

import re
from functools import lru_cache

WIDTH = 90
"""Characters of a line that lists of problems show whole."""
LONGEST_CODE = 28
_CODE = re.compile(r"`([^`\n]*)`")
_MILLIONS = re.compile(r"(?<![\w.,])\d{1,3}(?:,\d{3}){2,}(?![\w.])")
_SAME_CALL = re.compile(r"(?<!\w)(\w{1,64})\((\d)\) and \1\((\d)\)")
_IF, _GUESSED = "if ", " (guessed): "


_FEWER = re.compile(r"\bmoves [\d.,]+(?: M)? sectors; [\d.,]+(?: M)? \((\d+%) fewer\) with")
"""What is told of a swap; cut at its semicolon it would tell neither what is wrong nor what mends it."""


@lru_cache(1_024)
def headline(message: str, width: int = WIDTH) -> str:
    """Return a message's first line without backticks, in at most `width` characters.

    Long expressions are cut to their beginning, and explanations behind a colon or semicolon left out.
    """
    first = message.split("\n", 1)[0]
    condition = ""
    guess, guessed, rest = first.removeprefix(_IF).partition(_GUESSED)
    if guessed and guess and first.startswith(_IF):
        condition, first = f" (if {_plain(guess)})", rest
    text = _plain(first).rstrip(".")
    if len(text.partition(": ")[0]) + len(condition) > width:
        text = _FEWER.sub(r"moves \1 fewer sectors with", text)
    if len(text) + len(condition) > width:
        text = _shortened(text, max(width - len(condition), width // 2))
    if len(text) + len(condition) > width:
        condition = " (if what is guessed holds)"
        text = _shortened(text, width - len(condition))
    return text + condition


def _plain(text: str) -> str:
    text = _CODE.sub(lambda it: _short_code(it[1]), text)
    return _MILLIONS.sub(_millions, _SAME_CALL.sub(r"\1(\2) and (\3)", text))


def _millions(found: re.Match[str]) -> str:
    value = int(found[0].replace(",", "")) / 1e6
    return f"{value:.1f} M" if value < 100 else f"{value:,.0f} M"


def _short_code(code: str) -> str:
    """Return an expression, or how it begins: `A[...]`."""
    if len(code) <= LONGEST_CODE:
        return code
    name, bracket, _ = code.partition("[")
    return f"{name}[...]" if bracket and len(name) < LONGEST_CODE else f"{code[: LONGEST_CODE - 3]}..."


def _shortened(text: str, width: int) -> str:
    """Return how a text begins, up to a stop that leaves at least half of the width, else a word."""
    for stop in (": ", "; ", ". ", ", "):
        at = text.rfind(stop, 0, width + 1)
        if at >= width * 2 // 5:
            return text[:at]
    return f"{text[: width - 3].rsplit(' ', 1)[0]}..."
