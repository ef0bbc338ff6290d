"""The text of source files whose bytes are not UTF-8.

Comments in kernels of the last fifteen years hold names and signs in many encodings. Compilers take them, as
every byte of OpenCL C outside of comments and strings is ASCII; so each byte becomes one character.
"""

from __future__ import annotations

import re

from clmap_lsp.dataclass import dataclass
from clmap_lsp.source.ir import Problem, Severity
from clmap_lsp.source.span import Span

_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*+(?:"|(?=\n)|\\?\Z)|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_ASCII = re.compile(r"[\x00-\x7f]*")

LEGACY = "latin-1"
"""Takes any byte, and gives the same byte back."""


@dataclass(frozen=True, slots=True)
class FirstByte:
    """The first byte of a file that is not UTF-8, and the offset of its character in the text."""

    value: int
    offset: int


class LegacyText(str):
    """Text of a file that is not UTF-8: one character for each byte."""

    first: FirstByte

    def __new__(cls, text: str, first: FirstByte) -> LegacyText:
        """Mark a text."""
        made = super().__new__(cls, text)
        made.first = first
        return made


def decoded(data: bytes) -> str:
    """Return the text of a file's bytes, without a byte-order mark; a `LegacyText` where it is not UTF-8."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return LegacyText(data.decode(LEGACY), FirstByte(data[error.start], error.start))


def encoded(text: str, before: bytes) -> bytes:
    """Return the bytes of a new text in the encoding that a file has so far, with its byte-order mark.

    Raises: UnicodeEncodeError for a character that the encoding does not have.
    """
    if isinstance(decoded(before), LegacyText):
        return text.encode(LEGACY)
    mark = b"\xef\xbb\xbf" if before.startswith(b"\xef\xbb\xbf") else b""
    return mark + text.encode()


def encoding_problems(text: str, path: str) -> tuple[Problem, ...]:
    """Return the note on a text that is not UTF-8."""
    if not isinstance(text, LegacyText):
        return ()
    first = text.first
    if _ASCII.fullmatch(_COMMENT.sub(" ", text)) is not None:
        message = f"the file is not UTF-8 (byte 0x{first.value:02x}): bytes of comments, which change nothing"
        return (Problem("encoding", Severity.HINT, message, Span(path, first.offset, first.offset + 1)),)
    message = (
        f"the file is not UTF-8 (byte 0x{first.value:02x}); each of its bytes is read as one character, "
        "and some stand outside of comments. Save it as UTF-8"
    )
    return (Problem("encoding", Severity.INFORMATION, message, Span(path, first.offset, first.offset + 1)),)
