"""Counting loops as typed: `for (int k = 0; k < N; k++)`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clmap_lsp.fixes import facts
from clmap_lsp.fixes.scope import as_typed
from clmap_lsp.source import ir

if TYPE_CHECKING:
    from clmap_lsp.access.polynomial import LoopSymbol
    from clmap_lsp.fixes.outline import Node
    from clmap_lsp.fixes.scope import Scope

_INIT = re.compile(
    r"\s*(?P<type>[A-Za-z_]\w*(?:\s+[A-Za-z_]\w*)*?)\s+(?P<name>[A-Za-z_]\w*)\s*=\s*(?P<start>.+?)\s*"
)
_TEST = re.compile(r"\s*(?P<name>[A-Za-z_]\w*)\s*<\s*(?P<bound>[^=<>].*?)\s*", re.DOTALL)
_INCREMENT = re.compile(r"\s*(?:(\w+)\s*\+\+|\+\+\s*(\w+)|(\w+)\s*\+=\s*1)\s*")


@dataclass(frozen=True, slots=True)
class CountingLoop:
    """A `for` loop that counts up by 1; `start` and `bound` as typed."""

    node: Node
    statement: ir.Loop
    symbol: LoopSymbol
    type: str
    name: str
    start: str
    bound: str

    @property
    def body(self) -> Node:
        """What it repeats."""
        return self.node.children[0]


def counting_loops(scope: Scope) -> Iterator[CountingLoop]:
    """Yield the loops of a kernel that count up by 1 and are left only by their test."""
    for statement in ir.walk(scope.subject.analysis.kernel.body):
        if isinstance(statement, ir.Loop) and as_typed(statement.span, scope.subject.path):
            symbol = _symbol(scope, statement)
            node = scope.node_at(statement.span)
            if symbol is not None and node is not None and node.kind == "for":
                found = _read(scope, node, statement, symbol)
                if found is not None:
                    yield found


def _symbol(scope: Scope, loop: ir.Loop) -> LoopSymbol | None:
    """Return the symbol of a loop that some access stands in."""
    for access in facts.accesses(scope.subject.analysis):
        for symbol in access.loops:
            if symbol.span == loop.span:
                usable = symbol.step is not None and symbol.step.value == 1 and not symbol.exits_early
                return symbol if usable else None
    return None


def _read(scope: Scope, node: Node, statement: ir.Loop, symbol: LoopSymbol) -> CountingLoop | None:
    assert node.head is not None, "a for loop has a head"
    parts = scope.shown[node.head[0] : node.head[1]].split(";")
    if len(parts) != 3:
        return None
    init, test, step = _INIT.fullmatch(parts[0]), _TEST.fullmatch(parts[1]), _INCREMENT.fullmatch(parts[2])
    if init is None or test is None or step is None or "," in parts[0]:
        return None
    name = init["name"]
    if test["name"] != name or next(it for it in step.groups() if it) != name:
        return None
    if any(word in test["bound"] for word in ("&&", "||", "?")):
        return None
    return CountingLoop(node, statement, symbol, init["type"], name, init["start"], test["bound"])
