"""How deeply a kernel nests: everything behind this room walks it by recursion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from clmap_lsp.dataclass import dataclass
from clmap_lsp.interruption import checkpoint
from clmap_lsp.source.ir import Block, Call, Expression, blocks, expressions, is_leaf, operands

MAX_NESTING = 150
"""Blocks and operators inside each other. C99 asks for 127 blocks and 63 parentheses (section 5.2.4.1)."""


@dataclass(frozen=True, slots=True)
class Nesting:
    """How deep blocks and operators of one function body stand inside each other."""

    depth: int
    """Of the body itself; 1 for statements that hold nothing but names."""
    calls: Mapping[str, int]
    """For each function that it calls, the depth of the deepest call."""


def nesting_of(body: Block) -> Nesting:
    """Return how deeply a body nests, calls not followed.

    Raises: RecursionError, far beyond `MAX_NESTING`.
    """
    deepest, calls = 1, dict[str, int]()
    todo = [(body, 1)]
    levels = _Levels()
    while todo:
        block, depth = todo.pop()
        deepest = max(deepest, depth)
        for statement in block:
            checkpoint()
            inside = depth
            if isinstance(statement, Call):
                calls[statement.function] = max(depth, calls.get(statement.function, 0))
                inside += 1  # arguments are given to parameters inside of the call's scope
            for it in expressions(statement):
                if not is_leaf(it):
                    deepest = max(deepest, inside + levels.of(it))
            for inner in blocks(statement):
                todo.append((inner, depth + 1))
    return Nesting(deepest, calls)


class HasNesting(Protocol):
    """A function that can tell how deeply it nests."""

    @property
    def nesting(self) -> Nesting:
        """How deeply its body nests."""
        ...


def nests_too_deeply(name: str, functions: Mapping[str, HasNesting]) -> bool:
    """Tell whether a function nests beyond what the other rooms can walk, with all its calls inlined."""
    depths: dict[str, int] = {}
    return _depth(name, functions, depths, frozenset()) > MAX_NESTING


def _depth(
    name: str, functions: Mapping[str, HasNesting], depths: dict[str, int], callers: frozenset[str]
) -> int:
    known = depths.get(name)
    if known is not None:
        return known
    function = functions.get(name)
    if function is None or name in callers:
        return 0
    own = function.nesting
    if own.depth > MAX_NESTING:
        return own.depth
    if len(callers) > MAX_NESTING:
        return MAX_NESTING + 1
    inside = callers | {name}
    called = [at + _depth(it, functions, depths, inside) for it, at in own.calls.items()]
    depths[name] = max(own.depth, *called) if called else own.depth
    return depths[name]


class _Levels:
    """How many operators stand inside each other, the names at the bottom counted."""

    def __init__(self) -> None:
        self._shared: dict[int, int] = {}
        """By the identity of expressions of several operands: shared ones are walked once."""

    def of(self, root: Expression) -> int:
        """Return the levels of an expression that has operands."""
        inner = [it for it in operands(root) if not is_leaf(it)]
        if not inner:
            return 2
        if len(inner) == 1:
            return 1 + self.of(inner[0])
        known = self._shared.get(id(root))
        if known is None:
            known = self._shared[id(root)] = 1 + max([self.of(it) for it in inner])
        return known
