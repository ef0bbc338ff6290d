"""Settings: from `initialize`, from the client's configuration, from `clmap.toml` as it changes."""

from __future__ import annotations

import logging
from pathlib import PurePath
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from clmap_lsp.server.app import feature
from clmap_lsp.server.convert import uri_of
from clmap_lsp.server.documents import path_of
from clmap_lsp.server.editor import ClientAbilities
from clmap_lsp.server.settings import ClientSettings, is_configuration

if TYPE_CHECKING:
    from clmap_lsp.server.app import ClmapServer

logger = logging.getLogger(__name__)

_SOURCES = ("cl", "clh", "ocl", "clc", "opencl", "clcpp", "h", "hpp", "inc", "def", "sim")


def register(server: ClmapServer) -> None:
    """Register the handlers."""
    told: set[str] = set()

    def tell_problems() -> None:
        """Say once what cannot be used of the editor's settings."""
        present = set(server.editor.problems())
        for problem in sorted(present - told):
            text = f"{problem}; it is ignored until it is corrected in the editor's settings"
            server.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Warning, text))
        told.clear()
        told.update(present)

    @feature(server, lsp.INITIALIZE)
    async def initialize(params: lsp.InitializeParams) -> None:
        options = params.initialization_options
        options = options if isinstance(options, dict) else {}
        server.trusted = options.get("trusted") is not False
        server.abilities = ClientAbilities.of(options)
        server.editor.take(ClientSettings.of(options.get("settings")))
        for decide in server.on_initialize:
            decide(params.capabilities)

    @feature(server, lsp.INITIALIZED)
    async def initialized(_: lsp.InitializedParams) -> None:
        server.prepare()
        tell_problems()
        await _watch_files(server)
        await _pull(server)
        tell_problems()

    @feature(server, lsp.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def did_change_configuration(params: lsp.DidChangeConfigurationParams) -> None:
        if _can_pull(server):
            await _pull(server)
        elif server.editor.take(ClientSettings.of(params.settings)):
            server.analyses.renew_all()
        tell_problems()

    @feature(server, lsp.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    async def did_change_folders(_: lsp.DidChangeWorkspaceFoldersParams) -> None:
        await _pull(server)

    @feature(server, lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def did_change_watched_files(params: lsp.DidChangeWatchedFilesParams) -> None:
        from clmap_lsp.hosts.project import HOST_SUFFIXES

        paths = [path_of(it.uri) for it in params.changes]
        hosts = [it for it in paths if PurePath(it).suffix.lower() in HOST_SUFFIXES]
        if hosts:
            server.host_files_changed(hosts)
        if not paths or any(is_configuration(it) for it in paths):
            server.configurations.forget()
            server.analyses.renew_all()
            return
        for path in paths:
            if server.documents.get(uri_of(path)) is None:
                server.included_changed(path)
            if path.endswith(".sim"):
                server.analyses.renew_all(server.included.beside(path))


def _can_pull(server: ClmapServer) -> bool:
    workspace = server.client_capabilities.workspace
    return bool(workspace and workspace.configuration)


async def _pull(server: ClmapServer) -> None:
    """Ask for the settings of every workspace folder, and for those that hold elsewhere."""
    if not _can_pull(server):
        return
    folders = list(server.workspace.folders)
    items = [lsp.ConfigurationItem(section="clmap")]
    items += [lsp.ConfigurationItem(scope_uri=uri, section="clmap") for uri in folders]
    try:
        values = await server.workspace_configuration_async(lsp.ConfigurationParams(items))
    except Exception as error:
        logger.info("the client did not send its configuration: %s", error)
        return
    if not values or values[0] is None:
        return
    own = {
        path_of(uri): ClientSettings.of(value)
        for uri, value in zip(folders, values[1:], strict=False)
        if value is not None
    }
    if server.editor.take(ClientSettings.of(values[0]), own):
        server.analyses.renew_all()


async def _watch_files(server: ClmapServer) -> None:
    workspace = server.client_capabilities.workspace
    watching = workspace.did_change_watched_files if workspace else None
    if not (watching and watching.dynamic_registration):
        return
    from clmap_lsp.hosts.project import HOST_SUFFIXES  # Not needed to start.

    suffixes = sorted({*_SOURCES, *(it[1:] for it in HOST_SUFFIXES)})
    watched = ("**/clmap.toml", f"**/*.{{{','.join(suffixes)}}}")
    options = lsp.DidChangeWatchedFilesRegistrationOptions([lsp.FileSystemWatcher(it) for it in watched])
    registration = lsp.Registration(
        "clmap-files", lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, register_options=options
    )
    try:
        await server.client_register_capability_async(lsp.RegistrationParams([registration]))
    except Exception as error:
        logger.info("the client does not watch files: %s", error)
