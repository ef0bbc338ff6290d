"""How deeply a kernel nests: everything behind this room walks it by recursion."""

from __future__ import annotations

from clmap_lsp.source.ir import Block, Expression, blocks, expressions, operands

MAX_NESTING = 150
"""Blocks and operators inside each other. C99 asks for 127 blocks and 63 parentheses (section 5.2.4.1)."""


def nests_too_deeply(body: Block) -> bool:
    """Tell whether blocks and expressions nest beyond what the other rooms can walk. Does not recurse."""
    todo = [(body, 1)]
    while todo:
        block, depth = todo.pop()
        for statement in block:
            for it in expressions(statement):
                if operands(it) and _is_deep(it, depth):
                    return True
            inner = blocks(statement)
            if inner and depth >= MAX_NESTING:
                return True
            todo.extend((it, depth + 1) for it in inner if it)
    return False


def _is_deep(root: Expression, depth: int) -> bool:
    level = [root]
    while level:
        depth += 1
        if depth > MAX_NESTING:
            return True
        # A shared operand counts once a level, so that the walk stays linear in what is written.
        level = list({id(it): it for parent in level for it in operands(parent)}.values())
    return False
