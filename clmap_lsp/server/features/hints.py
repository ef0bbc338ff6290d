"""Inlay hints at accesses: the cost of a request. The editor decides when they show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from clmap_lsp.server.app import feature
from clmap_lsp.server.convert import Places

if TYPE_CHECKING:
    from clmap_lsp.server.app import ClmapServer
    from clmap_lsp.server.snapshot import Snapshot


def register(server: ClmapServer) -> None:
    """Register the handler."""

    @feature(server, lsp.TEXT_DOCUMENT_INLAY_HINT, lsp.InlayHintOptions(resolve_provider=False))
    async def inlay_hint(params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
        snapshot = await server.snapshot(params.text_document.uri)
        if snapshot is None:
            return []
        document = snapshot.document
        return hints(snapshot, document.offset(params.range.start), document.offset(params.range.end))


def hints(snapshot: Snapshot, start: int, end: int) -> list[lsp.InlayHint]:
    """Return the hints of the accesses in a part of the document; one for each place."""
    places = Places(snapshot.document, dict(snapshot.program.files))
    by_place: dict[int, list[str]] = {}
    for kernel in snapshot.analysis.kernels:
        for access in kernel.accesses:
            span, cost = access.access.span, access.per_request
            if cost is None or not places.is_here(span) or not start <= span.end <= end:
                continue
            label = f"{cost.mean:.2f}".rstrip("0").rstrip(".") + ("s" if cost.unit == "sectors" else "w")
            labels = by_place.setdefault(span.end, [])
            if label not in labels:
                labels.append(label)
    return [
        lsp.InlayHint(
            position=snapshot.document.position(at),
            label="/".join(labels),
            kind=lsp.InlayHintKind.Type,
            tooltip="sectors (s) or wavefronts (w) a request",
            padding_left=True,
        )
        for at, labels in sorted(by_place.items())
    ]
