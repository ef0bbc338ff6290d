"""A new node of the IR is met by every table that has to know it, not by `KeyError` in a kernel."""

from typing import get_args

import pytest

from clmap_lsp.access import analyse, expressions
from clmap_lsp.emulator.symbolic import machine
from clmap_lsp.source import control_flow, ir, rewrite

STATEMENTS = frozenset(get_args(ir.Statement))
EXPRESSIONS = frozenset(get_args(ir.Expression))
DO_NOTHING = {ir.Fence, ir.Print}
"""What changes no value that addresses and branches are made of, and jumps nowhere."""


@pytest.mark.parametrize(
    ("table", "nodes"),
    [
        (rewrite.EXPRESSIONS, EXPRESSIONS),
        (rewrite._STATEMENTS, STATEMENTS),
        (expressions._HANDLERS, EXPRESSIONS),
        (analyse._HANDLERS, STATEMENTS),
        (machine._STATEMENTS, STATEMENTS - DO_NOTHING),
    ],
    ids=["copies of expressions", "copies of statements", "values", "accesses", "all lanes"],
)
def test_tables_know_every_node(table, nodes):
    assert sorted(it.__name__ for it in nodes ^ set(table)) == []


def test_control_flow_knows_what_holds_blocks():
    """What the base class takes for simple has no blocks and does not jump."""
    jumps = {ir.Break, ir.Continue, ir.Leave, ir.Return, ir.Goto}
    assert set(control_flow._GOES) == set(ir._BLOCKS) | jumps
