"""Counting loops, whatever way they are typed: recognised in the IR, rewritten in the text.

The analysis knows which loops count up by 1, and to where. What is read here is only how the author spelt it:
`for (int k = 0; k < n; k++)`, a variable declared outside, `k <= n - 1`, `n > k`, `k != n`, `k += 1`, or a
`while` whose last statement is the increment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from clmap_lsp.dataclass import dataclass
from clmap_lsp.fixes import facts
from clmap_lsp.fixes.scope import as_typed
from clmap_lsp.source import ir
from clmap_lsp.source.types import ScalarType

if TYPE_CHECKING:
    from clmap_lsp.access.polynomial import LoopSymbol
    from clmap_lsp.fixes.outline import Node
    from clmap_lsp.fixes.scope import Scope

_INIT = re.compile(
    r"\s*(?:(?P<type>[A-Za-z_]\w*(?:\s+[A-Za-z_]\w*)*?)\s+)?(?P<name>[A-Za-z_]\w*)\s*=\s*(?P<start>[^=].*?)\s*",
    re.DOTALL,
)
_NAME = r"(?P<name>[A-Za-z_]\w*)"
_TEST = re.compile(rf"\s*{_NAME}\s*(?P<op><=|<|!=)\s*(?P<bound>[^=<>].*?)\s*", re.DOTALL)
_REVERSED = re.compile(rf"\s*(?P<bound>[^=<>]*?[^=<>\s])\s*(?P<op>>=|>|!=)\s*{_NAME}\s*", re.DOTALL)
_INCREMENT = re.compile(r"\s*(?:(\w+)\s*\+\+|\+\+\s*(\w+)|(\w+)\s*\+=\s*1|(\w+)\s*=\s*\4\s*\+\s*1)\s*")
_WIDE = 32
LESS_ONE = re.compile(r"(.*\w|.*\))\s*-\s*1", re.DOTALL)
"""`n - 1`: the last number below `n`."""


@dataclass(frozen=True, slots=True)
class CountingLoop:
    """A loop that counts up by 1; `start` and `bound` (which the counter stays below) as C text."""

    node: Node
    statement: ir.Loop
    symbol: LoopSymbol
    type: str
    name: str
    start: str
    bound: str
    declares: bool = True
    """The loop itself declares its counter; else its value may be used after the loop."""
    increment: tuple[int, int] | None = None
    """Where the statement stands that counts, if it is part of the body."""

    @property
    def body(self) -> Node:
        """What it repeats."""
        return self.node.children[0]

    @property
    def from_zero(self) -> bool:
        """True if its counter starts at 0."""
        return self.symbol.start is not None and self.symbol.start.value == 0

    def head(self, first: str, end: str) -> str:
        """Return the head of a loop over some of its turns."""
        declared = f"{self.type} " if self.declares else ""
        return f"for ({declared}{self.name} = {first}; {self.name} < {end}; {self.name}++)"

    def rest(self, scope: Scope, first: str) -> list[str]:
        """Return the loop as it was, from a turn on."""
        assert self.node.head is not None, "a counting loop has a head"
        if self.increment is not None:
            return [f"{self.name} = {first};", scope.text[self.node.begins : self.node.end]]
        return [self.head(first, self.bound) + scope.text[self.node.head[1] + 1 : self.node.end]]


def counting_loops(scope: Scope, *, any_end: bool = False) -> Iterator[CountingLoop]:
    """Yield the loops of a kernel that count up by 1 and are left only by their test.

    Whoever writes one for another turn replaces its counter, which no macro may then mention. Counters of
    less than 32 bits are left out: other steps and starts may pass their largest value.

    Args:
        any_end: also loops that are held below several things (`i < end && i < n`), with an empty `bound`,
            and those that are left on the way.
    """
    for statement in ir.walk(scope.subject.analysis.kernel.body):
        if isinstance(statement, ir.Loop) and as_typed(statement.span, scope.subject.path):
            symbol = _symbol(scope, statement, any_end=any_end)
            node = scope.node_at(statement.span)
            if symbol is None or node is None:
                continue
            found = None
            if node.kind == "for":
                found = _for(scope, node, statement, symbol, any_end=any_end)
            elif node.kind == "while":
                found = _while(scope, node, statement, symbol)
            if found is None or found.name in scope.hidden(statement) or _is_narrow(statement, found.name):
                continue
            yield found


def is_used_behind(scope: Scope, loop: CountingLoop, loops: Sequence[CountingLoop]) -> bool:
    """True if something may read what a loop's counter is at its end: no loop sets it before."""
    others = [it for it in loops if it.name == loop.name and it.node.kind == "for"]
    later = [at for at in scope.mentions(loop.name) if at >= loop.node.end]
    return not loop.declares and not all(any(it.node.holds(at, at) for it in others) for at in later)


