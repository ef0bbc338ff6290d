"""Messages between server and worker: four bytes of length, then JSON.

JSON and not pickle: what comes back from a process that ran somebody's kernel is data, never code.
"""

from __future__ import annotations

import json
import struct
from typing import Any, BinaryIO

from clmap_lsp.strange_json import parsed

MAX_BYTES = 2**30
_LENGTH = struct.Struct(">I")


class FrameError(Exception):
    """The stream holds something that is no frame."""


def encode(message: dict[str, Any]) -> bytes:
    """Return a message as a frame."""
    body = json.dumps(message, separators=(",", ":"), allow_nan=True).encode()
    if len(body) > MAX_BYTES:
        raise FrameError(f"a message of {len(body)} bytes; the limit is {MAX_BYTES}")
    return _LENGTH.pack(len(body)) + body


def body_length(header: bytes) -> int:
    """Return the length that a frame's first four bytes announce."""
    (length,) = _LENGTH.unpack(header)
    if length > MAX_BYTES:
        raise FrameError(f"a frame of {length} bytes; the limit is {MAX_BYTES}")
    return int(length)


def decode(body: bytes) -> dict[str, Any]:
    """Return the message in a frame's body."""
    try:
        message = parsed(body)
    except ValueError as error:
        raise FrameError(f"a frame that is not JSON: {error}") from error
    if not isinstance(message, dict):
        raise FrameError("a frame that is not an object")
    return message


def read(stream: BinaryIO) -> dict[str, Any] | None:
    """Read one message from a blocking stream; `None` at its end."""
    header = _read_exactly(stream, _LENGTH.size)
    if header is None:
        return None
    body = _read_exactly(stream, body_length(header))
    return None if body is None else decode(body)


def _read_exactly(stream: BinaryIO, count: int) -> bytes | None:
    data = b""
    while len(data) < count:
        chunk = stream.read(count - len(data))
        if not chunk:
            return None
        data += chunk
    return data
