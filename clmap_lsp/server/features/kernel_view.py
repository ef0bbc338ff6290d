"""`clmap/kernelView`: one kernel as a picture needs it. Described in docs/protocol.md for other clients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clmap_lsp.server.app import feature
from clmap_lsp.server.kernel_picture import picture
from clmap_lsp.server.places import document_and_place

if TYPE_CHECKING:
    from clmap_lsp.server.app import ClmapServer

PATIENCE_S = 0.2
"""How long the picture waits for the analysis of the present text."""


def register(server: ClmapServer) -> None:
    """Register the request."""

    @feature(server, "clmap/kernelView")
    async def kernel_view(params: Any) -> dict[str, Any] | None:
        uri, position = document_and_place("clmap/kernelView", params)
        snapshot = await server.soon(uri, PATIENCE_S)
        offset = None if snapshot is None else snapshot.offset(position)
        if snapshot is None or offset is None:
            return None
        kernel = snapshot.kernel_at(offset)
        if kernel is None:
            return None
        return picture(server, snapshot, kernel, _number(params, "access"), _number(params, "turn") or 0)


def _number(params: Any, name: str) -> int | None:
    """Return an optional whole number of the parameters; other values are taken as not said."""
    value = getattr(params, name, None)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31 else None
