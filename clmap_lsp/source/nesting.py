"""How deeply a kernel nests: everything behind this room walks it by recursion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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
    """Return how deeply a body nests, calls not followed. Does not recurse."""
    deepest, calls = 1, dict[str, int]()
    todo = [(body, 1)]
    while todo:
        block, depth = todo.pop()
        for statement in block:
            inside = depth
            if isinstance(statement, Call):
                calls[statement.function] = max(depth, calls.get(statement.function, 0))
                inside += 1  # arguments are given to parameters inside of the call's scope
            for it in expressions(statement):
                if not is_leaf(it):
                    deepest = max(deepest, inside + _levels(it))
            inner = blocks(statement)
            if inner:
                deepest = max(deepest, depth + 1)
                todo.extend((it, depth + 1) for it in inner if it)
    return Nesting(deepest, calls)


def nests_too_deeply(name: str, functions: Mapping[str, Nesting]) -> bool:
    """Tell whether a function nests beyond what the other rooms can walk, with all its calls inlined."""
    depths: dict[str, int] = {}
    return _depth(name, functions, depths, frozenset()) > MAX_NESTING


def _depth(
    name: str, functions: Mapping[str, Nesting], depths: dict[str, int], callers: frozenset[str]
) -> int:
    known = depths.get(name)
    if known is not None:
        return known
    own = functions.get(name)
    if own is None or name in callers or own.depth > MAX_NESTING:
        return 0 if own is None or name in callers else own.depth
    if len(callers) > MAX_NESTING:
        return MAX_NESTING + 1
    inside = callers | {name}
    called = [at + _depth(it, functions, depths, inside) for it, at in own.calls.items()]
    depths[name] = max(own.depth, *called) if called else own.depth
    return depths[name]


def _levels(root: Expression) -> int:
    """Return how many operators stand inside each other, the names at the bottom counted."""
    level = [root]
    levels = 1
    while level and levels <= MAX_NESTING:
        levels += 1
        below = [operand for it in level for operand in operands(it) if not is_leaf(operand)]
        # A shared operand counts once a level, so that the walk stays linear in what is written.
        level = below if len(below) < 2 else list({id(it): it for it in below}.values())
    return levels