def _symbol(scope: Scope, loop: ir.Loop, *, any_end: bool) -> LoopSymbol | None:
    """Return the symbol of a loop that some access stands in."""
    for access in facts.accesses(scope.subject.analysis):
        for symbol in access.loops:
            if symbol.span == loop.span:
                counts = symbol.step is not None and symbol.step.value == 1
                return symbol if counts and (any_end or not symbol.exits_early) else None
    return None


def _for(
    scope: Scope, node: Node, statement: ir.Loop, symbol: LoopSymbol, *, any_end: bool
) -> CountingLoop | None:
    assert node.head is not None, "a for loop has a head"
    parts = scope.shown[node.head[0] : node.head[1]].split(";")
    if len(parts) != 3:
        return None
    init, step = _INIT.fullmatch(parts[0]), _INCREMENT.fullmatch(parts[2])
    if init is None or step is None or "," in parts[0]:
        return None
    name = init["name"]
    bound = _bound(parts[1], name)
    if bound is None and any_end and symbol.trip is not None:
        bound = ""
    if bound is None or next(it for it in step.groups() if it) != name:
        return None
    kind = init["type"] or _type(statement, name)
    if kind is None:
        return None
    return CountingLoop(node, statement, symbol, kind, name, init["start"], bound, init["type"] is not None)


def _while(scope: Scope, node: Node, statement: ir.Loop, symbol: LoopSymbol) -> CountingLoop | None:
    """Return a `while` of which the last statement counts; its counter has its first value before it."""
    assert node.head is not None, "a while loop has a head"
    body = node.children[0]
    if body.kind != "block" or not body.children or body.children[-1].kind != "simple":
        return None
    last = body.children[-1]
    step = _INCREMENT.fullmatch(scope.shown[last.start : last.end].rstrip().removesuffix(";"))
    if step is None or any(isinstance(it, ir.Continue) for it in ir.walk(statement.body)):
        return None
    name = next(it for it in step.groups() if it)
    bound = _bound(scope.shown[node.head[0] : node.head[1]], name)
    kind = _type(statement, name)
    if bound is None or kind is None:
        return None
    return CountingLoop(node, statement, symbol, kind, name, name, bound, False, (last.start, last.end))


def _bound(test: str, name: str) -> str | None:
    """Return what a test holds its counter below; `None` for any other test."""
    found = _TEST.fullmatch(test) or _REVERSED.fullmatch(test)
    if found is None or found["name"] != name:
        return None
    bound = found["bound"]
    if any(word in bound for word in ("&&", "||", "?", "<<", ">>")) or re.search(rf"\b{name}\b", bound):
        return None
    if found["op"] not in ("<=", ">="):
        return bound
    less = LESS_ONE.fullmatch(bound)
    return less[1] if less is not None else f"{bound} + 1"


def _type(statement: ir.Loop, name: str) -> str | None:
    """Return the type of a counter that is declared before its loop."""
    counter = _counter(statement, name)
    return None if counter is None else str(counter.type)


def _is_narrow(statement: ir.Loop, name: str) -> bool:
    counter = _counter(statement, name)
    return counter is not None and isinstance(counter.type, ScalarType) and counter.type.bits < _WIDE


def _counter(statement: ir.Loop, name: str) -> ir.Variable | None:
    """Return the variable of a name that a loop steps."""
    for it in ir.walk((*statement.step, *statement.body)):
        if isinstance(it, ir.Assign) and it.variable.name == name and not it.variable.is_temporary:
            return it.variable
    return None
