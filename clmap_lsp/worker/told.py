"""What a job tells whoever waits for it before it ends: how far it is, or the best that it found so far."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

Listener = Callable[[Mapping[str, Any]], None]

_listener: Listener | None = None


def tell(message: Mapping[str, Any]) -> None:
    """Tell whoever waits for the present job something before it ends; plain data."""
    if _listener is not None:
        _listener(message)


def listen(listener: Listener | None) -> Listener | None:
    """Let a listener hear what is told in this process from now on; returns the one before."""
    global _listener
    before, _listener = _listener, listener
    return before


@contextmanager
def heard_by(listener: Listener | None) -> Iterator[None]:
    """Let a listener in this process hear what is told within the context."""
    before = listen(listener)
    try:
        yield
    finally:
        listen(before)
