"""`clmap/asCompiled`: a kernel's machine code beside its source. Described in docs/protocol.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clmap_lsp.report.compiled_text import access_text, resources_text
from clmap_lsp.server.app import feature
from clmap_lsp.server.places import document_and_place

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import KernelAnalysis
    from clmap_lsp.compiled.summary import CompiledKernel
    from clmap_lsp.server.app import ClmapServer
    from clmap_lsp.server.snapshot import Snapshot
    from clmap_lsp.source.span import Span


def register(server: ClmapServer) -> None:
    """Register the request."""

    @feature(server, "clmap/asCompiled")
    async def as_compiled(params: Any) -> dict[str, Any] | None:
        uri, position = document_and_place("clmap/asCompiled", params)
        snapshot = await server.snapshot(uri)
        offset = None if snapshot is None else snapshot.offset(position)
        kernel = None if snapshot is None or offset is None else snapshot.kernel_at(offset)
        if snapshot is None or kernel is None:
            return None
        found = await server.analyses.compiled(snapshot.document, kernel.name)
        if found is None:
            return None
        if isinstance(found, str):
            return {"name": kernel.name, "why": found, "lines": [], "rows": []}
        return _view(snapshot, kernel, found)


def _view(snapshot: Snapshot, kernel: KernelAnalysis, found: CompiledKernel) -> dict[str, Any]:
    head = [f"{kernel.name}, as compiled for {found.target}: {resources_text(found)}"]
    rows: list[int | None] = [None]
    for it in kernel.accesses:
        left = found.accesses.get(it.access.site)
        if left is not None:
            head.append(f"{it.access.place_text}: {access_text(left)}")
            rows.append(_row(snapshot, it.access.span))
    if found.unknown:
        head.append(f"without {', '.join(found.unknown)}")
        rows.append(None)
    if found.reason:
        head.append(f"not counted: {found.reason}")
        rows.append(None)
    code = [it.text for it in found.lines]
    return {
        "name": kernel.name,
        "why": None,
        "lines": [*(f"// {it}" for it in head), "", *code],
        "rows": [*rows, None, *(_row(snapshot, it.span) for it in found.lines)],
    }


def _row(snapshot: Snapshot, span: Span | None) -> int | None:
    """Return the document's line, from 0, that an instruction is of; those of included files have none."""
    document = snapshot.document
    if span is None or span.path != document.path:
        return None
    return document.position(span.start).line
