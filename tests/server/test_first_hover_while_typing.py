"""The first question about a text that is being edited is answered by the index of its analysis."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from types import SimpleNamespace

from lsprotocol import types as lsp

from clmap_lsp.config import Settings
from clmap_lsp.server.documents import Document, Documents
from clmap_lsp.server.engine import Engine
from clmap_lsp.server.indexing import Indexed, Indexes

TEXT = """\
__kernel void twice(__global float *out)
{
    const int item = get_global_id(0);
    out[item] = 2.0f;
}
"""


def test_nothing_is_read_for_the_first_hover_beside_an_edit() -> None:
    documents = Documents()
    item = lsp.TextDocumentItem("file:///twice.cl", "opencl", 1, TEXT)
    engine = Engine(documents)
    analysed = documents.open(item)
    snapshot = engine.analyse(analysed, Settings())
    edited = replace(analysed, text=TEXT.replace("2.0f", "2.0f + 1"), version=2)
    server = SimpleNamespace(
        on_snapshot=[],
        analyses=SimpleNamespace(latest=lambda uri: snapshot),
        documents=SimpleNamespace(get=lambda uri: edited),
    )
    indexes = Indexes(server)  # type: ignore[arg-type]

    async def of(uri: str) -> Indexed | None:
        raise AssertionError("the text is read")

    indexes.of = of  # type: ignore[method-assign]
    found = asyncio.run(indexes.last(edited.uri, lsp.Position(3, 9)))
    assert found is not None
    indexed, offset, shift = found
    assert isinstance(indexed.document, Document) and indexed.document is analysed and shift is not None
    occurrence = indexed.index.occurrence_at(offset)
    assert occurrence is not None and occurrence.symbol.name == "item"
