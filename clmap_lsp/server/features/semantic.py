"""Semantic tokens: whole documents, ranges, and what changed since the last answer."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from clmap_lsp.index.meaning import MODIFIERS, TYPES, meanings
from clmap_lsp.server.app import feature
from clmap_lsp.server.indexing import Indexed
from clmap_lsp.source.difference import difference as where_different

if TYPE_CHECKING:
    from clmap_lsp.server.app import ClmapServer

LEGEND = lsp.SemanticTokensLegend(list(TYPES), list(MODIFIERS))
KEPT_ANSWERS = 64
"""Documents whose last answer is kept to tell what changed since."""
_TYPE_NUMBERS = {name: at for at, name in enumerate(TYPES)}
_MODIFIER_BITS = {name: 1 << at for at, name in enumerate(MODIFIERS)}


def register(server: ClmapServer) -> None:
    """Register the handlers."""
    last: dict[str, tuple[str, list[int]]] = {}
    numbers = count(1)
    options = lsp.SemanticTokensRegistrationOptions(
        legend=LEGEND, full=lsp.SemanticTokensFullDelta(delta=True), range=True
    )

    def closed(uri: str) -> None:
        last.pop(uri, None)

    server.on_closed.append(closed)

    def answered(uri: str, data: list[int]) -> str:
        result = str(next(numbers))
        last.pop(uri, None)
        last[uri] = result, data
        if len(last) > KEPT_ANSWERS:
            last.pop(next(iter(last)))
        return result

    @feature(server, lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, options)
    async def full(params: lsp.SemanticTokensParams) -> lsp.SemanticTokens | None:
        data = await server.indexes.answer(params.text_document.uri, encoded)
        if data is None:
            return None
        return lsp.SemanticTokens(data, answered(params.text_document.uri, data))

    @feature(server, lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL_DELTA, options)
    async def delta(
        params: lsp.SemanticTokensDeltaParams,
    ) -> lsp.SemanticTokens | lsp.SemanticTokensDelta | None:
        uri = params.text_document.uri
        data = await server.indexes.answer(uri, encoded)
        if data is None:
            return None
        before = last.get(uri)
        result = answered(uri, data)
        if before is None or before[0] != params.previous_result_id:
            return lsp.SemanticTokens(data, result)
        return lsp.SemanticTokensDelta(difference(before[1], data), result)

    @feature(server, lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, options)
    async def part(params: lsp.SemanticTokensRangeParams) -> lsp.SemanticTokens | None:
        def of_part(indexed: Indexed) -> list[int]:
            return encoded(indexed, indexed.offset(params.range.start), indexed.offset(params.range.end))

        data = await server.indexes.answer(params.text_document.uri, of_part)
        return None if data is None else lsp.SemanticTokens(data)


def encoded(indexed: Indexed, start: int = 0, end: int | None = None) -> list[int]:
    """Return the tokens of a part of the document as the protocol writes them: each relative to the last."""
    document = indexed.document
    text, starts = document.text, document.file.line_starts
    limit = len(indexed.index.text) if end is None else end
    is_plain = is_all_plain = text.isascii()
    data: list[int] = []
    line = character = row = 0
    numbers: dict[tuple[str, tuple[str, ...]], tuple[int, int]] = {}
    for offset, behind, type_, modifiers in meanings(indexed.index):
        if behind <= start or offset >= limit:
            continue
        # Positions are found by going along: a search for each took half of the time.
        is_moved = False
        while row + 1 < len(starts) and starts[row + 1] <= offset:
            row += 1
            is_moved = True
        if is_moved and not is_all_plain:
            following = starts[row + 1] if row + 1 < len(starts) else len(text)
            is_plain = text[starts[row] : following].isascii()
        if is_plain:
            at, length = offset - starts[row], behind - offset
        else:
            at = document.position(offset).character
            length = document.position(behind).character - at
        number = numbers.get((type_, modifiers))
        if number is None:
            bits = sum(map(_MODIFIER_BITS.__getitem__, modifiers))
            number = numbers[type_, modifiers] = _TYPE_NUMBERS[type_], bits
        data += (row - line, at - character if row == line else at, length, *number)
        line, character = row, at
    return data


def difference(old: list[int], new: list[int]) -> list[lsp.SemanticTokensEdit]:
    """Return the one edit that makes the new numbers of the old ones."""
    if old == new:
        return []
    apart = where_different(old, new)
    data = new[apart.start : apart.new_end]
    return [lsp.SemanticTokensEdit(apart.start, apart.old_end - apart.start, data)]
