"""Hover: on an access, on a kernel's name, on a work-item function."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from clmap_lsp.server.app import feature
from clmap_lsp.server.hover_text import access_text, kernel_text, work_item_text
from clmap_lsp.server.staging import loop_split, staging_key

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import AccessAnalysis, KernelAnalysis
    from clmap_lsp.server.app import ClmapServer
    from clmap_lsp.server.snapshot import Snapshot

_WORK_ITEM_CALL = re.compile(r"get_(?:global|local|group)_id\s*\(\s*([0-2])\s*\)")


def register(server: ClmapServer) -> None:
    """Register the handler."""
    server.on_snapshot.append(server.staging.prepare)

    @feature(server, lsp.TEXT_DOCUMENT_HOVER)
    async def hover(params: lsp.HoverParams) -> lsp.Hover | None:
        snapshot = await server.snapshot(params.text_document.uri)
        if snapshot is None:
            return None
        offset = snapshot.document.offset(params.position)
        found = _text_at(server, snapshot, offset) or await _access_at(server, snapshot, offset)
        if found is None:
            return None
        text, start, end = found
        content = lsp.MarkupContent(lsp.MarkupKind.Markdown, text)
        return lsp.Hover(content, snapshot.document.range(start, end))


def _text_at(server: ClmapServer, snapshot: Snapshot, offset: int) -> tuple[str, int, int] | None:
    for call in _WORK_ITEM_CALL.finditer(*_line_bounds(snapshot, offset)):
        if call.start() <= offset <= call.end() and (kernel := snapshot.kernel_at(offset)):
            return work_item_text(kernel, call.group(0), int(call.group(1))), *call.span()
    for kernel in snapshot.analysis.kernels:
        name = kernel.kernel.name_span
        if name.path == snapshot.document.path and name.start <= offset <= name.end:
            emulation = server.emulations.of(snapshot, kernel) if server.emulations else None
            return kernel_text(snapshot, kernel, emulation), name.start, name.end
    return None


async def _access_at(server: ClmapServer, snapshot: Snapshot, offset: int) -> tuple[str, int, int] | None:
    accesses = snapshot.accesses_at(offset)
    if not accesses:
        return None
    kernel = snapshot.kernel_at(offset)
    emulations = server.emulations
    emulation = emulations.of(snapshot, kernel) if emulations and kernel else None
    span = accesses[0].access.span
    same = [it for it in accesses if it.access.span == span]
    advice = await _advice(server, snapshot.analysis.device.id, kernel, same[0])
    return access_text(snapshot, kernel, same, emulation, advice), span.start, span.end


async def _advice(
    server: ClmapServer, device: str, kernel: KernelAnalysis | None, it: AccessAnalysis
) -> tuple[str, ...]:
    """Return what measurements say: of staging through local memory, of other splits of the loop."""
    lines: tuple[str, ...] = ()
    if (key := staging_key(kernel, it)) is not None:
        lines += await server.staging.lines(key[0], device, key[1])
    if kernel is not None and (split := loop_split(kernel, it)) is not None:
        lines += await server.staging.split(split, device)
    return lines


def _line_bounds(snapshot: Snapshot, offset: int) -> tuple[str, int, int]:
    text = snapshot.document.text
    start = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    return text, start, len(text) if end < 0 else end
