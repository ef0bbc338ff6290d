"""Edits and positions against a plain model of the protocol's text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types as lsp

from clmap_lsp.server import edited_lines
from clmap_lsp.server.documents import Document, Documents, path_of

TEXT = st.text(alphabet="ab \t\x0c\x0b\u2028é€😀\r\n", max_size=40)
ENCODINGS = st.sampled_from(list(lsp.PositionEncodingKind))
CODECS = {
    lsp.PositionEncodingKind.Utf8: ("utf-8", 1),
    lsp.PositionEncodingKind.Utf16: ("utf-16-le", 2),
    lsp.PositionEncodingKind.Utf32: ("utf-32-le", 4),
}


def document(text: str, encoding: lsp.PositionEncodingKind) -> Document:
    return Document("file:///k.cl", "opencl", 1, text, encoding)


def model_position(text: str, offset: int, encoding: lsp.PositionEncodingKind) -> lsp.Position:
    """Split at LF, CRLF and CR only, and count units by encoding the text before the place."""
    lines = text[:offset].replace("\r\n", "\n").replace("\r", "\n").split("\n")
    codec, size = CODECS[encoding]
    return lsp.Position(len(lines) - 1, len(lines[-1].encode(codec)) // size)


@given(TEXT, st.data(), ENCODINGS)
def test_positions_agree_with_the_model(text: str, data: st.DataObject, encoding: lsp.PositionEncodingKind):
    offset = data.draw(st.integers(0, len(text)))
    inside_crlf = text[offset - 1 : offset + 1] == "\r\n"
    if inside_crlf:
        return
    position = document(text, encoding).position(offset)
    assert position == model_position(text, offset, encoding)
    assert document(text, encoding).offset(position) == offset


@given(TEXT, TEXT, st.data(), ENCODINGS)
def test_an_edit_replaces_exactly_its_range(
    text: str, new: str, data: st.DataObject, encoding: lsp.PositionEncodingKind
):
    first = data.draw(st.integers(0, len(text)))
    last = data.draw(st.integers(first, len(text)))
    if any(text[at - 1 : at + 1] == "\r\n" for at in (first, last)):
        return
    before = document(text, encoding)
    change = lsp.TextDocumentContentChangePartial(range=before.range(first, last), text=new)
    assert before.changed([change], 2).text == text[:first] + new + text[last:]


PLACES = st.builds(lsp.Position, st.integers(0, 6), st.integers(0, 12))
CHANGES = st.one_of(
    st.builds(lsp.TextDocumentContentChangePartial, st.builds(lsp.Range, PLACES, PLACES), TEXT),
    st.builds(lsp.TextDocumentContentChangeWholeDocument, TEXT),
)


@given(TEXT, st.lists(CHANGES, max_size=8), ENCODINGS)
def test_many_edits_at_once_are_those_one_by_one(
    text: str, edits: list[lsp.TextDocumentContentChangeEvent], encoding: lsp.PositionEncodingKind
):
    before = document(text, encoding)
    one_by_one = before
    for edit in edits:
        one_by_one = one_by_one.changed([edit], 2)
    assert before.changed(edits, 2).text == one_by_one.text


def test_a_word_is_replaced_everywhere_in_time_that_grows_with_the_text(monkeypatch: pytest.MonkeyPatch):
    """What looks through a whole text is done as often for many edits as for few."""
    looked: list[int] = []
    lines_of = edited_lines._lines_of

    def counted(text: str) -> list[str]:
        looked.append(len(text))
        return lines_of(text)

    monkeypatch.setattr(edited_lines, "_lines_of", counted)
    text, count = "int x;\n" * 5000, 5000
    ranges = (lsp.Range(lsp.Position(row, 4), lsp.Position(row, 5)) for row in reversed(range(count)))
    edits = [lsp.TextDocumentContentChangePartial(it, "yy") for it in ranges]
    changed = document(text, lsp.PositionEncodingKind.Utf16).changed(edits, 2)
    assert changed.text == text.replace("x", "yy")
    assert "file" not in changed.__dict__
    assert sum(looked) < 3 * len(text)


def test_a_position_past_the_end_of_a_line_is_its_end():
    assert document("ab\ncd", lsp.PositionEncodingKind.Utf16).offset(lsp.Position(0, 99)) == 2
    assert document("ab\ncd", lsp.PositionEncodingKind.Utf16).offset(lsp.Position(9, 0)) == 5


def test_changes_apply_one_after_the_other_and_full_text_replaces_all():
    before = document("one two", lsp.PositionEncodingKind.Utf16)
    changes = [
        lsp.TextDocumentContentChangePartial(range=before.range(0, 3), text="three"),
        lsp.TextDocumentContentChangePartial(
            range=lsp.Range(lsp.Position(0, 6), lsp.Position(0, 9)), text="four"
        ),
    ]
    assert before.changed(changes, 2).text == "three four"
    assert before.changed([lsp.TextDocumentContentChangeWholeDocument(text="x")], 3).text == "x"


def test_an_edit_of_a_document_that_is_not_open_is_ignored():
    documents = Documents()
    params = lsp.DidChangeTextDocumentParams(
        lsp.VersionedTextDocumentIdentifier(2, "file:///nope.cl"),
        [lsp.TextDocumentContentChangeWholeDocument(text="x")],
    )
    assert documents.change(params) is None


def test_uris_that_differ_only_in_escapes_are_one_document():
    documents = Documents()
    documents.open(lsp.TextDocumentItem("file:///a%20b.cl", "opencl", 1, "x"))
    assert documents.get("file:///a b.cl") is not None


def test_paths():
    assert path_of("file:///a%20b/k.cl") == "/a b/k.cl"
    assert path_of("untitled:Untitled-1") == "untitled:Untitled-1"
