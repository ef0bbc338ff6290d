"""Messages as clients send them, put as the rest of the server expects them.

A document has one URI here, that under which it was opened: clients spell it in other ways too (`%3A`, `:`).
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping, MutableSequence
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

if TYPE_CHECKING:
    from clmap_lsp.server.documents import Documents


def mend(data: dict[str, Any], documents: Documents) -> None:
    """Spell the document's URI as it was opened, and put edits as the protocol has them."""
    params = data.get("params")
    if not isinstance(params, dict):
        return
    for holder, key in _uris(data, params):
        known = documents.get(holder[key])
        if known is not None:
            holder[key] = known.uri
    if data.get("method") == lsp.TEXT_DOCUMENT_DID_CHANGE:
        _mend_edit(params, documents)
    if data.get("method") == lsp.WORKSPACE_EXECUTE_COMMAND and params.get("arguments") is None:
        params["arguments"] = []  # Else pygls does not look how many a command needs.


def is_edit(params: Any) -> bool:
    """True of the parameters of an edit that say what the text becomes; converters guess at others."""
    changes = params.get("contentChanges") if isinstance(params, dict) else None
    return isinstance(changes, list) and all(_is_change(it) for it in changes)


def asked_about(data: dict[str, Any]) -> str | None:
    """Return the document that a person looks at, as a request tells.

    Diagnostics do not: clients pull them for all documents that are open.
    """
    if "id" not in data or data.get("method") == lsp.TEXT_DOCUMENT_DIAGNOSTIC:
        return None
    return uri_of(data)


def uri_of(data: dict[str, Any]) -> str | None:
    """Return the URI of the document that a message is about."""
    params = data.get("params")
    places = _uris(data, params) if isinstance(params, dict) else iter(())
    return next((holder[key] for holder, key in places), None)


def _uris(
    data: dict[str, Any], params: dict[str, Any]
) -> Iterator[tuple[MutableMapping[Any, Any] | MutableSequence[Any], Any]]:
    """Yield where a message names a document: what holds the URI, and its key there."""
    if data.get("method") == lsp.WORKSPACE_EXECUTE_COMMAND:
        arguments = params.get("arguments")
        if isinstance(arguments, list) and arguments and isinstance(arguments[0], str):
            yield arguments, 0
        return
    for name in ("textDocument", "item"):
        holder = params.get(name)
        if isinstance(holder, dict) and isinstance(holder.get("uri"), str):
            yield holder, "uri"


def _mend_edit(params: dict[str, Any], documents: Documents) -> None:
    """Give an edit without a version, as clients of LSP 3.15 may send it, that of its document.

    Places before the text's or a line's start mean that start.
    An edit that was refused for it would leave us with another text than the editor's.
    """
    document = params.get("textDocument")
    if not isinstance(document, dict):
        return
    uri = document.get("uri")
    known = documents.get(uri) if isinstance(uri, str) else None
    if document.get("version") is None and known is not None:
        document["version"] = known.version
    changes = params.get("contentChanges")
    for change in changes if isinstance(changes, list) else ():
        _clamp(change)


def _clamp(change: Any) -> None:
    """Move what lies before the text, or before a line, to its start, as other servers do."""
    span = change.get("range") if isinstance(change, dict) else None
    for place in (span.get("start"), span.get("end")) if isinstance(span, dict) else ():
        if not isinstance(place, dict):
            continue
        line, character = place.get("line"), place.get("character")
        if isinstance(line, int) and line < 0:
            place.update(line=0, character=0)
        elif isinstance(character, int) and character < 0:
            place["character"] = 0


def _is_change(change: Any) -> bool:
    if not isinstance(change, dict) or not isinstance(change.get("text"), str):
        return False
    span = change.get("range")
    if span is None:
        return True
    places = (span.get("start"), span.get("end")) if isinstance(span, dict) else (None,)
    return all(
        isinstance(place, dict) and all(_is_count(place.get(name)) for name in ("line", "character"))
        for place in places
    )


def _is_count(value: Any) -> bool:
    """True of whole numbers; some clients write them as `3.0`."""
    return not isinstance(value, bool) and isinstance(value, (int, float)) and value % 1 == 0
