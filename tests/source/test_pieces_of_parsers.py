"""Parsing in pieces: the tree is that of the whole text, and nothing that is handed over stays."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from tree_sitter import Parser

from clmap_lsp.source import bounded
from clmap_lsp.source.bounded import within_steps
from clmap_lsp.source.parse import language

if TYPE_CHECKING:
    from tree_sitter import Node

LINE = "void f_é(int a) { /* 𝄞 ü */ g(a, 12); }\n"


def spans(node: Node) -> list[tuple[str, int, int, bytes | None]]:
    own = (node.type, node.start_byte, node.end_byte, node.text)
    return [own, *(it for child in node.children for it in spans(child))]


@pytest.mark.parametrize("end", ["", "/", "// é", "// 𝄞", "int", "int x; // ends without a line break"])
@pytest.mark.parametrize("n_lines", [0, 1, 12, 13, 40])
def test_the_tree_is_that_of_the_whole_text(n_lines: int, end: str) -> None:
    for shift in range(0, 24, 5):
        encoded = (" " * shift + LINE * n_lines + end).encode()
        tree = within_steps(Parser(language()), encoded)
        assert tree is not None
        assert spans(tree.root_node) == spans(Parser(language()).parse(encoded).root_node)


def test_nothing_of_a_text_stays_when_its_tree_is_gone() -> None:
    encoded = (LINE * 400).encode()
    n_pieces = len(encoded) // bounded._PIECE

    def parse_often() -> int:
        for _ in range(20):
            assert within_steps(Parser(language()), encoded) is not None
        return sys.getallocatedblocks()

    before = parse_often()
    assert parse_often() - before < n_pieces  # And not twenty times as many.


def test_a_text_within_another_gets_its_own_pieces() -> None:
    """Another thread may parse while this one is interrupted."""
    taken = bounded._free_buffers()
    other = bounded._free_buffers()
    assert other is not taken
    first = taken.filled(b"a" * 600, 0)
    other.filled(b"b" * 600, 0)
    assert first == b"a" * 512
    bounded._FREE.extend((taken, other))
