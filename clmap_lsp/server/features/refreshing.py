"""Lenses and hints again once the emulator has spoken, and the worker's state for status displays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from clmap_lsp.server.refresh import refresh

if TYPE_CHECKING:
    from clmap_lsp.server.app import ClmapServer
    from clmap_lsp.server.snapshot import Snapshot
    from clmap_lsp.worker.pool import WorkerState

STATUS = "clmap/status"


def register(server: ClmapServer) -> None:
    """Listen to results of the worker."""

    def emulated(_: Snapshot) -> None:
        refresh_lenses(server)
        refresh_hints(server)

    server.on_emulated.append(emulated)


def refreshes_lenses(server: ClmapServer) -> bool:
    """Tell whether the client can be told to ask for lenses again."""
    workspace = server.client_capabilities.workspace
    return bool(workspace and workspace.code_lens and workspace.code_lens.refresh_support)


def refreshes_hints(server: ClmapServer) -> bool:
    """Tell whether the client can be told to ask for hints again."""
    workspace = server.client_capabilities.workspace
    return bool(workspace and workspace.inlay_hint and workspace.inlay_hint.refresh_support)


def refresh_lenses(server: ClmapServer) -> None:
    """Ask the client to ask for lenses again, if it can."""
    if refreshes_lenses(server):
        refresh(server, lsp.WORKSPACE_CODE_LENS_REFRESH)


def refresh_hints(server: ClmapServer) -> None:
    """Ask the client to ask for hints again, if it can."""
    if refreshes_hints(server):
        refresh(server, lsp.WORKSPACE_INLAY_HINT_REFRESH)


def tell_state(server: ClmapServer, state: WorkerState) -> None:
    """Tell a client that shows it what the worker is doing."""
    if server.abilities.status:
        server.protocol.notify(STATUS, {"worker": state.value})
