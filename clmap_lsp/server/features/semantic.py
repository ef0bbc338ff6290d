"""Semantic tokens: whole documents, ranges, and what changed since the last answer."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import count
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from clmap_lsp.dataclass import dataclass
from clmap_lsp.index.colours import Colour
from clmap_lsp.index.meaning import MODIFIERS, TYPES, Said, said
from clmap_lsp.server.app import feature
from clmap_lsp.server.indexing import Indexed
from clmap_lsp.source.difference import difference as where_different

if TYPE_CHECKING:
    from clmap_lsp.server.app import ClmapServer
    from clmap_lsp.server.documents import Document

LEGEND = lsp.SemanticTokensLegend(list(TYPES), list(MODIFIERS))
KEPT_ANSWERS = 64
"""Documents whose last answer is kept to tell what changed since."""
_TYPE_NUMBERS = {name: at for at, name in enumerate(TYPES)}
_MODIFIER_BITS = {name: 1 << at for at, name in enumerate(MODIFIERS)}


def register(server: ClmapServer) -> None:
    """Register the handlers."""
    last: dict[str, tuple[str, Encoded]] = {}
    numbers = count(1)
    options = lsp.SemanticTokensRegistrationOptions(
        legend=LEGEND, full=lsp.SemanticTokensFullDelta(delta=True), range=True
    )

    def closed(uri: str) -> None:
        last.pop(uri, None)

    server.on_closed.append(closed)

    async def answered(uri: str) -> tuple[str, Encoded] | None:
        before = last.get(uri)
        kept = None if before is None else before[1]
        found = await server.indexes.answer(uri, lambda it: Encoded.of(it, kept))
        if found is None:
            return None
        result = str(next(numbers))
        last.pop(uri, None)
        last[uri] = result, found
        if len(last) > KEPT_ANSWERS:
            last.pop(next(iter(last)))
        return result, found

    @feature(server, lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, options)
    async def full(params: lsp.SemanticTokensParams) -> lsp.SemanticTokens | None:
        found = await answered(params.text_document.uri)
        return None if found is None else lsp.SemanticTokens(found[1].data, found[0])

    @feature(server, lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL_DELTA, options)
    async def delta(
        params: lsp.SemanticTokensDeltaParams,
    ) -> lsp.SemanticTokens | lsp.SemanticTokensDelta | None:
        uri = params.text_document.uri
        before = last.get(uri)
        found = await answered(uri)
        if found is None:
            return None
        result, now = found
        if before is None or before[0] != params.previous_result_id:
            return lsp.SemanticTokens(now.data, result)
        return lsp.SemanticTokensDelta(difference(before[1].data, now.data), result)

    @feature(server, lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, options)
    async def part(params: lsp.SemanticTokensRangeParams) -> lsp.SemanticTokens | None:
        def of_part(indexed: Indexed) -> list[int]:
            return encoded_part(indexed, indexed.offset(params.range.start), indexed.offset(params.range.end))

        data = await server.indexes.answer(params.text_document.uri, of_part)
        return None if data is None else lsp.SemanticTokens(data)


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """The tokens of a document: what is said of its names, and the same as the protocol writes it."""

    document: Document
    said: Said
    data: list[int]

    @classmethod
    def of(cls, indexed: Indexed, before: Encoded | None) -> Encoded:
        """Return the tokens of a document; those that an edit leaves alone are written as before."""
        document, found = indexed.document, said(indexed.index)
        if before is None or before.document.encoding != document.encoding:
            return cls(document, found, written(document, found, 0, len(found.starts)))
        return cls(document, found, before._edited(document, found))

    def _edited(self, document: Document, now: Said) -> list[int]:
        """Return what is written of the tokens of a later text.

        Of each token it follows from the line up to it, and from where the token before it stands.
        """
        old, new, then = self.document.text, document.text, self.said
        apart = where_different(old, new)
        first = max(new.rfind("\n", 0, apart.start), new.rfind("\r", 0, apart.start)) + 1
        line_end = new.find("\n", apart.new_end)
        last, by = len(new) if line_end < 0 else line_end + 1, len(new) - len(old)
        n_before = _alike_before(then, now, first)
        n_behind = _alike_behind(then, now, last, by)
        if n_before + n_behind > min(len(then.starts), len(now.starts)) or not n_behind:
            n_behind = 1
        middle = written(document, now, n_before, len(now.starts) - n_behind + 1, is_part=False)
        return self.data[: 5 * n_before] + middle + self.data[len(self.data) - 5 * (n_behind - 1) :]


def _alike_before(then: Said, now: Said, limit: int) -> int:
    """Return how many of the first of two texts' words, before a place in both, are the same."""
    count = min(bisect_left(it.starts, limit) for it in (then, now))
    pairs = (then.starts[:count], now.starts[:count]), (then.words[:count], now.words[:count])
    return min(where_different(*it).start for it in pairs)


