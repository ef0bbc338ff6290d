"""String literals as typed, and the bytes that they stand for."""

from __future__ import annotations

from clmap_lsp.source.vocabulary import ESCAPES


def string_bytes(text: str) -> bytes:
    """Return the bytes of one or more string literals as typed, with the closing zero."""
    return unescape("".join(_bodies(text))) + b"\0"


def _bodies(text: str) -> list[str]:
    bodies: list[str] = []
    at = 0
    while (start := text.find('"', at)) >= 0:
        end = start + 1
        while end < len(text) and text[end] != '"':
            end += 2 if text[end] == "\\" else 1
        bodies.append(text[start + 1 : end])
        at = end + 1
    return bodies


def unescape(body: str) -> bytes:
    """Return the bytes that the inside of a literal stands for."""
    data = bytearray()
    at = 0
    while at < len(body):
        char = body[at]
        at += 1
        if char != "\\" or at >= len(body):
            data += char.encode()
            continue
        char = body[at]
        at += 1
        if char == "x":
            end = at
            while end < len(body) and body[end] in "0123456789abcdefABCDEF":
                end += 1
            data.append(int(body[at:end] or "0", 16) & 255)
            at = end
        elif char in "01234567":
            end = at
            while end < min(len(body), at + 2) and body[end] in "01234567":
                end += 1
            data.append(int(char + body[at:end], 8) & 255)
            at = end
        else:
            data.append(ESCAPES.get(char, ord(char) & 255))
    return bytes(data)
