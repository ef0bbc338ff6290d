"""Where a key or value of a TOML document stands.

`tomllib` reads values but forgets where they stood; tree-sitter's TOML grammar knows. It is loaded only when
there is something to point at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clmap_lsp.source.span import SourceFile, Span

if TYPE_CHECKING:
    from tree_sitter import Node

_KEYS = frozenset({"bare_key", "quoted_key"})


class Places:
    """Spans of the keys and values of one document.

    Invariant: a path that the document does not hold has the span of its nearest ancestor that it does.
    """

    def __init__(self, file: SourceFile) -> None:
        self._file = file
        self._bytes = file.text.encode("utf-8", "replace")
        self._keys: dict[tuple[str | int, ...], Span] = {}
        self._values: dict[tuple[str | int, ...], Span] = {}
        self._arrays: dict[tuple[str | int, ...], int] = {}
        self._read()

    def key(self, path: tuple[str | int, ...]) -> Span:
        """Return where the last key of `path` stands."""
        return self._nearest(self._keys, path)

    def value(self, path: tuple[str | int, ...]) -> Span:
        """Return where the value at `path` stands; its key for tables."""
        return self._values.get(path) or self._nearest(self._keys, path)

    def _nearest(self, table: dict[tuple[str | int, ...], Span], path: tuple[str | int, ...]) -> Span:
        while path:
            if (span := table.get(path) or self._values.get(path)) is not None:
                return span
            path = path[:-1]
        return Span(self._file.path, 0, 0)

    def _read(self) -> None:
        import tree_sitter_toml
        from tree_sitter import Language, Parser

        root = Parser(Language(tree_sitter_toml.language())).parse(self._bytes).root_node
        for node in root.named_children:
            match node.type:
                case "pair":
                    self._pair(node, ())
                case "table":
                    self._table(node, ())
                case "table_array_element":
                    name = self._name(_key_node(node))
                    index = self._arrays.get(name, -1) + 1
                    self._arrays[name] = index
                    self._keys.setdefault(name, self._span(_key_node(node)))
                    self._table(node, (index,))

    def _table(self, node: Node, suffix: tuple[int, ...]) -> None:
        key = _key_node(node)
        path = (*self._through_arrays(self._name(key), inner=not suffix), *suffix)
        self._keys.setdefault(path, self._span(key))
        for child in node.named_children:
            if child.type == "pair":
                self._pair(child, path)

    def _through_arrays(self, name: tuple[str | int, ...], *, inner: bool) -> tuple[str | int, ...]:
        """Put the current index behind each array of tables on the way: `[override.x]` is of the last one."""
        out: tuple[str | int, ...] = ()
        for depth, part in enumerate(name):
            out = (*out, part)
            if out in self._arrays and (inner or depth < len(name) - 1):
                out = (*out, self._arrays[out])
        return out

    def _pair(self, node: Node, prefix: tuple[str | int, ...]) -> None:
        key, value = node.named_children[0], node.named_children[-1]
        path = (*prefix, *self._name(key))
        self._keys[path] = self._span(key)
        self._value(value, path)

    def _value(self, node: Node, path: tuple[str | int, ...]) -> None:
        self._values[path] = self._span(node)
        if node.type == "array":
            items = [it for it in node.named_children if it.type != "comment"]
            for index, item in enumerate(items):
                self._value(item, (*path, index))
        elif node.type == "inline_table":
            for child in node.named_children:
                if child.type == "pair":
                    self._pair(child, path)

    def _name(self, node: Node) -> tuple[str | int, ...]:
        if node.type == "dotted_key":
            return tuple(part for child in node.named_children for part in self._name(child))
        text = self._bytes[node.start_byte : node.end_byte].decode()
        return (text[1:-1] if node.type == "quoted_key" else text,)

    def _span(self, node: Node) -> Span:
        start = len(self._bytes[: node.start_byte].decode())
        end = start + len(self._bytes[node.start_byte : node.end_byte].decode())
        return Span(self._file.path, start, end)


def _key_node(node: Node) -> Node:
    return next(it for it in node.named_children if it.type in _KEYS or it.type == "dotted_key")
