"""Hover: on every name what it is, on an access, a kernel or a work-item function also what it costs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from clmap_lsp.escaping import markdown
from clmap_lsp.hosts.uses import name_at
from clmap_lsp.index import builtins
from clmap_lsp.index.describe import code, describe, describe_builtin, describe_function, describe_word
from clmap_lsp.index.macro_parameters import macro_parameter_at
from clmap_lsp.index.macro_steps import steps
from clmap_lsp.index.model import Kind, Role
from clmap_lsp.index.uniformity import varying_symbols
from clmap_lsp.index.unread import left_out_at, left_out_word
from clmap_lsp.server.app import feature
from clmap_lsp.server.headline import headline
from clmap_lsp.server.host_names import kernels_named_at
from clmap_lsp.server.hover_text import access_text, image_text, kernel_text, work_item_text
from clmap_lsp.server.staging import loop_split, staging_key
from clmap_lsp.source.span import Span

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import AccessAnalysis, KernelAnalysis
    from clmap_lsp.index.index import Index, Occurrence
    from clmap_lsp.server.app import ClmapServer
    from clmap_lsp.server.snapshot import Snapshot

PATIENCE_S = 0.005
"""How long a hover waits for the analysis of text that is being typed, before it takes an older one."""
FIRST_PATIENCE_S = 0.3
"""The same where the document has not been analysed yet..."""
NAMED_PATIENCE_S = 0.03
"""... and where there is something to say without it: what the name is."""
MAX_SAID = 3
"""Findings at one place that a hover says whole."""
_WORK_ITEM_CALL = re.compile(r"get_(?:global|local|group)_id\s*\(\s*([0-2])\s*\)")


def register(server: ClmapServer) -> None:
    """Register the handler."""
    server.on_snapshot.append(server.staging.prepare)

    @feature(server, lsp.TEXT_DOCUMENT_HOVER)
    async def hover(params: lsp.HoverParams) -> lsp.Hover | None:
        uri = params.text_document.uri
        named = await _named_at(server, uri, params.position)
        first_s = FIRST_PATIENCE_S if named is None else NAMED_PATIENCE_S
        snapshot = await server.soon(uri, PATIENCE_S, first_s)
        found = None
        if snapshot is not None and (offset := snapshot.offset(params.position)) is not None:
            found = _text_at(server, snapshot, offset) or await _access_at(server, snapshot, offset)
        said = None if snapshot is None else _said_at(server, snapshot, params.position)
        parts = [it[0] for it in (said, found, named) if it is not None]
        if not parts:
            return None
        document = server.documents.get(uri)
        content = lsp.MarkupContent(lsp.MarkupKind.Markdown, "\n\n---\n\n".join(parts))
        where = None
        if named is not None and document is not None:
            where = document.range(named[1], named[2])
        elif (at := found or said) is not None and snapshot is not None:
            where = snapshot.places.range(Span(snapshot.document.path, at[1], at[2]))
        return lsp.Hover(content, where)


def _said_at(server: ClmapServer, snapshot: Snapshot, position: lsp.Position) -> tuple[str, int, int] | None:
    """Return the whole text of findings at a position whose diagnostics are too short for all of it."""
    offset = snapshot.offset(position)
    if offset is None:
        return None
    emulated = server.emulations.findings(snapshot) if server.emulations else ()
    here = [
        it
        for it in (*emulated, *snapshot.findings)
        if it.span.path == snapshot.document.path
        and it.span.start <= offset <= it.span.end
        and not snapshot.is_touched(it.span)
    ]
    longer = [it for it in here if headline(it.message) != it.message.replace("`", "")]
    if not longer:
        return None
    texts = dict.fromkeys(f"**{it.code}** {markdown(it.message)}" for it in longer[:MAX_SAID])
    span = longer[0].span
    return "\n\n".join(texts), span.start, span.end


async def _named_at(server: ClmapServer, uri: str, position: lsp.Position) -> tuple[str, int, int] | None:
    """Return what is to be said of the name at a position, and where it stands."""
    known = await server.indexes.last(uri, position)
    if known is None:
        return await _kernel_named_at(server, uri, position)
    indexed, offset, shift = known
    named = _named(indexed.index, offset)
    if named is None:
        kernel = await _kernel_named_at(server, uri, position)
        if kernel is not None:
            return kernel
        named = _builtin_named(indexed.index, offset)
    if named is None or shift is None:
        return named
    text, start, end = named
    return text, shift.later(start), shift.later(end)


def _named(index: Index, offset: int) -> tuple[str, int, int] | None:
    found = index.occurrence_at(offset) or left_out_at(index, offset)
    if found is None:
        return _parameter_named(index, offset)
    symbol = found.symbol
    varying = None
    if symbol.kind in (Kind.VARIABLE, Kind.PARAMETER):
        varying = symbol in varying_symbols(index)
    text = describe(index, symbol, is_varying=varying)
    if symbol.kind is Kind.MACRO and not found.role & Role.DECLARES:
        text += _expansion_text(index, found)
    return text, found.start, found.end


def _parameter_named(index: Index, offset: int) -> tuple[str, int, int] | None:
    found = macro_parameter_at(index, offset)
    if found is None:
        return None
    text = f"`{found.name}`: a parameter of\n{describe(index, found.macro)}"
    return text, found.here.start, found.here.end


async def _kernel_named_at(
    server: ClmapServer, uri: str, position: lsp.Position
) -> tuple[str, int, int] | None:
    """Return what is to be said of the kernel that a host file names at a position, and where."""
    document = server.documents.get(uri)
    kernels = await kernels_named_at(server, uri, position)
    if document is None or not kernels:
        return None
    place = name_at(document.text, document.offset(position), document.path)
    assert place is not None
    return describe(kernels[0][0].index, kernels[0][1]), *place


def _builtin_named(index: Index, offset: int) -> tuple[str, int, int] | None:
    builtin = index.builtin_at(offset)
    if builtin is not None:
        token, text = builtin[0], describe_builtin(builtin[1])
    elif (word := left_out_word(index, offset)) is not None:
        function = builtins.find(word[0])
        return None if function is None else (describe_function(function), word[1], word[2])
    elif (at := index.token_at(offset)) is not None:
        token = index.tokens[at]
        text = describe_word(token.text) if token.use is None and token.end >= offset else None
    else:
        return None
    return None if text is None else (text, token.start, token.end)


def _expansion_text(index: Index, found: Occurrence) -> str:
    expanded = steps(index, found)
    if not expanded or (found.symbol.macro and expanded == [found.symbol.macro.body]):
        return ""
    levels = "\n\nthen\n".join(map(code, expanded))
    return f"\n\nexpands to\n{levels}"


def _text_at(server: ClmapServer, snapshot: Snapshot, offset: int) -> tuple[str, int, int] | None:
    for call in _WORK_ITEM_CALL.finditer(*_line_bounds(snapshot, offset)):
        if not call.start() <= offset <= call.end() or snapshot.is_touched(_in(snapshot, call)):
            continue
        if kernel := snapshot.kernel_at(offset):
            return work_item_text(kernel, call.group(0), int(call.group(1))), *call.span()
    for kernel in snapshot.analysis.kernels:
        name = kernel.kernel.name_span
        is_here = name.path == snapshot.document.path and name.start <= offset <= name.end
        if is_here and not snapshot.is_touched(name):
            emulation = server.emulations.of(snapshot, kernel) if server.emulations else None
            return kernel_text(snapshot, kernel, emulation), name.start, name.end
    return None


async def _access_at(server: ClmapServer, snapshot: Snapshot, offset: int) -> tuple[str, int, int] | None:
    accesses = snapshot.accesses_at(offset)
    kernel = snapshot.kernel_at(offset)
    image = snapshot.image_at(offset)
    if kernel is not None and image is not None:
        around = image.access.span
        if not accesses or _length(around) < _length(accesses[0].access.span):
            return image_text(snapshot, kernel, image), around.start, around.end
    if not accesses:
        return None
    emulations = server.emulations
    emulation = emulations.of(snapshot, kernel) if emulations and kernel else None
    span = accesses[0].access.span
    same = [it for it in accesses if it.access.span == span]
    advice = await _advice(server, snapshot.analysis.device.id, kernel, same[0])
    if kernel is not None:
        advice = (*await server.compiled_hover.lines(snapshot, kernel, same), *advice)
    return access_text(snapshot, kernel, same, emulation, advice), span.start, span.end


def _in(snapshot: Snapshot, found: re.Match[str]) -> Span:
    return Span(snapshot.document.path, *found.span())


def _length(span: Span) -> int:
    return span.end - span.start


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
