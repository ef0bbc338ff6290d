"""Inlay hints at accesses: the cost of a request. The editor decides when they show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from clmap_lsp.server.app import feature
from clmap_lsp.server.features.refreshing import refresh_hints, refreshes_hints
from clmap_lsp.server.outdated import Outdated

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import KernelAnalysis
    from clmap_lsp.server.app import ClmapServer
    from clmap_lsp.server.snapshot import Snapshot
    from clmap_lsp.source.span import Span

PATIENCE_S = 0.2
"""How long hints wait for the analysis of the present text."""


def register(server: ClmapServer) -> None:
    """Register the handler."""
    outdated = Outdated(server, lambda: refresh_hints(server))

    @feature(server, lsp.TEXT_DOCUMENT_INLAY_HINT, lsp.InlayHintOptions(resolve_provider=False))
    async def inlay_hint(params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
        uri = params.text_document.uri
        snapshot = await server.soon(uri, PATIENCE_S, PATIENCE_S if refreshes_hints(server) else None)
        outdated.answered(uri, snapshot)
        return [] if snapshot is None else hints(snapshot, params.range)


def hints(snapshot: Snapshot, asked: lsp.Range) -> list[lsp.InlayHint]:
    """Return the hints of the accesses in a part of the document; one for each place."""
    places = snapshot.places
    first, last = (asked.start.line, asked.start.character), (asked.end.line, asked.end.character)
    by_place: dict[tuple[int, int], list[str]] = {}
    for span, mean, unit in _figures(snapshot.analysis.kernels):
        if not places.is_here(span) or snapshot.is_touched(span):
            continue
        end = places.range(span).end
        at = end.line, end.character
        if not first <= at <= last:
            continue
        label = f"{mean:.2f}".rstrip("0").rstrip(".") + unit
        labels = by_place.setdefault(at, [])
        if label not in labels:
            labels.append(label)
    return [
        lsp.InlayHint(
            position=lsp.Position(*at),
            label="/".join(labels),
            kind=lsp.InlayHintKind.Type,
            tooltip="sectors (s), wavefronts (w) or texels (t) a request",
            padding_left=True,
        )
        for at, labels in sorted(by_place.items())
    ]


def _figures(kernels: Iterable[KernelAnalysis]) -> Iterator[tuple[Span, float, str]]:
    """Yield what a request of each access costs, or how many texels it touches, with the unit's letter."""
    for kernel in kernels:
        for access in kernel.accesses:
            if (cost := access.per_request) is not None:
                yield access.access.span, cost.mean, "s" if cost.unit == "sectors" else "w"
        for image in kernel.images:
            if (texels := image.count.texels) is not None:
                yield image.access.span, texels.mean, "t"
