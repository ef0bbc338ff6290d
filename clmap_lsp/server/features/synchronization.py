"""Documents come, change, are saved and go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from clmap_lsp.server.app import feature
from clmap_lsp.server.documents import path_of
from clmap_lsp.server.emulations import Emulations
from clmap_lsp.server.features import diagnostics
from clmap_lsp.server.features.refreshing import tell_state
from clmap_lsp.server.settings import is_configuration
from clmap_lsp.server.tiers import Tiers

if TYPE_CHECKING:
    from clmap_lsp.server.app import ClmapServer
    from clmap_lsp.server.snapshot import Snapshot


def register(server: ClmapServer) -> None:
    """Register the handlers."""
    tiers = Tiers(server)
    emulations = server.emulations = Emulations(server, lambda it: tell_state(server, it))

    def warm(snapshot: Snapshot) -> None:
        if server.trusted and server.client_for(snapshot.document).emulate != "off":
            emulations.warm()

    server.on_snapshot.append(warm)

    @feature(server, lsp.TEXT_DOCUMENT_DID_OPEN)
    async def did_open(params: lsp.DidOpenTextDocumentParams) -> None:
        emulations.prefer(params.text_document.uri)
        for listener in server.on_opened:
            listener(params.text_document.uri)
        document = server.documents.get(params.text_document.uri)
        if document is not None:
            server.analyses.text_changed(document.uri)  # Where it was open already, and somebody waits.
            server.included_changed(document.path, document.text)
        tiers.changed(params.text_document.uri, quiet_s=0.0)

    @feature(server, lsp.TEXT_DOCUMENT_DID_CHANGE)
    async def did_change(params: lsp.DidChangeTextDocumentParams) -> None:
        document = server.documents.get(params.text_document.uri)
        if document is None:
            return
        emulations.prefer(document.uri)
        server.analyses.edited(document.uri)
        server.analyses.text_changed(document.uri)
        tiers.changed(document.uri)
        server.included_changed(document.path, document.text)

    @feature(server, lsp.TEXT_DOCUMENT_DID_SAVE)
    async def did_save(params: lsp.DidSaveTextDocumentParams) -> None:
        document = server.documents.get(params.text_document.uri)
        if document is None:
            return
        server.asked(document.uri)
        server.host_files_changed()
        server.look_for_changes()
        if is_configuration(document.path):
            server.configurations.forget()
            server.analyses.renew_all()
        elif server.client_for(document).emulate != "off":
            tiers.emulate(document.uri, wait_s=0.0)

    @feature(server, lsp.TEXT_DOCUMENT_DID_CLOSE)
    async def did_close(params: lsp.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        tiers.closed(uri)
        server.forget(uri)
        diagnostics.clear(server, uri)
        server.included_changed(path_of(uri))
        await emulations.forget(uri)  # Last: it may be opened again meanwhile, and have findings.

    @feature(server, lsp.SHUTDOWN)
    async def shutdown(_: None) -> None:
        await server.close()
