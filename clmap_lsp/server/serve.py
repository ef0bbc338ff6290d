"""The serving loop: one client, on stdio or on a loopback socket."""

from __future__ import annotations

import asyncio
import logging
import os
import stat
import sys
from typing import BinaryIO

from pygls.lsp.server import LanguageServer

from clmap_lsp.server.protocol import PARSE_ERROR, ClmapProtocol
from clmap_lsp.server.wire import MAX_HEADER_BYTES, Garbage, read_bodies

logger = logging.getLogger(__name__)


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
        watch = asyncio.create_task(_watch_parent(parent)) if parent else None
        talk = asyncio.create_task(_talk(protocol, reader))
        done, pending = await asyncio.wait(
            {talk, watch} if watch else {talk}, return_when=asyncio.FIRST_COMPLETED
        )
        for task in pending:
            task.cancel()
        return talk.result() if talk in done else 1

    return asyncio.run(run())


def serve_tcp(server: LanguageServer, port: int) -> int:
    """Serve one client on a loopback port, for debugging; returns the exit code."""

    async def run() -> int:
        finished: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            protocol = _protocol(server)
            protocol.set_writer(_SocketWriter(writer))
            code = await _talk(protocol, reader)
            if not finished.done():
                finished.set_result(code)

        listener = await asyncio.start_server(connected, "127.0.0.1", port, limit=MAX_HEADER_BYTES)
        address = listener.sockets[0].getsockname()
        print(f"clmap-lsp listens on {address[0]}:{address[1]}", file=sys.stderr, flush=True)
        async with listener:
            return await finished

    return asyncio.run(run())


async def _talk(protocol: ClmapProtocol, reader: asyncio.StreamReader) -> int:
    async for body in read_bodies(reader):
        if isinstance(body, Garbage):
            protocol.refuse(None, PARSE_ERROR, body.reason)
            continue
        protocol.receive(body)
        if protocol.exit_code is not None:
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


async def _watch_parent(parent: int) -> None:
    """Return when the client's process is gone, as the protocol asks of servers."""
    while _is_alive(parent):
        await asyncio.sleep(5)
    logger.warning("the client's process %s is gone", parent)


def _is_alive(pid: int) -> bool:
    if sys.platform == "win32":
        return True  # The pipe closes with the client there.
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _protocol(server: LanguageServer) -> ClmapProtocol:
    protocol = server.protocol
    assert isinstance(protocol, ClmapProtocol)
    return protocol
