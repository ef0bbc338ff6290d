"""Findings as diagnostics: pushed, or pulled by clients that can be told to ask again; never both."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from clmap_lsp.server.app import feature
from clmap_lsp.server.convert import SOURCE, uri_of
from clmap_lsp.server.outdated import Outdated
from clmap_lsp.server.publishing import (
    diagnostics_of,
    merged,
    publish,
    publish_header,
    publish_touched,
    publish_unopened,
    through_users,
)
from clmap_lsp.server.refresh import refresh
from clmap_lsp.server.settings import is_configuration

if TYPE_CHECKING:
    from clmap_lsp.server.app import ClmapServer
    from clmap_lsp.server.documents import Document
    from clmap_lsp.server.settings import Problem
    from clmap_lsp.server.snapshot import Snapshot, Touched

PATIENCE_S = 0.1
"""How long a client that pulls waits for its present text; it is asked to pull again when that is done."""


def register(server: ClmapServer) -> None:
    """Register the handlers."""
    pulls = False
    outdated = Outdated(server, lambda: _ask_again(server))

    def renewed(snapshot: Snapshot) -> None:
        headers = server.included.take(snapshot)
        if not pulls:
            publish(server, snapshot)
        headers_changed(headers)

    def headers_changed(paths: Iterable[str]) -> None:
        """Show anew what is found in included files; clients that pull ask for those that they have open."""
        if _shown_in_headers(server, paths, pulls=pulls):
            _ask_again(server)

    def emulated(snapshot: Snapshot) -> None:
        if pulls:
            _ask_again(server)
        else:
            publish(server, snapshot)

    def partly(snapshot: Snapshot) -> None:
        if not pulls:
            publish(server, snapshot)

    def touched(found: Touched) -> None:
        if not pulls:
            publish_touched(server, found)

    def decide(capabilities: lsp.ClientCapabilities) -> None:
        nonlocal pulls
        pulls = _can_pull(capabilities)
        if not pulls:
            return

        options = lsp.DiagnosticOptions(
            inter_file_dependencies=True, workspace_diagnostics=False, identifier=SOURCE
        )

        @feature(server, lsp.TEXT_DOCUMENT_DIAGNOSTIC, options)
        async def diagnostic_pulled(
            params: lsp.DocumentDiagnosticParams,
        ) -> lsp.RelatedFullDocumentDiagnosticReport:
            uri = params.text_document.uri
            document = server.documents.get(uri)
            if document is not None and is_configuration(document.path):
                return lsp.RelatedFullDocumentDiagnosticReport(configuration_diagnostics(server, document))
            known = await server.shown(uri, PATIENCE_S)
            for snapshot in known[:1]:
                outdated.answered(snapshot.document.uri, snapshot)
            items = diagnostics_of(server, *known)
            if document is not None:
                items = merged(items, through_users(server, document))
            return lsp.RelatedFullDocumentDiagnosticReport(items)

    def configuration_edited(document: Document) -> None:
        if pulls:
            _ask_again(server)
        else:
            publish_configuration(server, document)

    server.on_snapshot.append(renewed)
    server.on_headers.append(headers_changed)
    server.on_partial_snapshot.append(partly)
    server.on_touched.append(touched)
    server.on_emulated.append(emulated)
    server.on_configuration.append(configuration_edited)
    server.on_initialize.append(decide)


def _shown_in_headers(server: ClmapServer, paths: Iterable[str], *, pulls: bool) -> bool:
    """Push what is found in included files; tells whether there is one that the client pulls instead."""
    is_pulled = False
    for path in paths:
        document = server.documents.get(uri_of(path))
        if document is None:
            publish_unopened(server, path)
        elif pulls and server.holds_kernels(document):
            is_pulled = True
        else:
            publish_header(server, document)
    return is_pulled


def _can_pull(capabilities: lsp.ClientCapabilities) -> bool:
    """A client that cannot be told to ask again would never see what the emulator finds later."""
    document, workspace = capabilities.text_document, capabilities.workspace
    pulls = document is not None and document.diagnostic is not None
    refresh = workspace.diagnostics.refresh_support if workspace and workspace.diagnostics else False
    return bool(pulls and refresh)


def _ask_again(server: ClmapServer) -> None:
    refresh(server, lsp.WORKSPACE_DIAGNOSTIC_REFRESH)


def publish_configuration(server: ClmapServer, document: Document) -> None:
    """Push what is wrong with a `clmap.toml` that is being edited."""
    found = configuration_diagnostics(server, document)
    params = lsp.PublishDiagnosticsParams(document.uri, found, document.version)
    server.text_document_publish_diagnostics(params)


def configuration_diagnostics(server: ClmapServer, document: Document) -> list[lsp.Diagnostic]:
    """Return what is wrong with a `clmap.toml`."""
    _, problems = server.configurations.read(Path(document.path), document.text)
    return faults(document, problems)


def faults(document: Document, problems: Iterable[Problem]) -> list[lsp.Diagnostic]:
    """Return the faults of a `clmap.toml` as diagnostics."""
    return [
        lsp.Diagnostic(
            range=document.range(it.span.start, max(it.span.end, it.span.start + 1)),
            message=it.message,
            severity=lsp.DiagnosticSeverity.Error,
            source=SOURCE,
        )
        for it in problems
    ]


def clear(server: ClmapServer, uri: str) -> None:
    """Take back the diagnostics of a closed document."""
    server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))
