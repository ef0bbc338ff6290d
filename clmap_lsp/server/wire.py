"""Framing: bytes on a stream to message bodies, and back to sense after garbage.

Source: Language Server Protocol 3.17, Base Protocol.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator

from clmap_lsp.dataclass import dataclass

logger = logging.getLogger(__name__)

_REQUEST = re.compile(rb"[A-Za-z]+ \S+ HTTP/\d")
MAX_BODY_BYTES = 256 * 2**20
MAX_HEADER_BYTES = 2**20


@dataclass(frozen=True, slots=True)
class Garbage:
    """Something on the wire that is no message; reading has gone on behind it."""

    reason: str


async def read_bodies(
    reader: asyncio.StreamReader, limit: int = MAX_BODY_BYTES
) -> AsyncIterator[bytes | Garbage]:
    """Yield the bodies of messages, of at most `limit` bytes, until the stream ends.

    A header block without a usable Content-Length yields `Garbage`, and reading goes on at the next block.
    """
    while True:
        length, reason, ended = await _read_header(reader, limit)
        if ended:
            return
        if length is None:
            yield Garbage(reason)
            continue
        try:
            yield await reader.readexactly(length)
        except asyncio.IncompleteReadError:
            return


async def _read_header(reader: asyncio.StreamReader, limit: int) -> tuple[int | None, str, bool]:
    length: int | None = None
    reason = "a header without Content-Length"
    n_lines = 0
    while True:
        try:
            line = await reader.readuntil(b"\n")
        except asyncio.IncompleteReadError:
            return None, "", True
        except asyncio.LimitOverrunError as error:
            await reader.readexactly(error.consumed)
            return None, "a header line that does not end", False
        line = line.strip()
        if not line:
            if n_lines:
                return length, reason, False
            continue  # Blank lines between messages do no harm.
        n_lines += 1
        if _is_foreign(line):
            # A web page can have its browser post what looks like messages to a port, but not without these.
            logger.error("no language client: %r; nothing more is read", line[:60])
            return None, "", True
        name, colon, value = line.partition(b":")
        if colon and name.strip().lower() == b"content-length":
            length, reason = _parse_length(value.strip(), limit)


def _is_foreign(line: bytes) -> bool:
    """Tell whether a header line is of HTTP or TLS: the protocol has Content-Length and Content-Type only."""
    name, colon, _ = line.partition(b":")
    known = (b"host", b"origin", b"referer", b"user-agent", b"cookie", b"connection", b"accept")
    foreign = bool(colon) and name.strip().lower() in known
    return foreign or line.startswith(b"\x16\x03") or _REQUEST.match(line) is not None


def _parse_length(value: bytes, limit: int) -> tuple[int | None, str]:
    if not value.isdigit() or len(value) > 12:
        return None, f"Content-Length is not a number: {value[:40]!r}"
    length = int(value)
    if length > limit:
        return None, f"a message of {length} bytes; the limit is {limit}"
    return length, ""
