"""The server object: documents, settings, analyses and worker, and what features share."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

from clmap_lsp.server.analyses import Analyses
from clmap_lsp.server.compiled_hover import CompiledHover
from clmap_lsp.server.convert import uri_of
from clmap_lsp.server.documents import Document, Documents, path_of
from clmap_lsp.server.editor import ClientAbilities, EditorSettings
from clmap_lsp.server.embedding import host_language, is_opencl
from clmap_lsp.server.included import Included
from clmap_lsp.server.indexing import Indexes
from clmap_lsp.server.protocol import ClmapProtocol
from clmap_lsp.server.settings import ClientSettings, Configurations
from clmap_lsp.server.staging import StagingAdvice
from clmap_lsp.server.turns import Band, Turns, Urgency
from clmap_lsp.version import __version__

if TYPE_CHECKING:
    from clmap_lsp.config import Settings
    from clmap_lsp.server.emulations import Emulations
    from clmap_lsp.server.snapshot import Snapshot, Touched

logger = logging.getLogger(__name__)

BEHIND_ALL = Urgency(Band.OPENED, (1 << 10,))
"""Less urgent than any document."""
READY_THREADS = 4
"""An analysis, what is more urgent, a request, and one more."""


class ClmapServer(LanguageServer):
    """The language server. Features are registered by `create_server`, one file each."""

    def __init__(self) -> None:
        super().__init__(
            "clmap-lsp",
            __version__,
            text_document_sync_kind=lsp.TextDocumentSyncKind.Incremental,
            protocol_cls=ClmapProtocol,
        )
        protocol = self.protocol
        assert isinstance(protocol, ClmapProtocol)
        protocol.on_asked.append(self.asked)
        self.editor = EditorSettings()
        self.abilities = ClientAbilities()
        self.trusted = True
        """Whether kernels may run: false in a workspace that the user has not trusted."""
        self.configurations = Configurations()
        self.on_snapshot: list[Callable[[Snapshot], None]] = []
        """Called in the event loop with each new snapshot."""
        self.on_partial_snapshot: list[Callable[[Snapshot], None]] = []
        """Called with what is known so far of a document whose first analysis takes long."""
        self.on_opened: list[Callable[[str], None]] = []
        """Called with the URI of each document that is opened."""
        self.on_dropped: list[Callable[[], None]] = []
        """Called when documents that were not used lately take much memory no longer."""
        self.on_touched: list[Callable[[Touched], None]] = []
        """Called with what is known of a large document by what its last edits touch."""
        self.on_emulated: list[Callable[[Snapshot], None]] = []
        """Called when the worker has said something new of a document's kernels."""
        self.on_configuration: list[Callable[[Document], None]] = []
        """Called with each new version of a `clmap.toml` that is being edited."""
        self.on_initialize: list[Callable[[lsp.ClientCapabilities], None]] = []
        """Called with the client's capabilities before the server's are decided."""
        self.emulations: Emulations | None = None
        self.staging = StagingAdvice()
        self.turns = Turns()
        """In which all reading and analysing is done, outside of the event loop."""
        self.compiled_hover = CompiledHover(self.turns)
        self.analyses = Analyses(self, self.turns)
        self.included = Included()
        """What open documents include."""
        self.on_closed: list[Callable[[str], None]] = []
        """Called with the URI of each document that is closed."""
        self.on_headers: list[Callable[[set[str]], None]] = []
        """Called with the included files of which other things are to be shown."""
        self.indexes = Indexes(self)
        """What the language features ask."""

    @property
    def documents(self) -> Documents:
        """The open documents."""
        protocol = self.protocol
        assert isinstance(protocol, ClmapProtocol)
        return protocol.documents

    @property
    def n_analysed(self) -> int:
        """Kernels that were really analysed so far, for debug information."""
        return self.analyses.n_analysed

    def client_for(self, document: Document) -> ClientSettings:
        """Return the editor's settings for a document."""
        return self.editor.of(document.path)

    def settings_for(self, document: Document) -> Settings:
        """Return what holds for a document."""
        settings = self.configurations.for_document(document.path, self.client_for(document))
        # Who trusts a workspace trusts its configuration with the folders that it includes from.
        trusted = settings.build.include_dirs if self.trusted else ()
        folders = tuple(map(path_of, self.workspace.folders))
        return replace(settings, opened=(*settings.opened, *folders, *trusted))

    def holds_kernels(self, document: Document) -> bool:
        """Tell whether a document is OpenCL C, or may hold some and the user wants it looked at."""
        if is_opencl(document):
            return True
        return self.client_for(document).embedded and host_language(document) is not None

    def latest(self, uri: str) -> Snapshot | None:
        """Return the last snapshot, whatever its version."""
        document = self.documents.get(uri)
        return None if document is None else self.analyses.latest(document.uri)

    async def snapshot(self, uri: str) -> Snapshot | None:
        """Return the snapshot of a document's present version; `None` if it is closed or holds no kernels.

        Raises: JsonRpcContentModified if the text changes before it is there.
        """
        document = self.documents.get(uri)
        if document is None or not self.holds_kernels(document):
            return None
        return await self.analyses.of(document)

    def host_files_changed(self, paths: Sequence[str] | None = None) -> None:
        """Analyse those documents anew that changed host files launch otherwise.

        `paths` are the changed files; if left out, those that were read are looked at.
        """
        self.analyses.host_files_changed(paths)

    def asked(self, uri: str) -> None:
        """Note that somebody asks about a document, and waits."""
        document = self.documents.get(uri)
        if document is not None and self.holds_kernels(document):
            self.analyses.asked(document)

    async def soon(self, uri: str, patience_s: float, first_s: float | None = None) -> Snapshot | None:
        """Return the snapshot of the present version if it is there within a moment, else the last one, as it
        is seen in the present text; `None` if the document is closed or holds no kernels, or was not analysed
        within `first_s` yet (if left out, that is waited for)."""
        document = self.documents.get(uri)
        if document is None or not self.holds_kernels(document):
            return None
        return await self.analyses.soon(document, patience_s, first_s)

    async def shown(self, uri: str, patience_s: float) -> Sequence[Snapshot]:
        """Return what is known of a document's present version soon: one snapshot, or those of its parts."""
        document = self.documents.get(uri)
        if document is None or not self.holds_kernels(document):
            return ()
        return await self.analyses.shown(document, patience_s)

    def present_texts(self, paths: Collection[str]) -> dict[str, str | None]:
        """Return the texts of those files that are open, `None` for the others."""
        return dict.fromkeys(paths) | {it.path: it.text for it in self.documents if it.path in paths}

    def included_changed(self, path: str, text: str | None = None) -> None:
        """Analyse the documents anew that include a file, or look for it, and read another text than this."""
        if text is None:
            text = next((it.text for it in self.documents if it.path == path), None)
        self.analyses.file_changed(path)
        users = self.included.users_of(path, text)
        if users:
            self.analyses.renew_all(users)

    def look_for_changes(self) -> None:
        """Analyse the documents anew that include files which have changed on the disk."""
        for path in self.included.changed_on_disk():
            if self.documents.get(uri_of(path)) is None:
                self.included_changed(path)

    def forget(self, uri: str) -> None:
        """Drop what is known of a closed document."""
        for closed in self.on_closed:
            closed(uri)
        headers = self.included.forget(uri)
        for listener in self.on_headers:
            listener(headers)
        self.indexes.forget(uri)
        self.analyses.forget(uri, path_of(uri))

    async def close(self) -> None:
        """End the worker and the analyses."""
        if self.emulations is not None:
            await self.emulations.close()
        self.staging.close()
        self.turns.close()

    def prepare(self) -> None:
        """Load in the background what the first analysis needs: NumPy, the rules, the device models."""
        self.turns.submit(Urgency(Band.USED), self.analyses.engine)

    def warm_up(self, done: Callable[[], None]) -> None:
        """Load in the background what other documents will need, and stays; then call `done`."""
        loop = asyncio.get_running_loop()
        document = next(iter(self.documents), None)
        settings = None if document is None else self.settings_for(document)

        def work() -> None:
            from clmap_lsp.server.warming import warm_up

            protocol = self.protocol
            warm_up(settings, protocol._converter, list(protocol.fm.features))

        def worked(_: Future[None]) -> None:
            with suppress(RuntimeError):  # The session has ended.
                loop.call_soon_threadsafe(done)

        self.turns.start_threads(READY_THREADS)
        self.turns.submit(BEHIND_ALL, work).future.add_done_callback(worked)


def feature(server: ClmapServer, method: str, options: Any = None) -> Callable[[Any], Any]:
    """Register a handler: `server.feature` with types that pygls leaves out."""
    decorate: Callable[[Any], Any] = server.feature(method, options)
    return decorate


def create_server() -> ClmapServer:
    """Return a server with all features registered."""
    from clmap_lsp.server import features

    server = ClmapServer()
    features.register(server)
    return server
