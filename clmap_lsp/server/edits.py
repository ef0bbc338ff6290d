"""Plain edits (see `convert.edit_data`) as workspace edits, as much as the client can take of them.

A client that can gets the version that the edits hold for, so that it refuses them for a newer text, and the
change that the host needs as an annotation that it shows before it applies anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lsprotocol import types as lsp

EditData = Mapping[str, Any]

HOST_CHANGE = "host-change"


def workspace_edit(
    edits: Sequence[EditData],
    capabilities: lsp.ClientCapabilities,
    versions: Mapping[str, int],
    host_change: str | None = None,
    assumptions: Sequence[str] = (),
    *,
    confirm: bool = False,
) -> lsp.WorkspaceEdit:
    """Return edits as one workspace edit.

    Args:
        versions: what the edits hold for, by URI; documents that are not open have none.
        host_change: what the user must change elsewhere.
        assumptions: what must hold of launches, builds and buffers.
        confirm: the user sees the edits before they are made, if the client can show them.
    """
    workspace = capabilities.workspace
    can = workspace.workspace_edit if workspace else None
    by_uri: dict[str, list[EditData]] = {}
    for edit in edits:
        if edit not in by_uri.setdefault(edit["uri"], []):
            by_uri[edit["uri"]].append(edit)
    if can is None or not can.document_changes:
        return lsp.WorkspaceEdit(
            changes={uri: [text_edit(it) for it in mine] for uri, mine in by_uri.items()}
        )
    notes = [] if host_change is None else [host_change]
    notes += [f"it assumes: {', '.join(assumptions)}"] if assumptions else []
    annotate = (bool(notes) or confirm) and can.change_annotation_support is not None
    label = "The host must change too"
    if host_change is None:
        label = "It holds under assumptions" if notes else "Nothing is assumed"
    changes = [
        lsp.TextDocumentEdit(
            lsp.OptionalVersionedTextDocumentIdentifier(uri, versions.get(uri)),
            [_annotated(it) if annotate else text_edit(it) for it in mine],
        )
        for uri, mine in by_uri.items()
    ]
    annotations = {
        HOST_CHANGE: lsp.ChangeAnnotation(
            label, needs_confirmation=confirm or host_change is not None, description="; ".join(notes)
        )
    }
    return lsp.WorkspaceEdit(document_changes=changes, change_annotations=annotations if annotate else None)


def text_edit(edit: EditData) -> lsp.TextEdit:
    """Return one edit."""
    return lsp.TextEdit(_range(edit), edit["newText"])


def overlap(edits: Sequence[EditData], more: Sequence[EditData]) -> bool:
    """Tell whether two lists of edits touch the same text; equal edits count as one."""
    return any(
        a["uri"] == b["uri"] and a != b and _bounds(a)[0] < _bounds(b)[1] and _bounds(b)[0] < _bounds(a)[1]
        for a in edits
        for b in more
    )


def _annotated(edit: EditData) -> lsp.AnnotatedTextEdit:
    return lsp.AnnotatedTextEdit(HOST_CHANGE, _range(edit), edit["newText"])


def _range(edit: EditData) -> lsp.Range:
    (line, character), (last, behind) = _bounds(edit)
    return lsp.Range(lsp.Position(line, character), lsp.Position(last, behind))


def _bounds(edit: EditData) -> tuple[tuple[int, int], tuple[int, int]]:
    start, end = edit["range"]["start"], edit["range"]["end"]
    return (int(start["line"]), int(start["character"])), (int(end["line"]), int(end["character"]))
