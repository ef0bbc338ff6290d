"""Texts of other people's files on their way out: one function for each place where they are shown.

HTML has its own, `markupsafe`, in the templates of the report, and XML that of the standard library.
"""

from __future__ import annotations

import os
import re

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
"""Control characters but tabs and line ends, and those that turn the direction of text round."""
_CODE = re.compile(r"`([^`\n]*)`")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>()#+!|~&])")
_START = re.compile(r"^([^\S\n]*+)([-=]|\d++[.)])", re.MULTILINE)


def terminal(text: str) -> str:
    """Return text that changes nothing of a terminal but what it shows: `\\x1b` stands for an escape."""
    return _CONTROL.sub(lambda it: _spelled(it[0]), text)


def terminal_path(path: str) -> str:
    """Return a file's name as one line that starts no command of GitHub's, wherever its log is read."""
    shown = terminal(path).replace("\n", "\\x0a")
    return f"./{shown}" if shown.lstrip().startswith(("::", "##[")) else shown


def terminal_lines(text: str) -> str:
    """Return text as `terminal` does, with its line ends as they are: a patch of a file with CRLF applies."""
    ends = "\n" if os.linesep == "\r\n" else "\r\n"  # There, the stream itself writes CRLF.
    return ends.join(terminal(it) for it in text.split("\r\n"))


def _spelled(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def code_span(text: str) -> str:
    """Return text as a span of code in Markdown: the fence is longer than any run of backticks inside."""
    shown = terminal(" ".join(text.splitlines()))
    fence = "`" * (max((len(it) for it in re.findall(r"`+", shown)), default=0) + 1)
    blank = " " if shown[:1] in ("`", " ") or shown[-1:] in ("`", " ") or not shown else ""
    return f"{fence}{blank}{shown}{blank}{fence}"


def code_block(text: str, language: str) -> str:
    """Return text as a block of code in Markdown: no line of it ends the block."""
    shown = terminal("\n".join(text.splitlines()))
    fence = "`" * max(3, 1 + max((len(it) for it in re.findall(r"`+", shown)), default=0))
    return f"{fence}{language}\n{shown}\n{fence}"


def terminal_line(text: str) -> str:
    """Return text as one line, also where a name in it has line ends, that starts no command of GitHub's."""
    return terminal_path(text)


def markdown(message: str) -> str:
    """Return a message as Markdown that shows it as it stands, with what is between backticks as code.

    Nothing in it makes links, images, tags or headings.
    """
    parts: list[str] = []
    at = 0
    for found in _CODE.finditer(message):
        parts += plain_markdown(message[at : found.start()]), code_span(found[1])
        at = found.end()
    return "".join([*parts, plain_markdown(message[at:])])


def plain_markdown(text: str) -> str:
    """Return text as Markdown that shows it as it stands, ticks too."""
    escaped = _MARKDOWN.sub(r"\\\1", terminal(text))
    # Protocols that readers make links of by themselves.
    return _START.sub(r"\1\\\2", escaped).replace("://", ":\u200b//").replace("www.", "www\u200b.")


def workflow_data(text: str) -> str:
    """Return text as the message of a workflow command of GitHub."""
    return terminal(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def workflow_property(text: str) -> str:
    """Return text as a property of a workflow command."""
    return workflow_data(text).replace(":", "%3A").replace(",", "%2C")
