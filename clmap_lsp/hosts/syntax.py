"""What the readers of all host languages share: text of nodes, and expressions by the type of their node."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

from tree_sitter import Node

from clmap_lsp.hosts.tree import Class, Expr, Function, Opaque, Stmt

MAX_DEPTH = 150
"""Deeper nesting than a person writes is not followed. An expression takes up to five frames of Python a
level, and tree-sitter's binding ends the process where it meets the end of Python's stack."""
OF_STATEMENT = 2
"""Levels that a statement, a class or a namespace counts: it takes more frames than an expression."""
MAX_BRANCHES = 100
"""Branches of one `if` with `else if`s that are read: each stands inside the one before."""


class TreeReader:
    """Reads one file. `expressions` names what reads a type of node; of others, what is in them is read."""

    expressions: ClassVar[Mapping[str, Callable[[Any, Node], Expr]]]

    def __init__(self, path: str) -> None:
        self.path = path
        self.depth = 0
        self.functions: list[Function] = []
        self.classes: dict[str, Class] = {}

    @contextmanager
    def nested(self, levels: int = 1) -> Iterator[bool]:
        """Go some levels deeper, and tell whether what is read there still counts."""
        self.depth += levels
        try:
            yield self.depth < MAX_DEPTH
        finally:
            self.depth -= levels

    def statement(self, node: Node) -> Iterator[Stmt]:
        """Yield what a statement says; nothing where it stands too deep."""
        with self.nested(OF_STATEMENT) as is_followed:
            if is_followed:
                yield from self._statement(node)

    def _statement(self, node: Node) -> Iterator[Stmt]:
        raise NotImplementedError

    def expression(self, node: Node) -> Expr:
        """Read an expression."""
        with self.nested() as is_followed:
            if not is_followed:
                return Opaque(text_of(node)[:80])
            handler = self.expressions.get(node.type)
            if handler is not None:
                return handler(self, node)
            return Opaque(short_text(node), tuple(self.expression(it) for it in node.named_children))

    def or_opaque(self, node: Node | None) -> Expr:
        """Read an expression that may be missing."""
        return self.expression(node) if node is not None else Opaque("")

    def parenthesised(self, node: Node) -> Expr:
        """Read what stands in parentheses."""
        return self.expression(node.named_children[0]) if node.named_children else Opaque(text_of(node))


def raw_content(node: Node) -> str:
    """Return what stands between the delimiters of a raw string of C++."""
    return "".join(text_of(it) for it in node.named_children if it.type == "raw_string_content")


def text_of(node: Node) -> str:
    """Return the text of a node."""
    return node.text.decode("utf-8", "replace") if node.text is not None else ""


def short_text(node: Node) -> str:
    """Return the start of a node's text, in one line."""
    return " ".join(text_of(node).split())[:120]


def field_text(node: Node, name: str) -> str:
    """Return the text of a field of a node, empty where it has none."""
    child = node.child_by_field_name(name)
    return text_of(child) if child is not None else ""
