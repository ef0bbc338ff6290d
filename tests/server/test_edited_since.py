"""What the last analysis said of a place is not said of the place once its text was edited."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from types import SimpleNamespace

import pytest
from lsprotocol import types as lsp

from clmap_lsp.config import Settings
from clmap_lsp.server.documents import Document, Documents
from clmap_lsp.server.engine import Engine
from clmap_lsp.server.features import hover
from clmap_lsp.server.snapshot import Snapshot

TEXT = """\
__kernel void twice(__global float *out, __global const float *in)
{
    out[get_global_id(0)] = scale * in[get_global_id(0) * 32];
}
"""


@pytest.fixture(scope="module")
def analysed() -> Snapshot:
    document = Document("file:///twice.cl", "opencl", 1, TEXT)
    return Engine(Documents()).analyse(document, Settings())


def said(analysed: Snapshot, old: str, new: str, needle: str) -> str:
    """Return what a hover takes from the analysis at a needle, once the text was edited."""
    assert TEXT.count(old) == 1
    text = TEXT.replace(old, new)
    snapshot = analysed.seen_in(replace(analysed.document, text=text, version=2))
    at = text.index(needle)
    position = lsp.Position(text.count("\n", 0, at), at - text.rfind("\n", 0, at) - 1)
    server = SimpleNamespace(emulations=None, staging=SimpleNamespace(), compiled_hover=SimpleNamespace())

    async def nothing(*_: object) -> tuple[str, ...]:
        return ()

    server.staging.lines = server.staging.split = server.compiled_hover.lines = nothing
    offset = snapshot.offset(position)
    assert offset is not None
    found = hover._text_at(server, snapshot, offset)  # type: ignore[arg-type]
    found = found or asyncio.run(hover._access_at(server, snapshot, offset))  # type: ignore[arg-type]
    finding = hover._said_at(server, snapshot, position)  # type: ignore[arg-type]
    return "\n".join(it[0] for it in (finding, found) if it is not None)


@pytest.mark.parametrize(
    ("old", "new", "needle", "part"),
    [
        ("scale", "scale_of", "scale", "is not defined"),
        ("scale", "rescale", "cale", "is not defined"),
        (" * 32]", " * 3]", "in[", "128 bytes"),
        (" * 32]", " * 32 + 1]", "in[", "128 bytes"),
        ("void twice(", "void twice_as(", "twice", "twice"),
    ],
)
def test_what_was_edited_is_not_said_any_more(
    analysed: Snapshot, old: str, new: str, needle: str, part: str
) -> None:
    assert part in said(analysed, old, old, needle if needle in TEXT else old)
    assert part not in said(analysed, old, new, needle)


@pytest.mark.parametrize(("old", "new"), [("scale", "(scale"), ("scale", "scale;"), ("{", "{ int a;")])
def test_what_was_edited_beside_a_place_leaves_it_alone(analysed: Snapshot, old: str, new: str) -> None:
    assert "is not defined" in said(analysed, old, new, "scale")
