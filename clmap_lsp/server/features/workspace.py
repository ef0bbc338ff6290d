"""All findings of the workspace, also of files that are not open: on demand, with progress, file by file."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

from clmap_lsp.counted import counted
from clmap_lsp.server.documents import Document
from clmap_lsp.server.features import diagnostics
from clmap_lsp.server.features.commands import told
from clmap_lsp.server.indexing import opencl_files
from clmap_lsp.server.progress import Progress
from clmap_lsp.server.publishing import diagnostics_of
from clmap_lsp.server.turns import Band, EndedError, Urgency
from clmap_lsp.sources import UnreadableError, read_source

if TYPE_CHECKING:
    from clmap_lsp.server.app import ClmapServer
    from clmap_lsp.server.snapshot import Snapshot

TITLE = "clmap: all findings of the workspace"
MAX_FILES = 2_000


def register(server: ClmapServer) -> None:
    """Register the command."""
    shown: set[str] = set()
    """Files that are not open, of which findings are shown."""

    command: Callable[[Any], Any] = server.command("clmap.showWorkspaceFindings")

    @command
    async def show_workspace_findings() -> str:
        n_files = n_findings = 0
        async with Progress(server, TITLE) as progress:
            task = asyncio.current_task()
            assert task is not None
            progress.on_cancel(task.cancel)
            paths = await _files(server)
            for path in paths:
                uri = path.as_uri()
                if server.documents.get(uri) is not None:
                    continue  # Its findings are there already.
                progress.report(path.name, n_files / len(paths))
                found = await _findings(server, path)
                n_files, n_findings = n_files + 1, n_findings + len(found)
                if server.documents.get(uri) is None and (found or uri in shown):
                    shown.add(uri)
                    server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, found))
        return told(server, f"clmap: {counted(n_findings, 'finding')} in {counted(n_files, 'closed file')}")

    def opened(uri: str) -> None:
        if uri in shown:  # From now on it is told as every open document is.
            shown.discard(uri)
            diagnostics.clear(server, uri)

    server.on_opened.append(opened)


async def _files(server: ClmapServer) -> list[Path]:
    """Return the OpenCL files of the workspace's folders."""
    roots = server.indexes.folders()
    turn = server.turns.submit(
        Urgency(Band.OPENED),
        lambda: [path for root in roots for path in opencl_files(root)][:MAX_FILES],
    )
    return await server.turns.outcome(turn)


async def _findings(server: ClmapServer, path: Path) -> list[lsp.Diagnostic]:
    """Return what is found in a file on the disk, after everything that somebody waits for."""

    def analyse() -> Snapshot | None:
        try:
            text = read_source(str(path))
        except (OSError, UnreadableError):
            return None
        document = Document(path.as_uri(), "opencl", 0, text, server.documents.encoding)
        engine = server.analyses.engine()
        try:
            return engine.analyse(document, server.settings_for(document))
        finally:
            if server.documents.get(document.uri) is None:
                engine.forget(document.path)

    turn = server.turns.submit(Urgency.opened(1 << 40), analyse)
    try:
        snapshot = await server.turns.outcome(turn)
    except EndedError:
        return []
    return [] if snapshot is None else diagnostics_of(server, snapshot)
