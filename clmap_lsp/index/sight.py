"""Which names of a function are in sight at a place."""

from __future__ import annotations

from collections.abc import Iterator

from clmap_lsp.index.index import Index, PlacedUnit
from clmap_lsp.index.model import Scope, Symbol


def locals_at(index: Index, placed: PlacedUnit, at: int) -> Iterator[Symbol]:
    """Yield the names of the scopes around a token that are declared before it, innermost first."""
    chain: list[Scope] = []
    scopes: list[Scope] = placed.unit.scopes
    while True:
        inner = next((it for it in scopes if it.start < at <= it.end), None)
        if inner is None:
            break
        chain.append(inner)
        scopes = inner.inner
    for scope in reversed(chain):
        for it in reversed(scope.symbols):
            number = index.number_in_unit(it) if it.name else None
            if number is not None and number < at:
                yield it