def _alike_behind(then: Said, now: Said, start: int, by: int) -> int:
    """Return how many of the last words, behind a place in the later text, are the same, only moved."""
    places = (then.starts, start - by), (now.starts, start)
    count = min(len(starts) - bisect_left(starts, place) for starts, place in places)
    if not count:
        return 0
    moved = [it + by for it in then.starts[-count:]]
    pairs = (moved, now.starts[-count:]), (then.words[-count:], now.words[-count:])
    return min(count if old == new else count - where_different(old, new).new_end for old, new in pairs)


def encoded_part(indexed: Indexed, start: int, end: int) -> list[int]:
    """Return the tokens of a part of the document."""
    found = said(indexed.index)
    first = bisect_right(found.starts, start) - 1
    if first < 0 or found.starts[first] + found.words[first][0] <= start:
        first += 1
    return written(indexed.document, found, first, bisect_left(found.starts, end))


def written(document: Document, found: Said, first: int, end: int, *, is_part: bool = True) -> list[int]:
    """Return some of the tokens as the protocol writes them: each relative to the last.

    The first one is relative to the document's start, or, if these are no part of their own, to the last too.
    """
    text, starts = document.text, document.file.line_starts
    is_plain = is_all_plain = text.isascii()
    data: list[int] = []
    line = character = row = 0
    if first and not is_part:
        place = document.position(found.starts[first - 1])
        line, character = place.line, place.character
    if first < end:
        row = max(bisect_right(starts, found.starts[first]) - 2, 0)
    for offset, (size, colour) in zip(found.starts[first:end], found.words[first:end], strict=True):
        # Positions are found by going along: a search for each took half of the time.
        is_moved = False
        while row + 1 < len(starts) and starts[row + 1] <= offset:
            row += 1
            is_moved = True
        if (is_moved or not data) and not is_all_plain:
            following = starts[row + 1] if row + 1 < len(starts) else len(text)
            is_plain = text[starts[row] : following].isascii()
        if is_plain:
            at, length = offset - starts[row], size
        else:
            at = document.position(offset).character
            length = document.position(offset + size).character - at
        number = _numbers.get(colour)
        if number is None:
            bits = sum(map(_MODIFIER_BITS.__getitem__, colour[1]))
            number = _numbers[colour] = _TYPE_NUMBERS[colour[0]], bits
        data += (row - line, at - character if row == line else at, length, *number)
        line, character = row, at
    return data


_numbers: dict[Colour, tuple[int, int]] = {}
"""As the legend counts them."""


def difference(old: list[int], new: list[int]) -> list[lsp.SemanticTokensEdit]:
    """Return the one edit that makes the new numbers of the old ones."""
    if old == new:
        return []
    apart = where_different(old, new)
    data = new[apart.start : apart.new_end]
    return [lsp.SemanticTokensEdit(apart.start, apart.old_end - apart.start, data)]
