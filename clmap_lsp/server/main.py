"""Start the server: arguments, logging, stdio."""

from __future__ import annotations

import logging
import sys

from clmap_lsp.dataclass import dataclass
from clmap_lsp.server.stdio import claim_stdio

SWITCH_S = 0.001
"""How long the event loop waits for the interpreter while an analysis runs; five times as long by default."""


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """How to serve. `tcp_port` is for debugging and binds the loopback address only."""

    tcp_port: int | None = None
    client_process: int | None = None
    log_level: str = "warning"


def serve(options: ServeOptions) -> int:
    """Serve one client; returns the exit code: 0 after a proper `shutdown`, else 1."""
    streams = None if options.tcp_port is not None else claim_stdio()
    logging.basicConfig(
        stream=sys.stderr,
        level=options.log_level.upper(),
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    if options.log_level != "debug":
        logging.getLogger("pygls").setLevel(logging.WARNING)  # At INFO it logs every outgoing body.
    logging.getLogger("pygls.protocol.json_rpc").addFilter(_is_fault)
    from clmap_lsp.heap import use_one_heap
    from clmap_lsp.server.app import create_server
    from clmap_lsp.server.collector import collect_when_quiet
    from clmap_lsp.server.serve import serve_stdio, serve_tcp

    use_one_heap()
    collect_when_quiet()
    sys.setswitchinterval(SWITCH_S)
    server = create_server()
    if streams is None:
        assert options.tcp_port is not None
        return serve_tcp(server, options.tcp_port)
    return serve_stdio(server, *streams, options.client_process)


def _is_fault(record: logging.LogRecord) -> bool:
    """Tell whether a record is worth a line.

    What is refused, such as the name of a keyword, is no fault: the client is told why, the log only where
    it tells all. Nor is that a text has changed since it was asked about; messages that do not fit are logged
    by our protocol.
    """
    from pygls.exceptions import JsonRpcContentModified, JsonRpcException, JsonRpcInternalError

    error = record.exc_info[1] if record.exc_info is not None else None
    if isinstance(error, JsonRpcException) and not isinstance(error, JsonRpcInternalError):
        record.msg, record.args, record.exc_info = "refused: %s", (str(error)[:_LOGGED],), None
        record.levelno, record.levelname = logging.INFO, logging.getLevelName(logging.INFO)
        if not logging.getLogger().isEnabledFor(logging.INFO):
            return False
    return not isinstance(error, JsonRpcContentModified) and not str(record.msg).startswith(_UNREADABLE)


_LOGGED = 200
_UNREADABLE = "Unable to deserialize message"
