"""Places in documents that a client spells itself: in arguments of commands, and in requests of ours.

The protocol's own requests are checked by its types. These are whatever JSON holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeGuard

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams

MOST = 2**31 - 1
"""The largest number of a line or character that the protocol knows."""


def place_of(value: Any) -> lsp.Position | None:
    """Return a place; what is left out of it is 0. `None` for what is none.

    Numbers that no text is long enough for mean its ends.
    """
    if not _is_object(value):
        return None
    line, character = _member(value, "line", 0), _member(value, "character", 0)
    if not is_number(line) or not is_number(character):
        return None
    return lsp.Position(max(0, min(line, MOST)), max(0, min(character, MOST)))


def document_and_place(method: str, params: Any) -> tuple[str, lsp.Position]:
    """Return the URI and the place that a request of ours is about.

    Raises: JsonRpcInvalidParams if it names none.
    """
    uri = _member(_member(params, "textDocument"), "uri")
    place = place_of(_member(params, "position"))
    if not isinstance(uri, str) or place is None:
        raise JsonRpcInvalidParams(f"{method} needs textDocument.uri and position")
    return uri, place


def _member(value: Any, name: str, otherwise: Any = None) -> Any:
    """Return a member of what JSON calls an object: pygls gives requests of ours as objects of Python."""
    if isinstance(value, Mapping):
        return value.get(name, otherwise)
    return getattr(value, name, otherwise) if _is_object(value) else otherwise


def _is_object(value: Any) -> bool:
    """Tell whether a value was an object: tuples with names stand for those, too."""
    return isinstance(value, Mapping) or (isinstance(value, tuple) and hasattr(value, "_fields"))


def is_number(value: Any) -> TypeGuard[int]:
    """Tell whether a value is a whole number; true and false are none."""
    return isinstance(value, int) and not isinstance(value, bool)
