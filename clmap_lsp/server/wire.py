"""Framing: bytes on a stream to message bodies, and back to sense after garbage.

Source: Language Server Protocol 3.17, Base Protocol.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

MAX_BODY_BYTES = 256 * 2**20
MAX_HEADER_BYTES = 2**20


@dataclass(frozen=True, slots=True)
class Garbage:
    """Something on the wire that is no message; reading has gone on behind it."""

    reason: str


async def read_bodies(reader: asyncio.StreamReader) -> AsyncIterator[bytes | Garbage]:
    """Yield the bodies of messages until the stream ends.

    A header block without a usable Content-Length yields `Garbage`, and reading goes on at the next block.
    """
    while True:
        length, reason, ended = await _read_header(reader)
        if ended:
            return
        if length is None:
            yield Garbage(reason)
            continue
        try:
            yield await reader.readexactly(length)
        except asyncio.IncompleteReadError:
            return


async def _read_header(reader: asyncio.StreamReader) -> tuple[int | None, str, bool]:
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
        name, colon, value = line.partition(b":")
        if colon and name.strip().lower() == b"content-length":
            length, reason = _parse_length(value.strip())


def _parse_length(value: bytes) -> tuple[int | None, str]:
    if not value.isdigit() or len(value) > 12:
        return None, f"Content-Length is not a number: {value[:40]!r}"
    length = int(value)
    if length > MAX_BODY_BYTES:
        return None, f"a message of {length} bytes; the limit is {MAX_BODY_BYTES}"
    return length, ""
