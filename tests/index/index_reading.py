"""Reads texts with marks: `/*name*/` before a token names its place."""

from __future__ import annotations

from clmap_lsp.index.index import Index, Occurrence
from clmap_lsp.index.reading import read_index
from clmap_lsp.source.options import BuildOptions


def index_of(text: str, previous: Index | None = None, **files: str) -> Index:
    """Return the index of `k.cl`; headers are given as `name_h="text"` for `name.h`."""
    headers = {name.replace("_h", ".h"): body for name, body in files.items()}
    return read_index(text, "k.cl", BuildOptions(), read_file=headers.get, previous=previous)


def named(index: Index, mark: str) -> Occurrence:
    """Return what the token behind `/*mark*/` names."""
    comment = f"/*{mark}*/"
    found = index.occurrence_at(index.text.index(comment) + len(comment))
    assert found is not None, mark
    return found


def messages(text: str) -> list[str]:
    """Return what is wrong, as `row:column message`."""
    index = index_of(text)
    out = []
    for it in index.issues:
        place = index.files[it.span.path].position(it.span.start)
        out.append(f"{place.row}:{place.column} {it.issue.severity.value}: {it.issue.message}")
    return out
