"""What edits of host code are made with: its syntax tree, places in it, and the refusal with a reason."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from tree_sitter import Node

from clmap_lsp.dataclass import dataclass
from clmap_lsp.findings import Edit
from clmap_lsp.hosts.c_reader import parse_c
from clmap_lsp.hosts.launches import HostReport
from clmap_lsp.hosts.python_reader import parse_python
from clmap_lsp.hosts.syntax import text_of
from clmap_lsp.source.span import Span

Read = Callable[[str], "str | None"]
Reread = Callable[[dict[str, str]], HostReport]
"""Reads a project's host code again, with these texts in place of those of some files."""

FUNCTIONS = frozenset(("function_definition", "lambda_expression", "translation_unit", "module", "lambda"))
Extent = tuple[int, int]
"""Where an expression starts and ends, in bytes."""

STATEMENTS = frozenset(("expression_statement", "declaration", "return_statement", "if_statement"))


@dataclass(frozen=True, slots=True)
class HostEdits:
    """What to change in host code; `reason` says why there is nothing to offer, and is empty otherwise."""

    edits: tuple[Edit, ...] = ()
    reason: str = ""


class RefusedError(Exception):
    """Why an edit cannot be given."""


def applied(text: str, edits: Iterable[Edit]) -> str:
    """Return a text after edits that do not overlap."""
    for edit in sorted(edits, key=lambda it: it.span.start, reverse=True):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return text


class HostText:
    """One host file with its syntax tree."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self.data = text.encode("utf-8", "replace")
        self.is_python = path.endswith(".py")
        self.root = (parse_python if self.is_python else parse_c)(text)

    def calls(self, row: int) -> Iterator[Node]:
        """Yield the calls that start on a row, the outer ones first."""
        rest = [self.root]
        while rest:
            node = rest.pop()
            if node.start_point.row + 1 > row or node.end_point.row + 1 < row:
                continue
            if node.type in ("call_expression", "call") and node.start_point.row + 1 == row:
                yield node
            rest += reversed(node.named_children)

    def indent(self, statement: Node) -> str:
        """Return the white space before a statement, a blank where it does not start its line."""
        line = self.data.rfind(b"\n", 0, statement.start_byte) + 1
        indent = self.data[line : statement.start_byte].decode("utf-8", "replace")
        return indent if not indent.strip() else " "

    def new_name(self, wanted: str) -> str:
        """Return a name that the file does not have yet."""
        name, number = wanted, 1
        while re.search(rf"\b{name}\b", self.text):
            number += 1
            name = f"{wanted}_{number}"
        return name

    def place(self, node: Node) -> str:
        """Return where a node stands, for people."""
        return place_of(self.path, node.start_point.row + 1)

    def offset(self, byte: int) -> int:
        """Return the offset in characters of one in bytes."""
        return len(self.data[:byte].decode("utf-8"))

    def edit(self, node: Node, text: str) -> Edit:
        """Return the edit that replaces a node."""
        return Edit(Span(self.path, self.offset(node.start_byte), self.offset(node.end_byte)), text)

    def before(self, node: Node, text: str) -> Edit:
        """Return the edit that puts text before a node."""
        start = self.offset(node.start_byte)
        return Edit(Span(self.path, start, start), text)

    def behind(self, node: Node, text: str) -> Edit:
        """Return the edit that puts text behind a node."""
        end = self.offset(node.end_byte)
        return Edit(Span(self.path, end, end), text)


def called(call: Node) -> str:
    """Return the name of the function that a call calls."""
    function = call.child_by_field_name("function")
    return re.split(r"\.|->|::", text_of(function))[-1] if function is not None else ""


def named(node: Node) -> list[Node]:
    """Return the children of a node that are no comments and no punctuation."""
    return [it for it in node.named_children if it.type != "comment"]


def arguments_of(call: Node) -> list[Node]:
    """Return the arguments of a call."""
    listed = call.child_by_field_name("arguments")
    return named(listed) if listed is not None else []


def enclosing(node: Node, types: frozenset[str]) -> Node:
    """Return the innermost node of some types around one, else the root."""
    while node.parent is not None and node.type not in types:
        node = node.parent
    return node


def walk(node: Node) -> Iterator[Node]:
    """Yield a node and all below it."""
    rest = [node]
    while rest:
        it = rest.pop()
        yield it
        rest += reversed(it.named_children)


def extent(node: Node) -> Extent:
    """Return where a node starts and ends."""
    return node.start_byte, node.end_byte


def renamed(node: Node, name: str, new: str) -> dict[Extent, str]:
    """Return the changes that give a variable another name below a node."""
    found = (it for it in walk(node) if it.type == "identifier" and text_of(it) == name)
    return {extent(it): new for it in found}


def spliced(node: Node, changes: Mapping[Extent, str]) -> str:
    """Return a node's text with other text for some of the expressions in it."""
    data = node.text or b""
    parts: list[bytes] = []
    at = 0
    rest = [node]
    while rest:
        it = rest.pop()
        start, end = it.start_byte - node.start_byte, it.end_byte - node.start_byte
        if it is not node and extent(it) in changes and start >= at:
            parts += (data[at:start], changes[extent(it)].encode())
            at = end
        else:
            rest += reversed(it.named_children)
    return b"".join([*parts, data[at:]]).decode("utf-8", "replace")


def short(path: str) -> str:
    """Return the name of a file."""
    return path.rpartition("/")[2]


def place_of(path: str, row: int) -> str:
    """Return a place for people: `main.c:12`."""
    return f"{short(path)}:{row}"
