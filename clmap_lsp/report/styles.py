"""Styled text for terminals: colours as ANSI codes, links as OSC 8, paragraphs as wide as the terminal."""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator

_CODES = {
    "bold": "1",
    "dim": "2",
    "underline": "4",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "cyan": "36",
}
_WIDEST = 100
"""Columns beyond which a paragraph is hard to read."""


def ansi(text: str, style: str) -> str:
    """Return text in a style: words of `_CODES`, and `link URL`; an empty style is plain.

    Styles do not reach over ends of lines: what follows in a pager begins afresh.
    """
    words, _, url = style.partition("link ")
    codes = ";".join(_CODES[it] for it in words.split())
    return "\n".join(_line(it, codes, url) if it else it for it in text.split("\n"))


def _line(text: str, codes: str, url: str) -> str:
    styled = f"\x1b[{codes}m{text}\x1b[0m" if codes else text
    return f"\x1b]8;;{url}\x1b\\{styled}\x1b]8;;\x1b\\" if url else styled


def joined(pieces: Iterable[tuple[str, str]]) -> str:
    """Return pieces of (text, style) as one text."""
    return "".join(ansi(text, style) for text, style in pieces)


def shows_colour(choice: str = "auto") -> bool:
    """Tell whether to style standard output; the variables are those of no-color.org and force-color.org."""
    if choice != "auto" or os.environ.get("NO_COLOR"):
        return choice == "always"
    if os.environ.get("FORCE_COLOR") or os.environ.get("CLICOLOR_FORCE", "0") not in ("", "0"):
        return True
    return sys.stdout.isatty() and understood()


def understood() -> bool:
    """Tell whether the terminal understands such codes; on Windows it has to be asked to."""
    if os.name != "nt":
        return os.environ.get("TERM") != "dumb"
    import ctypes

    kernel = ctypes.windll.kernel32  # type: ignore[attr-defined]
    output, sequences = -11, 0x0004
    handle, mode = kernel.GetStdHandle(output), ctypes.c_ulong()
    if not kernel.GetConsoleMode(handle, ctypes.byref(mode)):
        return True  # No console: a terminal of its own, or a file that somebody wants coloured.
    return bool(kernel.SetConsoleMode(handle, mode.value | sequences))


def page(markdown: str) -> str:
    """Return a page of headings, paragraphs and blocks of code as a terminal shows it."""
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    return "".join(_blocks(markdown, max(width, 20)))


def _blocks(markdown: str, width: int) -> Iterator[str]:
    paragraph: list[str] = []
    is_code = False
    for line in [*markdown.splitlines(), ""]:
        if line.startswith("```"):
            is_code = not is_code
        elif is_code:
            yield f"    {ansi(line, 'cyan')}\n" if line else "\n"
        elif line and not line.startswith("#"):
            paragraph.append(line)
        else:
            if paragraph:
                yield (
                    _CODE.sub(lambda it: ansi(it[0], "cyan"), textwrap.fill(" ".join(paragraph), width))
                    + "\n"
                )
                paragraph.clear()
            yield f"{ansi(line.lstrip('# '), 'bold underline')}\n" if line else "\n"


_CODE = re.compile(r"`[^`\n]+`")
