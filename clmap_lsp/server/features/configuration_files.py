"""Faults of a `clmap.toml` that rules a document but is not open itself: diagnostics of that file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from clmap_lsp.server.documents import Document
from clmap_lsp.server.features.diagnostics import faults

if TYPE_CHECKING:
    from clmap_lsp.server.app import ClmapServer
    from clmap_lsp.server.settings import Problem
    from clmap_lsp.server.snapshot import Snapshot


def register(server: ClmapServer) -> None:
    """Publish after every analysis what changed.

    These are pushed to pull clients too: nobody pulls the diagnostics of a file that is not open.
    """
    shown: dict[str, tuple[Problem, ...]] = {}

    def renewed(_: Snapshot) -> None:
        present = {path.as_uri(): found for path, found in server.configurations.faults().items()}
        for uri in tuple(shown):
            if uri not in present:
                del shown[uri]
                _publish(server, uri, ())
        for uri, found in present.items():
            if shown.get(uri) != found and server.documents.get(uri) is None:
                shown[uri] = found
                _publish(server, uri, found)

    server.on_snapshot.append(renewed)


def _publish(server: ClmapServer, uri: str, found: tuple[Problem, ...]) -> None:
    if server.documents.get(uri) is not None:
        return  # It is open: its own diagnostics say what is wrong.
    text = found[0].file.text if found else ""
    document = Document(uri, "toml", 0, text, server.documents.encoding)
    server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, faults(document, found)))
