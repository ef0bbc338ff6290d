"""Places in results: relative to the kernel that they belong to, so that they move with it.

Results are kept by content, and the same kernel may come back at another offset, or in another file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clmap_lsp.source.span import Span


def place_of(span: Span, kernel: Span) -> dict[str, Any]:
    """Return a span as data: relative to the kernel's start in its file, else with path and offsets."""
    if span.path == kernel.path:
        return {"path": "", "start": span.start - kernel.start, "end": span.end - kernel.start}
    return {"path": span.path, "start": span.start, "end": span.end}


def span_at(place: Mapping[str, Any], kernel: Span) -> Span:
    """Return a place for the kernel as it stands now."""
    path, start, end = str(place["path"]), int(place["start"]), int(place["end"])
    if path:
        return Span(path, start, end)
    return Span(kernel.path, start + kernel.start, end + kernel.start)
