"""The protocol's lifecycle, where pygls 2.1 leaves it open.

* A request before `initialize` is answered with ServerNotInitialized, one after `shutdown` with
  InvalidRequest; notifications then are dropped, except `exit`.
* The exit code is 0 after `shutdown`, 1 without it.
* Bytes that are no message are answered with a ParseError and do not end the session.
* Documents are ours (`documents.py`): edits of documents that are not open are ignored, and a document of
  which an edit cannot be read is closed until its whole text comes.
* What a notification's handler leaves behind is forgotten when it is done.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Generator
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams
from pygls.protocol import LanguageServerProtocol
from pygls.protocol.language_server import lsp_method

from clmap_lsp.server.documents import Documents
from clmap_lsp.server.incoming import asked_about, is_edit, mend, uri_of

if TYPE_CHECKING:
    from cattrs import Converter
    from pygls.lsp.server import LanguageServer

logger = logging.getLogger(__name__)

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
NOT_INITIALIZED = -32002
SHUTDOWN_S = 10.0
"""Seconds after which a server that was told to exit does so whatever its `shutdown` waits for."""


class ClmapProtocol(LanguageServerProtocol):
    """pygls' protocol with the lifecycle closed."""

    def __init__(self, server: LanguageServer, converter: Converter) -> None:
        self.documents = Documents()
        self.exit_code: int | None = None
        self._initialize_seen = False
        self._shutdown_asked = False
        self.on_asked: list[Callable[[str], None]] = []
        """Called with the URI of the document that a request is about, before the request is handled."""
        self.client_process: int | None = None
        """The client's own process, as it said; None before it did, or where it has none."""
        super().__init__(server, converter)

    # ------------------------------------------------------------------------------------ incoming bytes

    def receive(self, body: bytes) -> None:
        """Handle one message body. Never raises: what is wrong with it is answered or logged."""
        try:
            data = json.loads(body)
        except (ValueError, RecursionError) as error:
            self.refuse(None, PARSE_ERROR, f"not JSON: {error}")
            return
        if not isinstance(data, dict) or data.get("jsonrpc") != "2.0":
            self.refuse(None, INVALID_REQUEST, "not a JSON-RPC 2.0 message")
            return
        if not self._admit(data):
            return
        self._trace(data)
        mend(data, self.documents)
        if data.get("method") == lsp.TEXT_DOCUMENT_DID_CHANGE and not is_edit(data.get("params")):
            self._lose(uri_of(data))
            return
        try:
            message = self.structure_message(data)
        except Exception as error:
            logger.info("refused %r: %s", data.get("method"), error)
            if data.get("method") == lsp.INITIALIZE:
                self._initialize_seen = False
            if "id" in data and "method" in data:
                self.refuse(_id(data), INVALID_PARAMS, f"parameters of {data['method']!r} do not fit")
            elif data.get("method") == lsp.TEXT_DOCUMENT_DID_CHANGE:
                self._lose(uri_of(data))
            return
        if "id" in data and not hasattr(message, "id"):
            # What is a notification to the protocol has an id: it is done as one, and whoever waits is told.
            self._send_data({"jsonrpc": "2.0", "id": _id(data), "result": None})
        try:
            if (uri := asked_about(data)) is not None:
                for listener in self.on_asked:
                    listener(uri)
            self.handle_message(message)
        except Exception:
            logger.exception("a handler of %r failed", data.get("method"))
            if "id" in data and "method" in data:
                self.refuse(_id(data), INTERNAL_ERROR, f"{data['method']!r} failed")

    def _execute_handler(
        self,
        msg_id: int | str,
        handler: Any,
        callback: Any,
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> None:
        """Run a handler and forget its future when it is done.

        pygls itself forgets those of requests only: each keystroke would leave two until the session ends.
        """
        super()._execute_handler(msg_id, handler, callback, args, kwargs)
        future = self._request_futures.get(msg_id)
        if future is not None:
            future.add_done_callback(partial(self._forget_future, msg_id))

    def _forget_future(self, msg_id: int | str, future: Future[Any]) -> None:
        # Those that are cancelled are taken out by pygls, or are being walked through by its `shutdown`.
        if not future.cancelled() and self._request_futures.get(msg_id) is future:
            del self._request_futures[msg_id]

    def _trace(self, data: dict[str, Any]) -> None:
        """Tell a client that asked for it (`$/setTrace`) what arrived; parameters only if it is verbose."""
        if self.trace is lsp.TraceValue.Off or "method" not in data:
            return
        text = f"received {data['method']}" + (f" ({data['id']})" if "id" in data else "")
        verbose = json.dumps(data.get("params")) if self.trace is lsp.TraceValue.Verbose else None
        self.notify(lsp.LOG_TRACE, lsp.LogTraceParams(text, verbose))

    def _lose(self, uri: str | None) -> None:
        """Give up a document whose edit cannot be read: our text of it is not the editor's any more."""
        document = self.documents.get(uri) if uri is not None else None
        if document is None:
            return
        name = document.path.rpartition("/")[2]
        text = f"{name}: an edit cannot be read, so its text is not known any more: close and open it again"
        self.notify(lsp.WINDOW_SHOW_MESSAGE, lsp.ShowMessageParams(lsp.MessageType.Warning, text))
        params = {"textDocument": {"uri": document.uri}}
        message = {"jsonrpc": "2.0", "method": lsp.TEXT_DOCUMENT_DID_CLOSE, "params": params}
        self.handle_message(self.structure_message(message))
        self.documents.lost(document)

    def _admit(self, data: dict[str, Any]) -> bool:
        """Say whether a message may come now, and answer it if it may not."""
        method = data.get("method")
        if method is None:
            return "id" in data and self._is_answer(data)
        if not isinstance(method, str):
            self.refuse(_id(data), INVALID_REQUEST, "the method is not a string")
            return False
        is_request = "id" in data
        if is_request and _id(data) is None:
            self.refuse(None, INVALID_REQUEST, "the id is neither a whole number nor a string")
            return False
        if method == lsp.EXIT:
            return True
        if self._shutdown:
            if is_request:
                self.refuse(_id(data), INVALID_REQUEST, "the server was shut down")
            return False
        if method == lsp.INITIALIZE:
            if self._initialize_seen:
                self.refuse(_id(data), INVALID_REQUEST, "the server is initialized already")
                return False
            self._initialize_seen = True
            return True
        if not self._initialize_seen:
            if is_request:
                self.refuse(_id(data), NOT_INITIALIZED, "the server is not initialized yet")
            return False
        self._shutdown_asked |= is_request and method == lsp.SHUTDOWN
        return True

    def _is_answer(self, data: dict[str, Any]) -> bool:
        """Tell whether a message without a method answers something that we asked.

        pygls keeps what we asked and what we are asked side by side: an answer to a client's own request
        would be taken for ours.
        """
        asked = _id(data)
        if asked is None or asked not in self._result_types:
            logger.warning("an answer to nothing that was asked was left out: %.40r", data.get("id"))
            return False
        if data.get("error") is not None:
            del self._result_types[asked]
        return True

    def refuse(self, message_id: int | str | None, code: int, reason: str) -> None:
        """Answer with an error."""
        error = {"code": code, "message": reason}
        self._send_data({"jsonrpc": "2.0", "id": message_id, "error": error})  # With an id that is null.

    # ----------------------------------------------------------------------------------------- lifecycle

    @lsp_method(lsp.INITIALIZE)
    def lsp_initialize(self, params: lsp.InitializeParams) -> Generator[Any, Any, lsp.InitializeResult]:
        """Agree on the position encoding before any feature sees a position."""
        self.client_process = params.process_id
        try:
            result = yield from super().lsp_initialize(params)
        except ValueError as error:  # A root that is no URI.
            self._initialize_seen = False
            raise JsonRpcInvalidParams(f"'initialize': {error}") from error
        encoding = result.capabilities.position_encoding or lsp.PositionEncodingKind.Utf16
        self.documents.encoding = lsp.PositionEncodingKind(encoding)
        return result

    @lsp_method(lsp.EXIT)
    def lsp_exit(self, *args: Any) -> Generator[Any, Any, None]:
        """Note the exit code; the serving loop ends with it."""
        self.exit_code = 0 if self._shutdown or self._shutdown_asked else 1
        if (handler := self.fm.features.get(lsp.EXIT)) is not None:
            yield handler, args, None

    async def shut_down(self) -> None:
        """Wait until a `shutdown` is done and answered that `exit` has followed at once; not for long."""
        end = time.monotonic() + SHUTDOWN_S
        while self._shutdown_asked and not self._shutdown and time.monotonic() < end:
            await asyncio.sleep(0.01)

    # ----------------------------------------------------------------------------------------- documents

    @lsp_method(lsp.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: lsp.DidOpenTextDocumentParams) -> Generator[Any, Any, None]:
        """Take the document, then tell the feature."""
        self.documents.open(params.text_document)
        yield from self._tell(lsp.TEXT_DOCUMENT_DID_OPEN, params)

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(
        self, params: lsp.DidChangeTextDocumentParams
    ) -> Generator[Any, Any, None]:
        """Apply the edit, then tell the feature; edits of documents that are not open are ignored."""
        if self.documents.change(params) is not None:
            yield from self._tell(lsp.TEXT_DOCUMENT_DID_CHANGE, params)
        elif (found := self.documents.found(params)) is not None:
            item = lsp.TextDocumentItem(found.uri, found.language_id, found.version, found.text)
            yield from self._tell(lsp.TEXT_DOCUMENT_DID_OPEN, lsp.DidOpenTextDocumentParams(item))
        else:
            logger.warning("an edit of %s, which is not open, was ignored", params.text_document.uri)

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(
        self, params: lsp.DidCloseTextDocumentParams
    ) -> Generator[Any, Any, None]:
        """Forget the document, then tell the feature."""
        if self.documents.close(params.text_document.uri) is not None:
            yield from self._tell(lsp.TEXT_DOCUMENT_DID_CLOSE, params)

    def _tell(self, method: str, params: Any) -> Generator[Any, Any, None]:
        if (handler := self.fm.features.get(method)) is not None:
            yield handler, (params,), None

    # ------------------------------------------------------------------------------------------ progress

    @lsp_method(lsp.WINDOW_WORK_DONE_PROGRESS_CANCEL)
    def lsp_work_done_progress_cancel(
        self, params: lsp.WorkDoneProgressCancelParams
    ) -> Generator[Any, Any, None]:
        """Cancel the work, and forget the token (pygls keeps every token for ever)."""
        future: Future[Any] | None = self.progress.tokens.pop(params.token, None)
        if future is not None:
            future.cancel()
        yield from self._tell(lsp.WINDOW_WORK_DONE_PROGRESS_CANCEL, params)


def _id(data: dict[str, Any]) -> int | str | None:
    value = data.get("id")
    return value if isinstance(value, (int, str)) and not isinstance(value, bool) else None
