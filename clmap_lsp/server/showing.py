"""Showing a page to the user of any client: as a document if the client can open one, else as a message."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs
from lsprotocol import types as lsp

from clmap_lsp.whole_files import write_whole

if TYPE_CHECKING:
    from clmap_lsp.server.app import ClmapServer

logger = logging.getLogger(__name__)


async def show(server: ClmapServer, name: str, text: str) -> None:
    """Show a Markdown page. `name` is the file's name; characters that do not suit one are replaced."""
    window = server.client_capabilities.window
    if window is not None and window.show_document is not None and window.show_document.support:
        try:
            uri = _written(name, text).as_uri()
            done = await server.window_show_document_async(lsp.ShowDocumentParams(uri, take_focus=True))
        except Exception as error:
            logger.info("%s could not be shown as a document: %s", name, error)
        else:
            if done.success:
                return
    server.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Info, text))


def _written(name: str, text: str) -> Path:
    folder = Path(platformdirs.user_cache_dir("clmap-lsp", appauthor=False)) / "pages"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "".join(it if it.isalnum() or it in "._-" else "_" for it in name)
    write_whole(path, text.encode())
    return path
