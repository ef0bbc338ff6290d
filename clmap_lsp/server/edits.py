"""Plain edits (see `convert.edit_data`) as workspace edits, as much as the client can take of them.

A client that can gets the version that the edits hold for, so that it refuses them for a newer text, and the
change that the host needs as an annotation that it shows before it applies anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams

from clmap_lsp.server.places import place_of

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


def edits_of(value: Any) -> list[EditData]:
    """Return the edits that a client gives back with an action.

    Raises: JsonRpcInvalidParams for what was never one of ours.
    """
    if not isinstance(value, list) or not all(map(_is_edit, value)):
        raise JsonRpcInvalidParams("the edits of an action that is none of ours")
    return value


def fixes_of(data: Any) -> list[dict[str, Any]]:
    """Return the fixes that a diagnostic carries; what a client made of them otherwise is left out."""
    found = data.get("fixes") if isinstance(data, dict) else None
    return [it for it in found if _is_fix(it)] if isinstance(found, list) else []


def _is_fix(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("edits"), list):
        return False
    rank = value.get("rank", [])  # Those of a rule alone have none.
    is_ranked = isinstance(rank, list) and all(isinstance(it, (int, float)) for it in rank)
    is_named = all(isinstance(value.get(it), str) for it in ("safety", "title")) and "verified" in value
    return is_named and is_ranked and all(map(_is_edit, value["edits"]))


def _is_edit(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("range"), dict):
        return False
    places = (value["range"].get("start"), value["range"].get("end"))
    is_placed = all(isinstance(it, dict) and it.keys() >= {"line", "character"} for it in places)
    named = isinstance(value.get("uri"), str) and isinstance(value.get("newText"), str)
    return named and is_placed and all(_is_known(it) for it in places)


def _is_known(place: Any) -> bool:
    """Tell whether a place has numbers that the protocol knows."""
    known = place_of(place)
    return known is not None and (known.line, known.character) == (place["line"], place["character"])


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
