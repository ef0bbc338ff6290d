"""The serving loop: one client, on stdio or on a loopback socket."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import secrets
import stat
import sys
from collections.abc import AsyncIterator
from typing import BinaryIO

from pygls.lsp.server import LanguageServer

from clmap_lsp.server.protocol import PARSE_ERROR, ClmapProtocol
from clmap_lsp.server.wire import MAX_HEADER_BYTES, Garbage, read_bodies

logger = logging.getLogger(__name__)

MAX_FIRST_BYTES = 2**20
MAX_WAITING = 16
MAX_WAIT_S = 30.0
"""Of connections to a port that have not shown the token: the size of their message, how many, how long."""


class _PipeWriter:
    """What pygls writes to: a blocking pipe, flushed after each message."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def write(self, data: bytes) -> None:
        try:
            self._stream.write(data)
            self._stream.flush()
        except (BrokenPipeError, ValueError):
            logger.info("the client is gone; an answer was dropped")

    def close(self) -> None:
        self._stream.close()


class _SocketWriter:
    """What pygls writes to: an asyncio stream."""

    def __init__(self, stream: asyncio.StreamWriter) -> None:
        self._stream = stream

    def write(self, data: bytes) -> None:
        self._stream.write(data)

    def close(self) -> None:
        self._stream.close()


def serve_stdio(server: LanguageServer, stdin: BinaryIO, stdout: BinaryIO, parent: int | None) -> int:
    """Serve until `exit`, the end of the input, or the death of the process `parent`.

    Returns: the exit code that the protocol asks for: 0 after `shutdown`, else 1.
    """

    async def run() -> int:
        protocol = _protocol(server)
        protocol.set_writer(_PipeWriter(stdout))
        reader = await _pipe_reader(stdin)
        watch = asyncio.create_task(_watch_client(protocol, parent))
        talk = asyncio.create_task(_talk(protocol, read_bodies(reader)))
        done, pending = await asyncio.wait({talk, watch}, return_when=asyncio.FIRST_COMPLETED)
        for task in pending:
            task.cancel()
        return talk.result() if talk in done else 1

    return asyncio.run(run())


def serve_tcp(server: LanguageServer, port: int) -> int:
    """Serve one client on a loopback port, for debugging; returns the exit code.

    It must show the token that is printed with the port, as `initializationOptions.token`: other people's
    programs on this machine can reach the port too.
    """
    token = secrets.token_urlsafe(16)

    async def run() -> int:
        finished: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            first = await _first(reader) if len(waiting) < MAX_WAITING else None
            if served or not isinstance(first, bytes) or not _shows(first, token):
                logger.error("a connection was refused: it is not the first, or does not show the token")
                writer.close()
                return
            served.append(writer)
            protocol = _protocol(server)
            protocol.set_writer(_SocketWriter(writer))
            protocol.receive(first)
            code = await _talk(protocol, read_bodies(reader))
            if not finished.done():
                finished.set_result(code)

        async def _first(reader: asyncio.StreamReader) -> bytes | Garbage | None:
            """Return the first message of somebody who may neither fill the memory nor wait for ever."""
            waiting.add(reader)
            try:
                async with asyncio.timeout(MAX_WAIT_S):
                    return await anext(read_bodies(reader, MAX_FIRST_BYTES), None)
            except TimeoutError:
                return None
            finally:
                waiting.discard(reader)

        served: list[asyncio.StreamWriter] = []
        waiting: set[asyncio.StreamReader] = set()

        listener = await asyncio.start_server(connected, "127.0.0.1", port, limit=MAX_HEADER_BYTES)
        address = listener.sockets[0].getsockname()
        place = f"{address[0]}:{address[1]}"
        print(f"clmap-lsp listens on {place}, token {token}", file=sys.stderr, flush=True)
        async with listener:
            return await finished

    return asyncio.run(run())


def _shows(body: bytes, token: str) -> bool:
    """Tell whether a first message is an `initialize` with the token."""
    try:
        message = json.loads(body)
        shown = message["params"]["initializationOptions"]["token"]
        return message["method"] == "initialize" and secrets.compare_digest(str(shown), token)
    except (ValueError, KeyError, TypeError, RecursionError):
        return False


async def _talk(protocol: ClmapProtocol, bodies: AsyncIterator[bytes | Garbage]) -> int:
    async for body in bodies:
        if isinstance(body, Garbage):
            protocol.refuse(None, PARSE_ERROR, body.reason)
            continue
        protocol.receive(body)
        if protocol.exit_code is not None:
            await protocol.shut_down()
            return protocol.exit_code
    return 1


async def _pipe_reader(stdin: BinaryIO) -> asyncio.StreamReader:
    """Return an asyncio reader of a blocking pipe.

    Windows cannot wait for anonymous pipes in its event loop, and nothing can wait for files and devices:
    there a thread of its own pumps the bytes. It is a daemon, so that it never holds up the end.
    """
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=MAX_HEADER_BYTES)
    mode = os.fstat(stdin.fileno()).st_mode
    if sys.platform != "win32" and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), stdin)
    else:
        _start_pump(stdin, reader, loop)
    return reader


def _start_pump(stdin: BinaryIO, reader: asyncio.StreamReader, loop: asyncio.AbstractEventLoop) -> None:
    import threading

    def pump() -> None:
        while chunk := os.read(stdin.fileno(), 65536):
            loop.call_soon_threadsafe(reader.feed_data, chunk)
        loop.call_soon_threadsafe(reader.feed_eof)

    threading.Thread(target=pump, name="stdin", daemon=True).start()


async def _watch_client(protocol: ClmapProtocol, given: int | None) -> None:
    """Return when the client's process is gone, as the protocol asks of servers.

    A process that `initialize` names counts once it has been seen: the client may run in another container.
    """
    seen = given
    while True:
        named = protocol.client_process
        if seen is None and named is not None and _is_alive(named):
            seen = named
        if seen is not None and not _is_alive(seen):
            logger.warning("the client's process %s is gone", seen)
            return
        await asyncio.sleep(5 if seen is not None else 1)


def _is_alive(pid: int) -> bool:
    if sys.platform == "win32":
        return True  # The pipe closes with the client there.
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):  # Numbers that no process has.
        return False
    except PermissionError:
        return True
    return True


def _protocol(server: LanguageServer) -> ClmapProtocol:
    protocol = server.protocol
    assert isinstance(protocol, ClmapProtocol)
    return protocol
