"""Which variables differ between the work-items of a group, by what their values are made from.

A value differs if it comes from a work-item's own number, or is assigned where a condition that differs
decides. No path is followed: a variable that differs anywhere differs everywhere. What is loaded differs if
the address does.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

from clmap_lsp.index.index import Index
from clmap_lsp.index.model import CALLABLE, Symbol
from clmap_lsp.index.pieces import Flow

_known: WeakKeyDictionary[Index, frozenset[Symbol]] = WeakKeyDictionary()


def varying_symbols(index: Index) -> frozenset[Symbol]:
    """Return the variables, parameters and functions (their results) whose values differ."""
    if (known := _known.get(index)) is None:
        known = _known[index] = _varying(index)
    return known


def _varying(index: Index) -> frozenset[Symbol]:
    declared_again = [
        it
        for placed in index.units
        for it in placed.unit.symbols
        if it.previous is not None and it.kind in CALLABLE
    ]
    flows = [flow for placed in index.units for flow in placed.unit.flow()]
    found = None if declared_again else _in_few_passes(flows)
    return _followed(flows, declared_again) if found is None else found


MOST_PASSES = 8
"""Times that all assignments are gone through; most depend on what stands before them, and two are enough."""


def _in_few_passes(flows: list[Flow]) -> frozenset[Symbol] | None:
    """Return what differs where each function is declared once; `None` where that takes many passes.

    To keep who uses what takes several times as long, and this is done at each key.
    """
    found: set[Symbol | None] = {None}
    for _ in range(MOST_PASSES):
        before, rest = len(found), []
        for flow in flows:
            target, depends = flow
            if target in found:
                continue
            if found.isdisjoint(depends):
                rest.append(flow)
            else:
                found.add(target)
        if len(found) == before:
            return frozenset(it for it in found if it is not None)
        flows = rest
    return None


def _followed(flows: list[Flow], declared_again: list[Symbol]) -> frozenset[Symbol]:
    users: dict[Symbol, list[Symbol]] = {}
    waiting: list[Symbol] = []
    found: set[Symbol] = set()

    def mark(symbol: Symbol) -> None:
        if symbol not in found:
            found.add(symbol)
            waiting.append(symbol)

    for symbol in declared_again:
        assert symbol.previous is not None
        _link(symbol, symbol.previous, users)
    for target, depends in flows:
        if target is None:
            continue
        node = _node(target)
        for it in depends:
            if it is None:
                mark(node)
            else:
                users.setdefault(_node(it), []).append(node)
    while waiting:
        for user in users.get(waiting.pop(), ()):
            mark(user)
    return frozenset(found)


def _node(symbol: Symbol) -> Symbol:
    return symbol.root if symbol.kind in CALLABLE else symbol


def _link(one: Symbol, other: Symbol, users: dict[Symbol, list[Symbol]]) -> None:
    """Let the parameters of two declarations of a function be the same."""
    for a, b in zip(one.parameters, other.parameters, strict=False):
        users.setdefault(a, []).append(b)
        users.setdefault(b, []).append(a)
