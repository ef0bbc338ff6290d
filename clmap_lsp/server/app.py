"""The server object: documents, settings, analyses and worker, and what features share."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

from clmap_lsp.server.documents import Document, Documents, path_of
from clmap_lsp.server.editor import ClientAbilities, EditorSettings
from clmap_lsp.server.embedding import host_language, is_opencl
from clmap_lsp.server.indexing import Indexes
from clmap_lsp.server.protocol import ClmapProtocol
from clmap_lsp.server.settings import ClientSettings, Configurations
from clmap_lsp.server.staging import StagingAdvice
from clmap_lsp.version import __version__

if TYPE_CHECKING:
    from clmap_lsp.config import Settings
    from clmap_lsp.server.emulations import Emulations
    from clmap_lsp.server.engine import Engine
    from clmap_lsp.server.snapshot import Snapshot

logger = logging.getLogger(__name__)


class ClmapServer(LanguageServer):
    """The language server. Features are registered by `create_server`, one file each."""

    def __init__(self) -> None:
        super().__init__(
            "clmap-lsp",
            __version__,
            text_document_sync_kind=lsp.TextDocumentSyncKind.Incremental,
            protocol_cls=ClmapProtocol,
        )
        self.editor = EditorSettings()
        self.abilities = ClientAbilities()
        self.trusted = True
        """Whether kernels may run: false in a workspace that the user has not trusted."""
        self.configurations = Configurations()
        self.on_snapshot: list[Callable[[Snapshot], None]] = []
        """Called in the event loop with each new snapshot."""
        self.on_emulated: list[Callable[[Snapshot], None]] = []
        """Called when the worker has said something new of a document's kernels."""
        self.on_configuration: list[Callable[[Document], None]] = []
        """Called with each new version of a `clmap.toml` that is being edited."""
        self.on_initialize: list[Callable[[lsp.ClientCapabilities], None]] = []
        """Called with the client's capabilities before the server's are decided."""
        self.emulations: Emulations | None = None
        self.staging = StagingAdvice()
        self.indexes = Indexes(self)
        """What the language features ask."""
        self._engine: Engine | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="analysis")
        self._snapshots: dict[str, Snapshot] = {}
        self._running: dict[str, asyncio.Task[Snapshot | None]] = {}
        self._renewing: set[asyncio.Future[object]] = set()
        self._generation = 0

    @property
    def documents(self) -> Documents:
        """The open documents."""
        protocol = self.protocol
        assert isinstance(protocol, ClmapProtocol)
        return protocol.documents

    @property
    def n_analysed(self) -> int:
        """Kernels that were really analysed so far, for debug information."""
        return self._engine.n_analysed if self._engine else 0

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
        return self._snapshots.get(uri)

    async def snapshot(self, uri: str) -> Snapshot | None:
        """Return the snapshot of a document's present version; `None` if it is closed or holds no kernels.

        Callers that ask at the same time share one analysis.
        """
        while True:
            document = self.documents.get(uri)
            if document is None or not self.holds_kernels(document):
                return None
            ready = self._snapshots.get(document.uri)
            if ready is not None and ready.document is document:
                return ready
            task = self._running.get(document.uri)
            if task is None:
                task = asyncio.create_task(self._analyse(document))
                self._running[document.uri] = task
            await asyncio.shield(task)

    def refresh(self) -> None:
        """Analyse everything anew: settings or included files changed."""
        self._generation += 1
        self._snapshots.clear()
        for document in self.documents:
            self._keep(self.snapshot(document.uri))

    def host_files_changed(self, paths: Sequence[str] | None = None) -> None:
        """Analyse those documents anew that changed host files launch otherwise.

        `paths` are the changed files; if left out, those that were read are looked at.
        """

        def asked() -> frozenset[str]:
            return frozenset(self._ready_engine().host_files_changed(paths))

        async def renew() -> None:
            changed = await asyncio.get_running_loop().run_in_executor(self._thread, asked)
            for document in list(self.documents):
                if str(Path(document.path).resolve()) in changed:
                    self._snapshots.pop(document.uri, None)
                    await self.snapshot(document.uri)

        self._keep(renew())

    def _keep(self, work: Coroutine[Any, Any, object]) -> None:
        """Run something in the background, and hold it until it is done."""
        task = asyncio.ensure_future(work)
        self._renewing.add(task)
        task.add_done_callback(self._renewing.discard)

    def forget(self, uri: str) -> None:
        """Drop what is known of a closed document."""
        self.indexes.forget(uri)
        snapshot = self._snapshots.pop(uri, None)
        if snapshot is not None and self._engine is not None:
            self._thread.submit(self._engine.forget, snapshot.document.path)

    async def close(self) -> None:
        """End the worker and the analysis thread."""
        if self.emulations is not None:
            await self.emulations.close()
        self.staging.close()
        self.indexes.close()
        self._thread.shutdown(wait=False, cancel_futures=True)

    def prepare(self) -> None:
        """Load in the background what the first analysis needs: NumPy, the rules, the device models."""
        self._thread.submit(self._ready_engine)

    def _ready_engine(self) -> Engine:
        """Return the engine; runs in its thread."""
        if self._engine is None:
            from clmap_lsp.server.engine import Engine  # Half of the start-up time, and not needed to answer.

            self._engine = Engine(self.documents)
        return self._engine

    def _analysed(self, document: Document, settings: Settings) -> Snapshot:
        return self._ready_engine().analyse(document, settings)

    async def _analyse(self, document: Document) -> Snapshot | None:
        try:
            generation = self._generation
            loop = asyncio.get_running_loop()
            settings = self.settings_for(document)
            snapshot = await loop.run_in_executor(self._thread, self._analysed, document, settings)
        finally:
            self._running.pop(document.uri, None)
        if generation == self._generation and self.documents.get(document.uri) is document:
            self._snapshots[document.uri] = snapshot
            for listener in self.on_snapshot:
                listener(snapshot)
        return snapshot


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
